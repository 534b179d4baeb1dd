"""Tools as a bot sees them: their specifications, the door they are called through, their results."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

ToolKind = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool: `input_schema` is a JSON Schema of type object."""

    name: str
    description: str
    input_schema: Mapping[str, Any]
    kind: ToolKind = "read"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a call returned. With ok=False, `error` is a stable code and `message` a sentence.

    `call` numbers the calls of one conversation from 0. `notice`: what the system says about the answer itself, that
    it is incomplete or may be out of date. `latency`: seconds that the system is said to have taken; nobody waited
    for them, and they do not count as the bot's time.
    """

    call: int
    ok: bool
    content: Any = None
    error: str | None = None
    message: str | None = None
    notice: str | None = None
    latency: float = 0.0

    def as_text(self) -> str:
        """The result as compact JSON text, as a model is given it."""
        body = self.content if self.ok else {"error": self.error, "message": self.message}
        if self.notice is not None:
            body = {**({"result": body} if self.ok else body), "notice": self.notice}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


class ToolDoor(Protocol):
    """The only way to the sandbox. Calls are recorded, in order, in the transcript."""

    @property
    def specs(self) -> Sequence[ToolSpec]: ...

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolResult:
        """Call a tool. `arguments` is an object, or the JSON text a model wrote for one.

        Unknown tools, malformed JSON and bad arguments are answered with ok=False, as a real
        system would, and count as the bot's errors. Raises LimitReached (let it pass).
        """
        ...
