"""The comparison of change sets: what counts as the same outcome, and what does not."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.packs.models import ComparisonFile
from assay.engine.sandbox.changes import ChangeSet, RowChange
from assay.engine.sandbox.comparison import compare
from assay.engine.sandbox.schema import TableInfo

TABLES = {
    "customers": TableInfo("customers", ("id", "name", "points", "note"), ("id",)),
    "refunds": TableInfo(
        "refunds",
        ("id", "customer_id", "amount", "made_at", "note"),
        ("id",),
        {"customer_id": ("customers", "id")},
    ),
    "lines": TableInfo(
        "lines", ("refund_id", "sku", "qty"), ("refund_id", "sku"), {"refund_id": ("refunds", "id")}
    ),
    "events": TableInfo(
        "events",
        ("n", "refund_id", "parent", "qty"),
        ("n",),
        {"refund_id": ("refunds", "id"), "parent": ("events", "n")},
        True,
    ),
    "trips": TableInfo("trips", ("id", "km", "email", "tags", "seen"), ("id",)),
}
RULES = ComparisonFile.model_validate(
    {
        "ignore_tables": [],
        "tables": {
            "customers": {"columns": {"note": "text"}},
            "refunds": {"columns": {"note": "text"}},
            "trips": {
                "columns": {"km": {"tolerance": 0.5}, "email": "casefold", "tags": "set", "seen": "ignore"}
            },
        },
    }
)


def made(table: str, **after: Any) -> RowChange:
    return RowChange(table, "insert", tuple(after[c] for c in TABLES[table].primary_key), None, after)


def updated(table: str, before: dict[str, Any], **new: Any) -> RowChange:
    after = {**before, **new}
    return RowChange(table, "update", tuple(before[c] for c in TABLES[table].primary_key), before, after)


def deleted(table: str, **before: Any) -> RowChange:
    return RowChange(table, "delete", tuple(before[c] for c in TABLES[table].primary_key), before, None)


def changes(*rows: RowChange, ids: tuple[Any, ...] = ()) -> ChangeSet:
    return ChangeSet(rows, frozenset(ids))


def refund(
    id: str, customer: str = "C1", amount: Any = 25, made_at: str = "2026-01-01T10:00:00Z", note: Any = "x"
):
    return made("refunds", id=id, customer_id=customer, amount=amount, made_at=made_at, note=note)


def differ(expected: ChangeSet, actual: ChangeSet, *more: ChangeSet):
    return compare(TABLES, RULES, [expected, *more], actual)


ADA = {"id": "C1", "name": "Ada", "points": 10, "note": "old"}


def test_an_unchanged_world_meets_an_outcome_without_changes():
    assert differ(changes(), changes()).equal


def test_a_missing_row_and_an_unexpected_row_are_told_apart():
    one = changes(refund("RF-9001"), ids=("RF-9001",))
    assert [r.kind for r in differ(one, changes()).rows] == ["missing"]
    assert [r.kind for r in differ(changes(), one).rows] == ["unexpected"]


@pytest.mark.parametrize(
    ("expected", "actual", "same"),
    [
        (25, 25.0, True),
        (0.3, 0.1 + 0.2, True),
        (193.50, 193.51, False),
        (193.50, 193.49, False),
        (12_345_678.12, 12_345_678.13, False),
        (25, -25, False),
        (10**15, 10**15 + 1, False),
        (10**15, float(10**15), True),
        (25, "25", False),
        (None, 0, False),
        (None, None, True),
        ("2026-01-01T10:00:00Z", "2026-01-01T05:00:00-05:00", True),
        ("2026-01-01T10:00:00+00:00", "2026-01-01T10:00:00.000Z", True),
        ("2026-01-01T10:00:00Z", "2026-01-01T10:00:01Z", False),
        ("2026-01-01", "2026-01-02", False),
        ("2026-01-01", "2026-01-01T00:00:00Z", False),
        ("a", "A", False),
        (b"a", b"a", True),
        (b"a", "a", False),
    ],
)
def test_exact_cells_are_equal_as_numbers_instants_or_values(expected, actual, same):
    difference = differ(
        changes(updated("customers", ADA, points=expected)), changes(updated("customers", ADA, points=actual))
    )
    assert difference.equal is same


def test_a_wrong_cell_is_named_with_both_values():
    difference = differ(
        changes(refund("RF-9001", amount=100), ids=("RF-9001",)),
        changes(refund("RF-9001", amount=110), ids=("RF-9001",)),
    )
    (row,) = difference.rows
    assert (row.kind, row.table) == ("wrong", "refunds")
    (cell,) = row.cells
    assert (cell.column, cell.expected, cell.actual, cell.rule) == ("amount", 100, 110, "exact")


def test_free_text_is_judged_by_presence_only():
    with_note = changes(refund("RF-9001", note="Goodwill"), ids=("RF-9001",))
    reworded = changes(refund("RF-9001", note="as agreed"), ids=("RF-9001",))
    without = changes(refund("RF-9001", note="  "), ids=("RF-9001",))
    assert differ(with_note, reworded).equal
    assert not differ(with_note, without).equal


def test_rewording_a_free_text_of_a_row_that_was_there_is_no_change():
    assert differ(changes(), changes(updated("customers", ADA, note="new words"))).equal
    assert not differ(changes(), changes(updated("customers", ADA, note=None))).equal


def test_tolerance_casefold_set_and_ignore_rules():
    trip = {"id": "T1", "km": 10.0, "email": "a@x.org", "tags": "a,b", "seen": 1}
    expected = changes(updated("trips", trip, km=12.0, email="B@x.org", tags='["q", "r"]'))

    def ok(**new: Any) -> bool:
        return differ(expected, changes(updated("trips", trip, **new))).equal

    assert ok(km=12.5, email=" b@X.ORG", tags="r, q", seen=99)
    assert not ok(km=12.6, email="b@x.org", tags="q,r")
    assert not ok(km=12.0, email="c@x.org", tags="q,r")
    assert not ok(km=12.0, email="b@x.org", tags="q,r,r")


def test_an_ignored_table_never_counts():
    rules = ComparisonFile.model_validate({"ignore_tables": ["refunds"]})
    assert compare(TABLES, rules, [changes()], changes(refund("RF-9001"), ids=("RF-9001",))).equal


def test_generated_ids_may_differ_but_must_be_used_alike():
    ids = ("RF-9001", "RF-9002")
    expected = changes(
        refund("RF-9001", amount=10),
        refund("RF-9002", amount=20),
        made("lines", refund_id="RF-9001", sku="S1", qty=1),
        made("lines", refund_id="RF-9002", sku="S2", qty=1),
        updated("customers", ADA, name="RF-9001"),
        ids=ids,
    )
    swapped = changes(
        refund("RF-9002", amount=10),
        refund("RF-9001", amount=20),
        made("lines", refund_id="RF-9002", sku="S1", qty=1),
        made("lines", refund_id="RF-9001", sku="S2", qty=1),
        updated("customers", ADA, name="RF-9002"),
        ids=ids,
    )
    crossed = changes(
        refund("RF-9001", amount=10),
        refund("RF-9002", amount=20),
        made("lines", refund_id="RF-9002", sku="S1", qty=1),
        made("lines", refund_id="RF-9001", sku="S2", qty=1),
        updated("customers", ADA, name="RF-9001"),
        ids=ids,
    )
    assert differ(expected, swapped).equal
    assert differ(expected, swapped).ids == {"RF-9002": "RF-9001", "RF-9001": "RF-9002"}
    assert not differ(expected, crossed).equal


def test_equal_parents_are_told_apart_by_their_children():
    ids = ("RF-9001", "RF-9002")
    expected = changes(
        refund("RF-9001"),
        refund("RF-9002"),
        made("lines", refund_id="RF-9001", sku="S1", qty=1),
        made("lines", refund_id="RF-9002", sku="S2", qty=1),
        ids=ids,
    )
    other_order = changes(
        refund("RF-9001"),
        refund("RF-9002"),
        made("lines", refund_id="RF-9001", sku="S2", qty=1),
        made("lines", refund_id="RF-9002", sku="S1", qty=1),
        ids=ids,
    )
    assert differ(expected, other_order).equal


def test_a_number_that_happens_to_equal_a_rowid_is_not_a_reference():
    expected = changes(made("events", n=7, refund_id=None, parent=None, qty=7), ids=(7,))
    assert differ(expected, changes(made("events", n=8, refund_id=None, parent=None, qty=7), ids=(8,))).equal
    assert not differ(
        expected, changes(made("events", n=8, refund_id=None, parent=None, qty=8), ids=(8,))
    ).equal


def test_a_reference_to_a_seed_row_is_not_a_reference_to_a_made_one():
    expected = changes(
        refund("RF-9001"), made("lines", refund_id="RF-9001", sku="S", qty=1), ids=("RF-9001",)
    )
    actual = changes(refund("RF-9001"), made("lines", refund_id="RF-5", sku="S", qty=1), ids=("RF-9001",))
    assert not differ(expected, actual).equal


def test_deleting_is_not_changing():
    gone = changes(deleted("customers", **ADA))
    assert differ(gone, gone).equal
    (row,) = differ(gone, changes(updated("customers", ADA, points=0))).rows
    assert row.kind == "wrong" and row.cells[0].expected == "deleted" and row.cells[0].actual == "changed"
    assert [r.kind for r in differ(gone, changes()).rows] == ["missing"]
    assert [r.kind for r in differ(changes(), gone).rows] == ["unexpected"]


def test_a_change_to_the_right_column_with_another_column_changed_too_is_wrong():
    expected = changes(updated("customers", ADA, points=20))
    (row,) = differ(expected, changes(updated("customers", ADA, points=20, name="Eve"))).rows
    assert [(c.column, c.expected, c.actual) for c in row.cells] == [("name", "Ada", "Eve")]


def test_the_closest_of_several_outcomes_is_explained_and_any_is_accepted():
    full = changes(refund("RF-9001", amount=100), ids=("RF-9001",))
    half = changes(refund("RF-9001", amount=50), updated("customers", ADA, points=5), ids=("RF-9001",))
    assert differ(full, half, half).equal
    difference = differ(
        full,
        changes(refund("RF-9001", amount=50), updated("customers", ADA, points=6), ids=("RF-9001",)),
        half,
    )
    assert difference.outcome == 1
    assert [(r.table, r.cells[0].column) for r in difference.rows] == [("customers", "points")]


def test_a_natural_key_decides_which_made_rows_belong_together():
    rules = ComparisonFile.model_validate({"tables": {"refunds": {"key": ["customer_id"]}}})
    expected = changes(refund("RF-9001", customer="C1", amount=10), ids=("RF-9001",))
    other = changes(refund("RF-9001", customer="C2", amount=10), ids=("RF-9001",))
    assert sorted(r.kind for r in compare(TABLES, rules, [expected], other).rows) == ["missing", "unexpected"]
    wrong = changes(refund("RF-9001", customer="C1", amount=11), ids=("RF-9001",))
    assert [r.kind for r in compare(TABLES, rules, [expected], wrong).rows] == ["wrong"]


def test_doubling_a_write_is_seen():
    ids = ("RF-9001", "RF-9002")
    difference = differ(
        changes(refund("RF-9001"), ids=ids[:1]), changes(refund("RF-9001"), refund("RF-9002"), ids=ids)
    )
    assert [r.kind for r in difference.rows] == ["unexpected"]


def test_tolerated_cells_of_children_tell_equal_parents_apart():
    tables = {
        **TABLES,
        "legs": TableInfo("legs", ("id", "refund_id", "km"), ("id",), {"refund_id": ("refunds", "id")}),
    }
    rules = ComparisonFile.model_validate({"tables": {"legs": {"columns": {"km": {"tolerance": 0.5}}}}})
    legs_table = tables["legs"]

    def leg(id: str, refund_id: str, km: float) -> RowChange:
        return RowChange(legs_table.name, "insert", (id,), None, {"id": id, "refund_id": refund_id, "km": km})

    ids = ("RF-9001", "RF-9002", "LG-9001", "LG-9002")
    expected = changes(
        refund("RF-9001"),
        refund("RF-9002"),
        leg("LG-9001", "RF-9001", 10),
        leg("LG-9002", "RF-9002", 20),
        ids=ids,
    )
    actual = changes(
        refund("RF-9001"),
        refund("RF-9002"),
        leg("LG-9001", "RF-9001", 20.2),
        leg("LG-9002", "RF-9002", 10.2),
        ids=ids,
    )
    assert compare(tables, rules, [expected], actual).equal


# --- against an oracle: every way of naming the rows is tried ------------------------------------

small = st.integers(0, 1)


@st.composite
def worlds(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Refunds with lines and chained events, in the abstract: references are positions."""
    refunds = draw(st.lists(st.fixed_dictionaries({"amount": small}), max_size=3))
    targets = st.none() if not refunds else st.none() | st.integers(0, len(refunds) - 1)
    events: list[dict[str, Any]] = []
    for number in range(draw(st.integers(0, 3))):
        parent = draw(st.none() | st.integers(0, number - 1)) if number else None
        events.append({"refund": draw(targets), "parent": parent, "qty": draw(small)})
    lines = draw(st.lists(st.tuples(st.integers(0, 2), small), max_size=3, unique=True)) if refunds else []
    return [
        {"refunds": refunds, "events": events, "lines": [(min(r, len(refunds) - 1), s) for r, s in lines]},
    ]


