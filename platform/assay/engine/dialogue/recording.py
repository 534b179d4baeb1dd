"""What is written down while a conversation runs, and the one place that says it must stop."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import Any

from assay.engine.dialogue.limits import Limits
from assay.engine.dialogue.transcript import BotMessage, Event, ToolCall, UserMessage
from assay_sdk import AssayError, LimitReached, PlatformFault, ProviderOutage

_DEEPEST = 40  # levels of nesting kept of what a bot sends


class Recorder:
    """Events and counts of one conversation; also the `Meter` given to the bot.

    Once `stopped` holds an error the conversation is over, whatever the bot does with the exception it was
    given: the error stays here, and `stopping` is done, which wakes the conversation up.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.events: list[Event] = []
        self.turns = 0
        self.tool_calls = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.forced_calls = (
            0  # of these, calls that a fault on purpose cost; they do not count against the limit
        )
        self.excused = 0.0  # seconds lost to a provider's failures
        self.stopped: AssayError | None = None
        self.stopping: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def resume(self, events: Sequence[Event]) -> None:
        """Begin with what was recorded before the conversation is taken up again; its replies and calls count."""
        for event in events:
            if isinstance(event, ToolCall):
                self.tool(event)
            else:
                self.turns += isinstance(event, BotMessage)
                self.events.append(event)

    def stop(self, error: AssayError) -> AssayError:
        """End the conversation. The first error stays; it is returned, to be raised."""
        if self.stopped is None:
            self.stopped = error
            if not self.stopping.done():
                self.stopping.set_result(None)
        return self.stopped

    def user(
        self, text: str, facts_given: tuple[str, ...] = (), misstated: Mapping[str, str] | None = None
    ) -> None:
        self.events.append(UserMessage(plain(text), facts_given, plain(dict(misstated or {}))))

    def bot(self, text: str, truncated: bool, ends: str | None) -> None:
        self.turns += 1
        self.events.append(BotMessage(plain(text), truncated, ends))

    def tool(self, call: ToolCall) -> None:
        self.tool_calls += 1
        self.forced_calls += call.spoiled
        self.events.append(call)

    def excuse(self, seconds: float) -> None:
        """Take time that was held back on purpose off the bot's time."""
        self.excused = min(self.excused + seconds, self.limits.seconds)

    def add_tokens(self, prompt: int, completion: int) -> None:
        """Count what a model used. Raises LimitReached."""
        self.prompt_tokens += max(0, int(prompt))
        self.completion_tokens += max(0, int(completion))
        used = self.prompt_tokens + self.completion_tokens
        if used > self.limits.tokens:
            self.stop(
                LimitReached("tokens", f"The bot used {used:,} tokens; the limit is {self.limits.tokens:,}.")
            )
        if self.stopped is not None:
            raise self.stopped

    def add_outage(self, seconds: float) -> None:
        """Time that a provider's failures cost; it is taken off the bot's time.

        Stops the conversation when it comes to more than the bot has, so that the whole stays bounded and what
        goes beyond the bound is not the bot's.
        """
        if math.isfinite(seconds) and seconds > 0:
            lost = self.excused + seconds
            self.excused = min(lost, self.limits.seconds)
            if lost > self.limits.seconds:
                self.stop(
                    ProviderOutage(f"The provider's failures cost more than {self.limits.seconds:g} s.")
                )

    def internal(self, error: Exception, what: str) -> PlatformFault:
        """Stop because Assay itself broke."""
        fault = PlatformFault(f"{what}: {type(error).__name__}: {error}", cause="internal_error")
        self.stop(fault)
        return fault


def plain(value: Any, depth: int = 0) -> Any:
    """`value` as JSON that any store can hold: text without NUL and lone surrogates, finite numbers.

    What a bot sends is kept as evidence; databases refuse these few characters and values.
    """
    # Exact types first: nearly everything is one of these, and abstract classes are slow to ask.
    kind = type(value)
    if kind is str and value.isascii() and "\x00" not in value:
        return value
    if kind is int or kind is bool or value is None or (kind is float and math.isfinite(value)):
        return value
    if depth < _DEEPEST:
        if kind is dict:
            return {plain(str(k)): plain(v, depth + 1) for k, v in value.items()}
        if kind is list:
            return [plain(v, depth + 1) for v in value]
    return _cleaned(value, depth)


def _cleaned(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        # Also makes a plain str of what is derived from it.
        return value.replace("\x00", "\N{REPLACEMENT CHARACTER}").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if depth < _DEEPEST:
        if isinstance(value, Mapping):
            return {plain(str(k)): plain(v, depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple | set | frozenset):
            return [plain(v, depth + 1) for v in value]
    return plain(repr(value)[:1000])
