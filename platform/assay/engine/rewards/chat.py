"""A transcript as messages of the OpenAI chat format."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.engine.agents.native import Native
from assay.engine.agents.protocol import Call, Message, Turn
from assay_sdk import ToolResult


@dataclass(frozen=True, slots=True)
class Chat:
    """`messages`: the system's first. `truncated`: indexes of messages of the bot that were cut off. `faults`: results
    of calls that went wrong on purpose: {"message", "call", "kind", "reached"}."""

    messages: list[Message] = field(default_factory=list)
    truncated: list[int] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)


def as_chat(system: str, events: Iterable[Mapping[str, Any]]) -> Chat:
    """The conversation that these events of a transcript are, as a model could have had it.

    Each call is a message of its own, followed by its result: how the model had grouped them is not recorded. Calls
    that were no JSON object, and names that no provider takes, are written as the agent loop writes them. A message of
    the bot without a word is left out, and what the customer says after it joined to what they said before.
    """
    chat = Chat([{"role": "system", "content": system}])
    for event in events:
        if event["type"] == "tool":
            _call(chat, event)
        elif event["type"] == "user":
            _user(chat.messages, event["text"])
        elif event["text"].strip():
            if event.get("truncated"):
                chat.truncated.append(len(chat.messages))
            chat.messages.append({"role": "assistant", "content": event["text"]})
    return chat


def _user(messages: list[Message], text: str) -> None:
    if messages[-1]["role"] == "user":
        messages[-1] = {"role": "user", "content": f"{messages[-1]['content']}\n\n{text}"}
    else:
        messages.append({"role": "user", "content": text})


def _call(chat: Chat, event: Mapping[str, Any]) -> None:
    given = event["arguments"]
    text = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False, separators=(",", ":"))
    call = Call(f"call_{event['call']}", str(event["tool"]), text)
    result = ToolResult(
        event["call"], event["ok"], event["result"], event["error"], event["message"], event.get("notice")
    )
    native = Native()
    chat.messages.append(native.called(Turn("", (call,))))
    if (injected := event.get("injected")) is not None:
        fault = {"kind": injected["kind"], "reached": injected["reached"]}
        chat.faults.append({"message": len(chat.messages), "call": event["call"], **fault})
    chat.messages.extend(native.answered([(call, result)]))
