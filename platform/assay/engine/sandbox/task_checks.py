"""Check that the tasks of a pack can be played on its world and that their outcomes prove something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.engine.packs.models import Action
from assay.engine.packs.problems import Problem
from assay.engine.sandbox.changes import ChangeSet
from assay.engine.sandbox.comparison import compare
from assay.engine.sandbox.problems import Findings, task_source
from assay.engine.sandbox.replay import ReplayError, replay
from assay_sdk import PackFault

if TYPE_CHECKING:
    from assay.engine.sandbox.world import World


def check_task(world: World, task_id: str) -> list[Problem]:
    """Every problem of one task, all at the line where the task begins."""
    findings = Findings()
    world.lay_over(task_id, findings)
    if findings.problems:
        return findings.problems  # nothing can be played on rows that do not fit
    task = world.pack.tasks[task_id]
    source = task_source(world.pack, task_id)

    def add(message: str, code: str) -> None:
        findings.add(source, f"Task {task_id}: {message}", code, task_id)

    lists: list[tuple[str, tuple[Action, ...]]] = [("expected", task.expected.actions)]
    lists += [(f"also_accept {n}", a.actions) for n, a in enumerate(task.expected.also_accept, 1)]
    outcomes: list[ChangeSet] = []
    for where, actions in lists:
        try:
            first, second = _played(world, task_id, actions), _played(world, task_id, actions)
        except ReplayError as error:
            add(f"{where}, {error}", "action_fails")
            continue
        except PackFault as fault:
            add(f"{where}, {fault}", "pack_fault")
            continue
        if first != second:
            add(
                f"{where}: two replays leave different worlds. Take what is not determined out of the tools.",
                "not_determined",
            )
        outcomes.append(first)

    unchanged = ChangeSet(())
    if len(outcomes) < len(lists):
        return findings.problems
    for (where, _), outcome in zip(lists, outcomes, strict=True):
        nothing = compare(world.tables, world.pack.comparison, [outcome], unchanged).equal
        if task.expected.no_change and where == "expected" and not nothing:
            add(
                f"{where}: the actions change something, but the task says 'no_change: true'.",
                "changes_something",
            )
        elif not task.expected.no_change and nothing:
            add(
                f"{where}: the actions change nothing that is compared, so a bot that does nothing would pass. "
                "Correct them, or say 'no_change: true'.",
                "changes_nothing",
            )
    for number, rule in enumerate(task.reply, 1):
        if rule.must_not_contain_from is not None:
            try:
                with world.open(task_id) as sandbox:
                    sandbox.column(rule.must_not_contain_from)
            except PackFault as fault:
                add(f"reply {number}: {fault}", "bad_sql")
    return findings.problems


def _played(world: World, task_id: str, actions: tuple[Action, ...]) -> ChangeSet:
    with world.open(task_id) as sandbox:
        replay(sandbox, actions)
        return sandbox.changes()
