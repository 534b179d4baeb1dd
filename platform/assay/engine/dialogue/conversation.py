"""The conversation between a simulated user and a bot, and how it ends."""

from __future__ import annotations

import logging
import time
import unicodedata
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar

from assay.engine.dialogue.disclosure import disclosed
from assay.engine.dialogue.door import Door
from assay.engine.dialogue.limits import Limits
from assay.engine.dialogue.past import Past
from assay.engine.dialogue.recording import Recorder, plain
from assay.engine.dialogue.scripted import user_script
from assay.engine.dialogue.transcript import Termination, Transcript
from assay.engine.dialogue.waiting import GRACE, Interrupted, Late, bounded
from assay.engine.mishaps import Mishaps
from assay_sdk import (
    AnswerKey,
    AssayError,
    BotContext,
    BotEnding,
    BotFault,
    BotReply,
    BotSession,
    Connector,
    LimitReached,
    PlatformFault,
    PluginFault,
    SimulatedUser,
    SimulatorFault,
    UserLine,
)

if TYPE_CHECKING:
    from assay.engine.packs.models import Task
    from assay.engine.sandbox import Sandbox

log = logging.getLogger(__name__)
T = TypeVar("T")

OPENING_SECONDS = 60.0  # for a connector to open a session; nobody has asked the bot anything yet
USER_SECONDS = 60.0  # for one line of the simulated user
CLOSING_SECONDS = 10.0  # for a session to close; what it does then changes nothing any more
LONGEST_TEXT = 100_000  # characters of one message

# A reply without a word gets one of these; the reply after the last of them must hold something.
NUDGES = ("Sorry, I got an empty message. Could you say that again?", "Hello? Your message is still empty.")

_LIMITS = {
    "turns": Termination.TURN_LIMIT,
    "tool_calls": Termination.TOOL_CALL_LIMIT,
    "tokens": Termination.TOKEN_LIMIT,
    "seconds": Termination.TIME_LIMIT,
}


_UNSEEN = {"Cc", "Cf", "Zs", "Zl", "Zp"}  # Unicode: controls, formatting (zero-width), separators


def blank(text: str) -> bool:
    """Whether nobody could see anything of it: white space, zero-width and control characters."""
    return all(unicodedata.category(c) in _UNSEEN for c in text)


def longest(limits: Limits, user_seconds: float | None = None) -> float:
    """Seconds after which any conversation under `limits` is over, the closing of the session included.

    `user_seconds` as in `converse`.
    """
    line = USER_SECONDS if user_seconds is None else user_seconds
    # The bot's time, as much again when a provider lost it, and the user's.
    used = 2 * limits.seconds + max(limits.seconds, line) + line
    return OPENING_SECONDS + used + CLOSING_SECONDS + 2 * GRACE


async def converse(
    task: Task,
    sandbox: Sandbox,
    bot: Connector,
    user: SimulatedUser,
    limits: Limits,
    *,
    seed: int,
    trial_id: str,
    answer_key: AnswerKey | None = None,
    user_seconds: float | None = None,
    mishaps: Mishaps | None = None,
    past: Past | None = None,
) -> Transcript:
    """One conversation about `task` in `sandbox`, from the user's opening to its end.

    `answer_key` reaches a bot that declares itself synthetic and no other. `user_seconds`: how long one line of the
    user may take, USER_SECONDS if not given. `mishaps`: what goes wrong on purpose with tool calls. `past`: what has
    been said and called before, by a customer who knows it and in a sandbox that is as it was then. Whatever else goes
    wrong becomes a termination of the transcript, with one sentence in `detail`; the only exception that leaves is
    CancelledError. After the return the bot can no longer call tools.
    """
    return await _Conversation(
        task, sandbox, bot, user, limits, seed, trial_id, answer_key, user_seconds, mishaps, past
    ).run()


class _Ended(Exception):
    """The conversation is over."""

    def __init__(self, termination: Termination, detail: str = "", kind: str = "", part: str = "") -> None:
        super().__init__(detail)
        self.termination = termination
        self.detail = detail
        self.kind = kind  # of a simulator's fault
        self.part = part  # of a plugin, whose fault it was


