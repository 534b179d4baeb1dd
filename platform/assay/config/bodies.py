"""A bound on what anybody may send. Django keeps a whole body in a file before it asks who is calling."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

LARGEST_BODY = 60 * 1024 * 1024  # bytes; a pack is at most 50 MB

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]

_SAYS = f"A request may have {LARGEST_BODY:,} bytes at most.".encode()


def bounded(application: Application, most: int = LARGEST_BODY) -> Application:
    """The ASGI application behind a bound: 413 for a body that is announced as longer, and the end of the
    connection for one that turns out to be."""

    async def guarded(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await application(scope, receive, send)
            return
        if _announced(scope) > most:
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": 413, "headers": headers})
            await send({"type": "http.response.body", "body": _SAYS})
            return
        taken = 0

        async def counted() -> Message:
            nonlocal taken
            message = await receive()
            taken += len(message.get("body", b""))
            return message if taken <= most else {"type": "http.disconnect"}

        await application(scope, counted, send)

    return guarded


def _announced(scope: MutableMapping[str, Any]) -> int:
    for name, value in scope["headers"]:
        if name.lower() == b"content-length" and value.isdigit():
            return int(value)
    return 0
