"""The door between a bot and its sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engine.dialogue.recording import Recorder, plain
from assay.engine.dialogue.transcript import ToolCall
from assay_sdk import BotFault, LimitReached, PlatformFault, ToolResult, ToolSpec

if TYPE_CHECKING:
    from assay.engine.sandbox import Sandbox


class Door:
    """A `ToolDoor`: every call goes to the sandbox, is counted and is recorded in order.

    A call runs to its end without giving way to other tasks, so calls that a bot makes at once happen one
    after the other, in the order they were made, and the record shows that order.
    """

    def __init__(self, sandbox: Sandbox, recorder: Recorder) -> None:
        self._sandbox = sandbox
        self._recorder = recorder
        self._shut = False
        self._specs: tuple[ToolSpec, ...] | None = None

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """The tools. A copy for this conversation: the schemas of the world check the calls of every trial, and
        a connector that rewrites what it is given for its model must not rewrite those."""
        if self._specs is None:
            self._specs = tuple(
                replace(spec, input_schema=_copied(spec.input_schema)) for spec in self._sandbox.world.specs
            )
        return self._specs

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolResult:
        """See assay_sdk.ToolDoor. Raises LimitReached; PackFault when the pack's tool is at fault."""
        recorder = self._recorder
        if self._shut or recorder.stopped is not None:
            # A bot that swallows what is raised here and tries again at once must not hold up everybody else.
            await asyncio.sleep(0)
            raise recorder.stopped or BotFault("The conversation is over; no tool can be called any more.")
        number = recorder.tool_calls
        if number >= recorder.limits.tool_calls:
            raise recorder.stop(
                LimitReached(
                    "tool_calls", f"The bot wanted more than {recorder.limits.tool_calls} tool calls."
                )
            )
        try:
            outcome = self._sandbox.call(name, arguments)
        except PlatformFault as fault:
            recorder.stop(fault)
            raise
        except Exception as error:
            raise recorder.internal(
                error, f"The call of {str(name)[:64]!r} broke inside the sandbox"
            ) from error
        recorder.tool(
            ToolCall(
                call=number,
                tool=plain(str(name)),
                kind=outcome.kind,
                arguments=plain(outcome.arguments),
                ok=outcome.ok,
                result=plain(outcome.content),  # a copy: the bot may do what it likes with its own
                error=outcome.error,
                message=outcome.message,
                empty=outcome.empty,
                wrote=outcome.wrote,
            )
        )
        return ToolResult(number, outcome.ok, outcome.content, outcome.error, outcome.message)

    def shut(self) -> None:
        """No further calls: the conversation is over and its world is about to be judged."""
        self._shut = True


def _copied(value: Any) -> Any:
    """A JSON value again; several times as fast as copy.deepcopy."""
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(inner) for inner in value]
    return value
