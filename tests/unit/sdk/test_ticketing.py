"""From an event to tickets: one open ticket for each failure, told once."""

from __future__ import annotations

from typing import Any

import pytest

from assay_sdk import FailureReport, TicketRef, TicketSystemError
from assay_sdk.ticketing import EventProblem, describe, failures_of, report_failures


class Book:
    """A ticket system on paper. `broken_at`: the call at which it stops working, once."""

    def __init__(self) -> None:
        self.open: dict[str, str] = {}
        self.comments: list[tuple[str, str]] = []
        self.broken_at: int | None = None
        self.calls = 0

    def _call(self) -> None:
        self.calls += 1
        if self.calls == self.broken_at:
            raise TicketSystemError("out of paper", permanent=False)

    def find(self, fingerprint: str) -> TicketRef | None:
        self._call()
        return TicketRef(self.open[fingerprint], None) if fingerprint in self.open else None

    def create(self, failure: FailureReport) -> TicketRef:
        self._call()
        self.open[failure.fingerprint] = f"T{len(self.open) + 1}"
        return TicketRef(self.open[failure.fingerprint], None)

    def comment(self, ticket: TicketRef, text: str) -> None:
        self._call()
        self.comments.append((ticket.id, text))

    def check(self) -> str:
        return "a book"


class Memory:
    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], tuple[str, bool]] = {}

    def was_told(self, fingerprint: str, event_id: str) -> bool:
        return (fingerprint, event_id) in self.rows

    def told(self, fingerprint: str, event_id: str, ticket: TicketRef, *, created: bool) -> None:
        self.rows[fingerprint, event_id] = (ticket.id, created)


def event(*fingerprints: str, run: int = 1) -> dict[str, Any]:
    return {
        "type": "run.finished",
        "data": {
            "run": {"id": run, "bot": {"name": "Helper", "version": "v2"}, "pack": {"name": "retail", "version": "1.0"}},
            "failures": [
                {
                    "fingerprint": f, "task": "RET-1", "title": "A refund", "category": "incorrect_state_update",
                    "explanation": "refunds.amount is 5.", "count": 3, "trials": 20, "url": None,
                    "details": {"group": "returns"},
                }
                for f in fingerprints
            ],
        },
    }  # fmt: skip


def test_each_failure_gets_a_ticket_and_a_later_run_a_comment() -> None:
    book, memory = Book(), Memory()
    first = report_failures(book, event("a", "b"), "msg_1", memory)
    assert ([t.id for t in first.created], list(first.commented)) == (["T1", "T2"], [])
    second = report_failures(book, event("b", "c", run=2), "msg_2", memory)
    assert ([t.id for t in second.created], [t.id for t in second.commented]) == (["T3"], ["T2"])
    ((ticket, text),) = book.comments
    assert ticket == "T2"
    assert "3 of 20 trials" in text and "Run 2: Helper v2 on retail 1.0." in text


def test_a_repeated_event_tells_nothing_twice() -> None:
    book, memory = Book(), Memory()
    report_failures(book, event("a"), "msg_1", memory)
    again = report_failures(book, event("a"), "msg_1", memory)
    assert (again.created, again.commented, again.repeated) == ([], [], 1)
    assert book.comments == []


@pytest.mark.parametrize("broken_at", [1, 2, 3, 4])
def test_an_event_that_broke_off_is_carried_on(broken_at: int) -> None:
    book, memory = Book(), Memory()
    book.broken_at = broken_at
    with pytest.raises(TicketSystemError):
        report_failures(book, event("a", "b"), "msg_1", memory)
    report_failures(book, event("a", "b"), "msg_1", memory)
    assert sorted(book.open) == ["a", "b"]
    assert book.comments == []


def test_a_bot_that_fails_everywhere_does_not_flood_the_queue() -> None:
    book = Book()
    reported = report_failures(book, event(*"abcdef"), "msg_1", Memory(), most=4)
    assert (len(reported.created), reported.left_out) == (4, 2)
    assert str(reported) == "Tickets: 4 created, 0 commented, 2 left out."


@pytest.mark.parametrize(
    "bad",
    [
        {"type": "endpoint.test", "data": {}},
        {"type": "run.finished"},
        {"type": "run.finished", "data": {"failures": [{"task": "x"}]}},
        {"type": "run.finished", "data": {"failures": 7}},
        {"type": "run.finished", "data": {"failures": [None]}},
    ],
)
def test_an_event_that_holds_no_failures_is_refused_with_a_sentence(bad: dict[str, Any]) -> None:
    with pytest.raises(EventProblem):
        failures_of(bad)


def test_a_tickets_text_says_all_that_is_known() -> None:
    (failure,) = failures_of(event("abc"))
    text = describe(failure)
    for part in (
        "refunds.amount is 5.",
        "RET-1 (A refund)",
        "incorrect state update",
        "3 of 20",
        "abc",
        "Group: returns",
    ):
        assert part in text
