"""No request is longer than the bound, announced or not."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from assay.config.bodies import bounded


def ask(chunks: Sequence[bytes], headers: Sequence[tuple[bytes, bytes]] = ()) -> tuple[list[Any], list[Any]]:
    """What an application behind a bound of ten bytes receives, and what the client is sent."""
    seen: list[Any] = []
    sent: list[Any] = []
    left = list(chunks)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        while True:
            message = await receive()
            seen.append(message)
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                return

    async def receive() -> Any:
        body = left.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(bounded(application, most=10)({"type": "http", "headers": list(headers)}, receive, send))
    return seen, sent


def test_a_body_within_the_bound_arrives_whole() -> None:
    seen, sent = ask([b"12345", b"67890"], [(b"content-length", b"10")])
    assert b"".join(m["body"] for m in seen) == b"1234567890"
    assert sent == []


def test_a_body_that_is_announced_as_longer_is_refused_unread() -> None:
    seen, sent = ask([b"x" * 11], [(b"Content-Length", b"11")])
    assert seen == []
    assert sent[0]["status"] == 413
    assert b"bytes at most" in sent[1]["body"]


@pytest.mark.parametrize("headers", [[], [(b"content-length", b"-5")], [(b"content-length", b"ten")]])
def test_a_body_that_turns_out_to_be_longer_ends_the_connection(headers: list[tuple[bytes, bytes]]) -> None:
    seen, _ = ask([b"123456", b"123456", b"more"], headers)
    assert [m["type"] for m in seen] == ["http.request", "http.disconnect"]
