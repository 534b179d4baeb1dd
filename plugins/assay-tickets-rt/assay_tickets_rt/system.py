"""Request Tracker as Assay sees it."""

from __future__ import annotations

import hashlib
import re
from urllib.parse import quote

from assay_sdk import FailureReport, TicketRef, TicketSystemError
from assay_sdk.ticketing import describe
from assay_tickets_rt.client import Client
from assay_tickets_rt.options import RtOptions

_SUBJECT = 200  # bytes that a subject can hold


class RequestTracker:
    """assay_sdk.TicketSystem. A ticket is known by a tag with the fingerprint in its subject."""

    def __init__(self, options: RtOptions, token: str) -> None:
        self._options = options
        self._client = Client(options.url, token, options.timeout)

    def find(self, fingerprint: str) -> TicketRef | None:
        """The newest open ticket of the queue that has this fingerprint. Raises TicketSystemError."""
        wanted = tag(fingerprint)
        query = f"Queue = {_quoted(self._options.queue)} AND Subject LIKE {_quoted(wanted)} AND Status = '__Active__'"
        found = self._client.get(
            "/tickets",
            {"query": query, "fields": "Subject", "orderby": "id", "order": "DESC", "per_page": "20"},
        )
        for item in found.get("items", ()):
            if f"[{wanted}]" in str(item.get("Subject", "")):
                return self._ref(item["id"])
        return None

    def create(self, failure: FailureReport) -> TicketRef:
        body = {
            "Queue": self._options.queue,
            "Subject": subject(failure),
            "Content": describe(failure),
            "ContentType": "text/plain",
        }
        if self._options.requestor:
            body["Requestor"] = self._options.requestor
        made = self._client.post("/ticket", body)
        if not isinstance(made, dict) or "id" not in made:
            raise TicketSystemError("Request Tracker did not say which ticket it made.", permanent=True)
        return self._ref(made["id"])

    def comment(self, ticket: TicketRef, text: str) -> None:
        self._client.post(
            f"/ticket/{quote(ticket.id, safe='')}/comment", {"Content": text, "ContentType": "text/plain"}
        )

    def check(self) -> str:
        """Which Request Tracker and queue the token opens. Raises TicketSystemError when tickets cannot be made."""
        version = self._client.get("/rt").get("Version", "of unknown version")
        try:
            queue = self._client.get(f"/queue/{quote(self._options.queue, safe='')}")
        except TicketSystemError as error:
            if not error.permanent:
                raise
            raise TicketSystemError(
                f"The token opens Request Tracker {version}, but there is no queue {self._options.queue!r}, or its "
                "user may not see it (rights SeeQueue and ShowTicket).",
                permanent=True,
            ) from error
        links = queue.get("_hyperlinks", ())
        if not any(link.get("ref") == "create" and link.get("type") == "ticket" for link in links):
            raise TicketSystemError(
                f"The user of the token may not make tickets in {self._options.queue!r} (right CreateTicket).",
                permanent=True,
            )
        return f"Request Tracker {version} at {self._client.base}, queue {self._options.queue}"

    def _ref(self, number: object) -> TicketRef:
        return TicketRef(str(number), f"{self._client.base}/Ticket/Display.html?id={number}")


def tag(fingerprint: str) -> str:
    """What stands for the fingerprint in a subject: `assay:` and 16 hexadecimal digits."""
    if re.fullmatch(r"[0-9a-f]{16,}", fingerprint):
        return f"assay:{fingerprint[:16]}"
    return f"assay:{hashlib.sha256(fingerprint.encode()).hexdigest()[:16]}"


def subject(failure: FailureReport) -> str:
    """Task, what went wrong and the tag, in one line that fits."""
    end = f" [{tag(failure.fingerprint)}]"
    line = " ".join(f"{failure.task}: {failure.category.replace('_', ' ')} - {failure.title}".split())
    return line.encode()[: _SUBJECT - len(end)].decode("utf-8", "ignore").rstrip() + end


def _quoted(text: str) -> str:
    """A string of RT's query language."""
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
