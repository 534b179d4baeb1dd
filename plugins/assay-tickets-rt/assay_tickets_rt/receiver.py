"""An ASGI application that takes Assay's webhooks: verified, kept, answered; the tickets come after.

The sender waits some seconds only, and a run with many failures may open many tickets, so the answer does not wait
for Request Tracker. What was answered with 202 is on the disk.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

from assay_sdk.ticketing import RUN_FINISHED, EventProblem, failures_of
from assay_tickets_rt.inbox import Inbox
from assay_tickets_rt.worker import Worker

LARGEST = 8_000_000  # bytes of one event

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Receiver:
    """`POST /` takes an event, `GET /health` says how many wait. `secrets`: whsec_...; any of them may have signed.

    Raises ValueError for a secret that is none.
    """

    def __init__(self, secrets: Sequence[str], inbox: Inbox, worker: Worker) -> None:
        if any(not secret.removeprefix("whsec_") for secret in secrets):
            raise ValueError("A secret is empty.")
        self._webhooks = [Webhook(secret) for secret in secrets]
        self._inbox, self._worker = inbox, worker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http":
            status, said = await self._answer(scope, receive)
            body = json.dumps(said).encode()
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: Scope, receive: Receive) -> tuple[int, dict[str, Any]]:
        where = (scope["method"], scope["path"])
        if where == ("GET", "/health"):
            return 200, self._inbox.counts()
        if scope["path"] != "/":
            return 404, {"message": "Events are posted to /."}
        if scope["method"] != "POST":
            return 405, {"message": "Events are posted."}
        body = await _body(receive)
        if body is None:
            return 413, {"message": f"An event has at most {LARGEST} bytes."}
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        if not self._verified(body, headers):
            return 401, {"message": "The signature does not fit, or is not of the last five minutes."}
        return self._take(headers["webhook-id"], body)

    def _verified(self, body: bytes, headers: dict[str, str]) -> bool:
        for webhook in self._webhooks:
            try:
                webhook.verify(body, headers, json_parse=False)
            except (WebhookVerificationError, ValueError):
                continue  # ValueError: headers or body that are not even well formed
            return True
        return False

    def _take(self, event_id: str, body: bytes) -> tuple[int, dict[str, Any]]:
        try:
            event = json.loads(body)
            if isinstance(event, dict) and event.get("type") != RUN_FINISHED:
                return 200, {"message": f"Received; {event.get('type')!r} makes no tickets."}
            count = len(failures_of(event))
        except (EventProblem, ValueError, AttributeError) as error:
            return 422, {"message": f"The event cannot be read: {error}"}
        new = self._inbox.take(event_id, body.decode())
        if new:
            self._worker.wake()
        return 202, {"message": f"{count} failures taken." if new else "Taken before."}

    async def _live(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                self._worker.start()
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                self._worker.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return


async def _body(receive: Receive) -> bytes | None:
    """The whole body, or None when it is too large."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return bytes(body)  # incomplete, so its signature will not fit
        body += message.get("body", b"")
        if len(body) > LARGEST:
            return None
        if not message.get("more_body", False):
            return bytes(body)
