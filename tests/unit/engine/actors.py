"""Bots that do as they are told, for tests of trials and runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.engine.packs import load_pack
from assay.engine.sandbox import World
from assay.engine.trial import Lab
from assay_sdk import BotContext, BotEnding, BotReply, ProviderOutage

LIBRARY = Path(__file__).parents[2] / "support" / "packs" / "library"

#: What a bot does in a trial: calls, or an exception to raise. Given the context, so that it may depend on the seed.
Doing = Callable[[BotContext], Sequence[tuple[str, Mapping[str, Any]]]]

RENEW = ("loans_renew", {"loan_id": "LN-1", "days": 7})
WRONG = ("loans_renew", {"loan_id": "LN-1", "days": 21})


class Actor:
    """A connector whose sessions do what `doing` says in the first turn, and close."""

    def __init__(self, doing: Doing, text: str = "Done.") -> None:
        self.synthetic = False
        self._doing = doing
        self._text = text
        self.closed = 0
        self.contexts: list[BotContext] = []

    def describe(self) -> Mapping[str, Any]:
        return {"name": "actor"}

    async def open(self, context: BotContext) -> _Session:
        self.contexts.append(context)
        return _Session(context, self._doing, self._text)

    async def aclose(self) -> None:
        self.closed += 1


class _Session:
    def __init__(self, context: BotContext, doing: Doing, text: str) -> None:
        self._context, self._doing, self._text = context, doing, text

    async def respond(self, message: str) -> BotReply:
        for tool, arguments in self._doing(self._context):
            await self._context.tools.call(tool, arguments)
        return BotReply(self._text, ends=BotEnding.CLOSED)

    async def close(self) -> None:
        return None

    def notes(self) -> Mapping[str, Any]:
        return {"drew": "nothing"}


def right(context: BotContext) -> Sequence[tuple[str, Mapping[str, Any]]]:
    return [RENEW]


def wrong(context: BotContext) -> Sequence[tuple[str, Mapping[str, Any]]]:
    return [WRONG]


def sometimes(context: BotContext) -> Sequence[tuple[str, Mapping[str, Any]]]:
    """Right, wrong, or out of order, by the seed of the trial alone."""
    if context.seed % 5 == 0:
        raise ProviderOutage("nobody answers")
    return [RENEW] if context.seed % 2 else [WRONG]


def down(context: BotContext) -> Sequence[tuple[str, Mapping[str, Any]]]:
    raise ProviderOutage("nobody answers")


def library() -> World:
    return World.prepare(load_pack(LIBRARY))


def lab_of(doing: Doing, **more: Any) -> Lab:
    return Lab(world=library(), connector=Actor(doing), **more)


def make_lab() -> Lab:
    """For other processes."""
    return lab_of(sometimes)


def make_deadly_lab() -> Lab:
    """A bot that takes its process with it."""
    import os

    return lab_of(lambda context: os._exit(9))


def make_no_lab() -> Lab:
    """Something that cannot be made."""
    raise ValueError("no lab today")
