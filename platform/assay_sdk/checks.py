"""Checks: each gives pass, fail or cannot-tell, evidence and a reward."""

from __future__ import annotations

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
    name: str  # e.g. "state", "reply:1", "plugin-name"
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


class Checker(Protocol):
    def check(self, trial: TrialView) -> CheckResult: ...


@dataclass(frozen=True, slots=True)
class CheckerType:
    """What `assay_checkers` returns. `build(options)` makes a Checker used for a whole run."""

    name: str
    title: str
    options: type[BaseModel]
    build: Any  # Callable[[BaseModel], Checker]
