"""What is verified: a pack with its world, the tasks chosen, and the gold of each, played once and shared."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.engine.packs.models import Action, Pack, Source, Task
from assay.engine.packs.problems import Problem
from assay.engine.sandbox import CallOutcome, ChangeSet, World
from assay.engine.sandbox.problems import fault_source, task_source
from assay.engine.sandbox.replay import OutOfTime, ReplayError, replay
from assay_sdk import PackFault


@dataclass(frozen=True, slots=True)
class Gold:
    """A task's expected actions as they ran: `arguments` with every reference filled in, one for each action."""

    task: Task
    arguments: tuple[Mapping[str, Any], ...]
    outcomes: tuple[CallOutcome, ...]
    changes: ChangeSet

    @property
    def actions(self) -> tuple[Action, ...]:
        return self.task.expected.actions


@dataclass(frozen=True)
class Subject:
    """`tasks`: the ids to verify, in the pack's order. `whole`: they are all the tasks of the pack. `complete`: no task
    of the pack was left out because it is broken.

    `until`: the moment of time.monotonic() at which the verification ends, finished or not.
    """

    world: World
    tasks: tuple[str, ...]
    whole: bool
    until: float
    complete: bool = True
    _golds: dict[str, Gold] = field(default_factory=dict, repr=False)
    shared: dict[str, Any] = field(
        default_factory=dict, repr=False
    )  # what one part found and a later one needs

    @classmethod
    def of(
        cls, world: World, chosen: Callable[[str], bool] | None, seconds: float, *, complete: bool = True
    ) -> Subject:
        every = tuple(world.pack.tasks)
        tasks = every if chosen is None else tuple(t for t in every if chosen(t))
        return cls(world, tasks, tasks == every, time.monotonic() + seconds, complete)

    def only(self, tasks: Sequence[str]) -> Subject:
        """The same with fewer tasks."""
        return replace(self, tasks=tuple(tasks))

    @property
    def pack(self) -> Pack:
        return self.world.pack

    def check_time(self) -> None:
        """Raises OutOfTime."""
        if time.monotonic() > self.until:
            raise OutOfTime

    def gold(self, task_id: str) -> Gold:
        """The expected actions of a task, played once. Raises KeyError, ReplayError, PackFault."""
        known = self._golds.get(task_id)
        if known is None:
            known = self._golds[task_id] = play(self.world, task_id)
        return known

    def source(self, task_id: str, *keys: str | int) -> Source:
        """Where a task, or something in it, is written."""
        return task_source(self.pack, task_id, *keys)

    def problem(self, task_id: str, message: str, code: str, *keys: str | int) -> Problem:
        """A finding about a task, at the line of what `keys` lead to."""
        return self._problem(self.source(task_id, *keys), task_id, message, code)

    def fault(self, task_id: str, fault: PackFault, message: str, code: str, *keys: str | int) -> Problem:
        """A finding about what made a task's play break off, at the tool when a tool is at fault."""
        at = fault_source(self.pack, fault, self.source(task_id, *keys))
        return self._problem(at, task_id, message, code)

    @staticmethod
    def _problem(at: Source, task_id: str, message: str, code: str) -> Problem:
        return Problem(at.path, at.line, f"Task {task_id}: {message}", code, task_id)


def play(world: World, task_id: str) -> Gold:
    """Play the expected actions on a fresh sandbox. Raises KeyError, ReplayError, PackFault."""
    task = world.pack.tasks[task_id]
    with world.open(task_id) as sandbox:
        outcomes = replay(sandbox, task.expected.actions)
        changes = sandbox.changes()
    return Gold(task, tuple(o.arguments for o in outcomes), tuple(outcomes), changes)


def playable(subject: Subject) -> Sequence[str]:
    """The chosen tasks whose expected actions run; the others are findings of the gold check."""
    found = []
    for task_id in subject.tasks:
        try:
            subject.gold(task_id)
            subject.world.expected(task_id)  # the alternatives as well
        except (ReplayError, PackFault):
            continue
        found.append(task_id)
    return found
