"""Figures on the simulated users of a run: what they used and were refused, and what bots drew out of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.statistics.outcome import TrialOutcome


@dataclass(frozen=True, slots=True)
class Users:
    """Of the trials whose user was a model, void ones included.

    `rejected`: lines that the audit refused, by the kind of what was wrong (a line may have several). `faults`: void
    trials whose user was at fault, by kind.
    """

    trials: int
    lines_rejected: int
    trials_with_rejections: int
    rejected: Mapping[str, int]
    faults: Mapping[str, int]
    calls: int
    prompt_tokens: int
    completion_tokens: int
    audit_questions: int
    audit_could_not_tell: int

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The hidden facts of one task: in how many of its `trials` (valid ones) each came out, and which never did."""

    task: str
    trials: int
    drawn: Mapping[str, int]

    @property
    def never(self) -> list[str]:
        return [fact for fact, times in self.drawn.items() if not times]

    def as_json(self) -> dict[str, Any]:
        return {"task": self.task, "trials": self.trials, "drawn": dict(self.drawn), "never": self.never}


def compact(account: Mapping[str, Any]) -> dict[str, Any]:
    """What the statistics need of a transcript's `user`: without the texts."""
    rejected = [r for r in account.get("rejected") or () if isinstance(r, Mapping)]
    kinds = Counter(str(kind) for r in rejected for kind in {f.get("kind") for f in r.get("findings") or ()})
    audit = account.get("audit") or {}
    return {
        "kind": account.get("kind", ""),
        "fault": account.get("fault"),
        "lines_rejected": len(rejected),
        "rejected": dict(kinds),
        "calls": _count(account, "calls"),
        "prompt_tokens": _count(account, "prompt_tokens"),
        "completion_tokens": _count(account, "completion_tokens"),
        "audit_questions": _count(audit, "model_asked"),
        "audit_could_not_tell": _count(audit, "model_could_not_tell"),
    }


def users(trials: Sequence[TrialOutcome]) -> Users | None:
    """The figures of a run; None when no trial had a model for a user and no user was at fault."""
    told = [t.user for t in trials if t.user and (t.user.get("kind") == "model" or t.user.get("fault"))]
    if not told:
        return None
    rejected: Counter[str] = Counter()
    for user in told:
        rejected.update(user.get("rejected") or {})
    return Users(
        trials=len(told),
        lines_rejected=sum(_count(u, "lines_rejected") for u in told),
        trials_with_rejections=sum(bool(u.get("lines_rejected")) for u in told),
        rejected=dict(rejected.most_common()),
        faults=dict(Counter(str(u["fault"]) for u in told if u.get("fault")).most_common()),
        calls=sum(_count(u, "calls") for u in told),
        prompt_tokens=sum(_count(u, "prompt_tokens") for u in told),
        completion_tokens=sum(_count(u, "completion_tokens") for u in told),
        audit_questions=sum(_count(u, "audit_questions") for u in told),
        audit_could_not_tell=sum(_count(u, "audit_could_not_tell") for u in told),
    )


def disclosures(trials: Sequence[TrialOutcome]) -> list[Disclosure]:
    """For each task with hidden facts and a valid trial, in the order of the trials."""
    drawn: dict[str, Counter[str]] = {}
    count: Counter[str] = Counter()
    for trial in trials:
        if trial.status == "void" or not trial.facts or not trial.facts.get("hidden"):
            continue
        count[trial.task] += 1
        known = drawn.setdefault(trial.task, Counter())
        for fact in trial.facts["hidden"]:
            known[fact] += 0  # so that one never drawn stands there as well
        known.update(entry["fact"] for entry in trial.facts.get("drawn") or ())
    return [Disclosure(task, count[task], dict(facts)) for task, facts in drawn.items()]


def _count(data: Mapping[str, Any], key: str) -> int:
    value = data.get(key)
    return value if isinstance(value, int) else 0
