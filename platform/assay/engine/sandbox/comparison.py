"""The heart of Assay: is what the bot did to the database what policy requires?

Two change sets are compared row by row, never the transcript and never the whole database:

1. Rows that existed before the trial are matched by primary key (they are who they are).
2. Rows made in the trial are matched by `pairing`, whatever ids they were given.
3. Matched rows are compared column by column under the rules of comparison.yaml; a generated id
   equals its partner wherever it stands.
4. What has no counterpart is missing or unexpected.

Only rows that changed are looked at: reads leave none, so an extra look-up cannot fail a bot.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.engine.packs.models import ComparisonFile
from assay.engine.sandbox.cells import rule_name
from assay.engine.sandbox.changes import ChangeSet, Row, RowChange
from assay.engine.sandbox.difference import CellDifference, Difference, RowDifference
from assay.engine.sandbox.pairing import CellJudge, IdMap, Rules, Side, pair_made_rows
from assay.engine.sandbox.schema import TableInfo

#: Stands for the row as a whole where one side deleted it and the other did not.
WHOLE_ROW = "(row)"


def compare(
    tables: Mapping[str, TableInfo],
    comparison: ComparisonFile,
    expected: Sequence[ChangeSet],
    actual: ChangeSet,
) -> Difference:
    """How `actual` differs from the closest of the accepted outcomes; equal if it meets any of them.

    Raises ValueError when there is no accepted outcome at all.
    """
    if not expected:
        raise ValueError("a task has at least one accepted outcome")
    rules = Rules(tables, comparison)
    actual_side = Side(rules, actual)
    best: Difference | None = None
    best_distance = 0
    for number, outcome in enumerate(expected):
        difference = _compare_one(rules, number, Side(rules, outcome), actual_side)
        if difference.equal:
            return difference
        distance = sum(_distance(row) for row in difference.rows)
        if best is None or distance < best_distance:
            best, best_distance = difference, distance
    assert best is not None
    return best


def _compare_one(rules: Rules, number: int, expected: Side, actual: Side) -> Difference:
    ids = IdMap()
    made = pair_made_rows(rules, expected, actual, ids)
    judge = CellJudge(rules, expected, actual, ids)
    found: list[RowDifference] = []
    pairs: list[tuple[RowChange, RowChange]] = []

    for first, second in made.pairs:
        pairs.append((first, second))
        columns = rules.tables[first.table].columns
        cells = tuple(_wrong(rules, judge, first.table, columns, first.after or {}, second.after or {}))
        if cells:
            found.append(RowDifference("wrong", first.table, first, second, cells))
    found += [RowDifference("missing", row.table, row, None) for row in made.missing]
    found += [RowDifference("unexpected", row.table, None, row) for row in made.unexpected]

    for place in sorted(expected.kept.keys() | actual.kept.keys(), key=str):
        one, other = expected.kept.get(place), actual.kept.get(place)
        if one is not None and other is not None:
            pairs.append((one, other))
        difference = _compare_kept(rules, judge, one, other)
        if difference is not None:
            found.append(difference)

    found.sort(key=_order)
    pairs.sort(key=lambda pair: (pair[0].table, [str(v) for v in pair[0].key]))
    return Difference(number, tuple(found), tuple(pairs), ids.actual_to_expected())


def _compare_kept(
    rules: Rules, judge: CellJudge, expected: RowChange | None, actual: RowChange | None
) -> RowDifference | None:
    """Compare what happened to one row of the seed. None for one side: it was left as it was."""
    known = expected or actual
    assert known is not None
    table = known.table
    if (expected and expected.op == "delete") or (actual and actual.op == "delete"):
        if expected and actual and expected.op == actual.op:
            return None
        kind = "wrong" if expected and actual else "missing" if expected else "unexpected"
        cell = CellDifference(WHOLE_ROW, _state(expected), _state(actual), "exact")
        return RowDifference(kind, table, expected, actual, (cell,))  # type: ignore[arg-type]

    before: Row = known.before or {}
    should = expected.after if expected and expected.after is not None else before
    does = actual.after if actual and actual.after is not None else before
    changed = [
        c
        for c in rules.tables[table].columns
        if should.get(c) != before.get(c) or does.get(c) != before.get(c)
    ]
    cells = tuple(_wrong(rules, judge, table, changed, should, does))
    if not cells:
        return None
    kind = "wrong" if expected and actual else "missing" if expected else "unexpected"
    return RowDifference(kind, table, expected, actual, cells)  # type: ignore[arg-type]


def _wrong(
    rules: Rules, judge: CellJudge, table: str, columns: Sequence[str], expected: Row, actual: Row
) -> Iterator[CellDifference]:
    for column in columns:
        first, second = expected.get(column), actual.get(column)
        if not judge.equal(table, column, first, second, bind=True):
            yield CellDifference(column, first, second, rule_name(rules.rule(table, column)))


def _state(change: RowChange | None) -> str:
    return {"delete": "deleted", "update": "changed"}[change.op] if change else "kept"


def _distance(row: RowDifference) -> int:
    """How far a row is from right: its wrong cells, or, for a whole made row, as much as its cells."""
    if row.cells:
        return len(row.cells)
    change = row.expected or row.actual
    assert change is not None
    return 1 + sum(value is not None for value in (change.after or {}).values())


def _order(row: RowDifference) -> tuple[Any, ...]:
    change = row.expected or row.actual
    assert change is not None
    return (row.table, [str(v) for v in change.key], row.kind)
