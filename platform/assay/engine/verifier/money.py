"""What a wrong outcome costs can be said: every column of money that an outcome changes has a cost rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.models import CostRule, Source
from assay.engine.packs.problems import Problem
from assay.engine.sandbox import ChangeSet, World
from assay.engine.sandbox.problems import comparison_source
from assay.engine.verifier.subject import Subject

#: Declared types of columns that hold fractions, and so money if anything does.
FRACTIONS = ("REAL", "FLOA", "DOUB", "DECIMAL", "NUMERIC")


@dataclass(frozen=True, slots=True)
class MoneyReport:
    """`rules`: (table, column, what, paid_by, tasks whose outcome changes the column); `uncounted`: columns `none`."""

    currency: str | None
    rules: tuple[tuple[str, str, str, str, int], ...]
    uncounted: tuple[str, ...]
    tasks: int  # whose outcome changes money that is counted
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        names = ("table", "column", "what", "paid_by", "tasks")
        return {
            "currency": self.currency,
            "tasks": self.tasks,
            "rules": [dict(zip(names, rule, strict=True)) for rule in self.rules],
            "uncounted": list(self.uncounted),
        }


def examine_money(subject: Subject) -> MoneyReport:
    """Find the columns of money that accepted outcomes of the chosen tasks change. Raises OutOfTime."""
    world = subject.world
    changed: dict[tuple[str, str], list[str]] = {}
    for task_id in subject.tasks:
        subject.check_time()
        for outcome in world.expected(task_id):
            for place in money_in(world, outcome):
                tasks = changed.setdefault(place, [])
                if task_id not in tasks:
                    tasks.append(task_id)
    rules = world.pack.comparison.tables
    problems = []
    counted: set[str] = set()
    for (table, column), tasks in sorted(changed.items()):
        rule = rules[table].cost.get(column) if table in rules else None
        if rule is None:
            problems.append(_no_rule(subject, table, column, tasks))
        elif rule != "none":
            counted.update(tasks)
    listed = [(t, c, rule) for t, said in sorted(rules.items()) for c, rule in sorted(said.cost.items())]
    currency = subject.pack.manifest.currency
    if currency is None and any(isinstance(rule, CostRule) for _, _, rule in listed):
        message = "comparison.yaml says what wrong amounts cost, but not in which currency: add 'currency: USD' or another."
        problems.append(Problem("pack.yaml", 0, message, "no_currency"))
    return MoneyReport(
        currency,
        tuple((t, c, r.what, r.paid_by, len(changed.get((t, c), ()))) for t, c, r in listed if r != "none"),
        tuple(f"{t}.{c}" for t, c, rule in listed if rule == "none"),
        len(counted),
        tuple(problems),
    )


def money_in(world: World, outcome: ChangeSet) -> Iterator[tuple[str, str]]:
    """(table, column) of every column of fractions that an outcome changes, in tables that are compared."""
    ignored = world.pack.comparison.ignore_tables
    for row in outcome.rows:
        if row.table in ignored:
            continue
        for column in world.tables[row.table].columns:
            if is_fraction(world, row.table, column):
                before, after = ((side or {}).get(column) or 0 for side in (row.before, row.after))
                if before != after:
                    yield row.table, column


def is_fraction(world: World, table: str, column: str) -> bool:
    """Whether a column is declared to hold fractions."""
    declared = world.catalogue.affinity[(table, column)]
    return any(word in declared for word in FRACTIONS)


def _no_rule(subject: Subject, table: str, column: str, tasks: list[str]) -> Problem:
    pack = subject.pack
    where = (
        comparison_source(pack, table) if table in pack.comparison.tables else Source("comparison.yaml", 0)
    )
    example = f"{tasks[0]} changes" if len(tasks) == 1 else f"{tasks[0]} and {len(tasks) - 1} more change"
    message = (
        f"{example} {table}.{column}, and nothing says what a wrong amount costs: add "
        f"'cost: {{{column}: {{what: refunded, paid_by: company}}}}' under {table}, or 'cost: {{{column}: none}}' when it "
        "is no money or is counted in another column."
    )
    return Problem(where.path, where.line, message, "no_cost_rule", tasks[0])
