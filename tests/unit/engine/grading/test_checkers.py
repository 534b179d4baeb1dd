"""Checks of plugins: what they see, and what happens when they break."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from assay.engine.dialogue.transcript import BotMessage, Termination, Transcript, UserMessage
from assay.engine.grading.checkers import run_checkers_aside, trial_views
from assay.engine.grading.verdict import Category
from assay.engine.sandbox import ChangeSet
from assay_sdk import CheckResult, Evidence, Outcome, PlatformFault, ProviderOutage, TrialView
from tests.unit.engine.grading.conftest import Play, Stage

RENEW = ("loans_renew", {"loan_id": "LN-1", "days": 7})


class Check:
    def __init__(self, work: Callable[[TrialView], Any]) -> None:
        self.check = work


def passing(view: TrialView) -> CheckResult:
    return CheckResult("its own name", Outcome.PASS, required=False, reward=0.5)


def failing(view: TrialView) -> CheckResult:
    return CheckResult(
        "x", Outcome.FAIL, required=False, reward=0.25, evidence=(Evidence("Too curt.", turn=2),)
    )


def raising(view: TrialView) -> CheckResult:
    raise RuntimeError("out of order")


def exiting(view: TrialView) -> CheckResult:
    raise SystemExit(3)


def test_a_check_sees_the_trial_as_plain_values(play: Play) -> None:
    seen: list[TrialView] = []

    def look(view: TrialView) -> CheckResult:
        seen.append(view)
        return passing(view)

    verdict = play(
        "LIB-LOAN-001", RENEW, "Done.", checkers=[("manners", Check(look), True)], notes={"fault": "none"}
    )
    view = seen[0]
    assert view.task["id"] == "LIB-LOAN-001"
    assert view.task["expected"]["actions"][0]["as"] is None
    assert [e["type"] for e in view.events] == ["user", "tool", "bot"]
    assert [(c["table"], c["op"], c["key"], c["call"]) for c in view.changes] == [
        ("loans", "update", ["LN-1"], 0)
    ]
    assert view.termination == "user_done"
    assert "fault" not in repr(view.events)  # what the bot notes about itself is no evidence
    check = verdict.checks[-1]
    assert (check.name, check.required, check.reward) == ("manners", True, 0.5)  # as the run configured it


def test_only_a_required_check_that_fails_fails_the_trial(play: Play) -> None:
    assert play("LIB-LOAN-001", RENEW, "Ok", checkers=[("m", Check(failing), False)]).outcome is Outcome.PASS
    verdict = play("LIB-LOAN-001", RENEW, "Ok", checkers=[("m", Check(failing), True)])
    assert (verdict.outcome, verdict.category) == (Outcome.FAIL, Category.INCOMPLETE_RESPONSE)
    assert verdict.explanation.startswith("The database is right, but the check 'm' failed: too curt.")


def test_one_check_cannot_spoil_what_the_next_one_sees(play: Play) -> None:
    def vandal(view: TrialView) -> CheckResult:
        view.events.clear()  # type: ignore[attr-defined]
        view.task["id"] = "X"  # type: ignore[index]
        return passing(view)

    seen: list[TrialView] = []
    look = Check(lambda view: (seen.append(view), passing(view))[1])
    play("LIB-LOAN-001", RENEW, "Ok", checkers=[("vandal", Check(vandal), False), ("look", look, False)])
    assert len(seen[0].events) == 3 and seen[0].task["id"] == "LIB-LOAN-001"


BROKEN: dict[str, Callable[[TrialView], Any]] = {
    "raised RuntimeError: out of order": raising,
    "raised SystemExit: 3": exiting,
    "returned a NoneType that is no CheckResult": lambda view: None,
    "gave the reward 7; it must be from 0 to 1": lambda view: CheckResult("x", Outcome.PASS, False, 7),
    "gave the reward nan; it must be from 0 to 1": lambda view: CheckResult(
        "x", Outcome.PASS, False, float("nan")
    ),
    "gave evidence that is no Evidence": lambda view: CheckResult(
        "x", Outcome.PASS, False, 1.0, ("see there",)
    ),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("says", "work"), BROKEN.items())
def test_a_check_that_breaks_voids_the_trial_when_required_and_is_reported_otherwise(
    play: Play, says: str, work: Callable[[TrialView], Any]
) -> None:
    with pytest.raises(PlatformFault) as fault:
        play("LIB-LOAN-001", RENEW, "Ok", checkers=[("m", Check(work), True)])
    assert str(fault.value) == f"The check 'm' {says}."
    assert fault.value.cause == "plugin_fault"
    verdict = play("LIB-LOAN-001", RENEW, "Ok", checkers=[("m", Check(work), False)])
    assert verdict.outcome is Outcome.PASS
    check = verdict.checks[-1]
    assert (check.outcome, check.required, check.reward) == (Outcome.CANNOT_TELL, False, 0.0)
    assert check.evidence[0].message == f"The check 'm' {says}."


def test_an_outage_inside_a_required_check_keeps_its_cause(play: Play) -> None:
    def outage(view: TrialView) -> CheckResult:
        raise ProviderOutage("the judge does not answer")

    with pytest.raises(PlatformFault) as fault:
        play("LIB-LOAN-001", RENEW, "Ok", checkers=[("m", Check(outage), True)])
    assert fault.value.cause == "provider_outage"


def test_a_required_check_that_cannot_tell_leaves_the_trial_undecided(play: Play) -> None:
    unsure = Check(lambda view: CheckResult("x", Outcome.CANNOT_TELL, False, 0.0))
    assert play("LIB-LOAN-001", RENEW, "Ok", checkers=[("m", unsure, True)]).outcome is Outcome.CANNOT_TELL
    assert play("LIB-LOAN-001", RENEW, "Ok", checkers=[("m", unsure, False)]).outcome is Outcome.PASS


async def test_a_check_that_hangs_holds_up_neither_the_loop_nor_the_others(library: Stage) -> None:
    release = threading.Event()
    hanging = Check(lambda view: release.wait(60))
    transcript = Transcript((UserMessage("Hi"), BotMessage("Ho")), Termination.USER_DONE)
    views = trial_views(library.task("LIB-LOAN-001"), transcript, ChangeSet(()))
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(0)

    ticking = asyncio.create_task(tick())
    started = time.monotonic()
    try:
        results = await run_checkers_aside(
            [("slow", hanging, False), ("m", Check(passing), False)], views, patience=0.2
        )
        with pytest.raises(PlatformFault) as fault:
            await run_checkers_aside([("slow", hanging, True)], views, patience=0.1)
    finally:
        release.set()
        ticking.cancel()
    assert [r.outcome for r in results] == [Outcome.CANNOT_TELL, Outcome.PASS]
    assert str(fault.value) == "The check 'slow' did not answer within 0.1 seconds."
    assert ticks > 10 and time.monotonic() - started < 30


def test_a_checker_with_parts_gives_a_check_for_each(play: Play) -> None:
    def parts(view: TrialView) -> list[CheckResult]:
        return [
            CheckResult("brevity", Outcome.PASS, required=False, reward=1.0),
            CheckResult("clarity", Outcome.FAIL, required=False, reward=0.25, evidence=(Evidence("Long."),)),
        ]

    verdict = play("LIB-LOAN-001", RENEW, "Ok", checkers=[("manners", Check(parts), False)])
    assert verdict.outcome is Outcome.PASS
    assert [(c.name, c.outcome, c.required, c.reward) for c in verdict.checks[-2:]] == [
        ("manners.brevity", Outcome.PASS, False, 1.0),
        ("manners.clarity", Outcome.FAIL, False, 0.25),
    ]
    required = play("LIB-LOAN-001", RENEW, "Ok", checkers=[("manners", Check(parts), True)])
    assert required.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ([], "returned 0 results"),
        ([CheckResult("Not So", Outcome.PASS, False, 1.0)], "named a part 'Not So'"),
        ([CheckResult("a", Outcome.PASS, False, 1.0)] * 2, "two results for one part"),
        ([CheckResult("a", Outcome.PASS, False, 1.0), "b"], "named a part None"),
        ([CheckResult("a", Outcome.PASS, False, 2.0)], "must be from 0 to 1"),
        ("passed", "is no CheckResult"),
    ],
)
def test_parts_that_do_not_fit_are_reported_by_the_checkers_name(play: Play, given: Any, says: str) -> None:
    verdict = play("LIB-LOAN-001", RENEW, "Ok", checkers=[("m", Check(lambda view: given), False)])
    last = verdict.checks[-1]
    assert (last.name, last.outcome) == ("m", Outcome.CANNOT_TELL)
    assert says in last.evidence[0].message
