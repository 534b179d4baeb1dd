"""How often a bot got over faults that were injected on purpose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.statistics.outcome import TrialOutcome
from assay.engine.statistics.shares import Share
from assay_sdk import FaultKind


@dataclass(frozen=True, slots=True)
class Recovery:
    """Of one kind of fault ("all": of any): how many were injected into valid trials, from how many of them the bot
    recovered, and how many of the trials that met one passed."""

    kind: str
    recovered: Share
    passed: Share

    @property
    def injected(self) -> int:
        return self.recovered.of

    @property
    def trials(self) -> int:
        return self.passed.of

    def as_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "injected": self.injected,
            "recovered": self.recovered.as_json(),
            "trials": self.trials,
            "passed": self.passed.as_json(),
        }


@dataclass(frozen=True, slots=True)
class Recoveries:
    """`by_kind`: the kinds that occurred, in the order of FaultKind. `untouched`: valid trials that met no fault, and
    how many of them passed. Shares have Wilson intervals, which take faults of one trial as independent."""

    overall: Recovery
    by_kind: Sequence[Recovery]
    untouched: Share

    def as_json(self) -> dict[str, Any]:
        return {
            "overall": self.overall.as_json(),
            "by_kind": [recovery.as_json() for recovery in self.by_kind],
            "untouched": self.untouched.as_json(),
        }


def recoveries(trials: Sequence[TrialOutcome]) -> Recoveries | None:
    """The figures of a run; None when no fault was injected into a valid trial."""
    valid = [trial for trial in trials if trial.status != "void"]
    met = [(trial, fault) for trial in valid for fault in trial.faults]
    if not met:
        return None
    order = {kind.value: number for number, kind in enumerate(FaultKind)}
    kinds = sorted({str(fault["kind"]) for _, fault in met}, key=lambda kind: (order.get(kind, 99), kind))
    untouched = [trial for trial in valid if not trial.faults]
    return Recoveries(
        _of("all", valid, None),
        [_of(kind, valid, kind) for kind in kinds],
        Share.make(sum(trial.status == "passed" for trial in untouched), len(untouched)),
    )


def _of(name: str, valid: Sequence[TrialOutcome], kind: str | None) -> Recovery:
    hit = [
        (trial, faults)
        for trial in valid
        if (faults := [f for f in trial.faults if kind is None or f["kind"] == kind])
    ]
    every = [bool(fault["recovered"]) for _, faults in hit for fault in faults]
    return Recovery(
        name,
        recovered=Share.make(sum(every), len(every)),
        passed=Share.make(sum(trial.status == "passed" for trial, _ in hit), len(hit)),
    )
