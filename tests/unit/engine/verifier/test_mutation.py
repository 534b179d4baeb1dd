"""Every kind of mutant is killed by a sound check and survives a weak one, for the reason that the report gives."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from assay.engine.packs import Problem
from assay.engine.verifier.loading import load
from assay.engine.verifier.mutants import KINDS, Mutant
from assay.engine.verifier.mutation import FATES, MutationReport, examine_mutants, grouped
from assay.engine.verifier.subject import Subject
from tests.unit.engine.verifier.workshop import Files, workshop

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"
COMPARISON = "comparison.yaml"
TOOLS = "tools/tools.yaml"
TASKS = "tasks/tasks.yaml"
JOBS = "columns: {note: text, parts: set}"


def subject(files: Files, *tasks: str) -> Subject:
    checked, problems = load(files)
    assert checked is not None and problems == []
    return Subject.of(checked.world, (lambda t: t in tasks) if tasks else None, 100)


def examined(*edits: tuple[str, str, str], tasks: Sequence[str] = ("WRK-JOB-001",)) -> MutationReport:
    return examine_mutants(subject(workshop(*edits), *tasks))


def passing(report: MutationReport) -> dict[str, tuple[str, ...]]:
    return {s.key: s.through for s in report.survivors}


def test_a_sound_pack_kills_every_kind() -> None:
    report = examined(tasks=())
    assert set(report.kinds) == set(KINDS)
    assert report.survivors == () and report.problems == ()
    for kind, counts in report.kinds.items():
        assert counts.get("killed", 0) > 0, kind


def test_the_library_lets_no_mutant_pass() -> None:
    checked, _ = load(LIBRARY)
    assert checked is not None
    report = examine_mutants(Subject.of(checked.world, None, 100))
    assert report.survivors == () and report.count("killed") > 40 and report.count("refused") > 5
    assert list(report.kinds) == [kind for kind in KINDS if kind in report.kinds]
    assert report.count(*FATES) == sum(sum(counts.values()) for counts in report.kinds.values())


@pytest.mark.parametrize(
    ("columns", "key", "through"),
    [
        ("price: ignore", "amount_cent:3.jobs_open.price=80.01", "jobs.price: ignore"),
        ("price: ignore", "amount_tenth:3.jobs_open.price=72.0", "jobs.price: ignore"),
        ("price: ignore", "amount_sign:3.jobs_open.price=-80", "jobs.price: ignore"),
        ("price: {tolerance: 0.05}", "amount_cent:3.jobs_open.price=79.99", "jobs.price: tolerance 0.05"),
        ("hours: ignore", "integer:3.jobs_open.hours=3", "jobs.hours: ignore"),
        ("due_on: ignore", "date:3.jobs_open.due_on=2026-03-10", "jobs.due_on: ignore"),
        ("due_on: text", "date:3.jobs_open.due_on=2026-03-08", "jobs.due_on: text"),
        ("call_at: ignore", "time:3.jobs_open.call_at=15:30", "jobs.call_at: ignore"),
        ("kind: text", "enum:3.jobs_open.kind=cleaning", "jobs.kind: text"),
        ("urgent: ignore", "boolean:3.jobs_open.urgent=false", "jobs.urgent: ignore"),
        ("street: ignore", "text:3.jobs_open.street=7 Mill Laen", "jobs.street: ignore"),
        ("machine_id: ignore", "foreign_key:3.jobs_open.machine_id=MAC-2", "jobs.machine_id: ignore"),
        ("discount: ignore", "omit:3.jobs_open.discount", "jobs.discount: ignore"),
    ],
)  # fmt: skip
def test_a_weak_rule_lets_a_mutant_through_and_is_named(columns: str, key: str, through: str) -> None:
    report = examined((COMPARISON, JOBS, f"columns: {{note: text, parts: set, {columns}}}"))
    assert passing(report).get(key) == (through,)
    (problem,) = report.problems
    argument = key.partition("=")[0].rpartition(".")[2]
    assert f"jobs_open.{argument}" in problem.message
    assert problem.code == "mutant_survives" and problem.task == "WRK-JOB-001" and through in problem.message
    lines = workshop()[TASKS].decode().splitlines()
    assert (problem.path, lines[problem.line - 1].strip()) == (TASKS, "- tool: jobs_open")


def test_a_weak_rule_for_a_list_lets_elements_go() -> None:
    report = examined((COMPARISON, "parts: set", "parts: ignore"))
    assert passing(report) == {
        "element:3.jobs_open.parts.0": ("jobs.parts: ignore",),
        "element:3.jobs_open.parts.1": ("jobs.parts: ignore",),
    }


def test_wording_that_is_not_compared_is_no_survivor() -> None:
    report = examined((COMPARISON, JOBS, "columns: {note: text, parts: set, street: text}"))
    assert report.survivors == () and report.kinds["text"]["same"] == 1


def test_an_ignored_table_lets_whole_calls_go() -> None:
    found = passing(examined((COMPARISON, "tables:\n", "ignore_tables: [charges]\ntables:\n")))
    assert found["drop:4.charges_add"] == ("charges: ignored table",)
    assert found["amount_cent:5.charges_add.amount=12.51"] == ("charges: ignored table",)
    assert not any(key.startswith("unrelated") for key in found), (
        "a write that is nobody's outcome is no mutant"
    )


def test_an_argument_without_effect_is_found() -> None:
    report = examined((TOOLS, ":hours, :urgent", "2, :urgent"))
    assert passing(report) == {
        "integer:3.jobs_open.hours=3": (),
        "integer:3.jobs_open.hours=1": (),
    }
    (problem,) = report.problems
    assert (
        "2 mutants, integer:3.jobs_open.hours=3 (a count is one off), integer:3.jobs_open.hours=1, "
        in problem.message
    )
    assert "leave the very same rows" in problem.message


def test_an_action_without_effect_is_found() -> None:
    report = examined((TOOLS, "SET status = 'stopped' WHERE", "SET status = status WHERE"))
    assert passing(report) == {
        "drop:2.machines_stop": (),
        "row:2.machines_stop.machine_id=MAC-2": (),
        "row:2.machines_stop.machine_id=MAC-3": (),
    }


def test_a_second_call_without_effect_is_the_same_and_no_finding() -> None:
    report = examined(tasks=("WRK-JOB-002",))
    assert report.kinds["double"] == {"same": 1} and report.problems == ()


def test_a_second_call_that_only_an_ignored_column_shows_survives() -> None:
    counted = (
        (TOOLS, "SET status = 'stopped' WHERE", "SET status = 'stopped', stops = stops + 1 WHERE"),
        ("world/schema.sql", "DEFAULT 'running'", "DEFAULT 'running', stops INTEGER NOT NULL DEFAULT 0"),
    )
    assert examined(*counted, tasks=("WRK-JOB-002",)).kinds["double"] == {"killed": 1}
    weak = (COMPARISON, "tables:\n", "tables:\n  machines: {columns: {stops: ignore}}\n")
    report = examined(*counted, weak, tasks=("WRK-JOB-002",))
    assert passing(report) == {"double:1.machines_stop": ("machines.stops: ignore",)}


def test_an_argument_that_the_case_does_not_have() -> None:
    report = examined(tasks=("WRK-JOB-002",))
    # guarded: true; model: Loom. That it is a press is so already.
    assert report.kinds["extra"] == {"killed": 2, "same": 1} and report.survivors == ()
    weak = (COMPARISON, "tables:\n", "tables:\n  machines: {columns: {model: ignore}}\n")
    report = examined(weak, tasks=("WRK-JOB-002",))
    assert set(passing(report)) == {"extra:1.machines_stop.guarded=true", "extra:1.machines_stop.model=Loom"}
    assert set(passing(report).values()) == {("machines.model: ignore",)} and len(report.problems) == 1


def test_what_other_tasks_give_is_tried_where_it_is_left_out() -> None:
    bare = (
        TASKS,
        "note: Shuttle sticks when cold,\n          discount: 5.5}",
        "note: Shuttle sticks when cold}",
    )
    other = (
        TASKS,
        "    no_change: true\n    actions:\n      - {tool: customers_find, args: {email: mei@chan.example}}\n",
        "    actions:\n      - tool: jobs_open\n        args: {machine_id: MAC-1, kind: cleaning, price: 9, hours: 1, urgent: false, due_on: 2026-03-10, call_at: '09:00', street: x, parts: [oil], discount: 4}\n",
    )  # fmt: skip
    weak = (COMPARISON, JOBS, "columns: {note: text, parts: set, discount: ignore}")
    assert "discount" not in " ".join(passing(examined(bare, weak)))
    assert passing(examined(bare, other, weak)) == {
        "extra:3.jobs_open.discount=4": ("jobs.discount: ignore",)
    }


def test_all_done_for_the_wrong_customer() -> None:
    report = examined((COMPARISON, "tables:\n", "ignore_tables: [machines]\ntables:\n"))
    assert not any(key.startswith("customer") for key in passing(report)), "the job is still another's"
    weak = (COMPARISON, JOBS, "columns: {note: text, parts: set, machine_id: ignore}")
    report = examined((COMPARISON, "tables:\n", "ignore_tables: [machines]\ntables:\n"), weak)
    assert passing(report)["customer:0=CUS-2"] == ("jobs.machine_id: ignore", "machines: ignored table")


def test_an_unrelated_write_that_is_not_compared_survives_only_by_its_columns() -> None:
    weak = (COMPARISON, "tables:\n", "tables:\n  machines: {columns: {status: ignore}}\n")
    report = examined(weak, tasks=("WRK-JOB-003",))
    found = [s for s in report.survivors if s.kind == "unrelated"]
    assert [s.through for s in found] == [("machines.status: ignore",)]
    assert report.kinds["unrelated"]["killed"] == 1  # another write, of a job


def test_an_outcome_that_is_accepted_too_is_no_survivor() -> None:
    also = """
    also_accept:
      - why: The press may be called for as well.
        actions:
          - {tool: machines_stop, args: {machine_id: MAC-2}}
