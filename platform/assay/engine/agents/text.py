"""Tool calls written into the text of a reply, for models and templates that know no tools.

A call is a fenced block with the word `tool` behind the fence and one JSON object in it:

    ```tool
    {"tool": "members_find", "arguments": {"email": "ann@example.org"}}
    ```

A reply may hold several; they run in order. The results come back as one message with a block `result` for each.
A reply without such a block is for the customer. What looks like a call and cannot be read is answered with what
is wrong with it, and counts as a call that the bot got wrong.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from assay.engine.agents.protocol import Call, Message, Turn
from assay_sdk import ChatReply, ToolResult, ToolSpec

_RULES = """\
# Tools

You work through the tools listed below. To use one, reply with a block like this and nothing else:

```tool
{"tool": "NAME", "arguments": {"PARAMETER": "VALUE"}}
```

The arguments are JSON. Several blocks, one after the other, make several calls. You then get the results and can \
call again or answer. Never write results yourself. A reply without such a block goes to the customer, who sees \
neither calls nor results.
"""
_EXAMPLE = '```tool\n{"tool": "NAME", "arguments": {}}\n```'

_BLOCK = re.compile(r"```[ \t]*tool[ \t]*\r?\n(.*?)(?:\r?\n[ \t]*```|\Z)", re.DOTALL)
_CLOSED = re.compile(r"\n[ \t]*```\Z")
# Other places where models put their calls.
_ELSEWHERE = re.compile(
    r"```[ \t]*\w*[ \t]*\r?\n?(.*?)(?:```|\Z)|<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL
)
_NAME = re.compile(r'"tool"\s*:\s*"([^"\n]{1,200})"')


class Text:
    """See Protocol."""

    name = "text"

    def instructions(self, specs: Sequence[ToolSpec]) -> str:
        return _RULES + "".join(f"\n- {_signature(spec)}" for spec in specs) + "\n"

    def tools(self, specs: Sequence[ToolSpec]) -> list[Message]:
        return []

    def customer(self, text: str) -> str:
        # A customer must not be able to write what looks like a result.
        return text.replace("```", "'''")

    def read(self, reply: ChatReply) -> Turn:
        blocks = list(_BLOCK.finditer(reply.text))
        if blocks:
            # What a model writes behind its calls are results that it made up.
            return Turn(
                reply.text[: blocks[-1].end()], tuple(_call(n, b[0], b[1]) for n, b in enumerate(blocks))
            )
        if (astray := _astray(reply.text)) is not None:
            problem = f"A call must stand in a block of its own, like this:\n{_EXAMPLE}"
            return Turn(reply.text, (_unreadable(0, astray, problem),))
        return Turn(reply.text.strip())

    def written(self, call: Call) -> Turn:
        try:
            given = json.loads(call.arguments)
        except (ValueError, RecursionError):
            given = call.arguments
        block = json.dumps({"tool": call.name, "arguments": given}, ensure_ascii=False).replace(
            "`", "\\u0060"
        )
        return Turn(f"```tool\n{block}\n```", (call,))

    def called(self, turn: Turn) -> Message:
        return {"role": "assistant", "content": turn.text}

    def answered(self, results: Sequence[tuple[Call, ToolResult]]) -> list[Message]:
        blocks = "\n".join(f"```result\n{_result(call, result)}\n```" for call, result in results)
        return [{"role": "user", "content": f"Results, which the customer does not see:\n{blocks}"}]


def _signature(spec: ToolSpec) -> str:
    schema = {
        k: v for k, v in spec.input_schema.items() if k not in ("type", "additionalProperties", "$schema")
    }
    arguments = (
        json.dumps(schema, ensure_ascii=False, separators=(",", ":")) if schema.get("properties") else "none"
    )
    return f"{spec.name}: {' '.join(spec.description.split())} Arguments: {arguments}"


def _call(number: int, block: str, written: str) -> Call:
    if not _CLOSED.search(block):
        return _unreadable(number, written, "The block is not closed: end it with ``` on a line of its own.")
    try:
        call: Any = json.loads(written)
    except (ValueError, RecursionError) as error:
        return _unreadable(
            number, written, f"The block holds no JSON object: {error}. Write it like this:\n{_EXAMPLE}"
        )
    if (
        not isinstance(call, dict)
        or set(call) - {"tool", "arguments"}
        or not isinstance(call.get("tool"), str)
    ):
        return _unreadable(
            number, written, f'The object has "tool" and "arguments" and nothing else:\n{_EXAMPLE}'
        )
    arguments = call.get("arguments", {})
    if not isinstance(arguments, dict):
        return _unreadable(number, written, f'"arguments" must be a JSON object:\n{_EXAMPLE}')
    return Call(str(number), call["tool"], json.dumps(arguments, ensure_ascii=False))


def _astray(text: str) -> str | None:
    """What was meant as a call, but stands in another fence or in none."""
    for match in _ELSEWHERE.finditer(text):
        if match[2] is not None or (match[1].lstrip().startswith("{") and '"tool"' in match[1]):
            return match[2] or match[1] or ""
    return text if text.lstrip().startswith("{") and '"tool"' in text else None


def _unreadable(number: int, written: str, problem: str) -> Call:
    name = _NAME.search(written)
    # Behind a word that is no JSON, so that no part of it can be taken for arguments.
    return Call(str(number), name[1] if name else "unreadable", f"unreadable: {written[:2000]}", problem)


def _result(call: Call, result: ToolResult) -> str:
    body: dict[str, Any] = {"tool": call.name}
    if call.problem is not None:
        body |= {"error": "unreadable_call", "message": call.problem}
    elif result.ok:
        body |= {"result": result.content}
    else:
        body |= {"error": result.error, "message": result.message}
    if result.notice is not None:
        body |= {"notice": result.notice}
    # A value that holds a fence must not end the block.
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).replace("```", "\\u0060\\u0060\\u0060")
