"""What is verified: a pack with its world, the tasks chosen, and the gold of each, played once and shared."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.engine.packs.models import Action, Pack, Source, Task
from assay.engine.packs.problems import Problem
from assay.engine.sandbox import CallOutcome, ChangeSet, World
from assay.engine.sandbox.problems import task_source
from assay.engine.sandbox.replay import OutOfTime, ReplayError, resolve
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
    """`tasks`: the ids to verify, in the pack's order. `whole`: they are all the tasks of the pack.

    `until`: the moment of time.monotonic() at which the verification ends, finished or not.
    """

    world: World
    tasks: tuple[str, ...]
    whole: bool
    until: float
    _golds: dict[str, Gold] = field(default_factory=dict, repr=False)
    shared: dict[str, Any] = field(
        default_factory=dict, repr=False
    )  # what one part found and a later one needs

    @classmethod
    def of(cls, world: World, chosen: Callable[[str], bool] | None, seconds: float) -> Subject:
        every = tuple(world.pack.tasks)
        tasks = every if chosen is None else tuple(t for t in every if chosen(t))
        return cls(world, tasks, tasks == every, time.monotonic() + seconds)

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
        at = self.source(task_id, *keys)
        return Problem(at.path, at.line, f"Task {task_id}: {message}", code, task_id)


def play(world: World, task_id: str) -> Gold:
    """Play the expected actions on a fresh sandbox. Raises KeyError, ReplayError, PackFault."""
    task = world.pack.tasks[task_id]
    results: dict[str, Any] = {}
    arguments: list[Mapping[str, Any]] = []
    outcomes: list[CallOutcome] = []
    with world.open(task_id) as sandbox:
        for index, action in enumerate(task.expected.actions):
            where = f"action {index + 1} ({action.tool})"
            try:
                given = resolve(action.args, results)
            except LookupError as error:
                raise ReplayError(index, f"{where}: {error.args[0]}") from error
            outcome = sandbox.call(action.tool, given)
            if not outcome.ok:
                raise ReplayError(index, f"{where} is refused with {outcome.error}: {outcome.message}")
            if action.as_ is not None:
                results[action.as_] = outcome.content
            arguments.append(given)
            outcomes.append(outcome)
        changes = sandbox.changes()
    return Gold(task, tuple(arguments), tuple(outcomes), changes)


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