"""
    task = "      - {tool: machines_stop, args: {machine_id: MAC-3}}\n"
    report = examined((TASKS, task, task + also.lstrip("\n")), tasks=("WRK-JOB-002",))
    assert report.survivors == () and sum(c.get("accepted", 0) for c in report.kinds.values()) >= 1


WEAK = (COMPARISON, JOBS, "columns: {note: text, parts: set, hours: ignore}")
TASK_END = "      - {tool: charges_add, args: {job_id: $job.job_id, amount: 12.5, label: Belt exchanged}}\n"


def declared(*entries: str) -> tuple[str, str, str]:
    lines = "".join(f"      - {{mutant: {entry!r}, why: Nobody counts the hours.}}\n" for entry in entries)
    return (TASKS, TASK_END, f"{TASK_END}    equivalents:\n{lines}")


@pytest.mark.parametrize(
    "entries",
    [("integer:3.jobs_open.hours=3", "integer:3.jobs_open.hours=1"), ("integer:3.jobs_open.hours=*",)],
)
def test_declared_mutants_are_shown_with_their_reason_and_are_no_findings(entries: Sequence[str]) -> None:
    report = examined(WEAK, declared(*entries))
    assert report.problems == ()
    assert report.kinds["integer"] == {"declared": 2}
    assert {s.declared for s in report.survivors} == {"Nobody counts the hours."}


def test_entries_that_name_nothing_or_need_no_entry_are_findings() -> None:
    report = examined(declared("integer:3.jobs_open.hours=7", "drop:3.jobs_open"))
    assert [p.code for p in report.problems] == ["stale_equivalent"] * 2
    first, second = sorted(report.problems, key=lambda p: p.line)
    assert "No mutant of the task is called integer:3.jobs_open.hours=7" in first.message
    assert "drop:3.jobs_open needs no entry, since it is killed" in second.message
    assert second.line == first.line + 1


def test_a_mutant_that_breaks_a_tool_is_a_finding() -> None:
    insert = "    - sql: INSERT INTO charges (job_id, amount, label) VALUES (:job_id, :amount, :label)\n"
    heavy = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < iif(:amount > 85, 100000, 1)) "
        "SELECT i FROM n"
    )
    report = examined((TOOLS, insert, f"    - many: heavy\n      sql: {heavy}\n{insert}"))
    (problem,) = report.problems
    assert problem.code == "mutant_breaks_tool"
    assert "amount_tenth:4.charges_add.amount=88.0" in problem.message


def test_the_same_mutants_every_time() -> None:
    assert examined(tasks=()).as_json() == examined(tasks=()).as_json()


def test_problems_are_problems() -> None:
    report = examined(WEAK)
    assert all(isinstance(p, Problem) for p in report.problems) and len(report.problems) == 1


def test_mutants_that_one_rule_lets_through_are_one_finding_and_all_in_the_report() -> None:
    loose = (COMPARISON, JOBS, "columns: {note: text, parts: set, price: ignore, due_on: ignore}")
    report = examined(loose)
    assert len(report.survivors) == len(report.as_json()["survivors"]) == 7
    date, price = sorted(report.problems, key=lambda p: p.message.count("price"))
    assert "2 mutants, date:3.jobs_open.due_on=2026-03-10 (a date is one day off), " in date.message
    assert "because of jobs.due_on: ignore: compare the column more strictly" in date.message
    assert "5 mutants, amount_cent:3.jobs_open.price=80.01 (an amount is one cent off), " in price.message
    assert " and 2 more, pass, because of jobs.price: ignore" in price.message


def test_a_mutant_that_two_rules_let_through_goes_with_the_one_that_lets_others_through_alone() -> None:
    def mutant(key: str) -> Mutant:
        return Mutant(key.partition(":")[0], key, 1, ())

    one, two, three, four = (mutant(f"{kind}:1.t") for kind in ("date", "drop", "omit", "enum"))
    groups = grouped(
        [
            (two, ("t.a: ignore", "t.b: ignore")),
            (one, ("t.b: ignore",)),
            (three, ("t.c: text", "t.d: text")),
            (four, ()),
        ]
    )
    assert groups == [
        ([two, one], ("t.b: ignore",)),
        ([three], ("t.c: text", "t.d: text")),
        ([four], ()),
    ]


def test_a_subject_that_happens_to_be_a_rows_name_is_wording_and_a_key_is_not() -> None:
    unique = ("world/schema.sql", "model TEXT NOT NULL,", "model TEXT NOT NULL, tag TEXT UNIQUE,")
    rows = (
        "world/seed/rows.yaml",
        "  - {id: MAC-1, customer_id: CUS-1, model: Loom}\n  - {id: MAC-2, customer_id: CUS-2, model: Loom}\n",
        "  - {id: MAC-1, customer_id: CUS-1, model: Loom, tag: shuttle}\n  - {id: MAC-2, customer_id: CUS-2, model: Loom, tag: treadle}\n",
    )  # fmt: skip
    name = examined(unique, rows, (TASKS, "note: Shuttle sticks when cold", "note: shuttle"))
    assert name.survivors == () and name.kinds["text"]["same"] == 1
    key = examined(unique, rows, (TASKS, "note: Shuttle sticks when cold", "note: MAC-1"))
    assert [s.through for s in key.survivors if ".note=" in s.key] == [("jobs.note: text",)] * 2
