"""The plain difference: sure where it can be, and "unsure" where two readers could disagree."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.packs.models import ColumnRule, ComparisonFile, Tolerance
from assay.engine.reference.plain import cell, kind_of_outcome
from assay.engine.sandbox import ChangeSet, RowChange
from assay.engine.sandbox.schema import TableInfo

TABLES = {
    "accounts": TableInfo("accounts", ("id", "balance", "note", "seen"), ("id",)),
    "refunds": TableInfo("refunds", ("id", "account", "amount"), ("id",), {"account": ("accounts", "id")}),
    "events": TableInfo("events", ("n", "about"), ("n",), {}, True),
    "log": TableInfo("log", ("n", "text"), ("n",), {}, True),
}
RULES = ComparisonFile.model_validate(
    {"ignore_tables": ["log"], "tables": {"accounts": {"columns": {"note": "text", "seen": "ignore"}}}}
)
A = {"id": "A", "balance": 5, "note": None, "seen": "x"}


def updated(**new: Any) -> RowChange:
    return RowChange("accounts", "update", ("A",), A, {**A, **new})


def refund(id: str, account: str = "A", amount: float = 5) -> RowChange:
    return RowChange("refunds", "insert", (id,), None, {"id": id, "account": account, "amount": amount})


def event(n: int, about: str) -> RowChange:
    return RowChange("events", "insert", (n,), None, {"n": n, "about": about})


def changes(*rows: RowChange, ids: tuple[Any, ...] = ()) -> ChangeSet:
    return ChangeSet(rows, frozenset(ids))


def kind(expected: ChangeSet, actual: ChangeSet, *more: ChangeSet) -> str:
    return kind_of_outcome(TABLES, RULES, [expected, *more], actual)


GONE = RowChange("accounts", "delete", ("A",), A, None)


@pytest.mark.parametrize(
    ("expected", "actual", "is_"),
    [
        (changes(), changes(), "equal"),
        (changes(updated(balance=9)), changes(updated(balance=9)), "equal"),
        (changes(updated(balance=9)), changes(), "missing"),
        (changes(), changes(updated(balance=9)), "incorrect"),
        (changes(updated(balance=9)), changes(updated(balance=8)), "incorrect"),
        (changes(updated(seen="y")), changes(), "equal"),
        (changes(), changes(updated(seen="y")), "equal"),
        (changes(updated(note="a")), changes(updated(note="b")), "equal"),
        (changes(updated(note="a")), changes(), "missing"),
        # the row was touched, but not as it should be: missing to one reader, wrong to another
        (changes(updated(balance=9, seen="z")), changes(updated(seen="y")), "unsure"),
        (changes(GONE), changes(), "missing"),
        (changes(), changes(GONE), "incorrect"),
        (changes(GONE), changes(updated(balance=1)), "incorrect"),
        (changes(refund("R-1")), changes(), "missing"),
        (changes(refund("R-1")), changes(refund("R-1", amount=6)), "incorrect"),
        (changes(refund("R-1")), changes(refund("R-1"), refund("R-2", amount=6)), "incorrect"),
        (changes(refund("R-1")), changes(refund("R-1"), updated(balance=1)), "incorrect"),
        (changes(RowChange("log", "insert", (1,), None, {"n": 1, "text": "x"})), changes(), "equal"),
    ],
)
def test_an_outcome_is_missing_something_or_incorrect(expected: ChangeSet, actual: ChangeSet, is_: str):
    assert kind(expected, actual) == is_


def test_generated_ids_do_not_make_a_difference_but_leave_it_unsure():
    one, other = changes(refund("R-9001"), ids=("R-9001",)), changes(refund("R-9002"), ids=("R-9002",))
    assert kind(one, other) == "unsure"
    assert kind(one, changes(refund("R-9002", amount=1), ids=("R-9002",))) == "incorrect"


def test_numbers_of_rows_made_by_sqlite_are_masked_only_where_they_are_keys():
    first = changes(event(1, "a"), ids=(1,))
    assert kind(first, changes(event(2, "a"), ids=(2,))) == "unsure"
    assert kind(first, changes(event(2, "b"), ids=(2,))) == "incorrect"
    five = changes(updated(balance=1), event(1, "a"), ids=(1,))
    assert kind(five, changes(updated(balance=2), event(1, "a"), ids=(1, 2))) == "incorrect"


def test_with_several_accepted_outcomes_it_is_sure_only_when_all_agree():
    paid, credited = changes(refund("R-1")), changes(updated(balance=10))
    assert kind(paid, changes(), credited) == "missing"
    assert kind(paid, changes(updated(balance=10)), credited) == "equal"
    assert kind(paid, changes(updated(balance=7)), credited) == "incorrect"
    both = changes(refund("R-1"), updated(balance=10))
    assert (
        kind(both, changes(refund("R-1")), credited) == "unsure"
    )  # lacks something of one, is wrong for the other


@pytest.mark.parametrize(
    ("rule", "first", "second", "likeness"),
    [
        ("exact", 25, 25.0, "same"),
        ("exact", 25, 25.01, "different"),
        ("exact", 0.3, 0.1 + 0.2, "unsure"),
        ("exact", None, 0, "different"),
        ("exact", None, None, "same"),
        ("exact", "a", "A", "different"),
        ("exact", "2026-01-01", "2026-01-02", "different"),
        ("exact", "2026-01-01T12:00:00Z", "2026-01-01T13:00:00+01:00", "same"),
        ("exact", "2026-01-01T12:00:00Z", "2026-01-01T12:00:00+01:00", "different"),
        ("exact", "5", 5, "different"),
        ("ignore", 1, "x", "same"),
        ("text", "a", "b", "same"),
        ("text", "a", None, "different"),
        ("text", "", None, "same"),
        ("casefold", " Ab ", "aB", "same"),
        ("casefold", "ab", "ac", "different"),
        ("set", "a, b", '["b", "a"]', "same"),
        ("set", "a,b", "a,b,b", "different"),
        (Tolerance(tolerance=0.5), 1.0, 1.2, "same"),
        (Tolerance(tolerance=0.5), 1.0, 1.5, "unsure"),
        (Tolerance(tolerance=0.5), 1.0, 2.0, "different"),
    ],
)
def test_cells_are_alike_under_their_rule(rule: ColumnRule, first: Any, second: Any, likeness: str):
    assert cell(rule, first, second) == likeness
    assert cell(rule, second, first) == likeness


_rows = st.lists(
    st.one_of(
        st.builds(
            refund, st.sampled_from(["R-1", "R-2", "R-3"]), st.sampled_from("AB"), st.sampled_from([1.0, 2.0])
        ),
        st.builds(updated, balance=st.sampled_from([5, 6]), note=st.sampled_from([None, "n"])),
    ),
    unique_by=lambda row: (row.table, row.key),
    max_size=4,
)


@given(_rows, st.data())
def test_leaving_rows_out_is_never_incorrect(rows: list[RowChange], data: st.DataObject):
    kept = [row for row in rows if data.draw(st.booleans())]
    found = kind(changes(*rows), changes(*kept))
    assert found in ("equal", "missing")
    assert (found == "equal") or len(kept) < len(rows)


@given(_rows, _rows)
def test_the_same_rows_are_equal_and_others_are_not(rows: list[RowChange], others: list[RowChange]):
    assert kind(changes(*rows), changes(*reversed(rows))) == "equal"
    if kind(changes(*rows), changes(*others)) == "equal":
        refunds = [sorted(str(r.after) for r in side if r.table == "refunds") for side in (rows, others)]
        assert refunds[0] == refunds[1]
