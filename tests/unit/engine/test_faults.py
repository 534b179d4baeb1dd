"""Trials in which tool calls go wrong on purpose: what is recorded, how it is judged, who recovers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.engine.dialogue.limits import Limits
from assay.engine.dialogue.past import Past
from assay.engine.dialogue.transcript import BotMessage, ToolCall, UserMessage, transcript_from_json
from assay.engine.mishaps import PROFILES, mishaps
from assay.engine.reference import connector_type
from assay.engine.reference.bots import ReferenceOptions
from assay.engine.replaying import state_at
from assay.engine.statistics.summary import summarise
from assay.engine.trial import Lab, TrialRecord, run_trial
from assay.plugins.mishaps import choose_faults, describe_faults
from assay_sdk import (
    BotContext,
    BotEnding,
    BotReply,
    CallAhead,
    FaultKind,
    FaultProfileType,
    NoOptions,
    OptionsError,
    ToolResult,
)
from tests.unit.engine.actors import RENEW, lab_of, library, right

TASK = "LIB-LOAN-001"
ALL_TASKS = ("LIB-LOAN-001", "LIB-HOLD-001", "LIB-HOLD-002", "LIB-FEE-001", "LIB-MEM-001", "LIB-HOLD-003")


class Planned:
    """Injects the kind named for a call's number."""

    def __init__(self, plan: Mapping[int, FaultKind]) -> None:
        self.plan = plan

    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        kind = self.plan.get(call.number)
        return [] if kind is None else [kind]


def profile_of(profile: Any) -> FaultProfileType:
    return FaultProfileType("planned", "Planned", "As planned.", NoOptions, lambda options, seed: profile)


def planned(plan: Mapping[int, FaultKind], doing: Any = right, **more: Any) -> Lab:
    return lab_of(doing, faults=profile_of(Planned(plan)), **more)


def reference(target: str, name: str, *, faults: Mapping[str, Any] | None = None, **options: Any) -> Lab:
    kind, chosen = choose_faults(name, faults or {})
    connector = connector_type.build(target, ReferenceOptions(**options), lambda r: r)
    return Lab(world=library(), connector=connector, faults=kind, fault_options=chosen)


def calls(record: TrialRecord) -> list[ToolCall]:
    return [e for e in transcript_from_json(record.transcript).events if isinstance(e, ToolCall)]


class Talker:
    """A connector that hands its session's calls to a coroutine."""

    synthetic = False

    def __init__(self, acting: Any) -> None:
        self.acting = acting

    def describe(self) -> Mapping[str, Any]:
        return {"name": "talker"}

    async def open(self, context: BotContext) -> Talker:
        self.context = context
        return self

    async def respond(self, message: str) -> BotReply:
        await self.acting(self.context)
        return BotReply("Done.", ends=BotEnding.CLOSED)

    async def close(self) -> None:
        return None

    def notes(self) -> Mapping[str, Any]:
        return {}

    async def aclose(self) -> None:
        return None


# --- what is recorded -----------------------------------------------------------------------------


async def test_an_injected_fault_is_recorded_apart_from_the_bots_own_errors_and_survives_json() -> None:
    bot = lambda context: [RENEW, ("loans_renew", {"loan_id": "LN-99", "days": 7})]  # noqa: E731
    record = await run_trial(planned({0: FaultKind.SERVER_ERROR}, bot), TASK, 0, 1, 0)
    injected, own = record.transcript["events"][1:3]
    assert injected["injected"] == {"kind": "server_error", "reached": False, "truth": None}
    assert (injected["ok"], injected["error"], injected["wrote"]) == (False, "server_error", False)
    assert "injected" not in own and own["error"] == "not_found"
    assert TrialRecord.from_json(json.loads(json.dumps(record.as_json()))) == record
    assert transcript_from_json(record.transcript).as_json() == record.transcript


async def test_a_trial_without_a_fault_profile_has_no_trace_of_them() -> None:
    record = await run_trial(lab_of(right), TASK, 0, 1, 0)
    assert "injected" not in json.dumps(record.transcript)
    assert record.verdict is not None and record.verdict["faults"] == []