def realise(world: dict[str, Any], refund_order: tuple[int, ...], event_order: tuple[int, ...]) -> ChangeSet:
    """Give the rows ids in this order of creation."""
    refund_ids = {
        position: f"RF-{9001 + refund_order[position]}" for position in range(len(world["refunds"]))
    }
    event_ids = {position: 1 + event_order[position] for position in range(len(world["events"]))}
    rows = [refund(refund_ids[i], amount=r["amount"]) for i, r in enumerate(world["refunds"])]
    rows += [
        made("lines", refund_id=refund_ids[r], sku=f"S{s}", qty=1) for r, s in sorted(set(world["lines"]))
    ]
    rows += [
        made(
            "events",
            n=event_ids[i],
            refund_id=None if e["refund"] is None else refund_ids[e["refund"]],
            parent=None if e["parent"] is None else event_ids[e["parent"]],
            qty=e["qty"],
        )
        for i, e in enumerate(world["events"])
    ]
    rows.sort(key=lambda r: (r.table, str(r.key)))
    return changes(*rows, ids=(*refund_ids.values(), *event_ids.values()))


def canonical(world: dict[str, Any]) -> set[Any]:
    """The set of all namings of a world: two worlds are the same outcome if these sets meet."""
    n, m = len(world["refunds"]), len(world["events"])
    found = set()
    for refund_order in itertools.permutations(range(n)):
        for event_order in itertools.permutations(range(m)):
            rows = realise(world, refund_order, event_order).rows
            found.add(tuple((r.table, r.key, tuple(sorted((r.after or {}).items(), key=str))) for r in rows))
    return found


