"""Points 2 and 3 of "a pack proves itself": the expected actions work, and doing nothing fails."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.engine.packs.problems import Problem
from assay.engine.sandbox import compare
from assay.engine.sandbox.task_checks import check_task
from assay.engine.verifier.subject import Subject
from assay_sdk import PackFault


@dataclass(frozen=True, slots=True)
class GoldReport:
    """`actions`: expected actions played, `no_change`: tasks in which nothing may change.

    `needs_judge`: tasks with a reply rule that only a model can decide, so that their trials are void without one.
    """

    tasks: int
    actions: int
    no_change: int
    problems: tuple[Problem, ...]
    needs_judge: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        return {
            "tasks": self.tasks,
            "actions": self.actions,
            "no_change": self.no_change,
            "needs_judge": list(self.needs_judge),
        }


def examine_gold(subject: Subject) -> GoldReport:
    """Play every accepted outcome of the chosen tasks twice. Raises OutOfTime."""
    problems: list[Problem] = []
    actions = no_change = 0
    needs_judge: list[str] = []
    for task_id in subject.tasks:
        subject.check_time()
        found = check_task(subject.world, task_id, subject.until)
        if not found:
            found = _same_outcomes(subject, task_id)
        problems += found
        expected = subject.pack.tasks[task_id].expected
        actions += len(expected.actions) + sum(len(a.actions) for a in expected.also_accept)
        no_change += expected.no_change
        if any(rule.judged and rule.required for rule in subject.pack.tasks[task_id].reply):
            needs_judge.append(task_id)
    return GoldReport(len(subject.tasks), actions, no_change, tuple(sorted(problems)), tuple(needs_judge))


def _same_outcomes(subject: Subject, task_id: str) -> list[Problem]:
    """Alternatives that are no alternatives, because the comparison already takes them for another outcome."""
    world = subject.world
    try:
        outcomes = world.expected(task_id)
    except PackFault as fault:
        return [subject.fault(task_id, fault, str(fault), "pack_fault", "expected", "actions")]
    found = []
    for number, outcome in enumerate(outcomes[1:]):
        earlier = compare(world.tables, world.pack.comparison, outcomes[: number + 1], outcome)
        if earlier.equal:
            what = "the expected actions" if earlier.outcome == 0 else f"alternative {earlier.outcome}"
            message = f"Alternative {number + 1} leaves the same outcome as {what}: remove it."
            found.append(subject.problem(task_id, message, "same_outcome", "expected", "also_accept", number))
    return found
