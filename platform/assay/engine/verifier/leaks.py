"""Rows whose words give an answer away: an amount that is to be worked out, or what is to be decided."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.findings import shown
from assay.engine.packs.models import Source
from assay.engine.packs.problems import Problem
from assay.engine.verifier.information import holds, is_telling
from assay.engine.verifier.knowing import Passage, Place, leaves
from assay.engine.verifier.provenance import traces_of
from assay.engine.verifier.subject import Gold, Subject

_DONE = "free|waived|refunded|refused|denied|rejected|declined|approved|granted|escalated|charged|credited|paid|cancelled|reimbursed|extended|replaced|accepted|covered"
_DO = "refund|pay|waive|credit|charge|approve|extend|cancel|reimburse|grant|refuse|deny|reject|decline|escalate|accept|replace"
#: Words that tell whoever reads a row what is to be decided about it. What happened ("was waived") is no such thing.
TELLING = re.compile(
    rf"""
      \b(?:should|must|ought\ to|has\ to|have\ to|needs?\ to|is\ to|are\ to|to)\s(?:not\s)?be\s(?:\w+\s)?(?:{_DONE})\b
    | \b(?:should|must|ought\ to)\s(?:not\s)?(?:get|receive|{_DO})\b
    | \b(?:do\ not|don['’]t)\s(?:{_DO})\b
    | \bwaive\s(?:the|this|that|his|her|their|it|all|any)\b
    | \b(?:is|are|was|not|in)\s?(?:not\s)?eligible\b
    | \bentitled\ to\b
    | \b(?:correct|expected|right)\s(?:amount|fee|answer|outcome|refund|decision|premium|payout)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Cell:
    """A text of some words in a row. `names`: what the row is called by and refers to."""

    table: str
    row: str
    column: str
    text: str
    source: Source
    names: frozenset[Any]


@dataclass(frozen=True, slots=True)
class Leak:
    """`says`: the words or the value that give the answer away. `task`: None when every task may meet the row."""

    cell: Cell
    says: str
    task: str | None

    def as_json(self) -> dict[str, Any]:
        return {
            "table": self.cell.table,
            "row": self.cell.row,
            "column": self.cell.column,
            "text": self.cell.text[:300],
            "says": self.says,
            "task": self.task,
            "path": self.cell.source.path,
            "line": self.cell.source.line,
        }


@dataclass(frozen=True)
class LeaksReport:
    """`cells`: texts that were read."""

    cells: int
    leaks: tuple[Leak, ...]
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        return {"cells": self.cells, "leaks": [leak.as_json() for leak in self.leaks]}


def examine_leaks(subject: Subject) -> LeaksReport:
    """Read the free texts of the seed and of the chosen tasks' rows. Raises OutOfTime."""
    seed = list(_seed_cells(subject))
    leaks = [Leak(cell, said, None) for cell in seed for said in _telling(cell)] if subject.whole else []
    by_name: dict[Any, list[Cell]] = {}
    for cell in seed:
        for name in cell.names:
            by_name.setdefault(name, []).append(cell)
    read = len(seed)
    traces = traces_of(subject)
    for task_id in subject.tasks:
        subject.check_time()
        gold = subject.gold(task_id)
        own = list(_task_cells(subject, task_id))
        read += len(own)
        leaks += [Leak(cell, said, task_id) for cell in own for said in _telling(cell)]
        derived = [t.value for t in traces[task_id] if t.how == "derived" and is_telling(t.value)]
        if not derived:
            continue
        near = dict.fromkeys(cell for name in _named(gold) for cell in by_name.get(name, ()))
        for cell in (*own, *near):
            passage = Passage(Place("result", cell.table), cell.text, subject.pack.clock)
            leaks += [
                Leak(cell, str(value), task_id) for value in dict.fromkeys(derived) if holds(passage, value)
            ]
    return LeaksReport(read, tuple(leaks), tuple(sorted({_problem(leak) for leak in leaks})))


def _telling(cell: Cell) -> Iterator[str]:
    found = TELLING.search(cell.text)
    if found is not None:
        yield found.group()


def _problem(leak: Leak) -> Problem:
    cell = leak.cell
    about = f"Task {leak.task}: " if leak.task else ""
    message = (
        f"{about}{cell.table}.{cell.column} of {cell.row} says {shown(leak.says)} ({shown(cell.text)}), which gives "
        "an answer away: word it so that only the policy decides."
    )
    return Problem(cell.source.path, cell.source.line, message, "leak", leak.task)


def _seed_cells(subject: Subject) -> Iterator[Cell]:
    for row in subject.pack.seed:
        yield from _cells(subject, row.table, row.values, row.source)


def _task_cells(subject: Subject, task_id: str) -> Iterator[Cell]:
    for table, rows in subject.pack.tasks[task_id].world.items():
        for number, row in enumerate(rows):
            yield from _cells(subject, table, row, subject.source(task_id, "world", table, number))


def _cells(subject: Subject, table: str, values: Mapping[str, Any], source: Source) -> Iterator[Cell]:
    info = subject.world.tables.get(table)
    if info is None:
        return
    names = frozenset(values[c] for c in (*info.primary_key, *info.foreign_keys) if values.get(c) is not None)
    key = ", ".join(str(values.get(c)) for c in info.primary_key)
    for column, value in values.items():
        if isinstance(value, str) and " " in value.strip() and not value.lstrip().startswith(("[", "{")):
            yield Cell(table, key, column, value, source, names)


def _named(gold: Gold) -> Iterable[Any]:
    """What the expected actions name and what their results hold: ids by which rows are in the task's reach."""
    given = [leaf for arguments in gold.arguments for _, leaf in leaves(arguments)]
    returned = [leaf for outcome in gold.outcomes for _, leaf in leaves(outcome.content)]
    named = dict.fromkeys(given)
    named |= dict.fromkeys(leaf for leaf in returned if isinstance(leaf, str) and len(leaf) <= 40)
    return [name for name in named if isinstance(name, str)]
