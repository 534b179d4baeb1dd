"""Point 7 of "a pack proves itself": which clauses of the policy the tasks exercise."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.models import Clause, Pack, Task
from assay.engine.packs.problems import Problem
from assay.engine.verifier.subject import Subject

_LONGEST_TEXT = 160


@dataclass(frozen=True)
class CoverageReport:
    """`by_clause`: the tasks of every clause, both in the pack's order. `without`: tasks that name no clause.

    `complete`: no task is missing because it is broken, so that a clause without a task is one.
    """

    clauses: Mapping[str, Clause]
    by_clause: Mapping[str, tuple[str, ...]]
    tasks: tuple[str, ...]
    without: tuple[str, ...]
    complete: bool
    problems: tuple[Problem, ...]

    @property
    def uncovered(self) -> tuple[str, ...]:
        return tuple(clause for clause, tasks in self.by_clause.items() if not tasks)

    def as_json(self) -> dict[str, Any]:
        return {
            "clauses": [
                {
                    "id": clause,
                    "text": textwrap.shorten(self.clauses[clause].text, _LONGEST_TEXT, placeholder="..."),
                    "path": self.clauses[clause].source.path,
                    "line": self.clauses[clause].source.line,
                    "tasks": list(tasks),
                }
                for clause, tasks in self.by_clause.items()
            ],
            "tasks": len(self.tasks),
            "uncovered": list(self.uncovered),
            "without_clause": list(self.without),
            "complete": self.complete,
        }


def examine_coverage(subject: Subject) -> CoverageReport:
    """The map of clauses and tasks, always of the whole pack; findings only when the whole pack is verified."""
    pack = subject.pack
    exercised = {task.id: exercised_by(task) for task in pack.tasks.values()}
    by_clause = {
        clause: tuple(task for task, named in exercised.items() if clause in named) for clause in pack.clauses
    }
    without = tuple(task for task, named in exercised.items() if not named)
    problems = tuple(sorted(_problems(pack, by_clause, without, subject))) if subject.whole else ()
    return CoverageReport(pack.clauses, by_clause, tuple(pack.tasks), without, subject.complete, problems)


def exercised_by(task: Task) -> frozenset[str]:
    """The clauses that a task names, those of its derivations too."""
    derived = (d.clause for a in task.expected.actions for d in a.derived.values() if d.clause is not None)
    return frozenset((*task.clauses, *derived))


def _problems(
    pack: Pack, by_clause: Mapping[str, tuple[str, ...]], without: tuple[str, ...], subject: Subject
) -> Iterator[Problem]:
    for clause, tasks in by_clause.items():
        if not tasks and subject.complete:
            at = pack.clauses[clause].source
            message = (
                f"No task exercises clause {clause}: write one whose outcome depends on it, or take the id away if "
                "nothing can be expected of a bot by it."
            )
            yield Problem(at.path, at.line, message, "clause_without_task")
    for task in without:
        yield subject.problem(
            task,
            "It names no clause: list under 'clauses' what its expected outcome follows from.",
            "task_without_clause",
        )


def as_text(report: CoverageReport, width: int = 110) -> list[str]:
    """The map as lines: clause, number of tasks, the tasks without what all ids begin with."""
    beginnings = {task[: task.find("-") + 1] for task in report.tasks}
    prefix = beginnings.pop() if len(beginnings) == 1 else ""
    longest = max(map(len, report.by_clause), default=0)
    lines = [f"Tasks are written without {prefix}"] if prefix else []
    for clause, tasks in report.by_clause.items():
        head = f"{clause:<{longest}} {len(tasks):>4}  "
        listed = " ".join(task.removeprefix(prefix) for task in tasks) or "no task"
        lines += textwrap.wrap(
            listed, width, initial_indent=head, subsequent_indent=" " * len(head), break_on_hyphens=False
        )
    return lines