class _Conversation:
    def __init__(
        self,
        task: Task,
        sandbox: Sandbox,
        bot: Connector,
        user: SimulatedUser,
        limits: Limits,
        seed: int,
        trial_id: str,
        answer_key: AnswerKey | None,
        user_seconds: float | None,
        mishaps: Mishaps | None,
        past: Past | None,
    ) -> None:
        self.task, self.bot, self.simulated, self.limits = task, bot, user, limits
        self.recorder = Recorder(limits)
        self.past = past
        if past is not None:
            self.recorder.resume(past.events)
        self.door = Door(sandbox, self.recorder, mishaps)
        self.context = BotContext(
            instructions=sandbox.world.pack.instructions,
            tools=self.door,
            seed=seed,
            now=sandbox.world.now,
            trial_id=trial_id,
            meter=self.recorder,
            answer_key=answer_key if getattr(bot, "synthetic", False) is True else None,
            history=past.history if past is not None else (),
        )
        self.session: BotSession | None = None
        self.bot_seconds = 0.0
        self.user_patience = USER_SECONDS if user_seconds is None else user_seconds
        self.user_seconds = 0.0

    async def run(self) -> Transcript:
        started = time.monotonic()
        try:
            ended = await self._talk()
        except _Ended as end:
            ended = end
        except Exception as error:  # a mistake of ours must not take other trials with it
            log.exception("conversation of task %s", self.task.id)
            ended = _Ended(
                Termination.INTERNAL_ERROR, f"The conversation broke: {type(error).__name__}: {error}"
            )
        finally:
            self.door.shut()
            await self._close()
        recorder = self.recorder
        return Transcript(
            events=tuple(recorder.events),
            termination=ended.termination,
            detail=plain(" ".join(ended.detail.split())[:2000]),
            turns=recorder.turns,
            tool_calls=recorder.tool_calls,
            prompt_tokens=recorder.prompt_tokens,
            completion_tokens=recorder.completion_tokens,
            seconds=round(time.monotonic() - started, 6),
            notes=self._notes(),
            user=self._of_the_user(ended),
            facts=disclosed(user_script(self.task), recorder.events),
            # Faults of other parts name them.
            part=(ended.part or "connector") if ended.termination is Termination.PLUGIN_FAULT else "",
        )

    async def _talk(self) -> _Ended:
        if self.past is not None:
            line = UserLine(self.past.line)
        else:
            line = await self._user_says(self.simulated.open)
        if line.done or line.gave_up or blank(line.text):
            raise _Ended(
                Termination.SIMULATOR_FAULT, "The simulated user left or said nothing instead of opening."
            )
        await self._open()
        while True:
            reply = await self._bot_says(line.text)
            if reply.ends is not None:
                handover = reply.ends is BotEnding.HANDOVER
                return _Ended(Termination.BOT_HANDOVER if handover else Termination.BOT_CLOSED)
            line = await self._user_says(lambda heard=reply.text: self.simulated.answer(heard))  # type: ignore[misc]
            if line.gave_up:
                return _Ended(Termination.USER_GAVE_UP)
            if line.done:
                return _Ended(Termination.USER_DONE)

    # --- the user -------------------------------------------------------------------------------

    async def _user_says(self, call: Callable[[], Awaitable[UserLine]]) -> UserLine:
        started = time.monotonic()
        # All lines together may take as long as the bot may; its own time is counted apart.
        allowed = min(self.user_patience, max(self.limits.seconds, self.user_patience) - self.user_seconds)
        try:
            line = await bounded(call, lambda: allowed - (time.monotonic() - started), self.recorder.stopping)
        except (Interrupted, BotFault):
            # Only something the bot left running can stop a conversation while the user speaks.
            raise self._how(self.recorder.stopped or SimulatorFault("The simulated user broke.")) from None
        except Late:
            raise _Ended(
                Termination.SIMULATOR_FAULT,
                f"The simulated user did not answer within {allowed:.0f} s.",
                kind="late",
            ) from None
        except PlatformFault as fault:
            if isinstance(fault, PluginFault):
                fault.part = fault.part or "user"
            raise self._how(fault) from fault
        except Exception as error:
            raise _Ended(
                Termination.SIMULATOR_FAULT, f"The simulated user broke: {type(error).__name__}: {error}"
            ) from error
        finally:
            self.user_seconds += time.monotonic() - started
        if not isinstance(line, UserLine) or not isinstance(line.text, str):
            raise _Ended(
                Termination.SIMULATOR_FAULT, f"The simulated user gave a {type(line).__name__}, not a line."
            )
        self.recorder.user(line.text, tuple(str(key) for key in line.facts_given), line.misstated)
        return line

    # --- the bot --------------------------------------------------------------------------------

    async def _open(self) -> None:
        started = time.monotonic()
        session = await self._of_the_bot(
            lambda: self.bot.open(self.context),
            lambda: OPENING_SECONDS - (time.monotonic() - started),
            PluginFault(f"The connector did not open a session within {OPENING_SECONDS:.0f} s."),
        )
        self.session = session
        for method in ("respond", "close", "notes"):
            if not callable(getattr(session, method, None)):
                raise _Ended(
                    Termination.PLUGIN_FAULT, f"The connector opened a session that has no {method}()."
                )

    async def _bot_says(self, message: str) -> BotReply:
        """The bot's next reply that holds something."""
        for nudge in (*NUDGES, None):
            reply = await self._respond(message)
            if reply.ends is not None or not blank(reply.text):
                return reply
            if nudge is None:
                break
            self.recorder.user(nudge)
            message = nudge
        raise _Ended(Termination.EMPTY_REPLIES, f"The bot gave {len(NUDGES) + 1} empty replies in a row.")

    async def _respond(self, message: str) -> BotReply:
        if self.recorder.turns >= self.limits.turns:
            raise _Ended(
                Termination.TURN_LIMIT,
                f"The bot had used its {self.limits.turns} replies and the user still waited.",
            )
        session, started = self.session, time.monotonic()
        assert session is not None
        before = self.bot_seconds

        def remaining() -> float:
            used = before + (time.monotonic() - started) - self.recorder.excused
            return self.limits.seconds - used

        try:
            reply = await self._of_the_bot(
                lambda: session.respond(message),
                remaining,
                LimitReached(
                    "seconds", f"The bot's replies took longer than {self.limits.seconds:g} s in all."
                ),
            )
        finally:
            self.bot_seconds = before + time.monotonic() - started
        if not isinstance(reply, BotReply) or not isinstance(reply.text, str):
            raise _Ended(
                Termination.PLUGIN_FAULT, f"The connector returned a {type(reply).__name__}, not a BotReply."
            )
        if reply.ends is not None and not isinstance(reply.ends, BotEnding):
            raise _Ended(
                Termination.PLUGIN_FAULT, f"The connector ended the conversation with {reply.ends!r}."
            )
        if len(reply.text) > LONGEST_TEXT:
            self.recorder.bot(reply.text[:LONGEST_TEXT], True, None)
            raise _Ended(
                Termination.BOT_ERROR,
                f"The bot's reply has {len(reply.text):,} characters; {LONGEST_TEXT:,} may be said.",
            )
        self.recorder.bot(reply.text, bool(reply.truncated), reply.ends.value if reply.ends else None)
        return reply

    async def _of_the_bot(
        self, call: Callable[[], Awaitable[T]], remaining: Callable[[], float], late: AssayError
    ) -> T:
        """What the bot's side returns. A connector is a plugin: what it raises, other than a fault that says
        whose it is, is the plugin's doing and not the bot's."""
        try:
            result = await bounded(call, remaining, self.recorder.stopping)
        except Exception as error:
            # What stopped the conversation decides, not what the bot made of the exception.
            raise self._how(self.recorder.stopped or self._whose(error, late)) from error
        if self.recorder.stopped is not None:
            raise self._how(self.recorder.stopped)
        if remaining() < 0:  # it held up the event loop, so nothing could interrupt it
            raise self._how(late)
        return result

    def _whose(self, error: Exception, late: AssayError) -> AssayError:
        if isinstance(error, Late):
            return late
        if isinstance(error, BotFault | PlatformFault):
            return error
        if isinstance(error, AssayError):  # OptionsError: the bot version is set up wrongly
            return PluginFault(str(error))
        return PluginFault(f"The connector raised {type(error).__name__}: {error}")

    def _how(self, error: AssayError) -> _Ended:
        if isinstance(error, LimitReached):
            return _Ended(_LIMITS.get(error.limit, Termination.BOT_ERROR), str(error))
        if isinstance(error, BotFault):
            return _Ended(Termination.BOT_ERROR, str(error))
        cause = error.cause if isinstance(error, PlatformFault) else ""
        try:
            termination = Termination(cause)
        except ValueError:
            termination = Termination.INTERNAL_ERROR
        if termination.fault != "platform":  # a fault of the platform stays one, whatever it calls itself
            termination = Termination.INTERNAL_ERROR
        return _Ended(
            termination,
            str(error),
            kind=error.kind if isinstance(error, SimulatorFault) else "",
            part=error.part if isinstance(error, PluginFault) else "",
        )

    # --- afterwards -----------------------------------------------------------------------------

    async def _close(self) -> None:
        session = self.session
        if not callable(getattr(session, "close", None)):
            return
        started = time.monotonic()
        try:
            await bounded(
                session.close,  # type: ignore[union-attr]
                lambda: CLOSING_SECONDS - (time.monotonic() - started),
            )
        except Exception:  # the conversation has ended; how the session is put away changes nothing
            log.warning("the session of task %s did not close in order", self.task.id, exc_info=True)

    def _notes(self) -> dict[str, Any]:
        if not callable(getattr(self.session, "notes", None)):
            return {}
        try:
            notes = self.session.notes()  # type: ignore[union-attr]
            return {str(key): plain(value) for key, value in notes.items()}
        except Exception:
            log.warning("the session of task %s could not give its notes", self.task.id, exc_info=True)
            return {}

    def _of_the_user(self, ended: _Ended) -> dict[str, Any]:
        """What the simulated user says of itself, and the kind of its fault."""
        account: dict[str, Any] = {}
        if callable(getattr(self.simulated, "account", None)):
            try:
                account = plain(dict(self.simulated.account()))  # type: ignore[attr-defined]
            except Exception:
                log.warning("the user of task %s could not give its account", self.task.id, exc_info=True)
        if ended.termination is Termination.SIMULATOR_FAULT:
            account["fault"] = str(ended.kind or "broken")[:40]
        return account
