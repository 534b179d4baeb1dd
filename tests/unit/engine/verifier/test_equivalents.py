"""What is as good as the expected calls passes, and a pack that fails it is told why."""

from __future__ import annotations

import pytest

from assay.engine.verifier.equivalents import KINDS, EquivalentsReport, examine_equivalents
from assay.engine.verifier.loading import load
from assay.engine.verifier.subject import Subject
from assay.engine.verifier.wording import reworded
from tests.unit.engine.verifier.workshop import workshop

COMPARISON = "comparison.yaml"
TOOLS = "tools/tools.yaml"
TASKS = "tasks/tasks.yaml"
CHARGE = "    - sql: INSERT INTO charges (job_id, amount, label) VALUES (:job_id, :amount, :label)\n"


def examined(*edits: tuple[str, str, str], task: str = "WRK-JOB-001") -> EquivalentsReport:
    checked, problems = load(workshop(*edits))
    assert checked is not None and problems == []
    return examine_equivalents(Subject.of(checked.world, lambda t: t == task, 100))


def test_a_sound_task_passes_them_all() -> None:
    report = examined()
    assert report.problems == ()
    assert report.as_json() == {
        "look_ups": {"passed": 2, "failed": 0, "refused": 0, "ordered": 0},
        "numbers": {
            "passed": 3,
            "failed": 0,
            "refused": 0,
            "ordered": 0,
        },  # price, hours, amount; 5.5 has one form
        "wording": {"passed": 3, "failed": 0, "refused": 0, "ordered": 0},  # note and two labels
        "order": {"passed": 2, "failed": 0, "refused": 0, "ordered": 0},  # stop and open; two charges
    }
    assert list(report.kinds) == list(KINDS)


def test_wording_that_is_compared_is_a_finding_where_it_stands() -> None:
    report = examined((COMPARISON, "note: text, ", ""))
    (problem,) = report.problems
    assert problem.code == "wording_counts" and report.kinds["wording"] == {"passed": 2, "failed": 1}
    assert "jobs_open.note in other words leaves another outcome (jobs.note: exact)" in problem.message
    lines = workshop()[TASKS].decode().splitlines()
    assert "note: Shuttle sticks when cold" in lines[problem.line - 1]


@pytest.mark.parametrize(
    "known",
    [
        (
            "opening: My loom has stopped and I need it soon.",
            "opening: 'Please write: shuttle sticks when cold.'",
        ),
        ("value: 7 Mill Lane}", "value: 7 Mill Lane}\n      - {key: words, value: Shuttle sticks when cold}"),
    ],
)
def test_words_that_somebody_said_are_not_free(known: tuple[str, str]) -> None:
    report = examined((COMPARISON, "note: text, ", ""), (TASKS, *known))
    assert report.problems == () and report.kinds["wording"] == {"passed": 2}


def test_words_of_the_policy_are_not_free() -> None:
    edit = ("policy.md", "Urgent repairs are", 'Write "Shuttle sticks when cold". Urgent repairs are')
    assert examined((COMPARISON, "note: text, ", ""), edit).problems == ()


def test_a_number_that_is_kept_as_text_is_a_finding() -> None:
    report = examined(
        ("world/schema.sql", "price REAL NOT NULL", "price TEXT NOT NULL"), (TOOLS, ":price, :hours", "CAST(:price AS TEXT), :hours")
    )  # fmt: skip
    (problem,) = report.problems
    assert problem.code == "number_form_counts" and problem.task == "WRK-JOB-001"
    assert (
        "jobs_open.price given as 80.0 instead of 80 leaves another outcome (jobs.price: exact)"
        in problem.message
    )


def test_rows_that_carry_running_numbers_are_a_finding() -> None:
    numbered = CHARGE.replace(
        "(job_id, amount, label) VALUES (:job_id, :amount, :label)",
        "(job_id, amount, label, balance) VALUES (:job_id, :amount, :label, "
        "(SELECT total(amount) FROM charges WHERE job_id = :job_id) + :amount)",
    )
    report = examined((TOOLS, CHARGE, numbered))
    (problem,) = report.problems
    assert problem.code == "order_counts"
    assert "Actions 4 and 5 in the other order" in problem.message
    assert "charges.balance: exact" in problem.message
    weak = (COMPARISON, "columns: {label: text}", "columns: {label: text, balance: ignore}")
    assert examined((TOOLS, CHARGE, numbered), weak).problems == ()


def test_calls_that_build_on_each_other_have_an_order() -> None:
    """The job notes what the machine's status was when it was opened: first the stop, then the job."""
    depends = (
        (TOOLS, "INSERT INTO jobs (id,", "INSERT INTO jobs (status, id,"),
        (TOOLS, "VALUES (next_id('JOB'),", "VALUES ((SELECT status FROM machines WHERE id = :machine_id), next_id('JOB'),"),
        ("world/schema.sql", "note TEXT, discount", "note TEXT, status TEXT, discount"),
    )  # fmt: skip
    report = examined(*depends)
    assert report.problems == ()
    assert report.kinds["order"] == {"ordered": 1, "passed": 1}


def test_calls_that_the_tool_takes_in_one_order_only_are_no_variant() -> None:
    insert = "    - one: job\n      sql: >-\n        INSERT INTO jobs (id,"
    stopped = "SELECT status = 'stopped' FROM machines WHERE id = :machine_id"
    requires = f"    - require: {stopped}\n      otherwise: {{error: invalid_state, message: It runs.}}\n"
    report = examined((TOOLS, insert, requires + insert))
    assert report.problems == () and report.kinds["order"] == {"refused": 1, "passed": 1}


def test_a_task_without_writes_has_look_ups_only() -> None:
    report = examined(task="WRK-JOB-003")
    assert {kind: dict(counts) for kind, counts in report.kinds.items() if counts} == {
        "look_ups": {"passed": 2}
    }


@pytest.mark.parametrize("text", ["refund", "one two", "a a", "  spaced   out  ", "ä"])
def test_other_words_are_others(text: str) -> None:
    assert reworded(text) != text and reworded(text).strip()
