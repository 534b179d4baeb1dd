"""From the outcomes of trials to the figures of a run: the one summary that every report, gate and webhook reads."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.engine.grading.verdict import Category
from assay.engine.statistics.costs import Costs, sum_costs
from assay.engine.statistics.estimators import curves
from assay.engine.statistics.intervals import (
    CONFIDENCE,
    RESAMPLES,
    Estimate,
    beta_posterior,
    bootstrap_means,
    one_task,
)
from assay.engine.statistics.other_checks import OtherCheck, other_checks
from assay.engine.statistics.outcome import TrialOutcome
from assay.engine.statistics.recovery import Recoveries, recoveries
from assay.engine.statistics.shares import Share
from assay.engine.statistics.users import Disclosure, Users, disclosures, users

__all__ = ["RunSummary", "Share", "TrialOutcome", "summarise"]

Curve = Mapping[
    str, Estimate | None
]  # "1", "2", ... -> the estimate for that k; None when no task has k trials


@dataclass(frozen=True, slots=True)
class Counts:
    valid: int
    passed: int
    void: int

    @property
    def failed(self) -> int:
        return self.valid - self.passed

    @property
    def trials(self) -> int:
        return self.valid + self.void


@dataclass(frozen=True, slots=True)
class Group:
    """The figures of some tasks. `trials` = valid + void; only valid ones enter the curves."""

    name: str
    tasks: int
    counts: Counts
    pass_at: Curve
    pass_hat: Curve
    plug_in: Curve

    def as_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "tasks": self.tasks,
            **_counts(self.counts),
            "pass_at": _curve(self.pass_at),
            "pass_hat": _curve(self.pass_hat),
            "plug_in": _curve(self.plug_in),
        }


@dataclass(frozen=True, slots=True)
class TaskFigures:
    task: str
    group: str
    counts: Counts
    rate: Estimate | None  # None: no valid trial


@dataclass(frozen=True, slots=True)
class Failure:
    """One distinct failure: `count` of the task's `trials` showed it."""

    fingerprint: str
    task: str
    category: str
    explanation: str
    count: int
    trials: int

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class RunSummary:
    """`overall` leaves void trials out; `worst_case` takes every one of them as failed.

    `costs`: what the failed trials cost; None when the pack does not say what wrong amounts cost, or none failed.
    `faults`: how often the bot recovered from faults on purpose; None when none were injected. `users`: of users
    played by a model; None without any. `disclosures`: the hidden facts of each task and how often they came out.
    """

    method: str
    trials_per_task: int
    overall: Group
    groups: Sequence[Group]
    worst_case: Group
    per_task: Sequence[TaskFigures]
    illusion: Mapping[str, Share]
    categories: Mapping[str, Share]
    voids: Mapping[str, int]
    failures: Sequence[Failure]
    costs: Costs | None = None
    faults: Recoveries | None = None
    users: Users | None = None
    disclosures: Sequence[Disclosure] = ()
    checks: Sequence[OtherCheck] = ()  # those that are reported only

    def as_json(self) -> dict[str, Any]:
        return {
            "tasks": self.overall.tasks,
            **_counts(self.overall.counts),
            "trials_per_task": self.trials_per_task,
            "confidence": CONFIDENCE,
            "method": self.method,
            "overall": self.overall.as_json(),
            "groups": [g.as_json() for g in self.groups],
            "worst_case": self.worst_case.as_json(),
            "per_task": [
                {
                    "task": t.task,
                    "group": t.group,
                    "valid": t.counts.valid,
                    "passed": t.counts.passed,
                    "failed": t.counts.failed,
                    "void": t.counts.void,
                    "rate": t.rate.as_json() if t.rate else None,
                }
                for t in self.per_task
            ],
            "illusion": {name: share.as_json() for name, share in self.illusion.items()},
            "categories": [{"category": name, **share.as_json()} for name, share in self.categories.items()],
            "voids": dict(self.voids),
            "failures": [f.as_json() for f in self.failures],
            "costs": self.costs.as_json() if self.costs else None,
            "checks": [check.as_json() for check in self.checks],
            "faults": self.faults.as_json() if self.faults else None,
            "users": self.users.as_json() if self.users else None,
            "disclosures": [d.as_json() for d in self.disclosures],
        }


