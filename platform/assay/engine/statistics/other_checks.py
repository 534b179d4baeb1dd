"""Figures of the checks that are reported only: beside pass@k and pass^k, and never part of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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


_Place = tuple[str, str]  # group, task
_Part = tuple[float, int]
_Found = Mapping[str, Mapping[_Place, _Task]]


def other_checks(trials: Sequence[TrialOutcome]) -> list[OtherCheck]:
    """The figures of every check that any trial reports, in the order in which they first appear.

    A valid trial that lacks a check which others of its task have cannot tell: the check broke there before it could
    say which parts it has. A task that does not have the check (a rule of other tasks) does not enter. The tasks weigh
    the same, whatever their number of trials.
    """
    found = _count(trials)
    places = list(dict.fromkeys(place for tasks in found.values() for place in tasks))
    groups: dict[str, list[_Place]] = defaultdict(list)
    for place in places:
        groups[place[0]].append(place)
    overall = _figures(found, places)
    by_group = {group: _figures(found, members) for group, members in groups.items()}
    return [
        OtherCheck(
            overall[name],
            [replace(of[name], name=group) for group, of in by_group.items() if of[name].tasks],
        )
        for name in found
    ]


def _count(trials: Sequence[TrialOutcome]) -> _Found:
    names = dict.fromkeys(said["name"] for t in trials for said in t.checks)
    # What a checker of several parts reports under its own name when it breaks is no check beside its parts.
    whole = {name.rpartition(".")[0] for name in names if "." in name}
    found: dict[str, dict[_Place, _Task]] = {name: {} for name in names if name not in whole}
    valid = {(t.group, t.task) for t in trials if t.status != "void"}
    has: dict[str, set[_Place]] = defaultdict(set)  # tasks that have the check
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


def _figures(found: _Found, places: Sequence[_Place]) -> dict[str, CheckFigures]:
    """Each check over these tasks. All share one set of resamples, which is what takes the time."""
    parts: list[
        list[_Part | None]
    ] = []  # of each quantity, for each task: sum of quantities in [0, 1], trials
    for tasks in found.values():
        here = [tasks.get(place) for place in places]
        parts += [
            [(t.passed, t.valid) if t else None for t in here],
            [(t.valid - t.passed - t.failed, t.valid) if t else None for t in here],
            [(t.reward, t.passed + t.failed) if t else None for t in here],
            [(t.passed, t.valid + t.void) if t else None for t in here],
        ]
    estimates = iter(_means(parts))
    figures = {}
    for name, tasks in found.items():
        members = [tasks[place] for place in places if place in tasks]
        passed, failed = sum(t.passed for t in members), sum(t.failed for t in members)
        figures[name] = CheckFigures(
            name=name,
            tasks=len(members),
            passed=passed,
            failed=failed,
            cannot_tell=sum(t.valid for t in members) - passed - failed,
            void=sum(t.void for t in members),
            share=next(estimates),
            unknown=next(estimates),
            reward=next(estimates),
            worst_case=next(estimates),
        )
    return figures


def _means(parts: Sequence[Sequence[_Part | None]]) -> list[Estimate | None]:
    """The mean over tasks of each quantity; a task without trials of it does not enter.

    A quantity of one task has nothing to resample: then the posterior of its rate, which for a quantity that is not
    only 0 or 1 is wide enough, because no other varies more.
    """
    if not parts:
        return []
    rows = np.array([[part[0] / part[1] if part and part[1] else np.nan for part in q] for q in parts]).T
    # Tasks that are alike in everything are drawn together. NaN equals nothing, so -1 stands in for it.
    kinds, weights = np.unique(np.where(np.isnan(rows), -1.0, rows), axis=0, return_counts=True)
    found = bootstrap_means(np.where(kinds < 0, np.nan, kinds), weights.astype(np.int64))
    for number, quantity in enumerate(parts):
        entering = [part for part in quantity if part and part[1]]
        if len(entering) == 1:
            total, n = entering[0]
            found[number] = beta_posterior(n, min(total, float(n)))
    return found
