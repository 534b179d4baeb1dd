"""From a finished run's event to tickets: one open ticket for each distinct failure, whichever way the event came.

The platform uses it when a tenant has connected a ticket system; a receiver of webhooks, which runs elsewhere,
uses it just the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from assay_sdk.faults import AssayError
from assay_sdk.tickets import FailureReport, TicketRef, TicketSystem

RUN_FINISHED = "run.finished"
MOST_TICKETS = 50  # of one run; a bot that fails everywhere must not flood the queue


class EventProblem(AssayError):
    """The event is not one that can be turned into tickets; the message says why."""


class Memory(Protocol):
    """What was already told to the ticket system. It makes a repeated event harmless."""

    def was_told(self, fingerprint: str, event_id: str) -> bool: ...

    def told(self, fingerprint: str, event_id: str, ticket: TicketRef, *, created: bool) -> None:
        """Called right after the ticket system has accepted it."""
        ...


@dataclass(frozen=True, slots=True)
class Reported:
    """What became of one event. `left_out`: distinct failures beyond the most that one run may open."""

    created: Sequence[TicketRef]
    commented: Sequence[TicketRef]
    repeated: int
    left_out: int

    def __str__(self) -> str:
        parts = [f"{len(self.created)} created", f"{len(self.commented)} commented"]
        if self.repeated:
            parts.append(f"{self.repeated} told before")
        if self.left_out:
            parts.append(f"{self.left_out} left out")
        return "Tickets: " + ", ".join(parts) + "."


def failures_of(event: Mapping[str, Any]) -> list[FailureReport]:
    """The distinct failures in a `run.finished` event, most frequent first as they were sent. Raises EventProblem."""
    if event.get("type") != RUN_FINISHED:
        raise EventProblem(
            f"An event of type {event.get('type')!r} holds no failures; {RUN_FINISHED!r} does."
        )
    try:
        return [
            FailureReport(
                fingerprint=str(entry["fingerprint"]),
                task=str(entry["task"]),
                title=str(entry["title"]),
                category=str(entry["category"]),
                explanation=str(entry["explanation"]),
                count=int(entry["count"]),
                trials=int(entry["trials"]),
                url=str(entry["url"]) if entry.get("url") else None,
                details=dict(entry.get("details") or {}),
            )
            for entry in event["data"]["failures"]
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise EventProblem(f"The event's failures cannot be read: {type(error).__name__} {error}.") from None


def report_failures(
    system: TicketSystem, event: Mapping[str, Any], event_id: str, memory: Memory, *, most: int = MOST_TICKETS
) -> Reported:
    """Tell the ticket system of every failure in the event that it was not told of before.

    A failure with an open ticket becomes a comment there, any other a new ticket. Raises EventProblem, and
    TicketSystemError as the system does; what was told until then is in `memory`, so the event can be repeated.
    """
    created: list[TicketRef] = []
    commented: list[TicketRef] = []
    repeated = 0
    failures = failures_of(event)
    for failure in failures[:most]:
        if memory.was_told(failure.fingerprint, event_id):
            repeated += 1
            continue
        ticket = system.find(failure.fingerprint)
        new = ticket is None
        if ticket is None:
            ticket = system.create(failure)
            created.append(ticket)
        else:
            system.comment(ticket, again(failure, event))
            commented.append(ticket)
        memory.told(failure.fingerprint, event_id, ticket, created=new)
    return Reported(created, commented, repeated, max(0, len(failures) - most))


def again(failure: FailureReport, event: Mapping[str, Any]) -> str:
    """The comment for a failure that has a ticket: where it was seen again."""
    run = event["data"].get("run", {})
    lines = [
        f"Seen again in {failure.count} of {failure.trials} trials of {failure.task}.",
        f"Run {run.get('id', '?')}: {run.get('bot', {}).get('name', 'bot')} {run.get('bot', {}).get('version', '')}".rstrip()
        + f" on {run.get('pack', {}).get('name', 'pack')} {run.get('pack', {}).get('version', '')}".rstrip()
        + ".",
        "",
        failure.explanation,
    ]
    if failure.url:
        lines += ["", failure.url]
    return "\n".join(lines)


def describe(failure: FailureReport) -> str:
    """The text of a new ticket, plain and complete."""
    lines = [
        failure.explanation,
        "",
        f"Task: {failure.task} ({failure.title})",
        f"Category: {failure.category.replace('_', ' ')}",
        f"Seen in {failure.count} of {failure.trials} trials.",
        f"Fingerprint: {failure.fingerprint}",
    ]
    lines += [f"{str(key).replace('_', ' ').capitalize()}: {value}" for key, value in failure.details.items()]
    if failure.url:
        lines += ["", failure.url]
    return "\n".join(lines)
