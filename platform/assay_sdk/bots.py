"""Connectors: how Assay talks to a bot."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel

from assay_sdk.tools import ToolDoor


class BotEnding(StrEnum):
    """The bot ends the conversation with this reply."""

    HANDOVER = "handover"  # to a person
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class BotReply:
    """One reply to the user. `truncated`: the model was cut off (for example by max_tokens)."""

    text: str
    ends: BotEnding | None = None
    truncated: bool = False


class Meter(Protocol):
    """Counts what a bot uses; raises LimitReached when the conversation's limit is passed."""

    def add_tokens(self, prompt: int, completion: int) -> None: ...

    def add_outage(self, seconds: float) -> None:
        """Time that a provider's failures cost (failed attempts, waits before the next): not the bot's time."""
        ...


@dataclass(frozen=True, slots=True)
class AnswerKey:
    """What the task expects. Given to connectors with `synthetic = True` and to nobody else.

    `actions`: [{"tool": str, "args": {...}, "as": str | None}]; `facts`: [{"key", "value"}] as the
    user holds them; `reply`: the reply rules as in the pack format, `writes`: names of the tools that write;
    `faults`: for each fault name the altered action lists that are known to run and to leave
    other rows than the expected ones (see assay.engine.reference). `look_ups`: read calls, written as
    actions are, that a bot could make first and that are known to find something.
    """

    actions: Sequence[Mapping[str, Any]]
    facts: Sequence[Mapping[str, Any]]
    reply: Sequence[Mapping[str, Any]]
    writes: frozenset[str]
    faults: Mapping[str, Sequence[Sequence[Mapping[str, Any]]]] = field(default_factory=dict)
    look_ups: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, slots=True)
class BotContext:
    """All that a bot is given for one trial."""

    instructions: str  # who the bot is, and the policy
    tools: ToolDoor
    seed: int  # fresh for each trial
    now: str  # the sandbox's frozen instant, ISO 8601
    trial_id: str
    meter: Meter
    answer_key: AnswerKey | None = None
    #: What was said and called before this session, oldest first, as in TrialView.events: {"type": "user", "text"},
    #: {"type": "bot", "text"}, {"type": "tool", "tool", "arguments", "ok", "result", "error", "message"}. Empty in an
    #: ordinary trial; only a connector with `resumes = True` is ever given any.
    history: Sequence[Mapping[str, Any]] = ()


class BotSession(Protocol):
    """One conversation with the bot."""

    async def respond(self, message: str) -> BotReply:
        """Answer one message of the user, calling tools through the context's door.

        Raises ProviderOutage when the other end does not work, BotFault when the bot itself broke.
        """
        ...

    async def close(self) -> None: ...

    def notes(self) -> Mapping[str, Any]:
        """Facts to be kept beside the trial, never shown to grading (model version, drawn fault)."""
        ...


class Connector(Protocol):
    """One configured way to one bot version. Built once for a run, used by many trials at once.

    A connector whose sessions can take up a conversation that has been (BotContext.history) says `resumes = True`;
    without it trials cannot be forked with this bot.
    """

    synthetic: bool  # True only for the reference bots, which read the expected actions

    def describe(self) -> Mapping[str, Any]:
        """What goes into the manifest: name, version, options without secrets."""
        ...

    async def open(self, context: BotContext) -> BotSession: ...

    async def aclose(self) -> None: ...


class NoOptions(BaseModel):
    """For a plugin that has none."""

    model_config = {"extra": "forbid"}


@dataclass(frozen=True, slots=True)
class ConnectorType:
    """What `assay_connectors` returns: a bot spec `NAME:TARGET` is built by `build(target, options)`.

    Secrets stand in `options` by reference only (`env:NAME`, `secret:NAME`); `build` is given a
    third argument, the function that resolves a reference to the secret's text.
    """

    name: str  # before the colon of a bot spec
    title: str
    options: type[BaseModel]
    build: Callable[[str, Any, Callable[[str], str]], Connector]
    targets: Sequence[str] = ()  # known targets, if they are a closed list