async def test_calls_of_the_world_and_of_the_transcript_keep_the_same_numbers() -> None:
    bot = lambda context: [RENEW, RENEW]  # noqa: E731
    record = await run_trial(planned({0: FaultKind.RATE_LIMIT}, bot), TASK, 0, 1, 0)
    assert [(c["table"], c["call"]) for c in record.changes] == [("loans", 1)]
    assert record.status == "passed"


@pytest.mark.parametrize("task", ALL_TASKS)
async def test_time_travel_finds_the_world_again_after_every_fault(task: str) -> None:
    lab = reference("careless", "harsh", faults={"rate": 0.8}, fault_rate=0)
    for index in range(6):
        record = await run_trial(lab, task, index, 5, 0)
        made = calls(record)
        state = state_at(lab.world, task, transcript_from_json(record.transcript), made[-1].call)
        assert state.unlike is None
        assert [(r.table, list(r.key), r.op, r.call) for r in state.changes.rows] == [
            (c["table"], c["key"], c["op"], c["call"]) for c in record.changes
        ]


# --- what it costs the bot ------------------------------------------------------------------------


async def test_calls_that_a_fault_spoiled_do_not_count_against_the_limit() -> None:
    limits = Limits(tool_calls=2)
    bot = lambda context: [RENEW, RENEW, ("loans_list", {"member_id": "MEM-1"})]  # noqa: E731
    kind = {0: FaultKind.RATE_LIMIT}
    assert (await run_trial(planned(kind, bot, limits=limits), TASK, 0, 1, 0)).status == "passed"
    record = await run_trial(planned({}, bot, limits=limits), TASK, 0, 1, 0)
    assert record.transcript["termination"] == "tool_call_limit"


async def test_a_slow_answer_says_how_long_and_takes_hardly_any_time(monkeypatch: pytest.MonkeyPatch) -> None:
    assert mishaps.PAUSE <= 0.2
    got: list[ToolResult] = []

    async def act(context: BotContext) -> None:
        got.extend([await context.tools.call(*RENEW) for _ in range(3)])

    lab = replace(planned(dict.fromkeys(range(3), FaultKind.SLOW)), connector=Talker(act))
    record = await run_trial(lab, TASK, 0, 1, 0)
    assert all(5 <= result.latency <= 60 for result in got)
    assert record.seconds < 5
    assert [c.injected.kind for c in calls(record) if c.injected] == ["slow"] * 3


async def test_slow_answers_do_not_use_up_the_bots_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mishaps, "PAUSE", 0.15)

    async def act(context: BotContext) -> None:
        for _ in range(4):
            await context.tools.call("loans_list", {"member_id": "MEM-1"})
        await context.tools.call(*RENEW)

    lab = replace(
        planned(dict.fromkeys(range(4), FaultKind.SLOW), limits=Limits(seconds=0.5)), connector=Talker(act)
    )
    assert (await run_trial(lab, TASK, 0, 1, 0)).status == "passed"


async def test_answers_held_back_come_in_another_order_but_are_recorded_in_the_order_of_the_calls() -> None:
    order: list[int] = []

    async def act(context: BotContext) -> None:
        async def one(member: str) -> None:
            order.append((await context.tools.call("loans_list", {"member_id": member})).call)

        await asyncio.gather(one("MEM-1"), one("MEM-2"))
        await context.tools.call(*RENEW)

    record = await run_trial(replace(planned({0: FaultKind.SLOW}), connector=Talker(act)), TASK, 0, 1, 0)
    assert order == [1, 0]
    assert [c.call for c in calls(record)] == [0, 1, 2]


async def test_a_notice_reaches_a_model_as_text() -> None:
    texts: list[str] = []

    async def act(context: BotContext) -> None:
        texts.append((await context.tools.call("catalogue_search", {"text": "o"})).as_text())
        texts.append((await context.tools.call("catalogue_search", {"text": "o"})).as_text())
        await context.tools.call(*RENEW)

    lab = replace(planned({0: FaultKind.TRUNCATED}), connector=Talker(act))
    await run_trial(lab, TASK, 0, 1, 0)
    cut, whole = map(json.loads, texts)
    assert "Repeat the call" in cut["notice"] and len(cut["result"]) == len(whole) // 2


# --- how it is judged -----------------------------------------------------------------------------