def summarise(outcomes: Iterable[TrialOutcome]) -> RunSummary:
    """The figures of a run. Tasks and groups keep the order in which they first appear.

    Raises ValueError for an unknown status or a task that appears in two groups.
    """
    trials = list(outcomes)
    counts = _count(trials)
    groups: dict[str, list[str]] = defaultdict(list)
    for group, task in counts:
        groups[group].append(task)
    by_task = {task: c for (_, task), c in counts.items()}
    if len(by_task) < len(counts):
        twice = sorted(t for t, times in Counter(task for _, task in counts).items() if times > 1)
        raise ValueError(f"a task belongs to one group; {', '.join(twice)} appears in several")
    k_max = max((c.trials for c in by_task.values()), default=0)
    overall = _group("all", list(by_task.values()), k_max)
    worst = [Counts(c.trials, c.passed, 0) for c in by_task.values()]
    failed = [t for t in trials if t.status == "failed"]
    return RunSummary(
        method=_method(by_task.values(), k_max),
        trials_per_task=k_max,
        overall=overall,
        groups=[_group(name, [by_task[t] for t in tasks], k_max) for name, tasks in groups.items()],
        worst_case=_group("worst_case", worst, k_max)
        if overall.counts.void
        else replace(overall, name="worst_case"),
        per_task=[
            TaskFigures(task, group, c, beta_posterior(c.valid, c.passed))
            for (group, task), c in counts.items()
        ],
        illusion={
            s: Share.make(sum(bool(getattr(t, s)) for t in failed), len(failed)) for s in ("s1", "s2", "s3")
        },
        categories={
            c.value: Share.make(sum(t.category == c.value for t in failed), len(failed)) for c in Category
        },
        voids=dict(
            Counter(t.void_cause or "internal_error" for t in trials if t.status == "void").most_common()
        ),
        failures=_failures(failed, by_task),
        costs=sum_costs([t.costs for t in failed], overall.counts.valid),
        checks=other_checks(trials),
        faults=recoveries(trials),
        users=users(trials),
        disclosures=disclosures(trials),
    )


def _count(trials: Sequence[TrialOutcome]) -> dict[tuple[str, str], Counts]:
    found: dict[tuple[str, str], Counter[str]] = {}
    for t in trials:
        if t.status not in ("passed", "failed", "void"):
            raise ValueError(f"a finished trial is passed, failed or void, not {t.status!r}")
        found.setdefault((t.group, t.task), Counter())[t.status] += 1
    return {key: Counts(c["passed"] + c["failed"], c["passed"], c["void"]) for key, c in found.items()}


def _group(name: str, tasks: Sequence[Counts], k_max: int) -> Group:
    total = Counts(sum(t.valid for t in tasks), sum(t.passed for t in tasks), sum(t.void for t in tasks))
    kinds = sorted(Counter((t.valid, t.passed) for t in tasks if t.valid).items())
    n = np.array([k[0] for k, _ in kinds], dtype=np.int64)
    c = np.array([k[1] for k, _ in kinds], dtype=np.int64)
    weights = np.array([w for _, w in kinds], dtype=np.int64)
    found: list[Estimate | None] = [None] * (3 * k_max)
    if kinds:
        values = curves(n, c, k_max)
        if int(weights.sum()) == 1:
            at, hat, plug = (v[0] for v in values)
            found = one_task(int(n[0]), int(c[0]), (at, hat, plug))
        else:
            found = bootstrap_means(np.concatenate(values, axis=1), weights)
    at_k, hat_k, plug_k = ({str(k + 1): found[part * k_max + k] for k in range(k_max)} for part in range(3))
    return Group(name, len(tasks), total, at_k, hat_k, plug_k)


def _failures(failed: Sequence[TrialOutcome], by_task: Mapping[str, Counts]) -> list[Failure]:
    same: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    for t in failed:
        same[(t.task, t.fingerprint or "", t.category or "")][t.explanation or ""] += 1
    found = [
        # The wording most of them share; the first in the alphabet where several are as frequent.
        Failure(
            fingerprint,
            task,
            category,
            min(says.items(), key=lambda item: (-item[1], item[0]))[0],
            sum(says.values()),
            by_task[task].trials,
        )
        for (task, fingerprint, category), says in same.items()
    ]
    return sorted(found, key=lambda f: (-f.count, f.task, f.fingerprint))


def _method(tasks: Iterable[Counts], k_max: int) -> str:
    says = (
        f"BCa bootstrap over tasks ({RESAMPLES:,} resamples, fixed seed); a single task: Beta posterior "
        "(Jeffreys); shares: Wilson; each at 95 %."
    )
    counts = list(tasks)
    short = sum(c.valid < k_max for c in counts)
    if short:
        says += f" Tasks with fewer than k valid trials do not enter that k: {short} of {len(counts)} at k = {k_max}."
    return says


def _counts(c: Counts) -> dict[str, int]:
    return {"trials": c.trials, "valid": c.valid, "passed": c.passed, "failed": c.failed, "void": c.void}


def _curve(curve: Curve) -> dict[str, dict[str, float] | None]:
    return {k: e.as_json() if e else None for k, e in curve.items()}
