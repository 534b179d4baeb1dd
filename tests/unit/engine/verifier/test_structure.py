"""Clauses and tasks, endings and traps, and how alike tasks are."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.packs.models import Task
from assay.engine.sandbox.replay import OutOfTime
from assay.engine.verifier.coverage import as_text, examine_coverage
from assay.engine.verifier.endings import examine_endings
from assay.engine.verifier.provenance import examine_provenance
from assay.engine.verifier.similarity import LIMIT, MOST_ABOVE, WEIGHTS, Likeness, examine_similarity
from tests.unit.engine.verifier.boathouse import POLICY, TASKS, TOOLS, boathouse, subject

Edit = tuple[str, str, str]


def test_the_map_of_clauses_and_tasks() -> None:
    report = examine_coverage(subject())
    assert report.problems == () and report.uncovered == ()
    found = {c["id"]: c["tasks"] for c in report.as_json()["clauses"]}
    assert found["BOA-1.1"] == ["BOA-OFF-001", "BOA-MOV-001"] and found["BOA-1.4"] == ["BOA-OFF-002"]
    assert as_text(report) == [
        "Tasks are written without BOA-",
        "BOA-1.1    2  OFF-001 MOV-001",
        "BOA-1.2    2  OFF-001 OFF-002",
        "BOA-1.3    1  OFF-001",
        "BOA-1.4    1  OFF-002",
        "BOA-2.1    1  MOV-001",
    ]


def test_a_clause_of_a_derivation_counts() -> None:
    edit = (TASKS, "clauses: [BOA-1.1, BOA-2.1]", "clauses: [BOA-1.1]")
    assert examine_coverage(subject(edit)).by_clause["BOA-2.1"] == ("BOA-MOV-001",)


def test_a_clause_without_a_task_and_a_task_without_a_clause() -> None:
    edits: list[Edit] = [
        (TASKS, "clauses: [BOA-1.2, BOA-1.4]", "clauses: []"),
        (POLICY, "## 2. Moving", "Boats are blue. {#BOA-1.5}\n\n## 2. Moving"),
    ]
    found = examine_coverage(subject(*edits))
    assert {(p.code, p.task) for p in found.problems} == {
        ("clause_without_task", None),
        ("task_without_clause", "BOA-OFF-002"),
    }
    assert [p.path for p in found.problems if p.code == "clause_without_task"] == [POLICY, POLICY]
    files = boathouse(*edits)
    blue = next(p for p in found.problems if "BOA-1.5" in p.message)
    assert files[POLICY].decode().splitlines()[blue.line - 1] == "Boats are blue. {#BOA-1.5}"
    # with some tasks only the map is there, and the findings are not
    some = examine_coverage(subject(*edits, tasks=("BOA-OFF-001",)))
    assert some.problems == () and some.uncovered == ("BOA-1.4", "BOA-1.5")


def test_endings_are_told_from_the_world() -> None:
    report = examine_endings(subject())
    assert report.by_task == {
        "BOA-OFF-001": ("change",),
        "BOA-MOV-001": ("change",),
        "BOA-OFF-002": ("refusal",),
    }
    assert report.counts()["refusal"] == 1 and report.paperwork_only == ("BOA-OFF-002",)


@pytest.mark.parametrize(
    ("outcome", "ending"),
    [("escalated", "escalation"), ("information_given", "information"), ("refused", "refusal")],
)
def test_the_outcome_of_the_ticket_says_how_it_ends(outcome: str, ending: str) -> None:
    edit = (TASKS, "outcome: refused", f"outcome: {outcome}")
    assert examine_endings(subject(edit)).by_task["BOA-OFF-002"] == (ending,)


@pytest.mark.parametrize(
    ("hardness", "ending"),
    [
        ("must_refuse", ("no_change", "refusal")),
        ("identity_mismatch", ("no_change", "unverified")),
        ("tool_refusal", ("no_change", "information")),
    ],
)
def test_where_the_world_says_nothing_the_hardness_does(hardness: str, ending: tuple[str, ...]) -> None:
    start = "      - {tool: tickets_close, args: {customer_id: $found.customer_id, outcome: refused, reference: $hires.0.hire_id, summary: Too late.}}\n"
    edits: list[Edit] = [
        (TASKS, start, "    no_change: true\n"),
        (TASKS, "hardness: [must_refuse]", f"hardness: [{hardness}]"),
    ]
    report = examine_endings(subject(*edits))
    assert report.by_task["BOA-OFF-002"] == ending and report.told["BOA-OFF-002"] == "hardness"


def test_a_decision_on_a_business_row_is_an_ending_as_well() -> None:
    edit = (
        TOOLS,
        "UPDATE hires SET begins_on = :begins_on WHERE",
        "UPDATE hires SET begins_on = :begins_on, status = 'move declined' WHERE",
    )
    assert examine_endings(subject(edit)).by_task["BOA-MOV-001"] == ("change", "refusal")


def test_traps_used_once_twice_and_never() -> None:
    assert examine_endings(subject()).as_json()["traps"] == {"once": 3, "twice": [], "more": [], "never": []}
    again = (
        TASKS,
        "trap: Six days are left, and the member insists.",
        'trap: "The fee follows from the boat, and not from the day!"',
    )
    none = (TASKS, "  trap: The customer counts from today and not from the day of the hire.\n", "")
    found = examine_endings(subject(again, none)).as_json()["traps"]
    assert found == {
        "once": 0,
        "twice": [["BOA-OFF-001", "BOA-OFF-002"]],
        "more": [],
        "never": ["BOA-MOV-001"],
    }


def copy_of(edits: list[tuple[str, str]]) -> Edit:
    """The first task once more, under another id, with changes."""
    text = boathouse()[TASKS].decode()
    block = text[text.index("- id: BOA-OFF-001") : text.index("- id: BOA-MOV-001")]
    for old, new in [("BOA-OFF-001", "BOA-OFF-009"), *edits]:
        assert old in block
        block = block.replace(old, new)
    return (TASKS, "- id: BOA-MOV-001", f"{block}- id: BOA-MOV-001")


RENAMED = [("canoe is called off", "boat is cancelled"), ("ada@brook.example", "ben@brook.example"), ("CUS-1", "CUS-2"), ("HIR-11", "HIR-12"), ("10.14", "14.4"),
           ("I have to call off my hire on 20 March.", "My hire must be cancelled.")]  # fmt: skip


def test_a_case_with_other_names_is_found() -> None:
    report = examine_similarity(subject(copy_of(RENAMED)))
    assert [(p.one, p.other) for p in report.above] == [("BOA-OFF-001", "BOA-OFF-009")] and report.above[
        0
    ].score == 1.0
    (problem,) = report.problems
    assert (
        problem.task == "BOA-OFF-009"
        and problem.code == "similar_tasks"
        and "BOA-OFF-001 (tasks/tasks.yaml:2)" in problem.message
    )


def test_a_case_with_other_names_and_another_wording_of_the_trap_is_found() -> None:
    worded = [
        ("The fee follows from the boat and not from the day.", "What matters is which vessel was booked.")
    ]
    (pair,) = examine_similarity(subject(copy_of([*RENAMED, *worded]))).above
    assert LIMIT <= pair.score < 0.8 and pair.parts["trap"] < 0.3


def test_other_cases_are_not_found_and_the_nearest_are_listed_all_the_same() -> None:
    report = examine_similarity(subject())
    assert report.problems == () and report.above == ()
    assert len(report.nearest) == 3 == report.pairs
    scores = [p.score for p in report.nearest]
    assert scores == sorted(scores, reverse=True) and scores[0] < LIMIT


def test_only_the_whole_pack_is_told_what_is_alike() -> None:
    report = examine_similarity(subject(copy_of(RENAMED), tasks=("BOA-OFF-001",)))
    assert len(report.above) == 1 and report.problems == ()


def test_a_pack_of_copies_is_listed_as_far_as_anybody_reads() -> None:
    text = boathouse()[TASKS].decode()
    block = text[text.index("- id: BOA-OFF-001") : text.index("- id: BOA-MOV-001")]
    copies = "".join(block.replace("BOA-OFF-001", f"BOA-OFF-1{n:02}") for n in range(40))
    report = examine_similarity(subject((TASKS, "- id: BOA-MOV-001", f"{copies}- id: BOA-MOV-001")))
    assert report.pairs == 43 * 42 // 2
    assert len(report.above) == MOST_ABOVE == len(report.problems) and len(report.nearest) == 10


def test_comparing_ends_when_the_time_is_over() -> None:
    late = subject()
    with pytest.raises(OutOfTime):
        examine_similarity(replace(late, until=0.0))
    with pytest.raises(OutOfTime):
        examine_provenance(replace(late, until=0.0))


_TASKS = st.lists(
    st.fixed_dictionaries(
        {
            "clauses": st.lists(st.sampled_from(["BOA-1.1", "BOA-1.2", "BOA-1.3", "BOA-2.1"]), unique=True),
            "trap": st.none()
            | st.lists(
                st.sampled_from(["fee", "boat", "day", "member", "insists", "refund", "late", "canoe"]),
                min_size=1,
            ).map(" ".join),
            "hardness": st.lists(
                st.sampled_from(["must_refuse", "computed_amount", "hidden_information"]), unique=True
            ),
            "actions": st.lists(
                st.sampled_from(
                    [
                        {"tool": "hires_call_off", "args": {"hire_id": "HIR-11", "fee": 1}},
                        {"tool": "hires_move", "args": {"hire_id": "HIR-11", "begins_on": "2026-03-18"}},
                        {
                            "tool": "tickets_close",
                            "args": {"customer_id": "CUS-1", "outcome": "refused", "summary": "x"},
                        },
                        {
                            "tool": "tickets_close",
                            "args": {"customer_id": "CUS-1", "outcome": "completed", "summary": "x"},
                        },
                        {"tool": "customers_find", "args": {"email": "x"}},
                    ]
                ),
                max_size=5,
            ),
        }
    ),
    min_size=1,
    max_size=5,
)
_SUBJECT = subject()


@given(_TASKS)
def test_likeness_is_symmetric_one_for_itself_and_within_bounds(given_tasks: list[dict[str, object]]) -> None:
    tasks = [
        Task.model_validate(
            {
                "id": f"BOA-T-{n}",
                "title": "x",
                "user": {"opening": "x", "goal": "x"},
                "expected": {"actions": t["actions"], "no_change": True},
                "clauses": t["clauses"],
                "trap": t["trap"],
                "hardness": t["hardness"],
            }
        )
        for n, t in enumerate(given_tasks)
    ]
    likeness = Likeness(tasks, _SUBJECT)
    for one in tasks:
        assert likeness.pair(one, one).score == pytest.approx(1.0)
        for other in tasks:
            pair = likeness.pair(one, other)
            assert pair.score == pytest.approx(likeness.pair(other, one).score)
            assert -1e-9 <= pair.score <= 1 + 1e-9
            assert all(-1e-9 <= value <= 1 + 1e-9 for value in pair.parts.values())


def test_the_weights_are_shares_of_one() -> None:
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)
