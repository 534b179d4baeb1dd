"""Faults on purpose: profiles that choose when a call goes wrong, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel


class FaultKind(StrEnum):
    """What can be done to a call. docs/reference/faults.md says what a bot sees of each, and how it gets over it."""

    TIMEOUT = "timeout"  # no answer in time; of a write it is said whether it was carried out
    RATE_LIMIT = "rate_limit"  # 429: not carried out
    SERVER_ERROR = "server_error"  # 500: not carried out
    SLOW = "slow"  # the right answer, late
    TRUNCATED = "truncated"  # a look-up: only the first entries of a list, with a notice
    STALE = "stale"  # a look-up: the answer of an older copy of the database, with a notice
    RENAMED = "renamed"  # a look-up: one field has another name


@dataclass(frozen=True, slots=True)
class CallAhead:
    """A call of an existing tool that is about to be made.

    `number`: of the call in the conversation, from 0. `faults`: injected so far. `in_a_row`: how often this very call
    (tool and arguments) has been disturbed without a proper answer in between.
    """

    number: int
    tool: str
    writes: bool
    arguments: Mapping[str, Any]
    faults: int = 0
    in_a_row: int = 0


class FaultProfile(Protocol):
    """Chooses faults for one conversation; the engine carries them out and keeps within its bounds."""

    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        """The kinds to try on this call, in order: the first that applies to it is injected. Empty: none."""
        ...


@dataclass(frozen=True, slots=True)
class FaultProfileType:
    """What `assay_fault_profiles` returns. `build(options, seed)` makes a FaultProfile for one conversation.

    The same options, seed and calls give the same choices. `says`: one sentence about what goes wrong and how often.
    """

    name: str
    title: str
    says: str
    options: type[BaseModel]
    build: Callable[[Any, int], FaultProfile]

    def describe(self) -> Mapping[str, Any]:
        return {"name": self.name, "title": self.title}