async def test_a_fault_that_the_bot_leaves_at_that_is_no_tool_use_error_and_stands_in_the_explanation() -> (
    None
):
    record = await run_trial(planned({0: FaultKind.RATE_LIMIT}), TASK, 0, 1, 0)
    verdict = record.verdict
    assert verdict is not None
    assert (record.status, verdict["category"]) == ("failed", "missing_state_change")
    assert verdict["explanation"].endswith(
        "Injected on purpose, and nothing done about it: a rate limit in call 0 (loans_renew)."
    )
    assert verdict["faults"] == [{"call": 0, "tool": "loans_renew", "kind": "rate_limit", "recovered": False}]


async def test_a_bots_own_error_under_faults_is_its_own() -> None:
    bot = lambda context: [("loans_renew", {"loan_id": "LN-99", "days": 7})] * 2  # noqa: E731
    record = await run_trial(planned({0: FaultKind.TIMEOUT}, bot), TASK, 0, 1, 0)
    assert record.verdict is not None and record.verdict["category"] == "tool_use_error"
    assert record.verdict["evidence"]["call"] == 1


async def test_s3_looks_past_injected_errors_and_sees_the_bots_own() -> None:
    wrong = ("loans_renew", {"loan_id": "LN-1", "days": 21})
    for bot, s3 in (
        (lambda context: [wrong, wrong], True),
        (lambda context: [wrong, wrong, ("loans_renew", {"loan_id": "LN-99", "days": 7})], False),
    ):
        outcome = (await run_trial(planned({0: FaultKind.SERVER_ERROR}, bot), TASK, 0, 1, 0)).outcome()
        assert (outcome.status, outcome.s1, outcome.s2, outcome.s3) == ("failed", True, True, s3)


async def test_a_write_that_was_carried_out_counts_although_its_answer_was_lost() -> None:
    seen = set()
    for index in range(12):
        record = await run_trial(planned({0: FaultKind.TIMEOUT}), TASK, index, 1, 0)
        (call,) = calls(record)
        assert call.injected is not None
        assert record.status == ("passed" if call.injected.reached else "failed")
        assert call.wrote is call.injected.reached
        seen.add(record.status)
    assert seen == {"passed", "failed"}


async def test_the_bot_recovered_when_the_same_tool_answered_afterwards() -> None:
    bot = lambda context: [("loans_list", {"member_id": "MEM-1"})] * 2  # noqa: E731
    record = await run_trial(planned({0: FaultKind.SERVER_ERROR}, bot), TASK, 0, 1, 0)
    assert record.verdict is not None
    assert (record.status, [f["recovered"] for f in record.verdict["faults"]]) == ("failed", [True])
    assert "on purpose" not in record.verdict["explanation"]


class Raising:
    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        raise RuntimeError("out of order")


async def test_a_profile_that_breaks_voids_the_trial_as_the_plugins_fault() -> None:
    record = await run_trial(lab_of(right, faults=profile_of(Raising())), TASK, 0, 1, 0)
    assert (record.status, record.void_cause) == ("void", "plugin_fault")
    record = await run_trial(lab_of(right, faults=profile_of(object())), TASK, 0, 1, 0)
    assert (record.status, record.void_cause) == ("void", "plugin_fault")
    assert "no choose()" in record.transcript["detail"]


# --- who recovers ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [p.name for p in PROFILES])
async def test_the_faithful_bot_passes_whatever_goes_wrong(name: str) -> None:
    lab = reference("faithful", name, faults={} if name == "none" else {"rate": 1})
    for task in ALL_TASKS:
        for index in range(3):
            record = await run_trial(lab, task, index, 7, 0)
            assert record.status == "passed", (record.transcript["detail"], record.verdict)
            assert all(f["recovered"] for f in (record.verdict or {})["faults"])


async def test_the_careless_bot_recovers_now_and_then_and_the_summary_tells_by_kind() -> None:
    lab = reference("careless", "flaky", faults={"rate": 0.4}, fault_rate=0)
    records = [await run_trial(lab, task, index, 3, 0) for task in ALL_TASKS for index in range(12)]
    assert {r.status for r in records} == {"passed", "failed"}
    left = [r for r in records if r.notes.get("left_wrong")]
    assert left and all(r.notes["expected_category"] is None for r in left)
    faults = summarise(r.outcome() for r in records).as_json()["faults"]
    assert [entry["kind"] for entry in faults["by_kind"]] == ["timeout", "rate_limit", "server_error"]
    assert sum(entry["injected"] for entry in faults["by_kind"]) == faults["overall"]["injected"]
    assert 0.2 < faults["overall"]["recovered"]["share"] < 1
    assert faults["overall"]["trials"] + faults["untouched"]["of"] == len(records)
    assert faults["untouched"]["share"] == 1  # it makes no mistakes of its own here
    hit = [r for r in records if (r.verdict or {})["faults"]]
    assert faults["overall"]["passed"]["count"] == sum(r.status == "passed" for r in hit)


