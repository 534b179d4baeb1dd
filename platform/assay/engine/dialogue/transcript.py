"""Everything said and called in a trial, in order, and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
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

    def as_json(self) -> dict[str, Any]:
        return {"type": "user", "text": self.text, "facts_given": list(self.facts_given)}


@dataclass(frozen=True, slots=True)
class BotMessage:
    text: str
    truncated: bool = False
    ends: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"type": "bot", "text": self.text, "truncated": self.truncated, "ends": self.ends}


@dataclass(frozen=True, slots=True)
class ToolCall:
    """`kind` is read, write, or unknown (no such tool). `wrote`: it changed at least one row."""

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

    def as_json(self) -> dict[str, Any]:
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
        }
