"""The verification as a whole: gold, money, what is loaded, time, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.engine.packs import PackError
from assay.engine.packs.lint import check
from assay.engine.verifier import Verification, verify
from assay.engine.verifier.gold import examine_gold
from assay.engine.verifier.loading import load
from assay.engine.verifier.money import MoneyReport, examine_money
from assay.engine.verifier.subject import Subject
from assay.engine.verifier.verification import PARTS
from tests.unit.engine.verifier.workshop import workshop

COMPARISON = "comparison.yaml"
TOOLS = "tools/tools.yaml"
TASKS = "tasks/tasks.yaml"
STOP = "      - {tool: machines_stop, args: {machine_id: MAC-3}}\n"


def subject(*edits: tuple[str, str, str], task: str | None = None) -> Subject:
    checked, problems = load(workshop(*edits))
    assert checked is not None and problems == []
    return Subject.of(checked.world, (task and (lambda t: t == task)) or None, 100)


def verified(*edits: tuple[str, str, str], seconds: float = 100) -> Verification:
    checked, problems = load(workshop(*edits))
    assert checked is not None and problems == []
    return verify(checked, seconds=seconds)


def test_the_workshop_is_sound() -> None:
    found = verified()
    assert found.sound and [str(p) for p in found.problems] == []
    assert found.tasks == ("WRK-JOB-001", "WRK-JOB-002", "WRK-JOB-003")
    assert found.gold is not None
    assert found.gold.as_json() == {"tasks": 3, "actions": 7, "no_change": 1, "needs_judge": []}
    assert all(part is not None for _, part in found.parts())


def test_the_json_is_plain_and_says_all() -> None:
    found = verified((COMPARISON, "parts: set", "parts: ignore"))
    document = json.loads(json.dumps(found.as_json()))
    assert document["sound"] is False and document["pack"] == "workshop" and document["version"] == "1.0.0"
    assert set(document["parts"]) == set(PARTS) and None not in document["parts"].values()
    assert document["problems"][0] == {
        "path": TASKS,
        "line": document["problems"][0]["line"],
        "message": document["problems"][0]["message"],
        "code": "mutant_survives",
        "task": "WRK-JOB-001",
    }
    assert [p["line"] for p in document["problems"]] == sorted(p["line"] for p in document["problems"])
    assert document["parts"]["mutation"]["survived"] == 2
    assert document["parts"]["mutation"]["survivors"][0]["through"] == ["jobs.parts: ignore"]


# --- gold ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("edit", "code", "says"),
    [
        # an expected action that fails is not swallowed, be it a look-up or a write
        ((TASKS, STOP, STOP.replace("MAC-3", "MAC-9")), "action_fails", "is refused with not_found: No machine MAC-9."),
        ((TASKS, STOP, "      - {tool: customers_find, args: {email: x@y.example}}\n" + STOP), "action_fails",
         "action 1 (customers_find) is refused with not_found"),
        # nothing would do as well
        ((TASKS, STOP, "      - {tool: customers_find, args: {email: mei@chan.example}}\n"), "changes_nothing",
         "a bot that does nothing would pass"),
        ((COMPARISON, "tables:\n", "tables:\n  machines: {columns: {status: ignore}}\n"), "changes_nothing",
         "change nothing that is compared"),
    ],
)  # fmt: skip
def test_gold_that_does_not_work(edit: tuple[str, str, str], code: str, says: str) -> None:
    report = examine_gold(subject(edit, task="WRK-JOB-002"))
    (problem,) = report.problems
    assert problem.code == code and says in problem.message and problem.task == "WRK-JOB-002"
    assert problem.path == TASKS and problem.line > 0


def test_a_task_that_says_no_change_may_change_nothing() -> None:
    edit = (TASKS, "args: {email: mei@chan.example}}\n", "args: {email: mei@chan.example}}\n" + STOP)
    report = examine_gold(subject(edit, task="WRK-JOB-003"))
    assert [p.code for p in report.problems] == ["changes_something"]


def test_a_task_that_fails_is_left_out_of_the_other_parts() -> None:
    found = verified((TASKS, STOP, STOP.replace("MAC-3", "MAC-9")))
    assert [p.code for p in found.problems if p.task == "WRK-JOB-002"] == ["action_fails"]
    assert found.mutation is not None and found.mutation.count("killed") > 20


def test_a_broken_alternative_is_a_finding_and_the_rest_goes_on() -> None:
    also = (
        "    also_accept:\n      - {why: So., actions: [{tool: machines_stop, args: {machine_id: MAC-9}}]}\n"
    )
    found = verified((TASKS, STOP, STOP + also))
    assert [(p.code, p.task) for p in found.problems] == [("action_fails", "WRK-JOB-002")]
    assert found.money is not None and found.mutation is not None and found.mutation.count("killed") > 20


def test_an_alternative_that_is_none_is_a_finding() -> None:
    also = "    also_accept:\n      - {why: The same again., actions: [{tool: machines_stop, args: {machine_id: MAC-3}}]}\n"
    report = examine_gold(subject((TASKS, STOP, STOP + also), task="WRK-JOB-002"))
    (problem,) = report.problems
    assert problem.code == "same_outcome"
    assert "Alternative 1 leaves the same outcome as the expected actions" in problem.message


def test_a_task_that_needs_a_judge_is_named_and_no_finding() -> None:
    end = (TASKS, STOP, STOP + "  reply:\n    - must: Say that somebody comes tomorrow.\n")
    report = examine_gold(subject(end, task="WRK-JOB-002"))
    assert (report.needs_judge, report.problems) == (("WRK-JOB-002",), ())
    decided = (TASKS, STOP, end[2].rstrip("\n") + "\n      phrases: [tomorrow]\n")
    assert examine_gold(subject(decided, task="WRK-JOB-002")).needs_judge == ()
    reported = (TASKS, STOP, end[2].rstrip("\n") + "\n      required: false\n")
    assert examine_gold(subject(reported, task="WRK-JOB-002")).needs_judge == ()


def test_a_tool_over_its_bounds_is_found_at_the_tool() -> None:
    heavy = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < iif(:machine_id LIKE 'MAC-%', 10000000, 1)) "
        "SELECT count(*) AS c FROM n"
    )
    edit = (
        TOOLS,
        "    - sql: UPDATE machines SET status = 'stopped'",
        f"    - many: heavy\n      sql: {heavy}\n    - sql: UPDATE machines SET status = 'stopped'",
    )
    found = examine_gold(subject(edit)).problems
    assert {(p.code, p.path, p.task) for p in found} == {
        ("pack_fault", TOOLS, "WRK-JOB-001"), ("pack_fault", TOOLS, "WRK-JOB-002"),
    }  # fmt: skip
    lines = workshop(edit)[TOOLS].decode().splitlines()
    assert {lines[p.line - 1] for p in found} == {"- name: machines_stop"}


# --- one finding for one cause -------------------------------------------------------------------------


def test_free_wording_that_is_compared_is_one_finding_that_names_the_column() -> None:
    (problem,) = verified((COMPARISON, "note: text, ", "")).problems
    assert problem.code == "wording_counts" and problem.task == "WRK-JOB-001"
    assert "jobs_open.note is 'Shuttle sticks when cold'" in problem.message
    assert "give jobs.note the rule 'text' in comparison.yaml" in problem.message


def test_a_code_that_nobody_can_know_is_no_wording() -> None:
    found = verified(
        (COMPARISON, "note: text, ", ""), (TASKS, "note: Shuttle sticks when cold", "note: QX-7781")
    )
    (problem,) = found.problems
    assert problem.code == "unknowable" and "jobs_open.note is 'QX-7781'" in problem.message


# --- money --------------------------------------------------------------------------------------------


def money(*edits: tuple[str, str, str]) -> MoneyReport:
    return examine_money(subject(*edits))


def test_every_column_of_money_has_a_rule() -> None:
    report = money()
    assert report.problems == () and report.currency == "USD" and report.tasks == 1
    assert report.rules == (
        ("jobs", "discount", "given as discount", "company", 1),
        ("jobs", "price", "charged for repairs", "customer", 1),
    )
    assert report.uncounted == ("charges.amount", "charges.balance")


@pytest.mark.parametrize(
    ("edit", "says"),
    [
        ((COMPARISON, "{amount: none, balance: none}", "{balance: none}"), "WRK-JOB-001 changes charges.amount"),
        ((COMPARISON, "      price: {what: charged for repairs, paid_by: customer}\n", ""), "WRK-JOB-001 changes jobs.price"),
    ],
)  # fmt: skip
def test_a_column_without_a_rule_is_a_finding(edit: tuple[str, str, str], says: str) -> None:
    (problem,) = money(edit).problems
    assert problem.code == "no_cost_rule" and problem.path == COMPARISON and problem.line > 1
    assert says in problem.message and "paid_by: company" in problem.message


def test_money_in_a_table_that_is_not_compared_needs_no_rule() -> None:
    report = money(
        (COMPARISON, "{amount: none, balance: none}", "{balance: none}"),
        (COMPARISON, "tables:\n", "ignore_tables: [charges]\ntables:\n"),
    )
    assert report.problems == ()


def test_costs_need_a_currency() -> None:
    (problem,) = money(("pack.yaml", "currency: USD\n", "")).problems
    assert (problem.code, problem.path) == ("no_currency", "pack.yaml")


# --- loading ------------------------------------------------------------------------------------------


def test_a_broken_task_does_not_hide_the_others() -> None:
    files = workshop((TASKS, STOP, STOP.replace("machines_stop", "machines_halt")))
    checked, problems = load(files)
    assert [(p.code, p.task) for p in problems] == [("unknown_tool", "WRK-JOB-002")]
    assert checked is not None and list(checked.pack.tasks) == ["WRK-JOB-001", "WRK-JOB-003"]
    assert load(files, lambda task: task == "WRK-JOB-001")[1] == []


def test_clauses_are_not_said_to_be_without_a_task_while_a_task_cannot_be_read() -> None:
    stray = ("policy.md", "{#WRK-1.1}", "{#WRK-1.1}\n- Nobody tests this. {#WRK-9.9}")
    broken = (TASKS, STOP, STOP.replace("args:", "args"))
    checked, problems = load(workshop(stray, broken))
    assert checked is not None and {p.code for p in problems} == {"yaml_syntax"}
    found = verify(checked)
    assert found.problems == () and found.coverage is not None
    assert "WRK-9.9" in found.coverage.uncovered and found.coverage.as_json()["complete"] is False
    whole, _ = load(workshop(stray))
    assert whole is not None and [p.code for p in verify(whole).problems] == ["clause_without_task"]


def test_a_task_that_does_not_play_still_counts_for_its_clauses() -> None:
    found = verified((TASKS, STOP, STOP.replace("MAC-3", "MAC-9")))
    assert [p.code for p in found.problems] == ["action_fails"]


def test_tasks_that_a_bot_passes_which_does_nothing_are_told() -> None:
    found = verified()
    assert found.endings is not None and found.endings.idle == ("WRK-JOB-003",)
    assert found.endings.as_json()["passed_by_doing_nothing"] == ["WRK-JOB-003"]
    reply = "  reply:\n    - {must: Refuse., phrases: [[cannot, may not]]}\n"
    last = "      - {tool: customers_find, args: {email: mei@chan.example}}\n"
    judged = verified((TASKS, last, last + reply))
    assert judged.endings is not None and judged.endings.idle == ()


def test_a_broken_tool_is_told_and_nothing_is_verified() -> None:
    checked, problems = load(workshop((TOOLS, "SET status = 'stopped'", "SET state = 'stopped'")))
    assert checked is None and [p.code for p in problems] == ["bad_sql"]


def test_no_pack_at_all(tmp_path: Path) -> None:
    with pytest.raises(PackError) as caught:
        load(tmp_path)
    assert [p.code for p in caught.value.problems] == ["no_manifest"]


# --- time ---------------------------------------------------------------------------------------------


def test_a_verification_ends_in_time_and_says_so() -> None:
    found = verified(seconds=0)
    (problem,) = found.problems
    assert problem.code == "verification_too_long" and "ended in 'gold'" in problem.message
    assert found.gold is None and found.as_json()["parts"]["mutation"] is None and not found.sound


def test_parts_of_the_pack_as_a_whole_say_nothing_of_some_tasks() -> None:
    checked = check(workshop(("policy.md", "{#WRK-1.1}", "{#WRK-1.1}\n- Nobody tests this. {#WRK-9.9}")))
    assert [p.code for p in verify(checked).problems] == ["clause_without_task"]
    assert verify(checked, tasks=lambda task: task == "WRK-JOB-002").sound
