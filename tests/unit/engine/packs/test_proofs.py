"""The keys by which a task proves itself: `derived`, `decides`, `equivalents`, and the costs of comparison.yaml."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from assay.engine.packs import PackError, Problem, load_pack_bytes
from assay.engine.packs.lint import check
from assay.engine.packs.models import CostRule

Files = dict[str, bytes]
Problems = Callable[[Mapping[str, bytes]], list[Problem]]
Edit = Callable[[str, str, str], Files]

TASKS = "tasks/lending.yaml"
COMPARISON = "comparison.yaml"
FEE = "      - {tool: fees_record, args: {loan_id: LN-4, amount: 1.50}}\n"
FACT = '{key: pick-up day, value: "2026-05-07", aliases: [day, date, when]}'


def derived(text: str) -> str:
    return FEE.replace("1.50}}", "1.50}, derived: " + text + "}")


def equivalents(*entries: str) -> str:
    return FEE + "    equivalents:\n" + "".join(f"      - {{mutant: {e!r}, why: So.}}\n" for e in entries)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (FEE, derived("{amount: {clause: LIB-3.1, value: SELECT 6 * 0.25}}")),
        (FEE, derived("{amount: {section: 'loan-periods#study-collection', value: SELECT 1.5}}")),
        (FEE, equivalents("drop:1.fees_record", "amount_cent:1.fees_record.amount=*", "customer:0=MEM-2", "row:1*")),
        (FACT, FACT.replace("}", ", decides: [pickups_book.pickup_on, LIB-4.2]}")),
    ],
)  # fmt: skip
def test_what_is_sound(edited: Edit, problems: Problems, old: str, new: str) -> None:
    assert problems(edited(TASKS, old, new)) == []


@pytest.mark.parametrize(
    ("old", "new", "at", "code", "message"),
    [
        (FEE, derived("{amuont: {clause: LIB-3.1, value: SELECT 1.5}}"), "amuont", "unknown_argument",
         "'derived' explains 'amuont', but the action has no such argument; did you mean 'amount'?"),
        (FEE, derived("{amount: {clause: LIB-3.11, value: SELECT 1.5}}"), "LIB-3.11", "unknown_clause",
         "There is no clause LIB-3.11 in policy.md; did you mean 'LIB-3.1'?"),
        (FEE, derived("{amount: {value: SELECT 1.5}}"), "value: SELECT 1.5", "bad_value",
         "A derivation needs 'clause' (or 'section', for a rule that stands in an article)."),
        (FACT, FACT.replace("}", ", decides: [pickups_book.day]}"), "pickups_book.day", "unknown_argument",
         "No expected action has the argument 'pickups_book.day'; did you mean 'pickups_book.hold_id'?"),
        (FACT, FACT.replace("}", ", decides: [holds_place.book_ids]}"), "holds_place.book_ids", "unknown_argument",
         "No expected action has the argument 'holds_place.book_ids'; did you mean 'holds_place.book_id'?"),
        (FACT, FACT.replace("}", ", decides: [LIB-4.9]}"), "LIB-4.9", "unknown_clause",
         "'LIB-4.9' is neither a clause of policy.md nor tool.argument; did you mean 'LIB-4.3'?"),
        (FEE, equivalents("the second call"), "the second call", "bad_mutant",
         "'the second call' names no mutant; copy the name from `assay pack verify`, as in drop:2.tickets_open."),
        (FEE, equivalents("drop:1.fees_record", "drop:1.fees_record"), None, "duplicate_mutant",
         "'drop:1.fees_record' is listed already; remove one of the two."),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_where_it_stands(
    edited: Edit, problems: Problems, old: str, new: str, at: str | None, code: str, message: str
) -> None:
    files = edited(TASKS, old, new)
    (problem,) = problems(files)
    assert (problem.message, problem.code) == (message, code)
    assert problem.path == TASKS and problem.task in ("LIB-FEE-001", "LIB-HOLD-001")
    if at is not None:
        assert at in files[TASKS].decode().splitlines()[problem.line - 1]


def test_an_alternative_may_explain_its_values_too(edited: Edit, problems: Problems) -> None:
    booked = "{tool: pickups_book, args: {hold_id: HD-2, pickup_on: 2026-05-08}}"
    explained = booked.replace(
        "2026-05-08}}", "2026-05-08}, derived: {day: {clause: LIB-4.2, value: SELECT 1}}}"
    )
    (problem,) = problems(edited(TASKS, booked, explained))
    assert problem.message.startswith("'derived' explains 'day', but the action has no such argument")


# --- costs --------------------------------------------------------------------------------------------

RULES = "      late_fee: {tolerance: 0.005}\n"


def cost(text: str) -> str:
    return f"{RULES}    cost: {{{text}}}\n"


def test_costs_are_kept(edited: Edit) -> None:
    pack = load_pack_bytes(edited(COMPARISON, RULES, cost("late_fee: {what: late fees, paid_by: customer}")))
    assert pack.comparison.tables["loans"].cost == {
        "late_fee": CostRule(what="late fees", paid_by="customer")
    }
    assert pack.comparison.tables["members"].cost == {}


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("late_fees: {what: late fees, paid_by: customer}", "unknown_column", "no column late_fees. Did you mean late_fee?"),
        ("late_fee: {what: late fees, paid_by: nobody}", "bad_value", "must be one of company or customer"),
        ("late_fee: {what: late fees}", "missing_key", "'paid_by' is missing"),
        ("late_fee: nothing", "bad_value", "must be"),
    ],
)  # fmt: skip
def test_costs_that_cannot_be(edited: Edit, text: str, code: str, says: str) -> None:
    with pytest.raises(PackError) as caught:
        check(edited(COMPARISON, RULES, cost(text)))
    (problem,) = caught.value.problems
    assert says in problem.message and problem.path == COMPARISON
    assert problem.line == 12 and problem.code == code


def test_two_files_may_not_disagree_on_a_cost(library: Files) -> None:
    shared = {
        **library,
        "pack.yaml": library["pack.yaml"] + b"shares: [desk]\n",
        "_shared/desk/comparison.yaml": b"tables: {loans: {cost: {late_fee: none}}}\n",
    }
    assert load_pack_bytes(shared).comparison.tables["loans"].cost == {"late_fee": "none"}
    rules = (
        library[COMPARISON].decode().replace(RULES, cost("late_fee: {what: late fees, paid_by: customer}"))
    )
    with pytest.raises(PackError) as caught:
        load_pack_bytes({**shared, COMPARISON: rules.encode()})
    (problem,) = caught.value.problems
    assert problem.code == "conflicting_rules" and "'loans.late_fee' has another rule" in problem.message