async def test_a_bot_that_never_recovers_can_be_had() -> None:
    lab = reference(
        "careless", "flaky", faults={"rate": 1, "kinds": ["rate_limit"]}, fault_rate=0, recovery_rate=0
    )
    record = await run_trial(lab, "LIB-LOAN-001", 0, 3, 0)
    assert record.status == "failed" and record.changes == []


async def test_without_faults_the_reference_bots_do_what_they_always_did() -> None:
    for target in ("faithful", "careless"):
        plain = replace(reference(target, "none"), faults=None, fault_options=None)
        for index in range(4):
            one, other = [
                (await run_trial(lab, TASK, index, 9, 0)) for lab in (plain, reference(target, "none"))
            ]
            assert one.transcript["events"] == other.transcript["events"] and one.notes == other.notes


async def test_the_same_seed_meets_the_same_faults_and_another_trial_others() -> None:
    lab = reference("faithful", "harsh")

    async def met(index: int, attempt: int = 0) -> list[Any]:
        record = await run_trial(lab, "LIB-MEM-001", index, 1, attempt)
        return [(c.call, c.injected) for c in calls(record) if c.injected]

    first = [await met(index) for index in range(8)]
    assert first == [await met(index) for index in range(8)]
    assert len({json.dumps([(n, i.kind) for n, i in faults]) for faults in first}) > 3
    assert first != [await met(index, 1) for index in range(8)]


# --- taken up again -------------------------------------------------------------------------------


async def test_a_fork_still_owes_the_answer_that_was_lost_and_does_not_write_twice() -> None:
    """Taken up after a write that was carried out without an answer, whatever profile the fork has."""

    async def once(context: BotContext) -> None:
        await context.tools.call(*RENEW)

    for faults in (profile_of(Planned({0: FaultKind.TIMEOUT})), None):
        for index in range(12):
            first = await run_trial(planned({0: FaultKind.TIMEOUT}, right), TASK, index, 1, 0)
            transcript = transcript_from_json(first.transcript)
            (call,) = calls(first)
            if not call.wrote:
                continue
            past = Past(2, (*transcript.events[:2], BotMessage("One moment."), UserMessage("Yes?")), 1)
            lab = replace(lab_of(right), connector=Talker(once), faults=faults, past=past)
            record = await run_trial(lab, TASK, index, 2, 0)
            again = calls(record)[-1]
            assert (again.call, again.repeats, again.ok, again.wrote) == (1, 0, True, False)
            assert [(c["table"], c["call"]) for c in record.changes] == [("loans", 0)]
            assert record.status == "passed"
            break
        else:
            raise AssertionError("no write was carried out without an answer in twelve trials")


# --- by name --------------------------------------------------------------------------------------


def test_a_profile_is_chosen_by_name_and_described_with_every_option() -> None:
    kind, options = choose_faults("harsh", {"rate": 0.1})
    described = describe_faults(kind, options)
    assert described is not None and described["name"] == "harsh"
    assert (described["options"]["rate"], described["options"]["most"]) == (0.1, 12)
    assert describe_faults(*choose_faults(None, {})) is None


@pytest.mark.parametrize(
    ("name", "options", "says"),
    [
        ("flakey", {}, "did you mean flaky"),
        ("flaky", {"rate": 1.5}, "'rate'"),
        ("flaky", {"rates": 1}, "'rates'"),
        ("flaky", {"kinds": []}, "'kinds'"),
        ("flaky", {"in_a_row": 9}, "'in_a_row'"),
        ("", {"rate": 0.5}, "name the profile"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(name: str, options: Any, says: str) -> None:
    with pytest.raises(OptionsError, match=says):
        choose_faults(name, options)
