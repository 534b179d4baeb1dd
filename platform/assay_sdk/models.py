"""Model providers: chat completion for judges and simulated users, and for the agent loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class ToolCallRequest:
    """A tool call as the model wrote it: `arguments` is its JSON text, perhaps malformed."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One completion. `finish_reason`: stop, length, tool_calls, content_filter."""

    text: str
    tool_calls: Sequence[ToolCallRequest]
    finish_reason: str
    refusal: str | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str | None = None


class ChatModel(Protocol):
    """`messages` and `tools` in the OpenAI chat format. Raises ProviderOutage after bounded retries."""

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        seed: int | None = None,
    ) -> ChatReply: ...

    def describe(self) -> Mapping[str, Any]: ...

    async def aclose(self) -> None: ...


@dataclass(frozen=True, slots=True)
class ModelType:
    """What `assay_models` returns: `build(target, options, secret)`, as for a connector."""

    name: str
    title: str
    options: type[BaseModel]
    build: Callable[[str, Any, Callable[[str], str]], ChatModel]
