"""Whether a chat interface would take a list of messages."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any


def check_chat(messages: Sequence[Mapping[str, Any]]) -> None:
    """AssertionError unless: the system opens, roles are known, each call has its own id, a name and an object as its
    arguments, and right after the message with calls stands one result for each, and none elsewhere."""
    assert messages
    assert messages[0]["role"] == "system"
    waiting: list[str] = []
    seen: set[str] = set()
    for message in messages[1:]:
        role = message["role"]
        if role == "tool":
            assert message["tool_call_id"] in waiting, "a result without its call"
            waiting.remove(message["tool_call_id"])
            assert isinstance(message["content"], str)
            continue
        assert not waiting, "a call without its result"
        assert role in ("user", "assistant")
        calls = message.get("tool_calls", [])
        assert role == "assistant" or not calls
        assert calls or isinstance(message["content"], str)
        for call in calls:
            assert call["id"] not in seen, "two calls with one id"
            seen.add(call["id"])
            waiting.append(call["id"])
            assert call["type"] == "function"
            assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"])
            assert isinstance(json.loads(call["function"]["arguments"]), dict)
    assert not waiting, "a call without its result"
