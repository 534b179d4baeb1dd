"""Checks: each gives pass, fail or cannot-tell, evidence and a reward."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from pydantic import BaseModel


class Outcome(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    CANNOT_TELL = "cannot_tell"  # of a required check: voids the trial, never passes it


@dataclass(frozen=True, slots=True)
class Evidence:
    """Where to look. `turn`/`call`: index into the transcript's events / number of a tool call."""

    message: str
    turn: int | None = None
    call: int | None = None
    table: str | None = None
    row: Mapping[str, Any] | None = None
    span: str | None = None


@dataclass(frozen=True, slots=True)
class CheckResult:
    name: str  # e.g. "state", "reply:1", "plugin-name", "plugin-name.part"
    outcome: Outcome
    required: bool  # a failed required check fails the trial
    reward: float  # in [0, 1]
    evidence: Sequence[Evidence] = ()


@dataclass(frozen=True, slots=True)
class TrialView:
    """The finished trial as a checker sees it: plain JSON-like values, read only.

    `events`: the transcript's events as dicts (see assay.engine.dialogue.transcript);
    `changes`: rows the trial changed: {"table", "op", "key", "before", "after"};
    `task`: the task as written in the pack.
    """

    task: Mapping[str, Any]
    events: Sequence[Mapping[str, Any]]
    changes: Sequence[Mapping[str, Any]]
    termination: str


#: A part's name: its result is reported as "checker.part".
PART = re.compile(r"[a-z][a-z0-9_-]{0,63}")
#: Parts that one checker may have.
MOST_PARTS = 32


class Checker(Protocol):
    def check(self, trial: TrialView) -> CheckResult | Sequence[CheckResult]:
        """One result; or, of a checker with parts, one for each part, whose `name` is the part's."""
        ...


@dataclass(frozen=True, slots=True)
class CheckerType:
    """What `assay_checkers` returns. `build(options)` makes a Checker used for a whole run.

    `parts`: the names of the results that it gives for every trial, in this order, each reported as a check of its
    own ("communication.brevity"); empty for a checker that gives one result.
    """

    name: str
    title: str
    options: type[BaseModel]
    build: Any  # Callable[[BaseModel], Checker]
    parts: Sequence[str] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The checks that it reports."""
        return tuple(f"{self.name}.{part}" for part in self.parts) or (self.name,)
