"""One trial: its record, its seed, and who is at fault for what."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.engine.dialogue import conversation
from assay.engine.dialogue.limits import Limits
from assay.engine.trial import TrialRecord, run_trial, seed_for
from assay_sdk import (
    BotContext,
    CheckResult,
    Evidence,
    NoOptions,
    Outcome,
    PersonaType,
    UserLine,
    UserScript,
)
from tests.unit.engine.actors import RENEW, Actor, down, lab_of, library, right, wrong

TASK = "LIB-LOAN-001"


async def test_a_right_trial_passes_and_its_record_holds_all_the_evidence() -> None:
    record = await run_trial(lab_of(right), TASK, 3, 77, 1)
    assert (record.task, record.group, record.index, record.attempt) == (TASK, "loan", 3, 1)
    assert (record.status, record.void_cause) == ("passed", None)
    assert record.seed == seed_for(77, TASK, 3, 1)
    assert [e["type"] for e in record.transcript["events"]] == ["user", "tool", "bot"]
    assert record.transcript["termination"] == "bot_closed"
    assert [(c["table"], c["key"], c["call"]) for c in record.changes] == [("loans", ["LN-1"], 0)]
    assert record.verdict is not None and record.verdict["outcome"] == "pass"
    assert record.notes == {"drew": "nothing"}
    assert record.seconds >= 0 and record.started_at.endswith("+00:00")
    outcome = record.outcome()
    assert (outcome.task, outcome.group, outcome.status, outcome.category) == (TASK, "loan", "passed", None)


async def test_a_wrong_trial_fails_with_all_that_statistics_need() -> None:
    outcome = (await run_trial(lab_of(wrong), TASK, 0, 1, 0)).outcome()
    assert (outcome.status, outcome.category) == ("failed", "incorrect_state_update")
    assert (outcome.s1, outcome.s2, outcome.s3) == (True, True, True)
    assert outcome.fingerprint and outcome.explanation
    assert outcome.void_cause is None


async def test_a_record_survives_json() -> None:
    for doing in (right, wrong, down):
        record = await run_trial(lab_of(doing), TASK, 0, 1, 0)
        assert TrialRecord.from_json(json.loads(json.dumps(record.as_json(), allow_nan=False))) == record
    assert isinstance(record.as_json()["seed"], str)  # 63 bits are more than JavaScript holds


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"status": "running"}, "passed, failed or void"),
        ({"index": "three"}, "'index' of a trial cannot be 'three'"),
        ({"seed": "x"}, "'seed'"),
        ({"transcript": []}, "'transcript'"),
    ],
)
async def test_what_is_no_record_is_refused_with_a_sentence(change: dict[str, Any], says: str) -> None:
    data = (await run_trial(lab_of(right), TASK, 0, 1, 0)).as_json()
    with pytest.raises(ValueError, match=says):
        TrialRecord.from_json({**data, **change})
    del data["verdict"]
    with pytest.raises(ValueError, match="a trial needs verdict"):
        TrialRecord.from_json(data)


def test_seeds_differ_by_everything_and_stay_the_same_for_ever() -> None:
    assert seed_for(1, TASK, 0, 0) == 9119371420837765711
    seeds = {
        seed_for(r, t, i, a) for r in (1, 2) for t in (TASK, "LIB-X-1") for i in range(20) for a in range(3)
    }
    assert len(seeds) == 2 * 2 * 20 * 3
    assert all(0 <= s < 2**63 for s in seeds)


# --- faults -------------------------------------------------------------------------------------


async def test_an_outage_makes_the_trial_void_and_never_failed() -> None:
    record = await run_trial(lab_of(down), TASK, 0, 1, 0)
    assert (record.status, record.void_cause, record.verdict) == ("void", "provider_outage", None)
    assert record.outcome().category is None


async def test_an_outage_after_a_wrong_write_is_void_all_the_same() -> None:
    def write_then_fall(context: BotContext) -> Sequence[tuple[str, Mapping[str, Any]]]:
        return [*wrong(context), ("explode", {})]

    class Falls(Actor):
        async def open(self, context: BotContext) -> Any:
            session = await super().open(context)
            respond = session.respond

            async def and_fall(message: str) -> Any:
                await respond(message)
                return down(context)

            session.respond = and_fall  # type: ignore[method-assign]
            return session

    lab = lab_of(write_then_fall)
    record = await run_trial(type(lab)(lab.world, Falls(write_then_fall)), TASK, 0, 1, 0)
    assert (record.status, record.void_cause) == ("void", "provider_outage")
    assert record.changes  # what had happened is kept


async def test_a_bot_that_breaks_fails_and_is_not_void() -> None:
    class Breaks(Actor):
        async def open(self, context: BotContext) -> Any:
            session = await super().open(context)

            async def boom(message: str) -> Any:
                from assay_sdk import BotFault

                raise BotFault("the bot fell over")

            session.respond = boom  # type: ignore[method-assign]
            return session

    lab = lab_of(right)
    record = await run_trial(type(lab)(lab.world, Breaks(right)), TASK, 0, 1, 0)
    assert (record.status, record.void_cause) == ("failed", None)
    assert record.outcome().s1 is False


async def test_a_limit_reached_is_the_bots_failure_even_with_the_right_database() -> None:
    def calls_on(context: BotContext) -> Sequence[tuple[str, Mapping[str, Any]]]:
        return [RENEW, *[("members_find", {"email": "ada.brook@example.org"})] * 9]

    record = await run_trial(lab_of(calls_on, limits=Limits(tool_calls=5)), TASK, 0, 1, 0)
    assert record.status == "failed"
    assert record.transcript["termination"] == "tool_call_limit"
    assert record.outcome().category == "incomplete_response"


async def test_a_rule_that_needs_a_judge_makes_the_trial_void_under_a_cause_of_its_own() -> None:
    import dataclasses

    world = library()
    task = world.pack.tasks[TASK]
    rule = type(world.pack.tasks["LIB-FEE-001"].reply[0])(must="apologise")
    pack = dataclasses.replace(world.pack, tasks={TASK: task.model_copy(update={"reply": (rule,)})})
    lab = lab_of(right)
    record = await run_trial(type(lab)(type(world).prepare(pack), lab.connector), TASK, 0, 1, 0)
    assert (record.status, record.void_cause) == ("void", "cannot_tell")
    assert record.verdict is not None and record.verdict["outcome"] == "cannot_tell"


async def test_an_unknown_task_is_the_packs_fault() -> None:
    record = await run_trial(lab_of(right), "LIB-NO-1", 0, 1, 0)
    assert (record.status, record.void_cause) == ("void", "pack_fault")
    assert record.transcript["detail"] == "The pack has no task 'LIB-NO-1'."


async def test_a_persona_or_required_check_that_breaks_is_a_plugin_fault() -> None:
    def broken(options: Any, seed: int) -> Any:
        raise RuntimeError("no manners")

    persona = PersonaType("rude", "Rude", "everything", "nothing", NoOptions, broken)
    record = await run_trial(lab_of(right, persona=persona, persona_options=NoOptions()), TASK, 0, 1, 0)
    assert (record.status, record.void_cause) == ("void", "plugin_fault")
    assert "rude" in record.transcript["detail"]

    class Raises:
        def check(self, trial: Any) -> CheckResult:
            raise RuntimeError("out of order")

    void = await run_trial(lab_of(right, checkers=(("m", Raises(), True),)), TASK, 0, 1, 0)
    assert (void.status, void.void_cause) == ("void", "plugin_fault")
    reported = await run_trial(lab_of(right, checkers=(("m", Raises(), False),)), TASK, 0, 1, 0)
    assert reported.status == "passed"
    assert reported.verdict is not None
    assert reported.verdict["checks"][-1]["outcome"] == Outcome.CANNOT_TELL.value


async def test_what_a_check_says_is_kept_as_text_that_every_store_can_hold() -> None:
    class Odd:
        def check(self, trial: Any) -> CheckResult:
            evidence = Evidence("nul \x00 and half a pair \ud800", row={"x": float("inf")})
            return CheckResult("odd", Outcome.FAIL, required=False, reward=0.0, evidence=(evidence,))

    record = await run_trial(lab_of(right, checkers=(("odd", Odd(), False),)), TASK, 0, 1, 0)
    assert record.verdict is not None
    (kept,) = record.verdict["checks"][-1]["evidence"]
    assert (kept["message"], kept["row"]) == ("nul \ufffd and half a pair ?", {"x": "inf"})


async def test_a_connector_that_breaks_in_its_own_code_is_never_the_bots_failure() -> None:
    class Broken(Actor):
        async def open(self, context: BotContext) -> Any:
            raise KeyError("a bug in the connector")

    lab = lab_of(right)
    record = await run_trial(type(lab)(lab.world, Broken(right)), TASK, 0, 1, 0)
    assert record.status == "void"
    assert record.void_cause in ("plugin_fault", "internal_error")


async def test_cancelling_is_the_only_thing_that_gets_out() -> None:
    class Waits(Actor):
        async def open(self, context: BotContext) -> Any:
            await asyncio.Event().wait()

    lab = lab_of(right)
    trial = asyncio.create_task(run_trial(type(lab)(lab.world, Waits(right)), TASK, 0, 1, 0))
    await asyncio.sleep(0.05)
    trial.cancel()
    with pytest.raises(asyncio.CancelledError):
        await trial


async def test_only_a_synthetic_connector_is_given_the_answer_key() -> None:
    lab = lab_of(right)
    await run_trial(lab, TASK, 0, 1, 0)
    actor = lab.connector
    assert isinstance(actor, Actor)
    assert actor.contexts[0].answer_key is None


class Slow:
    """A customer who thinks before every line."""

    def __init__(self, script: UserScript) -> None:
        self._script = script

    async def open(self) -> UserLine:
        await asyncio.sleep(0.3)
        return UserLine(f"{self._script.goal} - quickly!")

    async def answer(self, bot_message: str) -> UserLine:
        await asyncio.sleep(0.3)
        return UserLine("Bye.", done=True)


async def test_another_customer_can_play_the_task_and_be_given_more_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(conversation, "USER_SECONDS", 0.05)
    lab = replace(lab_of(right), user=lambda script, persona, seed: Slow(script))
    late = await run_trial(lab, TASK, 0, 1, 0)
    assert (late.status, late.void_cause) == ("void", "simulator_fault")
    patient = await run_trial(replace(lab, user_seconds=30.0), TASK, 0, 1, 0)
    assert patient.status == "passed"
    assert patient.transcript["events"][0]["text"].endswith(" - quickly!")
