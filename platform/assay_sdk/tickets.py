"""Ticket systems: where the failures of a run become tickets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class FailureReport:
    """One distinct failure of a run. `fingerprint` is the same for the same failure in every run."""

    fingerprint: str
    task: str
    title: str  # one line
    category: str
    explanation: str  # one or more sentences of plain text
    count: int  # trials of this run that show it
    trials: int  # trials of the task in this run
    url: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TicketRef:
    id: str
    url: str | None


class TicketSystemError(Exception):
    """`permanent`: do not try again (wrong credentials, unknown queue)."""

    def __init__(self, message: str, *, permanent: bool) -> None:
        super().__init__(message)
        self.permanent = permanent


class TicketSystem(Protocol):
    def find(self, fingerprint: str) -> TicketRef | None:
        """The open ticket made earlier for this failure, if any."""
        ...

    def create(self, failure: FailureReport) -> TicketRef: ...

    def comment(self, ticket: TicketRef, text: str) -> None: ...

    def check(self) -> str:
        """Say who we are signed in as, or raise TicketSystemError."""
        ...


@dataclass(frozen=True, slots=True)
class TicketSystemType:
    """What `assay_ticket_systems` returns. `build(options, secret)`: `secret` resolves a reference."""

    name: str
    title: str
    options: type[BaseModel]
    build: Callable[[Any, Callable[[str], str]], TicketSystem]
