"""What statistics need of a trial. Apart from the statistics, so that running trials need not load them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """What statistics need of one trial. `category`, `s1`..`s3`, `fingerprint`: of a failed one; `void_cause`: of a void one.

    `costs`: of a failed one, as in its verdict; None when the pack does not say what wrong amounts cost. `faults`: those
    injected on purpose, as in the verdict, of a passed or failed one. `user`: see users.compact; `facts`: those drawn
    out of the customer, as in the transcript. `checks`: those of a valid one that are reported only, as in its verdict;
    "name", "outcome" and "reward" are looked at.
    """

    task: str
    group: str
    status: str  # passed, failed or void
    category: str | None = None
    s1: bool | None = None
    s2: bool | None = None
    s3: bool | None = None
    void_cause: str | None = None
    fingerprint: str | None = None
    explanation: str | None = None
    costs: Sequence[Mapping[str, Any]] | None = None
    checks: Sequence[Mapping[str, Any]] = ()
    faults: Sequence[Mapping[str, Any]] = ()
    user: Mapping[str, Any] | None = None
    facts: Mapping[str, Any] | None = None
