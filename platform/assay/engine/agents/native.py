"""Tool calls as the provider's interface carries them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from assay.engine.agents.protocol import Call, Message, Turn, as_function
from assay_sdk import ChatReply, ToolResult, ToolSpec

# What providers take as a function's name in a history; a model that invents a tool is not held to it.
_NAME = re.compile(r"[^a-zA-Z0-9_-]")


class Native:
    """See Protocol."""

    name = "native"

    def instructions(self, specs: Sequence[ToolSpec]) -> str:
        return ""

    def tools(self, specs: Sequence[ToolSpec]) -> list[Message]:
        return [as_function(spec) for spec in specs]

    def customer(self, text: str) -> str:
        return text

    def read(self, reply: ChatReply) -> Turn:
        calls: list[Call] = []
        for number, call in enumerate(reply.tool_calls):
            # Results are matched by id, and some servers give none or the same one twice.
            taken = {c.id for c in calls}
            identity = call.id if call.id and call.id not in taken else f"call_{number}_{len(taken)}"
            # Many models send nothing at all for a tool without parameters.
            calls.append(Call(identity, call.name, call.arguments if call.arguments.strip() else "{}"))
        return Turn(reply.text, tuple(calls))

    def written(self, call: Call) -> Turn:
        return Turn("", (call,))

    def called(self, turn: Turn) -> Message:
        return {
            "role": "assistant",
            "content": turn.text or None,
            "tool_calls": [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {
                        "name": _NAME.sub("_", call.name)[:64] or "unnamed",
                        "arguments": _readable(call.arguments),
                    },
                }
                for call in turn.calls
            ],
        }

    def answered(self, results: Sequence[tuple[Call, ToolResult]]) -> list[Message]:
        return [
            {"role": "tool", "tool_call_id": call.id, "content": result.as_text()} for call, result in results
        ]


def _readable(arguments: str) -> str:
    """The arguments as JSON of an object: servers and templates that read the history fail at anything else."""
    try:
        if isinstance(json.loads(arguments), dict):
            return arguments
    except (ValueError, RecursionError):
        pass
    return json.dumps({"unreadable": arguments[:2000]})
