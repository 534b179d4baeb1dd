"""Everything said and called in a trial, in order, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Literal


class Termination(StrEnum):
    """Why a conversation ended. `fault` says whose doing it was."""

    # in order
    USER_DONE = "user_done"
    BOT_HANDOVER = "bot_handover"
    BOT_CLOSED = "bot_closed"
    USER_GAVE_UP = "user_gave_up"
    # the bot's doing: the trial fails
    TURN_LIMIT = "turn_limit"
    TOOL_CALL_LIMIT = "tool_call_limit"
    TOKEN_LIMIT = "token_limit"
    TIME_LIMIT = "time_limit"
    EMPTY_REPLIES = "empty_replies"
    BOT_ERROR = "bot_error"
    # the platform's doing: the trial is void
    PROVIDER_OUTAGE = "provider_outage"
    SIMULATOR_FAULT = "simulator_fault"
    PACK_FAULT = "pack_fault"
    PLUGIN_FAULT = "plugin_fault"
    INTERNAL_ERROR = "internal_error"
    WORKER_LOST = "worker_lost"
    CANCELLED = "cancelled"

    @property
    def fault(self) -> Literal["none", "bot", "platform"]:
        if self in _CLEAN:
            return "none"
        return "bot" if self in _BOT else "platform"


_CLEAN = {Termination.USER_DONE, Termination.BOT_HANDOVER, Termination.BOT_CLOSED, Termination.USER_GAVE_UP}
_BOT = {
    Termination.TURN_LIMIT,
    Termination.TOOL_CALL_LIMIT,
    Termination.TOKEN_LIMIT,
    Termination.TIME_LIMIT,
    Termination.EMPTY_REPLIES,
    Termination.BOT_ERROR,
}


@dataclass(frozen=True, slots=True)
class UserMessage:
    text: str
    facts_given: tuple[str, ...] = ()
    misstated: Mapping[str, str] = field(default_factory=dict)  # facts said wrongly, by design of the persona

    def as_json(self) -> dict[str, Any]:
        said = {"type": "user", "text": self.text, "facts_given": list(self.facts_given)}
        return {**said, "misstated": dict(self.misstated)} if self.misstated else said


@dataclass(frozen=True, slots=True)
class BotMessage:
    text: str
    truncated: bool = False
    ends: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"type": "bot", "text": self.text, "truncated": self.truncated, "ends": self.ends}


@dataclass(frozen=True, slots=True)
class Injected:
    """A fault that was injected into a call on purpose. `kind`: of assay_sdk.FaultKind. `reached`: the call was made
    in the sandbox all the same; `truth` then is what came of it ({"ok", "result", "error", "message"}), when the bot
    was told something else."""

    kind: str
    reached: bool
    truth: Mapping[str, Any] | None = None

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "reached": self.reached,
            "truth": None if self.truth is None else dict(self.truth),
        }


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`kind` is read, write, or unknown (no such tool). `wrote`: it changed at least one row.

    Under a fault profile, `injected` says what was done to the call on purpose, `repeats` is the number of an earlier
    call whose lost answer this one was given, without being made, and `notice` is what the answer said of itself.
    """

    call: int
    tool: str
    kind: Literal["read", "write", "unknown"]
    arguments: Any  # as given: an object, or the text that was not one
    ok: bool
    result: Any = None
    error: str | None = None
    message: str | None = None
    empty: bool = False  # ok, but it found nothing (null or an empty list)
    wrote: bool = False
    injected: Injected | None = None
    repeats: int | None = None
    notice: str | None = None

    @property
    def made(self) -> bool:
        """Whether the call was made in the sandbox. The others have a number and nothing else there."""
        return self.repeats is None and (self.injected is None or self.injected.reached)

    @property
    def spoiled(self) -> bool:
        """Whether the bot was told something else, by a fault on purpose, than came of its call."""
        return self.injected is not None and not (self.injected.reached and self.injected.truth is None)

    @property
    def truth(self) -> Mapping[str, Any]:
        """What came of the call in the sandbox: {"ok", "result", "error", "message"}."""
        if self.injected is not None and self.injected.truth is not None:
            return self.injected.truth
        return {"ok": self.ok, "result": self.result, "error": self.error, "message": self.message}

    def as_json(self) -> dict[str, Any]:
        more: dict[str, Any] = {}
        if self.injected is not None:
            more["injected"] = self.injected.as_json()
        if self.repeats is not None:
            more["repeats"] = self.repeats
        if self.notice is not None:
            more["notice"] = self.notice
        return {
            "type": "tool",
            "call": self.call,
            "tool": self.tool,
            "kind": self.kind,
            "arguments": self.arguments,
            "ok": self.ok,
            "result": self.result,
            "error": self.error,
            "message": self.message,
            "empty": self.empty,
            "wrote": self.wrote,
            **more,
        }


Event = UserMessage | BotMessage | ToolCall


@dataclass(frozen=True, slots=True)
class Transcript:
    events: tuple[Event, ...]
    termination: Termination
    detail: str = ""  # one sentence for people when it did not end in order
    turns: int = 0  # replies of the bot
    tool_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    notes: Mapping[str, Any] = field(default_factory=dict)  # from the bot session; never graded
    user: Mapping[str, Any] = field(
        default_factory=dict
    )  # what the simulated user says of itself; never graded
    facts: Mapping[str, Any] = field(default_factory=dict)  # see disclosure.disclosed
    part: str = ""  # of a plugin, when its fault ended the conversation; kept with the trial and not here

    def as_json(self) -> dict[str, Any]:
        return {
            "events": [e.as_json() for e in self.events],
            "termination": self.termination.value,
            "detail": self.detail,
            "turns": self.turns,
            "tool_calls": self.tool_calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "seconds": self.seconds,
            "user": dict(self.user),
            "facts": dict(self.facts),
        }


def transcript_from_json(data: Mapping[str, Any], notes: Mapping[str, Any] | None = None) -> Transcript:
    """A transcript as `as_json` wrote it. Raises ValueError with a sentence when it is not one."""
    try:
        return Transcript(
            events=tuple(_event(event) for event in data["events"]),
            termination=Termination(data["termination"]),
            detail=data.get("detail", ""),
            turns=data.get("turns", 0),
            tool_calls=data.get("tool_calls", 0),
            prompt_tokens=data.get("prompt_tokens", 0),
            completion_tokens=data.get("completion_tokens", 0),
            seconds=data.get("seconds", 0.0),
            notes=notes or {},
            user=data.get("user", {}),
            facts=data.get("facts", {}),
        )
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"this is no transcript: {type(error).__name__}: {error}") from None


def _event(data: Mapping[str, Any]) -> Event:
    kind = _EVENTS.get(data["type"])
    if kind is None:
        raise ValueError(f"an event of a transcript is user, bot or tool, not {data['type']!r}")
    known = {field.name for field in fields(kind)}
    given = {name: value for name, value in data.items() if name in known}
    for name, value in given.items():
        if isinstance(value, list) and name not in ("arguments", "result"):
            given[name] = tuple(value)
    if given.get("injected") is not None:
        given["injected"] = Injected(**given["injected"])
    return kind(**given)


_EVENTS: Mapping[str, type[Event]] = {"user": UserMessage, "bot": BotMessage, "tool": ToolCall}
