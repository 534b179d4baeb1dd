"""Points 2 and 3 of "a pack proves itself": the expected actions work, and doing nothing fails."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.problems import Problem
from assay.engine.sandbox import compare
from assay.engine.sandbox.task_checks import check_task
from assay.engine.verifier.subject import Subject
from assay_sdk import PackFault


@dataclass(frozen=True, slots=True)
class GoldReport:
    """`actions`: expected actions played, `no_change`: tasks in which nothing may change."""

    tasks: int
    actions: int
    no_change: int
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        return {"tasks": self.tasks, "actions": self.actions, "no_change": self.no_change}


def examine_gold(subject: Subject) -> GoldReport:
    """Play every accepted outcome of the chosen tasks twice. Raises OutOfTime."""
    problems: list[Problem] = []
    actions = no_change = 0
    for task_id in subject.tasks:
        subject.check_time()
        found = check_task(subject.world, task_id, subject.until)
        if not found:
            found = _same_outcomes(subject, task_id)
        problems += found
        problems += _undecided_replies(subject, task_id)
        expected = subject.pack.tasks[task_id].expected
        actions += len(expected.actions) + sum(len(a.actions) for a in expected.also_accept)
        no_change += expected.no_change
    return GoldReport(len(subject.tasks), actions, no_change, tuple(sorted(problems)))


def _undecided_replies(subject: Subject, task_id: str) -> Iterator[Problem]:
    """Reply rules that nothing decides: the verdict of every trial would be void."""
    for number, rule in enumerate(subject.pack.tasks[task_id].reply):
        if rule.must is not None and not rule.phrases and not rule.numbers:
            message = (
                f"Reply rule {number + 1} (must: {rule.must}) has neither 'phrases' nor 'numbers', so nothing can decide "
                "it and every trial of the task is void: list what the reply has to say, each phrase in several wordings, "
                "or take the rule away."
            )
            yield subject.problem(task_id, message, "undecided_reply", "reply", number)


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
