"""Find out which row made in the trial stands for which expected row, whatever ids they were given.

Ids that the world generates (next_id, rowids) say nothing by themselves: `RF-9001` here may be
`RF-9002` there. So rows and generated ids are seen as a graph (a row points to every generated id that
stands in it, its own key included), and the rows of both sides are coloured until equal colours mean
"same cells, and tied to rows with the same cells": colour refinement after Weisfeiler and Leman (1968).
Rows of one colour are partners; where several share a colour and other rows hold their ids, one pair is
chosen and the colouring goes on from there. What finds no partner of its colour is paired, for the explanation, so that as few cells
as possible differ (linear assignment).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.models import ColumnRule, ComparisonFile, Tolerance
from assay.engine.sandbox.cells import equal, signature
from assay.engine.sandbox.changes import ChangeSet, RowChange
from assay.engine.sandbox.schema import TableInfo

#: A generated id: ("", text) from next_id, or (table, number) for a rowid.
IdKey = tuple[str, Any]

#: Pairs chosen among rows that look alike, each followed by a new colouring. Worlds that need more are left
#: with the colours they have then, so that the time is bounded.
MOST_CHOICES = 300


class Rules:
    """Column rules and natural keys, by table."""

    def __init__(self, tables: Mapping[str, TableInfo], comparison: ComparisonFile) -> None:
        self.tables = tables
        self.ignored = frozenset(comparison.ignore_tables)
        self._columns = {name: rules.columns for name, rules in comparison.tables.items()}
        self._keys = {name: rules.key for name, rules in comparison.tables.items()}

    def rule(self, table: str, column: str) -> ColumnRule:
        return self._columns.get(table, {}).get(column, "exact")

    def natural_key(self, table: str) -> tuple[str, ...]:
        return self._keys.get(table, ())


class Side:
    """The changes of one world, and which of its values are generated ids."""

    def __init__(self, rules: Rules, changes: ChangeSet) -> None:
        self._rules = rules
        self._text_ids = frozenset(v for v in changes.generated if isinstance(v, str))
        self.rows = tuple(r for r in changes.rows if r.table not in rules.ignored)
        self.made = tuple(r for r in self.rows if r.op == "insert")
        self.kept = {(r.table, r.key): r for r in self.rows if r.op != "insert"}
        self._rowids = {(r.table, r.key[0]) for r in self.made if rules.tables[r.table].rowid_key}

    def id_in(self, table: str, column: str, value: Any) -> IdKey | None:
        """The generated id that a cell holds, if it holds one.

        A text id is one wherever it stands. A number is one only as the key of its own row or in
        a foreign key to it: the quantity 7 has nothing to do with row 7.
        """
        if isinstance(value, str):
            return ("", value) if value in self._text_ids else None
        if not isinstance(value, int):
            return None
        info = self._rules.tables[table]
        if info.rowid_key and column == info.primary_key[0]:
            return (table, value) if (table, value) in self._rowids else None
        target = info.foreign_keys.get(column)
        if target is None:
            return None
        other = self._rules.tables.get(target[0])
        if other is None or not other.rowid_key or target[1] != other.primary_key[0]:
            return None
        return (target[0], value) if (target[0], value) in self._rowids else None

    def key_is_generated(self, row: RowChange) -> bool:
        info = self._rules.tables[row.table]
        return any(
            self.id_in(row.table, column, value) is not None
            for column, value in zip(info.primary_key, row.key, strict=True)
        )


class IdMap:
    """Partners among generated ids: one to one."""

    def __init__(self) -> None:
        self._to_expected: dict[IdKey, IdKey] = {}
        self._to_actual: dict[IdKey, IdKey] = {}

    def agree(self, expected: IdKey, actual: IdKey) -> bool:
        """Whether the two are partners, or neither has one yet and they may become partners."""
        if expected[0] != actual[0]:
            return False
        known = self._to_expected.get(actual)
        return known == expected if known is not None else expected not in self._to_actual

    def bind(self, expected: IdKey, actual: IdKey) -> None:
        if self.agree(expected, actual):
            self._to_expected[actual] = expected
            self._to_actual[expected] = actual

    def actual_to_expected(self) -> dict[Any, Any]:
        return {actual[1]: expected[1] for actual, expected in self._to_expected.items()}


class CellJudge:
    """Compares cells of two sides, seeing through generated ids."""

    def __init__(self, rules: Rules, expected: Side, actual: Side, ids: IdMap) -> None:
        self._rules = rules
        self._expected = expected
        self._actual = actual
        self._ids = ids

    def equal(self, table: str, column: str, expected: Any, actual: Any, *, bind: bool = False) -> bool:
        """`bind`: remember two ids without partners as partners (they met in partner rows)."""
        rule = self._rules.rule(table, column)
        if rule not in ("ignore", "text"):
            first = self._expected.id_in(table, column, expected)
            second = self._actual.id_in(table, column, actual)
            if first is not None or second is not None:
                if first is None or second is None or not self._ids.agree(first, second):
                    return False
                if bind:
                    self._ids.bind(first, second)
                return True
        return equal(rule, expected, actual)

    def wrong_cells(self, expected: RowChange, actual: RowChange) -> int:
        first, second = expected.after or {}, actual.after or {}
        columns = self._rules.tables[expected.table].columns
        return sum(not self.equal(expected.table, c, first.get(c), second.get(c)) for c in columns)

    def tolerant(self, table: str) -> bool:
        return any(
            isinstance(self._rules.rule(table, c), Tolerance) for c in self._rules.tables[table].columns
        )

    def same_natural_key(self, expected: RowChange, actual: RowChange) -> bool:
        first, second = expected.after or {}, actual.after or {}
        key = self._rules.natural_key(expected.table)
        return all(self.equal(expected.table, c, first.get(c), second.get(c)) for c in key)


@dataclass(frozen=True, slots=True)
class Pairing:
    pairs: tuple[tuple[RowChange, RowChange], ...]
    missing: tuple[RowChange, ...]
    unexpected: tuple[RowChange, ...]


def pair_made_rows(rules: Rules, expected: Side, actual: Side, ids: IdMap) -> Pairing:
    """Partners among the rows made in the trial; fills `ids` with the partners of their keys."""
    judge = CellJudge(rules, expected, actual, ids)
    pairs = _by_colour(_Graph(rules, expected, actual), judge)
    for first, second in pairs:
        bind_keys(rules, expected, actual, ids, first, second)

    left = _without(expected.made, (e for e, _ in pairs))
    right = _without(actual.made, (a for _, a in pairs))
    # Parents first, so that a child can be told by the parent it belongs to.
    for table in _parents_first(rules.tables, {row.table for row in left}):
        candidates = [row for row in right if row.table == table]
        for first, second in _assign(
            [row for row in left if row.table == table], candidates, rules, judge, expected
        ):
            pairs.append((first, second))
            bind_keys(rules, expected, actual, ids, first, second)
    return Pairing(
        tuple(pairs),
        tuple(_without(expected.made, (e for e, _ in pairs))),
        tuple(_without(actual.made, (a for _, a in pairs))),
    )


def bind_keys(
    rules: Rules, expected: Side, actual: Side, ids: IdMap, first: RowChange, second: RowChange
) -> None:
    for column, one, other in zip(rules.tables[first.table].primary_key, first.key, second.key, strict=True):
        a, b = expected.id_in(first.table, column, one), actual.id_in(first.table, column, other)
        if a is not None and b is not None:
            ids.bind(a, b)


class _Graph:
    """Rows and generated ids of both sides, with their colours. A node is (side, row or id)."""

    def __init__(self, rules: Rules, expected: Side, actual: Side) -> None:
        self.rows: list[tuple[int, RowChange]] = [(0, r) for r in expected.rows] + [
            (1, r) for r in actual.rows
        ]
        self.ids: dict[tuple[int, IdKey], list[tuple[int, str]]] = defaultdict(
            list
        )  # -> (row number, column)
        self._edges: list[list[tuple[str, tuple[int, IdKey]]]] = []
        self._palette: dict[Hashable, int] = {}
        colours: list[int] = []
        for number, (side, row) in enumerate(self.rows):
            world = (expected, actual)[side]
            plain: list[Hashable] = [row.table, row.op]
            if row.op != "insert":
                plain.append(row.key)  # rows of the seed are who they are
            edges: list[tuple[str, tuple[int, IdKey]]] = []
            for column, value in (row.after or {}).items():
                rule = rules.rule(row.table, column)
                found = None if rule in ("ignore", "text") else world.id_in(row.table, column, value)
                if found is None:
                    if row.op == "insert":
                        plain.append((column, signature(rule, value)))
                else:
                    edges.append((column, (side, found)))
                    self.ids[(side, found)].append((number, column))
            self._edges.append(edges)
            colours.append(self._colour(tuple(plain)))
        self.row_colours = colours
        self.id_colours = {node: self._colour(("id", node[1][0])) for node in self.ids}

    def _colour(self, structure: Hashable) -> int:
        return self._palette.setdefault(structure, len(self._palette))

    def alone(self, numbers: Sequence[int]) -> bool:
        """Whether no other row holds an id that one of these rows holds."""
        return all(
            holder == number
            for number in numbers
            for _, node in self._edges[number]
            for holder, _ in self.ids[node]
        )

    def single_out(self, *numbers: int) -> None:
        """Give these rows a colour of their own."""
        fresh = self._colour(("single", len(self._palette)))
        for number in numbers:
            self.row_colours[number] = fresh

    def refine(self) -> None:
        """Recolour rows by their ids and ids by their rows until no colour splits any more."""
        if not self.ids:
            return
        classes = -1
        while classes != (found := len(set(self.row_colours)) + len(set(self.id_colours.values()))):
            classes = found
            self.id_colours = {
                node: self._colour(
                    ("id", self.id_colours[node], tuple(sorted((c, self.row_colours[n]) for n, c in holders)))
                )
                for node, holders in self.ids.items()
            }
            self.row_colours = [
                self._colour(("row", old, tuple(sorted((c, self.id_colours[node]) for c, node in edges))))
                for old, edges in zip(self.row_colours, self._edges, strict=True)
            ]


def _by_colour(graph: _Graph, judge: CellJudge) -> list[tuple[RowChange, RowChange]]:
    pairs: list[tuple[RowChange, RowChange]] = []
    done: set[int] = set()

    def pair(one: int, other: int) -> None:
        pairs.append((graph.rows[one][1], graph.rows[other][1]))
        done.update((one, other))

    for left in range(MOST_CHOICES, -1, -1):
        graph.refine()
        ambiguous: tuple[list[int], list[int]] | None = None
        groups: dict[int, tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
        for number, (side, row) in enumerate(graph.rows):
            if row.op == "insert" and number not in done:
                groups[graph.row_colours[number]][side].append(number)
        for first, second in groups.values():
            if not first or not second:
                continue
            tolerant = judge.tolerant(graph.rows[first[0]][1].table)
            if not left or (len(first) == 1 and len(second) == 1) or graph.alone(first + second):
                # Nobody else holds their ids: whichever is whose changes nothing for any other row.
                for one, other in _fitting(graph, first, second, judge if tolerant else None):
                    pair(one, other)
            elif ambiguous is None or tolerant:
                ambiguous = (first, second)  # tolerated cells first: their fit tells which parent is which
        if ambiguous is None:
            break
        # Alike so far: choose one pair (the one whose tolerated cells fit best) and look again.
        first, second = ambiguous
        tolerant = judge.tolerant(graph.rows[first[0]][1].table)
        graph.single_out(*_fitting(graph, first, second, judge if tolerant else None)[0])
    return pairs


def _fitting(
    graph: _Graph, first: Sequence[int], second: Sequence[int], judge: CellJudge | None
) -> list[tuple[int, int]]:
    """Pairs of rows of one colour. Without tolerated cells (no judge) one is as good as another."""
    if judge is None:
        return list(zip(first, second, strict=False))
    left, right = [graph.rows[n][1] for n in first], [graph.rows[n][1] for n in second]
    return [(first[i], second[j]) for i, j in _cheapest(left, right, judge.wrong_cells)]


def _assign(
    left: Sequence[RowChange], right: Sequence[RowChange], rules: Rules, judge: CellJudge, expected: Side
) -> list[tuple[RowChange, RowChange]]:
    """Pair rows of one table that differ somewhere. Rows with nothing in common stay alone."""
    if not left or not right:
        return []
    table = left[0].table
    limit = len(rules.tables[table].columns)

    def cost(first: RowChange, second: RowChange) -> int:
        if rules.natural_key(table):
            if not judge.same_natural_key(first, second):
                return limit + 1
        elif not expected.key_is_generated(first) and first.key != second.key:
            return limit + 1
        return judge.wrong_cells(first, second)

    found = _cheapest(left, right, cost)
    return [(left[i], right[j]) for i, j in found if cost(left[i], right[j]) <= limit * 2 // 3]


def _cheapest(
    left: Sequence[RowChange], right: Sequence[RowChange], cost: Callable[[RowChange, RowChange], int]
) -> list[tuple[int, int]]:
    if len(left) == 1 and len(right) == 1:
        return [(0, 0)]
    import numpy  # here, because only trials with rows that look alike should pay for the import
    from scipy.optimize import linear_sum_assignment

    matrix = numpy.array([[cost(first, second) for second in right] for first in left])
    rows, columns = linear_sum_assignment(matrix)
    return [(int(i), int(j)) for i, j in zip(rows, columns, strict=True)]


def _parents_first(tables: Mapping[str, TableInfo], names: Iterable[str]) -> list[str]:
    order: list[str] = []
    seen: set[str] = set()

    def visit(name: str) -> None:
        if name in seen or name not in tables:
            return
        seen.add(name)
        for parent, _ in tables[name].foreign_keys.values():
            visit(parent)
        order.append(name)

    wanted = set(names)
    for name in sorted(wanted):
        visit(name)
    return [name for name in order if name in wanted]


def _without(rows: Iterable[RowChange], taken: Iterable[RowChange]) -> list[RowChange]:
    gone = {id(row) for row in taken}
    return [row for row in rows if id(row) not in gone]
