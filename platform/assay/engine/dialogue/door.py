"""The door between a bot and its sandbox."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.engine.dialogue.recording import Recorder, plain
from assay.engine.dialogue.transcript import Injected, ToolCall
from assay.engine.mishaps import Answer, Mishaps
from assay_sdk import BotFault, LimitReached, PlatformFault, ToolResult, ToolSpec

if TYPE_CHECKING:
    from assay.engine.sandbox import Sandbox


class Door:
    """A `ToolDoor`: every call goes to the sandbox, is counted and is recorded in order.

    A call runs to its end without giving way to other tasks, so calls that a bot makes at once happen one
    after the other, in the order they were made, and the record shows that order. `mishaps` may let calls go wrong on
    purpose; what that costs the bot in calls and time is not counted.
    """

    def __init__(self, sandbox: Sandbox, recorder: Recorder, mishaps: Mishaps | None = None) -> None:
        self._sandbox = sandbox
        self._mishaps = mishaps
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
        if number - recorder.forced_calls >= recorder.limits.tool_calls:
            raise recorder.stop(
                LimitReached(
                    "tool_calls", f"The bot wanted more than {recorder.limits.tool_calls} tool calls."
                )
            )
        try:
            answer = self._answer(number, name, arguments)
        except PlatformFault as fault:
            recorder.stop(fault)
            raise
        except Exception as error:
            raise recorder.internal(
                error, f"The call of {str(name)[:64]!r} broke inside the sandbox"
            ) from error
        recorder.tool(_recorded(number, name, answer))
        if answer.pause:
            # Recorded already: calls stay in the order they were made, whichever is answered first.
            recorder.excuse(answer.pause)
            await asyncio.sleep(answer.pause)
        told = answer.outcome
        return ToolResult(
            number, told.ok, told.content, told.error, told.message, answer.notice, answer.latency
        )

    def _answer(self, number: int, name: str, arguments: Mapping[str, Any] | str) -> Answer:
        if self._mishaps is None:
            return Answer(self._sandbox.call(name, arguments))
        return self._mishaps.call(number, name, arguments)

    def shut(self) -> None:
        """No further calls: the conversation is over and its world is about to be judged."""
        self._shut = True


def _recorded(number: int, name: str, answer: Answer) -> ToolCall:
    """Everything is copied: the bot may do what it likes with its own."""
    told, truth = answer.outcome, answer.truth
    injected = None
    if answer.fault is not None:
        was = None
        if truth is not None:
            was = {
                "ok": truth.ok,
                "result": plain(truth.content),
                "error": truth.error,
                "message": truth.message,
            }
        injected = Injected(answer.fault.value, answer.reached, was)
    return ToolCall(
        call=number,
        tool=plain(str(name)),
        kind=told.kind,
        arguments=plain(told.arguments),
        ok=told.ok,
        result=plain(told.content),
        error=told.error,
        message=told.message,
        empty=told.empty,
        wrote=told.wrote,
        injected=injected,
        repeats=answer.repeats,
        notice=answer.notice,
    )


def _copied(value: Any) -> Any:
    """A JSON value again; several times as fast as copy.deepcopy."""
    if isinstance(value, Mapping):
        return {key: _copied(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_copied(inner) for inner in value]
    return value
