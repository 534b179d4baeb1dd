"""The conversation loop: how it runs, how it ends, and whose doing that is."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.engine.dialogue import conversation as loop
from assay.engine.dialogue.conversation import LONGEST_TEXT, NUDGES, converse, longest
from assay.engine.dialogue.limits import Limits
from assay.engine.dialogue.scripted import ScriptedUser, user_script
from assay.engine.dialogue.transcript import BotMessage, Termination, ToolCall, Transcript, UserMessage
from assay.engine.packs import load_pack
from assay.engine.sandbox import Sandbox, World
from assay_sdk import (
    AnswerKey,
    BotContext,
    BotEnding,
    BotFault,
    BotReply,
    OptionsError,
    PackFault,
    PlatformFault,
    ProviderOutage,
    SimulatorFault,
    UserLine,
)

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"
TASK = "LIB-LOAN-001"

Respond = Callable[[BotContext, str], Awaitable[Any]]


@pytest.fixture(scope="module")
def world() -> World:
    return World.prepare(load_pack(LIBRARY))


@pytest.fixture
def sandbox(world: World) -> Iterator[Sandbox]:
    with world.open(TASK) as opened:
        yield opened


class Session:
    def __init__(self, context: BotContext, respond: Respond) -> None:
        self.context, self._respond = context, respond
        self.closed = 0

    async def respond(self, message: str) -> Any:
        return await self._respond(self.context, message)

    async def close(self) -> None:
        self.closed += 1

    def notes(self) -> Mapping[str, Any]:
        return {"seed": self.context.seed}


class Bot:
    synthetic = False

    def __init__(self, respond: Respond, kind: type[Session] = Session) -> None:
        self._respond, self._kind = respond, kind
        self.sessions: list[Session] = []

    def describe(self) -> Mapping[str, Any]:
        return {}

    async def open(self, context: BotContext) -> Session:
        self.sessions.append(self._kind(context, self._respond))
        return self.sessions[-1]

    async def aclose(self) -> None: ...


class Customer:
    """Says its lines; a callable among them is called."""

    def __init__(self, *lines: Any) -> None:
        self._lines = list(lines)

    async def open(self) -> Any:
        return await self._next()

    async def answer(self, bot_message: str) -> Any:
        return await self._next()

    async def _next(self) -> Any:
        line = self._lines.pop(0) if len(self._lines) > 1 else self._lines[0]
        if callable(line):
            line = await line()
        return UserLine(line) if isinstance(line, str) else line


def saying(*replies: Any) -> Respond:
    """A bot that gives these replies, the last one again and again; a callable is awaited with the context."""
    left = list(replies)

    async def respond(context: BotContext, message: str) -> Any:
        reply = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(reply, BaseException):
            raise reply
        if callable(reply):
            reply = await reply(context)
        return BotReply(reply) if isinstance(reply, str) else reply

    return respond


async def hold(
    sandbox: Sandbox,
    bot: Bot | Respond,
    user: Any = None,
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    answer_key: AnswerKey | None = None,
) -> Transcript:
    task = sandbox.world.pack.tasks[TASK]
    return await converse(
        task,
        sandbox,
        bot if isinstance(bot, Bot) else Bot(bot),
        user or ScriptedUser(user_script(task)),
        limits,
        seed=7,
        trial_id="t-1",
        answer_key=answer_key,
    )


async def never() -> Any:
    await asyncio.Event().wait()


# --- in order ---------------------------------------------------------------------------------------


async def test_a_whole_conversation_is_recorded_in_order(sandbox: Sandbox) -> None:
    async def renew(context: BotContext) -> str:
        found = await context.tools.call("members_find", {"email": "ada.brook@example.org"})
        assert found.ok and found.call == 0
        await context.tools.call("loans_renew", '{"loan_id": "LN-1", "days": 7}')
        return "I have renewed it, it is due on 18 May. Anything else?"

    bot = Bot(saying("Sure. What is your e-mail address, and which book is it?", renew))
    transcript = await hold(sandbox, bot)
    assert transcript.termination is Termination.USER_DONE
    assert transcript.termination.fault == "none"
    assert [type(e) for e in transcript.events] == [
        UserMessage,
        BotMessage,
        UserMessage,
        ToolCall,
        ToolCall,
        BotMessage,
        UserMessage,
    ]
    answer = transcript.events[2]
    assert isinstance(answer, UserMessage) and answer.facts_given == ("e-mail address", "book title")
    assert [(e.call, e.tool, e.kind, e.wrote) for e in transcript.events if isinstance(e, ToolCall)] == [
        (0, "members_find", "read", False),
        (1, "loans_renew", "write", True),
    ]
    assert (transcript.turns, transcript.tool_calls) == (2, 2)
    assert transcript.notes == {"seed": 7}
    assert bot.sessions[0].closed == 1
    assert sandbox.changes().rows
    assert json.loads(json.dumps(transcript.as_json()))["termination"] == "user_done"


async def test_the_bot_is_given_the_pack_s_instructions_and_instant_but_no_answers(sandbox: Sandbox) -> None:
    key = AnswerKey((), (), (), frozenset())
    plain, synthetic = Bot(saying("Bye!")), Bot(saying("Bye!"))
    synthetic.synthetic = True
    await hold(sandbox, plain, answer_key=key)
    await hold(sandbox, synthetic, answer_key=key)
    context = plain.sessions[0].context
    assert context.instructions == sandbox.world.pack.instructions
    assert (context.now, context.seed, context.trial_id) == (sandbox.world.now, 7, "t-1")
    assert [spec.name for spec in context.tools.specs] == [spec.name for spec in sandbox.world.specs]
    assert context.answer_key is None
    assert synthetic.sessions[0].context.answer_key is key


async def test_a_connector_may_rewrite_the_schemas_it_is_given_and_harms_nobody(world: World) -> None:
    async def strict(context: BotContext, message: str) -> BotReply:
        for spec in context.tools.specs:
            schema: Any = spec.input_schema
            schema["required"] = []
            schema["properties"].clear()
        assert context.tools.specs[0].input_schema["properties"] == {}  # its own stay as it made them
        return BotReply("Goodbye.", ends=BotEnding.CLOSED)

    before = json.dumps([dict(spec.input_schema) for spec in world.specs])
    with world.open(TASK) as first:
        await hold(first, Bot(strict))
    assert json.dumps([dict(spec.input_schema) for spec in world.specs]) == before
    with world.open(TASK) as second:
        assert second.call("loans_renew", {"loan_id": "LN-1", "days": 7}).ok
        assert not second.call("loans_renew", {}).ok


@pytest.mark.parametrize(
    ("ends", "termination"),
    [(BotEnding.HANDOVER, Termination.BOT_HANDOVER), (BotEnding.CLOSED, Termination.BOT_CLOSED)],
)
async def test_the_bot_may_hand_over_or_close(
    sandbox: Sandbox, ends: BotEnding, termination: Termination
) -> None:
    transcript = await hold(sandbox, saying(BotReply("", ends=ends)))
    assert transcript.termination is termination
    assert transcript.events[-1] == BotMessage("", ends=ends.value)


async def test_a_user_who_gives_up_ends_it(sandbox: Sandbox) -> None:
    user = Customer("Hello?", UserLine("Forget it.", done=True, gave_up=True))
    assert (await hold(sandbox, saying("What?"), user)).termination is Termination.USER_GAVE_UP


async def test_a_reply_that_was_cut_is_marked_and_goes_on(sandbox: Sandbox) -> None:
    transcript = await hold(sandbox, saying(BotReply("I will now", truncated=True), "Bye!"))
    assert transcript.events[1] == BotMessage("I will now", truncated=True)
    assert transcript.termination is Termination.USER_DONE


async def test_calls_made_at_once_happen_one_after_the_other_and_in_order(sandbox: Sandbox) -> None:
    async def at_once(context: BotContext) -> str:
        results = await asyncio.gather(
            *(context.tools.call("catalogue_search", {"text": "a", "limit": n}) for n in range(1, 9))
        )
        assert [r.call for r in results] == list(range(8))
        return "Bye!"

    transcript = await hold(sandbox, saying(at_once))
    calls = [e for e in transcript.events if isinstance(e, ToolCall)]
    assert [(c.call, c.arguments["limit"]) for c in calls] == [(n, n + 1) for n in range(8)]


async def test_what_the_bot_does_wrong_with_tools_is_answered_and_it_goes_on(sandbox: Sandbox) -> None:
    async def wrong(context: BotContext) -> str:
        for name, arguments in (
            ("no_such_tool", {}),
            ("members_find", "{nonsense"),
            ("members_find", {"mail": 1}),
        ):
            result = await context.tools.call(name, arguments)  # type: ignore[arg-type]
            assert not result.ok and result.error and result.message
        return "Bye!"

    transcript = await hold(sandbox, saying(wrong))
    assert transcript.termination is Termination.USER_DONE
    assert [e.ok for e in transcript.events if isinstance(e, ToolCall)] == [False] * 3


async def test_evidence_holds_nothing_that_a_database_refuses(sandbox: Sandbox) -> None:
    async def odd(context: BotContext) -> str:
        await context.tools.call("members_find", {"email": "a\x00b\ud800", "odd": float("nan"), "set": {1}})
        return "\x00 \ud800 Bye!"

    transcript = (await hold(sandbox, saying(odd))).as_json()
    json.dumps(transcript, allow_nan=False, ensure_ascii=False).encode("utf-8")
    assert "\x00" not in "".join(_texts(transcript))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for part in [*value, *value.values()] if isinstance(value, dict) else value:
            yield from _texts(part)


# --- the bot's doing --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\u2060"])
async def test_a_bot_that_stays_silent_is_nudged_and_then_has_failed(sandbox: Sandbox, text: str) -> None:
    transcript = await hold(sandbox, saying(text))
    assert transcript.termination is Termination.EMPTY_REPLIES
    assert transcript.termination.fault == "bot"
    assert [e.text for e in transcript.events if isinstance(e, UserMessage)][1:] == list(NUDGES)
    assert transcript.turns == len(NUDGES) + 1


async def test_a_bot_that_finds_its_voice_after_a_nudge_goes_on(sandbox: Sandbox) -> None:
    transcript = await hold(sandbox, saying("", "", "Is there anything else?"))
    assert transcript.termination is Termination.USER_DONE


async def test_a_bot_that_never_finishes_reaches_the_turn_limit(sandbox: Sandbox) -> None:
    transcript = await hold(sandbox, saying("Go on."), Customer("And?"), Limits(turns=3))
    assert transcript.termination is Termination.TURN_LIMIT
    assert transcript.turns == 3
    assert isinstance(transcript.events[-1], UserMessage)


async def test_the_user_may_leave_after_the_last_turn(sandbox: Sandbox) -> None:
    user = Customer("Hi.", UserLine("Bye.", done=True))
    assert (await hold(sandbox, saying("Hi."), user, Limits(turns=1))).termination is Termination.USER_DONE


async def _call_for_ever(context: BotContext) -> str:
    while True:
        await context.tools.call("catalogue_search", {"text": "a"})


async def _call_for_ever_and_swallow(context: BotContext) -> str:
    while True:
        with contextlib.suppress(Exception):  # what a careless connector does
            await context.tools.call("catalogue_search", {"text": "a"})


async def _call_and_reply_anyway(context: BotContext) -> str:
    for _ in range(10):
        try:
            await context.tools.call("catalogue_search", {"text": "a"})
        except Exception:  # noqa: BLE001
            return "All fine, bye!"
    return "Never."


async def _call_and_hang(context: BotContext) -> str:
    try:
        return await _call_for_ever(context)
    except Exception:  # noqa: BLE001
        return await never()


@pytest.mark.parametrize(
    "bot", [_call_for_ever, _call_for_ever_and_swallow, _call_and_reply_anyway, _call_and_hang]
)
async def test_the_tool_call_limit_ends_it_whatever_the_bot_makes_of_it(sandbox: Sandbox, bot: Any) -> None:
    transcript = await hold(sandbox, saying(bot), limits=Limits(tool_calls=5))
    assert transcript.termination is Termination.TOOL_CALL_LIMIT
    assert transcript.tool_calls == 5
    assert "5 tool calls" in transcript.detail


async def test_the_token_limit_ends_it_even_when_the_bot_ignores_it(sandbox: Sandbox) -> None:
    async def burn(context: BotContext) -> str:
        with contextlib.suppress(Exception):
            context.meter.add_tokens(60, 60)
        return "Bye!"

    transcript = await hold(sandbox, saying(burn), limits=Limits(tokens=100))
    assert transcript.termination is Termination.TOKEN_LIMIT
    assert (transcript.prompt_tokens, transcript.completion_tokens) == (60, 60)


async def test_a_bot_that_does_not_answer_reaches_the_time_limit(sandbox: Sandbox) -> None:
    transcript = await hold(sandbox, saying(lambda context: never()), limits=Limits(seconds=0.05))
    assert transcript.termination is Termination.TIME_LIMIT
    assert transcript.termination.fault == "bot"


async def test_a_bot_that_holds_up_everything_and_answers_too_late_reaches_the_time_limit(
    sandbox: Sandbox,
) -> None:
    async def block(context: BotContext) -> str:
        time.sleep(0.2)  # noqa: ASYNC251 (what is tested)
        return "Bye!"

    transcript = await hold(sandbox, saying(block), limits=Limits(seconds=0.05))
    assert transcript.termination is Termination.TIME_LIMIT


async def test_time_that_a_provider_lost_is_not_the_bot_s(sandbox: Sandbox) -> None:
    async def slow(context: BotContext) -> str:
        context.meter.add_outage(1.0)
        await asyncio.sleep(1.1)
        return "Bye!"

    transcript = await hold(sandbox, saying(slow), limits=Limits(seconds=1.0))
    assert transcript.termination is Termination.USER_DONE


async def test_more_time_lost_by_a_provider_than_the_bot_has_voids_the_trial(sandbox: Sandbox) -> None:
    async def failing(context: BotContext) -> str:
        context.meter.add_outage(0.4)
        return "One moment, please."

    transcript = await hold(sandbox, saying(failing, failing), limits=Limits(seconds=0.7))
    assert transcript.termination is Termination.PROVIDER_OUTAGE
    assert transcript.termination.fault == "platform"
    assert transcript.detail == "The provider's failures cost more than 0.7 s."


async def test_a_bot_that_resists_its_end_is_left_behind(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    release, refused = asyncio.Event(), asyncio.Event()

    async def stubborn(context: BotContext) -> str:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        with pytest.raises(BotFault):
            await context.tools.call("catalogue_search", {"text": "a"})
        refused.set()
        return "Too late."

    monkeypatch.setattr("assay.engine.dialogue.waiting.GRACE", 0.05)
    monkeypatch.setattr("assay.engine.dialogue.waiting.bounded.__defaults__", (None, 0.05))
    transcript = await hold(sandbox, saying(stubborn), limits=Limits(seconds=0.05))
    assert transcript.termination is Termination.TIME_LIMIT
    release.set()
    await asyncio.wait_for(refused.wait(), 5)


async def test_a_bot_fault_fails_the_trial_and_says_why(sandbox: Sandbox) -> None:
    transcript = await hold(sandbox, saying(BotFault("The bot crashed.")))
    assert (transcript.termination, transcript.detail) == (Termination.BOT_ERROR, "The bot crashed.")


async def test_an_endless_reply_is_the_bot_s_fault_and_is_kept_in_part(sandbox: Sandbox) -> None:
    transcript = await hold(sandbox, saying("x" * (LONGEST_TEXT + 1)))
    assert transcript.termination is Termination.BOT_ERROR
    last = transcript.events[-1]
    assert isinstance(last, BotMessage) and last.truncated and len(last.text) == LONGEST_TEXT


# --- the platform's doing ---------------------------------------------------------------------------


def _cancel_itself(context: BotContext) -> Any:
    raise asyncio.CancelledError


@pytest.mark.parametrize(
    ("respond", "termination"),
    [
        (saying(ProviderOutage("No answer.")), Termination.PROVIDER_OUTAGE),
        (saying(OptionsError("The key is wrong.")), Termination.PLUGIN_FAULT),
        (saying(PlatformFault("Gone.", cause="worker_lost")), Termination.WORKER_LOST),
        (saying(PlatformFault("Odd.", cause="user_done")), Termination.INTERNAL_ERROR),
        (saying(PlatformFault("Odd.", cause="something_new")), Termination.INTERNAL_ERROR),
        (saying(ValueError("oops")), Termination.PLUGIN_FAULT),
        (saying(TimeoutError()), Termination.PLUGIN_FAULT),
        (saying(GeneratorExit()), Termination.PLUGIN_FAULT),
        (saying(BaseExceptionGroup("both", [SystemExit(3)])), Termination.PLUGIN_FAULT),
        (saying(SystemExit(3)), Termination.PLUGIN_FAULT),
        (saying(_cancel_itself), Termination.PLUGIN_FAULT),
        (saying(None), Termination.PLUGIN_FAULT),
        (saying(BotReply(None)), Termination.PLUGIN_FAULT),  # type: ignore[arg-type]
        (saying(BotReply("Bye", ends="later")), Termination.PLUGIN_FAULT),  # type: ignore[arg-type]
    ],
)
async def test_a_connector_that_breaks_voids_the_trial(
    sandbox: Sandbox, respond: Respond, termination: Termination
) -> None:
    transcript = await hold(sandbox, respond)
    assert transcript.termination is termination
    assert transcript.termination.fault == "platform"
    assert transcript.detail


async def test_a_connector_that_does_not_open_voids_the_trial(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Refuses(Bot):
        async def open(self, context: BotContext) -> Session:
            raise ProviderOutage("Nobody listens there.")

    class Hangs(Bot):
        async def open(self, context: BotContext) -> Session:
            return await never()  # type: ignore[no-any-return]

    class Odd(Bot):
        async def open(self, context: BotContext) -> Session:
            return None  # type: ignore[return-value]

    monkeypatch.setattr(loop, "OPENING_SECONDS", 0.05)
    assert (await hold(sandbox, Refuses(saying("")))).termination is Termination.PROVIDER_OUTAGE
    assert (await hold(sandbox, Hangs(saying("")))).termination is Termination.PLUGIN_FAULT
    odd = await hold(sandbox, Odd(saying("")))
    assert odd.termination is Termination.PLUGIN_FAULT and "respond()" in odd.detail


async def test_a_fault_of_the_pack_voids_the_trial_even_when_the_bot_swallows_it(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def too_long(self: Sandbox, tool: str, arguments: Any) -> Any:
        raise PackFault("The tool took more than 2 s.")

    monkeypatch.setattr(Sandbox, "call", too_long)
    transcript = await hold(sandbox, saying(_call_for_ever_and_swallow))
    assert (transcript.termination, transcript.detail) == (
        Termination.PACK_FAULT,
        "The tool took more than 2 s.",
    )


async def test_a_sandbox_that_breaks_is_nobody_else_s_fault(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def breaks(self: Sandbox, tool: str, arguments: Any) -> Any:
        raise RuntimeError("a mistake of ours")

    monkeypatch.setattr(Sandbox, "call", breaks)
    transcript = await hold(sandbox, saying(_call_and_reply_anyway))
    assert transcript.termination is Termination.INTERNAL_ERROR
    assert "a mistake of ours" in transcript.detail


async def _raise(error: Exception) -> Any:
    raise error


@pytest.mark.parametrize(
    ("lines", "termination"),
    [
        ((lambda: _raise(SimulatorFault("It leaks.")),), Termination.SIMULATOR_FAULT),
        (("Hi.", lambda: _raise(ProviderOutage("No model."))), Termination.PROVIDER_OUTAGE),
        (("Hi.", lambda: _raise(ValueError("oops"))), Termination.SIMULATOR_FAULT),
        (("Hi.", lambda: _raise(BotFault("Not my bot."))), Termination.SIMULATOR_FAULT),
        (("Hi.", 5), Termination.SIMULATOR_FAULT),
        (("Hi.", never), Termination.SIMULATOR_FAULT),
        (("",), Termination.SIMULATOR_FAULT),
        ((UserLine("Bye.", done=True),), Termination.SIMULATOR_FAULT),
    ],
)
async def test_a_user_that_breaks_voids_the_trial(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch, lines: tuple[Any, ...], termination: Termination
) -> None:
    monkeypatch.setattr(loop, "USER_SECONDS", 0.05)
    transcript = await hold(sandbox, saying("And?"), Customer(*lines))
    assert transcript.termination is termination
    assert transcript.termination.fault == "platform"


async def test_time_that_the_user_takes_is_not_the_bot_s(sandbox: Sandbox) -> None:
    async def slowly() -> UserLine:
        await asyncio.sleep(0.15)
        return UserLine("Bye.", done=True)

    transcript = await hold(sandbox, saying("Hi."), Customer("Hi.", slowly), Limits(seconds=0.1))
    assert transcript.termination is Termination.USER_DONE


async def test_a_session_that_does_not_close_or_has_no_notes_changes_nothing(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Sloppy(Session):
        async def close(self) -> None:
            await never()

        def notes(self) -> Mapping[str, Any]:
            raise RuntimeError

    monkeypatch.setattr(loop, "CLOSING_SECONDS", 0.05)
    transcript = await hold(sandbox, Bot(saying("Bye!"), Sloppy))
    assert transcript.termination is Termination.USER_DONE
    assert transcript.notes == {}


async def test_cancellation_passes_through_and_stops_the_bot(sandbox: Sandbox) -> None:
    at_work, stopped = asyncio.Event(), asyncio.Event()

    async def work(context: BotContext) -> str:
        at_work.set()
        try:
            return await never()
        finally:
            stopped.set()

    bot = Bot(saying(work))
    running = asyncio.create_task(hold(sandbox, bot))
    await asyncio.wait_for(at_work.wait(), 5)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert stopped.is_set()
    assert bot.sessions[0].closed == 1


# --- limits -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"turns": 0}, ValueError),
        ({"turns": -1}, ValueError),
        ({"tokens": 10**12}, ValueError),
        ({"seconds": float("inf")}, ValueError),
        ({"seconds": float("nan")}, ValueError),
        ({"turns": 1.5}, TypeError),
        ({"turns": True}, TypeError),
        ({"seconds": "9"}, TypeError),
        ({"tool_calls": None}, TypeError),
    ],
)
def test_limits_that_make_no_sense_are_refused(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error) as caught:
        Limits(**given)
    assert repr(next(iter(given))) in str(caught.value)


def test_the_longest_conversation_is_bounded_by_its_limits() -> None:
    assert longest(Limits(seconds=10)) < longest(Limits(seconds=20)) < 300
