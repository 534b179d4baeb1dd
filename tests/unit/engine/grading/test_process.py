"""Process rules, over what was said, called and written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.engine.dialogue.transcript import BotMessage, Event, Termination, ToolCall, Transcript, UserMessage
from assay.engine.grading.consent import read_reply
from assay.engine.grading.process import check_process
from assay.engine.packs import PackError, load_pack_bytes
from assay.engine.packs.checks import ProcessRule, TaskChecks
from assay.engine.packs.loader import read_files
from assay.engine.sandbox import World
from assay_sdk import CheckResult, Outcome

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"
FIND = ("members_find", {"email": "ada.brook@example.org"})
RENEW = ("loans_renew", {"loan_id": "LN-1", "days": 7})
FEE = ("fees_record", {"loan_id": "LN-4", "amount": 1.5})


def prepared(checks: str = "") -> World:
    return World.prepare(load_pack_bytes({**read_files(LIBRARY), "checks.yaml": checks.encode()}))


@pytest.fixture(scope="module")
def world() -> World:
    return prepared()


Step = str | UserMessage | tuple[str, dict[str, Any]]


def checked(world: World, rule: dict[str, Any], *steps: Step, task: str = "LIB-LOAN-001") -> CheckResult:
    """The check of one rule over a trial that is really played."""
    own = TaskChecks(process=(ProcessRule.model_validate({"id": "it", **rule}),))
    it = world.pack.tasks[task].model_copy(update={"checks": own})
    events: list[Event] = [UserMessage(it.user.opening)]
    with world.open(task) as sandbox:
        number = 0
        for step in steps:
            if isinstance(step, str):
                events.append(BotMessage(step))
            elif isinstance(step, UserMessage):
                events.append(step)
            else:
                out = sandbox.call(*step)
                events.append(
                    ToolCall(
                        number,
                        step[0],
                        out.kind,
                        out.arguments,
                        out.ok,
                        out.content,
                        out.error,
                        out.message,
                        out.empty,
                        out.wrote,
                    )
                )
                number += 1
        (check,) = check_process(
            world, it, Transcript(tuple(events), Termination.USER_DONE), sandbox.changes()
        )
    assert check.name == "process:it"
    assert check.evidence
    assert check.reward == float(check.outcome is Outcome.PASS)
    return check


def test_a_write_only_after_a_call_that_succeeded(world: World) -> None:
    rule = {"before": "members_find", "writes": ["loans"]}
    assert checked(world, rule, FIND, RENEW).outcome is Outcome.PASS
    assert checked(world, rule, "Hello.").outcome is Outcome.PASS
    check = checked(world, rule, RENEW, FIND)
    assert check.outcome is Outcome.FAIL
    assert (check.evidence[0].call, check.evidence[0].table) == (0, "loans")
    assert not check.required


def test_a_call_that_failed_does_not_come_before_anything(world: World) -> None:
    rule = {"before": "members_find", "writes": ["loans"]}
    bad = ("members_find", {"e_mail": "x"})
    assert checked(world, rule, bad, RENEW).outcome is Outcome.FAIL


def test_a_write_that_was_refused_breaks_no_rule(world: World) -> None:
    rule = {"before": "members_find", "writes": ["loans"], "required": True}
    check = checked(world, rule, ("loans_renew", {"loan_id": "LN-99", "days": 7}))
    assert (check.outcome, check.required) == (Outcome.PASS, True)


def test_a_call_with_a_certain_result(world: World) -> None:
    rule = {"before": "members_find", "with": {"member_id": "MEM-1"}, "calls": ["loans_renew"]}
    other = ("members_find", {"email": "ben.okoro@example.org"})
    assert checked(world, rule, FIND, RENEW).outcome is Outcome.PASS
    check = checked(world, rule, other, RENEW)
    assert check.outcome is Outcome.FAIL
    assert "with member_id MEM-1" in check.evidence[0].message


def test_a_table_that_another_call_wrote_over_cannot_be_told(world: World) -> None:
    rule = {"before": "members_find", "writes": ["members"]}
    again = ("members_update", {"member_id": "MEM-3", "interests": ["maps"]})
    assert checked(world, rule, FEE).outcome is Outcome.FAIL
    assert checked(world, rule, FEE, FIND).outcome is Outcome.FAIL
    assert checked(world, rule, FEE, FIND, again).outcome is Outcome.CANNOT_TELL


def test_at_most_so_many_calls(world: World) -> None:
    rule = {"at_most": 1, "tool": "loans_renew", "per": "loan_id"}
    other = ("loans_renew", {"loan_id": "LN-2", "days": 7})
    refused = ("loans_renew", {"loan_id": "LN-1", "days": -1})
    assert checked(world, rule, RENEW, other, refused).outcome is Outcome.PASS
    check = checked(world, rule, RENEW, other, RENEW)
    assert check.outcome is Outcome.FAIL
    assert check.evidence[0].call == 2
    assert "2nd of loans_renew for loan_id ln-1" in check.evidence[0].message
    assert checked(world, {"at_most": 1, "tool": "loans_renew"}, RENEW, other).outcome is Outcome.FAIL


def test_a_call_that_may_never_be_made(world: World) -> None:
    rule = {"never": "fees_record"}
    assert checked(world, rule, RENEW).outcome is Outcome.PASS
    assert checked(world, rule, FEE).outcome is Outcome.FAIL


YES, NO = UserMessage("Yes, please go ahead."), UserMessage("No, I do not want that.")
ASKS = "I can renew Statistics for Surveyors until 11 May. Shall I?"


@pytest.mark.parametrize(
    ("steps", "outcome"),
    [
        ((ASKS, YES, RENEW), Outcome.PASS),
        ((ASKS, UserMessage("好的。请办理。"), RENEW), Outcome.PASS),
        ((ASKS, YES, "What is your address?", UserMessage("ada.brook@example.org"), RENEW), Outcome.PASS),
        (("Renewing LN-1 costs nothing.", UserMessage("That is fine with me."), RENEW), Outcome.PASS),
        ((ASKS, NO, RENEW), Outcome.FAIL),
        ((ASKS, UserMessage("不要这样办理。"), RENEW), Outcome.FAIL),
        ((ASKS, YES, "So I renew it?", UserMessage("No, wait."), RENEW), Outcome.FAIL),
        ((RENEW,), Outcome.FAIL),
        ((ASKS, RENEW, YES), Outcome.FAIL),
        (("What is your e-mail address?", UserMessage("ada.brook@example.org"), RENEW), Outcome.FAIL),
        ((ASKS, UserMessage("Yes, but only if it is free."), RENEW), Outcome.CANNOT_TELL),
        ((ASKS, UserMessage("What would that cost?"), RENEW), Outcome.CANNOT_TELL),
        (("Is that all?", YES, RENEW), Outcome.CANNOT_TELL),
        ((ASKS, NO), Outcome.PASS),
    ],
)
def test_the_customer_agreed_before_a_call(world: World, steps: tuple[Step, ...], outcome: Outcome) -> None:
    check = checked(world, {"confirm_before": "loans_renew"}, *steps)
    assert check.outcome is outcome, check.evidence


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("Yes.", Outcome.PASS),
        ("OK, do it", Outcome.PASS),
        ("No problem, go ahead.", Outcome.PASS),
        ("I don't mind, yes.", Outcome.PASS),
        ("可以。没问题。", Outcome.PASS),
        ("Nope", Outcome.FAIL),
        ("Please don't.", Outcome.FAIL),
        ("不用了。谢谢。", Outcome.FAIL),
        ("Yes... no, wait.", Outcome.CANNOT_TELL),
        ("The order number is ORD-1.", Outcome.CANNOT_TELL),
        ("Sure, if it is free", Outcome.CANNOT_TELL),
    ],
)
def test_how_a_reply_is_read(text: str, outcome: Outcome) -> None:
    assert read_reply(text) is outcome


def test_rules_of_the_pack_hold_for_all_tasks_but_those_that_skip_them() -> None:
    world = prepared("process:\n  - {id: no-fees, never: fees_record, clause: LIB-3.1, required: true}\n")
    task = world.pack.tasks["LIB-LOAN-001"]
    empty = Transcript((), Termination.USER_DONE)
    with world.open(task.id) as sandbox:
        (check,) = check_process(world, task, empty, sandbox.changes())
        assert (check.name, check.required) == ("process:no-fees", True)
        skips = task.model_copy(update={"checks": TaskChecks(skip=("no-fees",))})
        assert check_process(world, skips, empty, sandbox.changes()) == []


@pytest.mark.parametrize(
    ("rule", "line", "says"),
    [
        ("{id: a, never: fees_recrod}", 2, "no tool 'fees_recrod'"),
        ("{id: a, at_most: 1, tool: loans_renew, per: loan}", 2, "no argument 'loan'"),
        ("{id: a, before: members_find, writes: [loan]}", 2, "no table loan"),
        ("{id: a, never: fees_record, clause: LIB-99}", 2, "no clause LIB-99"),
        ("{id: a, never: fees_record, before: members_find, writes: [loans]}", 2, "exactly one of"),
        ("{id: a, before: members_find}", 2, "needs 'writes"),
        ("{id: a, never: fees_record, per: loan_id}", 2, "'per' goes with"),
        ("{id: a, at_most: 0, tool: fees_record}", 2, "at_most"),
        ("{id: a, never: fees_record}\n  - {id: a, never: loans_renew}", 3, "already"),
    ],
)
def test_a_rule_that_cannot_hold_is_told_with_its_line(rule: str, line: int, says: str) -> None:
    with pytest.raises(PackError) as error:
        prepared(f"process:\n  - {rule}\n")
    (problem,) = error.value.problems
    assert (problem.path, problem.line) == ("checks.yaml", line)
    assert says in problem.message
