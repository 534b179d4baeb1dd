"""Check that the tasks of a pack can be played on its world and that their outcomes prove something."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from assay.engine.packs.models import Action, Task
from assay.engine.packs.problems import Problem
from assay.engine.sandbox.changes import ChangeSet
from assay.engine.sandbox.comparison import compare
from assay.engine.sandbox.problems import Findings, fault_source, task_source
from assay.engine.sandbox.replay import OutOfTime, ReplayError, replay
from assay_sdk import PackFault

if TYPE_CHECKING:
    from assay.engine.sandbox.world import World

Where = tuple[str | int, ...]


#: Seconds for the tasks of a pack together; some 100 tasks of an ordinary pack take one.
LONGEST_CHECK = 120.0


def check_tasks(world: World, seconds: float = LONGEST_CHECK) -> list[Problem]:
    """Every problem of every task; when `seconds` are over, that too is a problem and the rest is left unchecked."""
    problems: list[Problem] = []
    until = time.monotonic() + seconds
    for number, task_id in enumerate(world.pack.tasks):
        try:
            problems += check_task(world, task_id, until)
        except OutOfTime:
            source = task_source(world.pack, task_id)
            problems.append(
                Problem(
                    source.path,
                    source.line,
                    f"Checking the tasks took {seconds:.0f} s and ended here, at {number + 1} of "
                    f"{len(world.pack.tasks)}: make the tools cheaper or the tasks fewer.",
                    "check_too_long",
                    task_id,
                )
            )
            break
    return sorted(problems)


def check_task(world: World, task_id: str, until: float = math.inf) -> list[Problem]:
    """Every problem of one task, at the line of what is wrong. Raises OutOfTime."""
    findings = Findings()
    world.lay_over(task_id, findings)
    if findings.problems:
        return findings.problems  # nothing can be played on rows that do not fit
    task = world.pack.tasks[task_id]

    def add(message: str, code: str, *keys: str | int) -> None:
        findings.add(task_source(world.pack, task_id, *keys), f"Task {task_id}: {message}", code, task_id)

    lists: list[tuple[Where, tuple[Action, ...]]] = [(("expected", "actions"), task.expected.actions)]
    for number, alternative in enumerate(task.expected.also_accept):
        lists.append((("expected", "also_accept", number, "actions"), alternative.actions))
    for where, actions in lists:
        try:
            outcome = _played(world, task_id, actions, until)
            again = _played(world, task_id, actions, until)
        except ReplayError as error:
            add(f"{error}", "action_fails", *where, error.index)
            continue
        except PackFault as fault:
            at = fault_source(world.pack, fault, task_source(world.pack, task_id, *where))
            findings.add(at, f"Task {task_id}: {fault}", "pack_fault", task_id)
            continue
        if outcome != again:
            add(
                "Two replays leave different worlds: take what is not determined out of the tools.",
                "not_determined",
                *where,
            )
        nothing = compare(world.tables, world.pack.comparison, [outcome], ChangeSet(())).equal
        if task.expected.no_change and where == ("expected", "actions") and not nothing:
            add(
                "The actions change something, but the task says 'no_change: true'.",
                "changes_something",
                *where,
            )
        elif nothing and not task.expected.no_change:
            add(
                "The actions change nothing that is compared, so a bot that does nothing would pass: correct them, "
                "or say 'no_change: true'.",
                "changes_nothing",
                *where,
            )
    for keys, message, code in _reply_queries(world, task, until):
        add(message, code, *keys)
    return findings.problems


def _played(world: World, task_id: str, actions: tuple[Action, ...], until: float) -> ChangeSet:
    with world.open(task_id) as sandbox:
        replay(sandbox, actions, until)
        return sandbox.changes()


def _reply_queries(world: World, task: Task, until: float) -> Iterator[tuple[Where, str, str]]:
    """What is wrong with the queries of reply rules: keys, sentence, code."""
    for number, rule in enumerate(task.reply):
        if rule.must_not_contain_from is not None:
            try:
                with world.open(task.id) as sandbox:
                    sandbox.column(rule.must_not_contain_from)
            except PackFault as fault:
                yield ("reply", number, "must_not_contain_from"), f"{fault}", "bad_sql"
        if rule.numbers_from is not None:
            at = ("reply", number, "numbers_from")
            try:
                found = _column_after(world, task.id, rule.numbers_from, until)
            except PackFault as fault:
                yield at, f"{fault}", "bad_sql"
            except ReplayError:
                continue  # told where the actions are
            else:
                if not any(isinstance(value, int | float) for value in found):
                    says = "The query finds no number after the expected actions, so no reply could pass."
                    yield at, says, "no_number"


def _column_after(world: World, task_id: str, sql: str, until: float) -> list[Any]:
    """The first column of a query in the world that the expected actions leave."""
    with world.open(task_id) as sandbox:
        replay(sandbox, world.pack.tasks[task_id].expected.actions, until)
        return sandbox.column(sql)
