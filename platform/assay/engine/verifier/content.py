"""The rows of a task's world, which of them a value names, and which rows stand nearest to a row."""

from __future__ import annotations

import weakref
from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

from assay.engine.packs.models import Task
from assay.engine.sandbox import World
from assay.engine.sandbox.connection import connect
from assay.engine.sandbox.functions import Counters, add_functions
from assay.engine.sandbox.inspection import quoted

Key = tuple[Any, ...]
Row = Mapping[str, Any]
#: A row: its table and primary key.
Place = tuple[str, Key]

#: Steps from a row up to the rows it belongs to, along foreign keys.
HIGHEST = 4
#: Rows of a table that are compared with a row to find its neighbours, those with the nearest keys first.
MOST_COMPARED = 2_000

_seeds: weakref.WeakKeyDictionary[World, Content] = weakref.WeakKeyDictionary()


class Content:
    """Rows by table and primary key. Made by `Content.of`; those of the seed are read once for each world."""

    def __init__(
        self,
        world: World,
        rows: Mapping[str, dict[Key, Row]],
        unique: Mapping[str, tuple[str, ...]],
        seed: Content | None = None,
    ) -> None:
        self._seed = seed  # what it was made from; most tables are the same
        self._tables = world.tables
        self._unique = unique
        self.rows = rows
        self._nearest: dict[Place, tuple[Key, ...]] = {}
        self._belonging: dict[str, dict[Place, frozenset[Key]]] = {}

    @classmethod
    def of(cls, world: World, task: Task) -> Content:
        """The seed with a task's rows laid over it."""
        seed = _seeds.get(world)
        if seed is None:
            seed = _seeds[world] = cls(world, *_read(world))
        if not task.world:
            return seed
        rows = dict(seed.rows)
        for table, given in task.world.items():
            mine = rows[table] = dict(rows[table])
            info = world.tables[table]
            for values in given:
                key = tuple(values.get(c) for c in info.primary_key)
                mine[key] = {**mine.get(key, dict.fromkeys(info.columns)), **values}
        return cls(world, rows, seed._unique, seed)

    @cached_property
    def _named(self) -> dict[Any, list[tuple[Place, str]]]:
        found: dict[Any, list[tuple[Place, str]]] = defaultdict(list)
        for table, rows in self.rows.items():
            for column in self._unique[table]:
                for key, row in rows.items():
                    if row[column] is not None:
                        found[row[column]].append(((table, key), column))
        return found

    def named(self, value: Any) -> list[tuple[Place, str]]:
        """The rows that a value names: (row, column), for columns whose values are unique in their table."""
        return self._named.get(value, []) if isinstance(value, str | int) else []

    def is_key(self, value: Any) -> bool:
        """Whether a value names a row by what rows refer to: its primary key, or a column that is referred to."""
        for (table, _), column in self.named(value)[:1]:
            return self._tables[table].primary_key == (column,) or (table, column) in self._referred
        return False

    @cached_property
    def _referred(self) -> frozenset[tuple[str, str]]:
        return frozenset(place for info in self._tables.values() for place in info.foreign_keys.values())

    def row(self, place: Place) -> Row:
        return self.rows[place[0]][place[1]]

    def nearest(self, place: Place) -> tuple[Key, ...]:
        """The other rows of the table, the most alike first."""
        table, key = place
        if self._seed is not None and self.rows[table] is self._seed.rows[table]:
            return self._seed.nearest(place)
        known = self._nearest.get(place)
        if known is None:
            ordered = sorted(self.rows[table], key=_order)
            at = ordered.index(key)
            apart = {other: abs(number - at) for number, other in enumerate(ordered) if other != key}
            others = sorted(apart, key=lambda other: apart[other])[:MOST_COMPARED]
            own = self.rows[table][key]
            columns = [
                c for c in self._tables[table].columns
                if c not in self._tables[table].primary_key and own[c] is not None
            ]  # fmt: skip
            cells = [(c, own[c]) for c in columns]
            alike = {o: _likeness(cells, self.rows[table][o]) for o in others}
            known = tuple(sorted(others, key=lambda other: (-alike[other], apart[other])))
            self._nearest[place] = known
        return known

    def above(self, place: Place) -> list[Place]:
        """The row itself and the rows it belongs to, along foreign keys, the lower first."""
        found = {place: None}
        level = [place]
        for _ in range(HIGHEST):
            level = [p for low in level for p in self._parents(low) if p not in found]
            found.update(dict.fromkeys(level))
        return list(found)

    def below(self, table: str, root: Place) -> frozenset[Key]:
        """The keys of a table's rows that belong to a row."""
        known = self._belonging.get(table)
        if known is None:
            listed: dict[Place, set[Key]] = defaultdict(set)
            for key in self.rows[table]:
                for place in self.above((table, key)):
                    listed[place].add(key)
            known = self._belonging[table] = {place: frozenset(keys) for place, keys in listed.items()}
        return known.get(root, frozenset())

    def _parents(self, place: Place) -> Iterable[Place]:
        row = self.row(place)
        for column, (parent, target) in self._tables[place[0]].foreign_keys.items():
            value = row[column]
            if self._tables[parent].primary_key == (target,) and (value,) in self.rows[parent]:
                yield parent, (value,)


def _read(world: World) -> tuple[dict[str, dict[Key, Row]], dict[str, tuple[str, ...]]]:
    connection = connect(world.vfs, world.image)
    try:
        add_functions(connection, world.now, world.today, Counters())
        rows: dict[str, dict[Key, Row]] = {}
        unique: dict[str, tuple[str, ...]] = {}
        for table, info in world.tables.items():
            names = ", ".join(map(quoted, info.columns))
            sql = f"SELECT {names} FROM {quoted(table)}"  # noqa: S608 - names of the schema, quoted
            listed = [dict(zip(info.columns, values, strict=True)) for values in connection.execute(sql)]
            rows[table] = {tuple(row[c] for c in info.primary_key): row for row in listed}
            columns = [info.primary_key[0]] if len(info.primary_key) == 1 else []
            for (index,) in connection.execute(
                'SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial', (table,)
            ).fetchall():
                parts = [r[0] for r in connection.execute("SELECT name FROM pragma_index_info(?)", (index,))]
                if len(parts) == 1 and parts[0] is not None and parts[0] not in columns:
                    columns.append(parts[0])
            unique[table] = tuple(columns)
        return rows, unique
    finally:
        connection.close()


def _order(key: Key) -> list[tuple[str, Any]]:
    return [(type(part).__name__, 0 if part is None else part) for part in key]


def _likeness(cells: list[tuple[str, Any]], row: Row) -> float:
    """How many cells are the same; names with the same last word count a half."""
    found = 0.0
    for column, value in cells:
        other = row[column]
        if value == other:
            found += 1
        elif isinstance(value, str) and " " in value and isinstance(other, str):
            found += 0.5 * (value.rsplit(" ", 1)[1] == other.rpartition(" ")[2] != other)
    return found
