"""How tool calls travel between a model and the agent loop."""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay_sdk import ChatReply, ToolResult, ToolSpec

Message = dict[str, Any]  # in the OpenAI chat format


@dataclass(frozen=True, slots=True)
class Call:
    """One call as the model wrote it. `problem`: why it cannot be read; `arguments` is then no JSON object."""

    id: str
    name: str
    arguments: str
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One completion, read: calls, or else a text for the customer."""

    text: str
    calls: tuple[Call, ...] = ()


class Protocol(typing.Protocol):
    name: str

    def instructions(self, specs: Sequence[ToolSpec]) -> str:
        """What the model must be told beside the pack's instructions, or ""."""
        ...

    def tools(self, specs: Sequence[ToolSpec]) -> list[Message]:
        """The `tools` of a request."""
        ...

    def customer(self, text: str) -> str:
        """A customer's message as the model may be shown it."""
        ...

    def read(self, reply: ChatReply) -> Turn: ...

    def written(self, call: Call) -> Turn:
        """A call as this model would have written it, for taking up a conversation that has been."""
        ...

    def called(self, turn: Turn) -> Message:
        """The model's own message with its calls, for the history."""
        ...

    def answered(self, results: Sequence[tuple[Call, ToolResult]]) -> list[Message]:
        """The results, for the history."""
        ...


def as_function(spec: ToolSpec) -> Message:
    return {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": _plain(spec.input_schema),
        },
    }


def _plain(schema: Mapping[str, Any]) -> dict[str, Any]:
    # Some providers insist on `properties`, which JSON Schema does not.
    return {"properties": {}, **schema}
