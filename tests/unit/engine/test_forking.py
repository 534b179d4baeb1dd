"""A trial taken up again at one of the bot's replies: the world, the bot and the customer are where they were."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.engine import forking
from assay.engine.dialogue.modelled import ModelledUser
from assay.engine.dialogue.past import CannotResume, bring_up, cut
from assay.engine.dialogue.scripted import user_script
from assay.engine.dialogue.transcript import BotMessage, ToolCall, UserMessage, transcript_from_json
from assay.engine.forking import Arm, answer, newcombe
from assay.engine.reference.bots import ReferenceBot, ReferenceOptions
from assay.engine.trial import Lab, TrialRecord, run_trial
from assay_sdk import BotContext, BotReply, ChatReply
from tests.unit.engine.actors import Actor, library, right

TASK = "LIB-LOAN-001"


def reference(target: str = "careless", **options: Any) -> Lab:
    return Lab(world=library(), connector=ReferenceBot(target, ReferenceOptions(**options)))


def tried(lab: Lab, task: str = TASK, index: int = 0) -> TrialRecord:
    record = asyncio.run(run_trial(lab, task, index, 3, 0))
    return TrialRecord.from_json(json.loads(json.dumps(record.as_json())))


class Slow:
    """A bot that renews in its second reply, and says what it was told of before."""

    synthetic = False
    resumes = True

    def __init__(self, days: int = 7) -> None:
        self.days = days
        self.heard: list[tuple[Sequence[Mapping[str, Any]], str]] = []

    def describe(self) -> Mapping[str, Any]:
        return {"name": "slow"}

    async def open(self, context: BotContext) -> _SlowSession:
        return _SlowSession(self, context)

    async def aclose(self) -> None:
        return None


class _SlowSession:
    def __init__(self, bot: Slow, context: BotContext) -> None:
        self._bot, self._context = bot, context
        self._replies = sum(event["type"] == "bot" for event in context.history)

    async def respond(self, message: str) -> BotReply:
        self._bot.heard.append((self._context.history, message))
        self._replies += 1
        if self._replies == 1:
            await self._context.tools.call("members_find", {"email": "ada.brook@example.org"})
            return BotReply("Which book, please?")
        if self._replies == 2:
            await self._context.tools.call("loans_renew", {"loan_id": "LN-1", "days": self._bot.days})
            return BotReply("The book may stay with you for longer.")
        return BotReply("Yes, it is renewed. Is there anything else?")

    async def close(self) -> None:
        return None

    def notes(self) -> Mapping[str, Any]:
        return {}


def fork(lab: Lab, record: TrialRecord, turn: int, trials: int = 4, say: str | None = None) -> Arm:
    past = forking.moment(record, turn, say)
    asyncio.run(forking.check(lab, record.task, past))
    return forking.continuations(lab, record.task, past, trials, 5, "as it was")


def test_the_conversation_goes_on_from_that_moment_with_calls_numbered_on() -> None:
    failed = tried(Lab(world=library(), connector=Slow(days=21)))
    assert failed.status == "failed"
    better = Slow()
    arm = fork(Lab(world=library(), connector=better), failed, 2, trials=2)
    assert (arm.passed, arm.valid) == (2, 2)
    for record in arm.records:
        events = transcript_from_json(record.transcript).events
        old = transcript_from_json(failed.transcript).events
        assert events[:4] == old[:4]  # opening, call 0, the bot's question, the customer's answer
        calls = [event for event in events if isinstance(event, ToolCall)]
        assert [(c.call, c.tool) for c in calls] == [(0, "members_find"), (1, "loans_renew")]
        assert record.transcript["tool_calls"] == 2
        assert record.transcript["turns"] == sum(isinstance(e, BotMessage) for e in events)
        assert {change["call"] for change in record.changes} == {1}
    history, message = better.heard[0]
    assert [event["type"] for event in history] == ["user", "tool", "bot"]
    assert history[1]["result"]["member_id"] == "MEM-1"
    assert "Statistics for Surveyors" in message


def test_what_was_written_before_stays_written() -> None:
    failed = tried(Lab(world=library(), connector=Slow(days=21)))
    arm = fork(Lab(world=library(), connector=Slow()), failed, 3)
    assert (arm.passed, arm.valid) == (0, 4)
    said = answer(failed, forking.moment(failed, 3), arm, None, [])
    assert said.because == "before"


def test_the_customer_may_say_something_else_at_that_moment() -> None:
    record = tried(Lab(world=library(), connector=Slow()))
    bot = Slow()
    arm = fork(Lab(world=library(), connector=bot), record, 2, trials=1, say="The thick one.")
    assert bot.heard[0][1] == "The thick one."
    assert arm.records[0].transcript["events"][3] == {
        "type": "user",
        "text": "The thick one.",
        "facts_given": [],
    }


def test_the_reference_bots_take_a_conversation_up() -> None:
    record = tried(reference("careless", fault_rate=1.0))
    assert record.status == "failed"
    replies = sum(e["type"] == "bot" for e in record.transcript["events"])
    assert replies >= 2
    faithful = fork(reference("faithful"), record, 2)
    assert (faithful.passed, faithful.valid) == (4, 4)
    careless = fork(reference("careless", fault_rate=1.0), record, 2)
    assert (careless.passed, careless.valid) == (0, 4)
    luck = fork(reference("careless", fault_rate=0.5), record, 2, trials=24)
    assert 0 < luck.passed < 24
    assert [r.notes["reference_fault"] for r in fork(reference("careless"), record, replies).records] == [
        "none"
    ] * 4


def test_the_same_seed_gives_the_same_continuations() -> None:
    record = tried(reference("careless", fault_rate=1.0))
    lab = reference("careless", fault_rate=0.5)
    one, two = (fork(lab, record, 2, trials=6) for _ in range(2))
    assert [(r.seed, r.status, r.changes) for r in one.records] == [
        (r.seed, r.status, r.changes) for r in two.records
    ]
    assert len({r.seed for r in one.records}) == 6


def test_what_cannot_be_taken_up_is_refused_with_a_sentence() -> None:
    record = tried(Lab(world=library(), connector=Slow()))
    actor = Lab(world=library(), connector=Actor(right))
    with pytest.raises(CannotResume, match="the bot replied 3 times"):
        forking.moment(record, 9)
    with pytest.raises(CannotResume, match="actor cannot take up a conversation"):
        asyncio.run(forking.check(actor, TASK, forking.moment(record, 2)))
    lab = Lab(world=library(), connector=Slow())
    with pytest.raises(CannotResume, match="no task LIB-NONE-1"):
        asyncio.run(forking.check(lab, "LIB-NONE-1", forking.moment(record, 2)))
    events = [dict(e) for e in record.transcript["events"]]
    events[1]["result"] = {"member_id": "MEM-99"}
    spoiled = replace(record, transcript={**record.transcript, "events": events})
    with pytest.raises(
        CannotResume, match=r"cannot be brought to that moment. Call 0 \(members_find\) now behaves"
    ):
        asyncio.run(forking.check(lab, TASK, forking.moment(spoiled, 2)))

    class Mute:
        async def open(self) -> Any: ...
        async def answer(self, bot_message: str) -> Any: ...

    mute = replace(lab, user=lambda script, part, seed: Mute())
    with pytest.raises(CannotResume, match=r"no resume\(\)"):
        asyncio.run(forking.check(mute, TASK, forking.moment(record, 2)))


def test_a_bot_without_resumes_is_never_given_a_history() -> None:
    actor = Actor(right)
    tried(Lab(world=library(), connector=actor))
    assert actor.contexts[0].history == ()


# --- the answer -----------------------------------------------------------------------------------


def arm(name: str, passed: int, failed: int, void: int = 0) -> Arm:
    record = tried(Lab(world=library(), connector=Actor(right)))
    records = [
        replace(record, index=i, status=status)
        for i, status in enumerate(["passed"] * passed + ["failed"] * failed + ["void"] * void)
    ]
    return Arm(name, tuple(records))


@pytest.fixture(scope="module")
def original() -> TrialRecord:
    return tried(Lab(world=library(), connector=Slow(days=21)))


def test_the_side_whose_change_matters_is_named(original: TrialRecord) -> None:
    past = forking.moment(original, 2)
    for changed, because in ((["bot"], "bot"), (["user"], "user"), (["bot", "user"], "both")):
        found = answer(original, past, arm("as it was", 1, 19), arm("the other", 18, 2), changed)  # type: ignore[arg-type]
        assert found.because == because
        assert "passes more often from here (1 of 20 times" in found.said
        assert found.difference is not None
        assert found.difference.low > 0
    worse = answer(original, past, arm("as it was", 19, 1), arm("the other", 2, 18), ["user"])
    assert "passes less often" in worse.said


def test_luck_is_told_from_what_was_decided_before(original: TrialRecord) -> None:
    past = forking.moment(original, 2)
    assert answer(original, past, arm("as it was", 7, 13), None, []).because == "luck"
    assert answer(original, past, arm("as it was", 20, 0), None, []).because == "luck"
    assert answer(original, past, arm("as it was", 0, 20), None, []).because == "before"
    alike = answer(original, past, arm("as it was", 7, 13), arm("the other", 8, 12), ["bot"])
    assert alike.because == "luck"
    assert alike.said.startswith("No difference is shown")
    nothing = answer(original, past, arm("as it was", 0, 0, 4), None, [])
    assert (nothing.because, nothing.difference) == ("unknown", None)


def test_a_moment_after_the_point_of_no_return_says_so(original: TrialRecord) -> None:
    verdict = {"no_return": {"status": "lost", "event": 4, "sentence": "After call 1 (turn 2) it was lost."}}
    lost = replace(original, verdict=verdict)
    said = answer(lost, forking.moment(original, 3), arm("as it was", 0, 20), None, []).said
    assert said == "It was decided before: After call 1 (turn 2) it was lost. Fork from an earlier turn."
    assert "No luck" in answer(lost, forking.moment(original, 2), arm("as it was", 0, 20), None, []).said


def test_newcombes_interval_is_the_published_one() -> None:
    """Newcombe (1998), table II: 56/70 and 48/80 by method 10 give 0.0524 to 0.3339; 9/10 and 3/10 0.1705 to 0.8090."""
    found = newcombe(56, 70, 48, 80)
    assert (round(found.low, 4), round(found.high, 4)) == (0.0524, 0.3339)
    small = newcombe(9, 10, 3, 10)
    assert (round(small.low, 4), round(small.high, 4)) == (0.1705, 0.8090)
    with pytest.raises(ValueError, match="both sides"):
        newcombe(0, 0, 1, 2)


def test_a_reply_that_answers_no_line_cannot_be_where_it_begins() -> None:
    record = tried(Lab(world=library(), connector=Slow()))
    transcript = transcript_from_json(record.transcript)
    first = [event for event in transcript.events if not isinstance(event, ToolCall)]
    broken = replace(transcript, events=(first[0], first[1], first[1]))
    with pytest.raises(CannotResume, match="said nothing before turn 2"):
        cut(broken, 2, 1)


async def test_a_models_customer_knows_what_has_been_said_as_its_own() -> None:
    class Model:
        def __init__(self) -> None:
            self.seen: list[Any] = []

        def describe(self) -> Mapping[str, Any]:
            return {"name": "fake", "model": "fake"}

        async def complete(self, messages: Any, **_: Any) -> ChatReply:
            self.seen = list(messages)
            return ChatReply("Statistics for Surveyors.", (), finish_reason="stop")

        async def aclose(self) -> None:
            return None

    record = await run_trial(Lab(world=library(), connector=Slow()), TASK, 0, 3, 0)
    past = forking.moment(record, 2)
    model = Model()
    user = ModelledUser(user_script(library().pack.tasks[TASK]), None, 1, model)
    await bring_up(user, past.events)
    line = await user.answer("Which book do you mean?")
    assert line.text == "Statistics for Surveyors."
    told = "\n".join(str(message["content"]) for message in model.seen)
    said = [event.text for event in past.events if isinstance(event, UserMessage)]
    assert len(said) == 2
    assert all(text in told for text in said)
    assert "Which book, please?" in told
