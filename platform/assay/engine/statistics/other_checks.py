"""Figures of the checks that are reported only: beside pass@k and pass^k, and never part of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.engine.statistics.intervals import Estimate, beta_posterior, bootstrap_means
from assay.engine.statistics.outcome import TrialOutcome

_TOLD = ("pass", "fail")


@dataclass(frozen=True, slots=True)
class CheckFigures:
    """One check over the valid trials of some tasks; `passed` + `failed` + `cannot_tell` of them.

    The estimates are means over tasks, in [0, 1]: `share` of trials that pass (one that cannot be told does not),
    `unknown` of those that cannot be told, `reward` of those that can (None when none can), and `worst_case`, the
    share if every void trial had not passed. None without valid trials.
    """

    name: str
    tasks: int
    passed: int
    failed: int
    cannot_tell: int
    void: int
    share: Estimate | None
    unknown: Estimate | None
    reward: Estimate | None
    worst_case: Estimate | None

    def as_json(self) -> dict[str, Any]:
        estimates = {name: getattr(self, name) for name in ("share", "unknown", "reward", "worst_case")}
        return {
            "name": self.name,
            "tasks": self.tasks,
            "passed": self.passed,
            "failed": self.failed,
            "cannot_tell": self.cannot_tell,
            "void": self.void,
            **{name: e.as_json() if e else None for name, e in estimates.items()},
        }


@dataclass(frozen=True, slots=True)
class OtherCheck:
    """A check over all tasks, and over each group of them."""

    overall: CheckFigures
    groups: Sequence[CheckFigures]  # `name` is the group's

    def as_json(self) -> dict[str, Any]:
        return {**self.overall.as_json(), "groups": [g.as_json() for g in self.groups]}


@dataclass(slots=True)
class _Task:
    passed: int = 0
    failed: int = 0
    reward: float = 0.0
    valid: int = 0
    void: int = 0


def other_checks(trials: Sequence[TrialOutcome]) -> list[OtherCheck]:
    """The figures of every check that any trial reports, in the order in which they first appear.

    A valid trial that lacks a check which others of its task have cannot tell: the check broke there before it could
    say which parts it has. A task that does not have the check (a rule of other tasks) does not enter. The tasks weigh
    the same, whatever their number of trials.
    """
    found = _count(trials)
    checks = []
    for name, tasks in found.items():
        groups: dict[str, list[_Task]] = defaultdict(list)
        for (group, _), task in tasks.items():
            groups[group].append(task)
        checks.append(
            OtherCheck(
                _figures(name, list(tasks.values())),
                [_figures(group, members) for group, members in groups.items()],
            )
        )
    return checks


def _count(trials: Sequence[TrialOutcome]) -> Mapping[str, Mapping[tuple[str, str], _Task]]:
    names = dict.fromkeys(said["name"] for t in trials for said in t.checks)
    # What a checker of several parts reports under its own name when it breaks is no check beside its parts.
    whole = {name.rpartition(".")[0] for name in names if "." in name}
    found: dict[str, dict[tuple[str, str], _Task]] = {name: {} for name in names if name not in whole}
    valid = {(t.group, t.task) for t in trials if t.status != "void"}
    has: dict[str, set[tuple[str, str]]] = defaultdict(set)  # tasks that have the check
    for t in trials:
        for said in t.checks:
            broke = said["name"] in whole
            for name in (n for n in found if n.startswith(f"{said['name']}.")) if broke else (said["name"],):
                has[name].add((t.group, t.task))
    for t in trials:
        told = {c["name"]: c for c in t.checks}
        place = (t.group, t.task)
        for name, tasks in found.items():
            # A task of which every trial is void shows no checks: it has those that every other task has.
            if place not in has[name] and (place in valid or has[name] != valid):
                continue
            task = tasks.setdefault(place, _Task())
            if t.status == "void":
                task.void += 1
                continue
            task.valid += 1
            outcome = told[name]["outcome"] if name in told else "cannot_tell"
            if outcome in _TOLD:
                task.passed += outcome == "pass"
                task.failed += outcome == "fail"
                task.reward += float(told[name]["reward"])
    return found


def _figures(name: str, tasks: Sequence[_Task]) -> CheckFigures:
    passed, failed = sum(t.passed for t in tasks), sum(t.failed for t in tasks)
    valid = sum(t.valid for t in tasks)
    share = _over([(t.passed, t.valid) for t in tasks])
    void = sum(t.void for t in tasks)
    return CheckFigures(
        name=name,
        tasks=len(tasks),
        passed=passed,
        failed=failed,
        cannot_tell=valid - passed - failed,
        void=void,
        share=share,
        unknown=_over([(t.valid - t.passed - t.failed, t.valid) for t in tasks]),
        reward=_over([(t.reward, t.passed + t.failed) for t in tasks]),
        worst_case=_over([(t.passed, t.valid + t.void) for t in tasks]) if void else share,
    )


def _over(parts: Iterable[tuple[float, int]]) -> Estimate | None:
    """The mean over tasks of sum / trials, each sum of quantities in [0, 1]; tasks without trials do not enter.

    A single task has nothing to resample: then the posterior of its rate, which for a quantity that is not only 0 or
    1 is wide enough, because no other varies more.
    """
    entering = [(total, n) for total, n in parts if n]
    if not entering:
        return None
    if len(entering) == 1:
        total, n = entering[0]
        return beta_posterior(n, min(total, float(n)))
    values, weights = np.unique(np.array([total / n for total, n in entering]), return_counts=True)
    return bootstrap_means(values[:, None].astype(np.float64), weights.astype(np.int64))[0]
