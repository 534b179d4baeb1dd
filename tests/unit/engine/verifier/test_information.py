"""Which facts a task needs, which of them a bot has to ask for, and answers that somebody gives away."""

from __future__ import annotations

import pytest

from assay.engine.packs import Problem
from assay.engine.verifier.information import InformationReport, examine_information
from assay.engine.verifier.leaks import TELLING, examine_leaks
from tests.unit.engine.verifier.boathouse import ROWS, TASKS, boathouse, subject

Edit = tuple[str, str, str]
OPENING = "opening: I have to call off my hire on 20 March."


def examined(*edits: Edit) -> InformationReport:
    return examine_information(subject(*edits))


def line(problem: Problem, *edits: Edit) -> str:
    return boathouse(*edits)[problem.path].decode().splitlines()[problem.line - 1].strip()


def test_what_each_task_hides() -> None:
    report = examined()
    assert report.problems == ()
    found = {task: (i.needed, i.hidden, i.unneeded) for task, i in report.tasks.items()}
    assert found == {
        "BOA-OFF-001": (("email address",), ("email address",), ("weather",)),
        "BOA-MOV-001": (("days",), ("days",), ()),
        "BOA-OFF-002": (("email address",), ("email address",), ()),
    }
    assert report.as_json()["questions"] == {"1": 3}


def test_a_fact_that_the_opening_says_is_needed_and_not_hidden() -> None:
    edit = (TASKS, OPENING, "opening: I have to call off my hire on 20 March, ada@brook.example here.")
    found = examined(edit).tasks["BOA-OFF-001"]
    assert (found.needed, found.hidden) == (("email address",), ())
    (problem,) = examined(edit).problems
    assert problem.code == "nothing_hidden" and problem.task == "BOA-OFF-001"
    assert line(problem, edit) == "hardness: [hidden_information, computed_amount]"


def test_a_fact_that_decides_something_is_needed_although_no_argument_holds_it() -> None:
    told = (TASKS, OPENING, "opening: I have to call off my hire on 20 March, ada@brook.example here.")
    decides = (
        TASKS,
        "value: It is about the weather.}",
        "value: It is about the weather., decides: [BOA-1.3]}",
    )
    report = examined(told, decides)
    assert report.problems == () and report.tasks["BOA-OFF-001"].hidden == ("weather",)
    said = (
        TASKS,
        OPENING,
        "opening: I have to call off my hire on 20 March, ada@brook.example here. It is about the weather.",
    )
    assert [p.code for p in examined(said, decides).problems] == ["nothing_hidden"]


def test_what_a_follow_up_says_is_not_asked_for() -> None:
    edit = (
        TASKS,
        "aliases: [how long]}\n",
        "aliases: [how long]}\n    follow_ups: [Ten days later would be best.]\n",
    )
    assert examined(edit).tasks["BOA-MOV-001"].hidden == ()


def test_an_id_that_was_looked_up_need_not_be_asked_for_and_what_proves_a_caller_must() -> None:
    facts = (
        TASKS,
        "      - {key: weather, value: It is about the weather.}",
        "      - {key: number, value: HIR-11}\n      - {key: name, value: Ada Brook}",
    )
    assert examined(facts).tasks["BOA-OFF-001"].unneeded == ("number", "name")
    named = (TASKS, "reference: HIR-11, summary", "reference: Ada Brook, summary")
    assert examined(facts, named).tasks["BOA-OFF-001"].hidden == ("email address", "name")


@pytest.mark.parametrize(
    ("edit", "at"),
    [
        (
            (TASKS, OPENING, "opening: I have to call off my hire on 20 March. It costs 10.14, I think."),
            "opening: I have to",
        ),
        ((TASKS, "It is about the weather.", "I was told $10.14."), "- {key: weather"),
        (
            (TASKS, "opening: Can my hire be later?", "opening: Can my hire begin on March 18?"),
            "opening: Can my hire",
        ),
    ],
)
def test_a_customer_who_says_what_is_to_be_worked_out_gives_it_away(edit: Edit, at: str) -> None:
    (problem,) = examined(edit).problems
    assert problem.code == "answer_given_away" and line(problem, edit).startswith(at)


@pytest.mark.parametrize(
    "edit",
    [
        (TASKS, "It is about the weather.", "I was told 10.41."),  # a customer who is mistaken
        (TASKS, "It is about the weather.", "Order 1014 of 10 people."),
        (TASKS, "opening: Can my hire be later?", "opening: Can my hire be later, not on 8 March?"),
    ],
)
def test_other_figures_give_nothing_away(edit: Edit) -> None:
    assert examined(edit).problems == ()


@pytest.mark.parametrize(
    ("note", "says"),
    [
        ("Calling off costs 10.14 here", "10.14"),
        ("Fee (should be free)", "should be free"),
        ("Please do not charge this one", "do not charge"),
        ("Is eligible for the discount", "Is eligible"),
        ("Waive the fee, long-standing customer", "Waive the"),
        ("The correct fee is on the next page", "correct fee"),
    ],
)
def test_a_row_that_gives_an_answer_away_is_found(note: str, says: str) -> None:
    edit = (
        ROWS,
        "email: ada@brook.example, member: 0}",
        f'email: ada@brook.example, member: 0, note: "{note}"}}',
    )
    report = examine_leaks(subject(edit))
    (leak,) = report.leaks
    assert (leak.cell.table, leak.cell.row, leak.cell.column, leak.says) == (
        "customers",
        "CUS-1",
        "note",
        says,
    )
    (problem,) = report.problems
    assert problem.code == "leak" and f"customers.note of CUS-1 says '{says}'" in problem.message
    assert line(problem, edit).startswith("- {id: CUS-1")


@pytest.mark.parametrize(
    "note",
    [
        "Prefers mornings",
        "The fee was waived in May 2024",
        "Paid 10.41 last year",
        "Refunded in full after a storm",
        "Called about an eligibility check",
    ],
)
def test_what_happened_before_gives_nothing_away(note: str) -> None:
    edit = (
        ROWS,
        "email: ada@brook.example, member: 0}",
        f"email: ada@brook.example, member: 0, note: {note}}}",
    )
    assert examine_leaks(subject(edit)).problems == ()


def test_the_amount_of_one_task_in_the_rows_of_another_customer_is_no_leak() -> None:
    edit = (ROWS, "note: Prefers the green punt", "note: Paid 10.14 once")
    assert examine_leaks(subject(edit)).leaks == ()


def test_a_row_of_the_task_itself_is_read_too() -> None:
    edit = (TASKS, "    opening: Please call off", "    opening: Please call off")
    own = (
        TASKS,
        "  title: A punt is called off too late\n",
        "  title: A punt is called off too late\n  world:\n    customers: [{id: CUS-2, note: To be refunded if she asks}]\n",
    )
    (leak,) = examine_leaks(subject(edit, own)).leaks
    assert leak.task == "BOA-OFF-002" and leak.says == "To be refunded"
    (problem,) = examine_leaks(subject(own)).problems
    assert problem.task == "BOA-OFF-002" and "note: To be refunded" in line(problem, own)


def test_the_words_are_looked_for_as_words() -> None:
    assert TELLING.search("shoulder bed free") is None
    assert TELLING.search("The parcel has to be paid") is not None