@settings(max_examples=300, deadline=None)
@given(worlds(), st.randoms(use_true_random=False))
def test_any_order_of_creation_is_the_same_outcome(world, random):
    (world,) = world
    n, m = len(world["refunds"]), len(world["events"])
    plain = realise(world, tuple(range(n)), tuple(range(m)))
    shuffled = realise(world, tuple(random.sample(range(n), n)), tuple(random.sample(range(m), m)))
    assert differ(plain, shuffled).equal


@settings(max_examples=400, deadline=None)
@given(worlds(), worlds())
def test_two_worlds_are_equal_exactly_when_some_naming_makes_them_so(first, second):
    (first,), (second,) = first, second
    plain = realise(first, tuple(range(len(first["refunds"]))), tuple(range(len(first["events"]))))
    other = realise(second, tuple(range(len(second["refunds"]))), tuple(range(len(second["events"]))))
    same = bool(canonical(first) & canonical(second))
    assert differ(plain, other).equal is same


@settings(max_examples=200, deadline=None)
@given(worlds(), st.data())
def test_altering_any_one_cell_of_any_row_is_seen(world, data):
    (world,) = world
    change_set = realise(world, tuple(range(len(world["refunds"]))), tuple(range(len(world["events"]))))
    rows = [i for i, r in enumerate(change_set.rows) if r.table in ("refunds", "events")]
    if not rows:
        return
    place = data.draw(st.sampled_from(rows))
    row = change_set.rows[place]
    column = "amount" if row.table == "refunds" else "qty"
    altered = RowChange(row.table, "insert", row.key, None, {**(row.after or {}), column: 77})
    mutant = ChangeSet(
        (*change_set.rows[:place], altered, *change_set.rows[place + 1 :]), change_set.generated
    )
    assert not differ(change_set, mutant).equal
    assert not differ(mutant, change_set).equal


def many(count: int, numbers: range, **more: Any) -> ChangeSet:
    """`count` refunds that look alike, under generated ids of these numbers."""
    names = [f"RF-{n}" for n in numbers][:count]
    return changes(*(refund(name, **more) for name in names), ids=tuple(names))


def test_thousands_of_rows_that_look_alike_are_paired_at_once():
    expected, actual = many(3000, range(9001, 12_001)), many(3000, range(9001, 12_001))
    assert differ(expected, actual).equal
    short = differ(expected, many(2999, range(9002, 12_001)))
    assert [r.kind for r in short.rows] == ["missing"]


def test_hundreds_of_parents_that_look_alike_with_their_children_are_bounded():
    def world(order: list[int]) -> ChangeSet:
        names = [f"RF-{9001 + n}" for n in order]
        rows: list[RowChange] = [refund(name) for name in names]
        rows += [made("lines", refund_id=name, sku="S", qty=1) for name in names]
        return changes(*rows, ids=tuple(names))

    assert differ(world(list(range(150))), world(list(range(150))[::-1])).equal
    assert not differ(world(list(range(400))), world(list(range(399)))).equal
