"""The rows of a world as they are before a trial, and whose they are."""

from __future__ import annotations

import threading
import weakref
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from assay.engine.packs.models import Task
from assay.engine.sandbox import World
from assay.engine.sandbox.connection import connect
from assay.engine.sandbox.functions import Counters, add_functions
from assay.engine.sandbox.inspection import quoted

Key = tuple[Any, ...]
Row = Mapping[str, Any]
Place = tuple[str, Key]  # table, primary key

#: Steps from a row up to the customer it belongs to, along foreign keys.
HIGHEST = 5

_seeds: weakref.WeakKeyDictionary[World, Rows] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


class Rows:
    """All rows, by table and primary key, and the customers that each belongs to. Made by `seed_rows` and `laid_over`.

    A row belongs to a customer when foreign keys lead from it to the customer's row; a customer's row belongs to that
    customer alone, whatever it refers to. `customers`: the table of customers, None where the world has none.
    """

    def __init__(self, world: World, rows: Mapping[str, dict[Key, Row]], customers: str | None) -> None:
        self.rows = rows
        self.customers = customers
        self._tables = world.tables
        self._public = frozenset(world.pack.checks.leak.public)
        self._owners: dict[Place, frozenset[Key]] = {}

    def row(self, place: Place) -> Row:
        return self.rows[place[0]][place[1]]

    def owners(self, place: Place, depth: int = HIGHEST) -> frozenset[Key]:
        """Keys of the customers that a row belongs to; none for rows that are nobody's."""
        if place[0] == self.customers:
            return frozenset([place[1]])
        if place[0] in self._public or depth == 0:
            return frozenset()
        known = self._owners.get(place)
        if known is None:
            above = [self.owners(parent, depth - 1) for parent in self.parents(place)]
            known = frozenset().union(*above)
            if depth == HIGHEST:
                self._owners[place] = known
        return known

    def parents(self, place: Place) -> list[Place]:
        """The rows that a row refers to."""
        row = self.row(place)
        found = []
        for column, (parent, target) in self._tables[place[0]].foreign_keys.items():
            key = (row[column],)
            if self._tables[parent].primary_key == (target,) and key in self.rows[parent]:
                found.append((parent, key))
        return found

    def above(self, place: Place) -> set[Place]:
        """All rows that a row refers to, and those that they refer to; not beyond a customer's row."""
        found: set[Place] = set()
        level = [place]
        for _ in range(HIGHEST):
            level = [
                p for low in level if low[0] != self.customers for p in self.parents(low) if p not in found
            ]
            found.update(level)
        return found


def seed_rows(world: World) -> Rows:
    """The seed, read once for each world."""
    with _lock:
        known = _seeds.get(world)
        if known is None:
            known = _seeds[world] = Rows(world, _read(world), customers_table(world))
        return known


def laid_over(world: World, task: Task) -> Rows:
    """The seed with a task's rows over it."""
    seed = seed_rows(world)
    if not task.world:
        return seed
    rows = dict(seed.rows)
    for table, given in task.world.items():
        mine = rows[table] = dict(rows[table])
        info = world.tables[table]
        for values in given:
            key = tuple(values.get(c) for c in info.primary_key)
            mine[key] = {**mine.get(key, dict.fromkeys(info.columns)), **values}
    return Rows(world, rows, seed.customers)


def customers_table(world: World) -> str | None:
    """As checks.yaml says; else `customers`; else the table with e-mail addresses that most tables refer to."""
    named = world.pack.checks.leak.customers
    if named is not None:
        return named
    single = {name for name, info in world.tables.items() if len(info.primary_key) == 1}
    if "customers" in single:
        return "customers"
    inbound: dict[str, int] = defaultdict(int)
    for info in world.tables.values():
        for parent in {parent for parent, _ in info.foreign_keys.values()}:
            inbound[parent] += 1
    mailed = [n for n in sorted(single) if any("email" in c.lower() for c in world.tables[n].columns)]
    return max(mailed, key=lambda name: inbound[name], default=None)


def _read(world: World) -> dict[str, dict[Key, Row]]:
    connection = connect(world.vfs, world.image)
    try:
        add_functions(connection, world.now, world.today, Counters())
        rows: dict[str, dict[Key, Row]] = {}
        for table, info in world.tables.items():
            names = ", ".join(map(quoted, info.columns))
            sql = f"SELECT {names} FROM {quoted(table)}"  # noqa: S608 - names of the schema, quoted
            listed = [dict(zip(info.columns, values, strict=True)) for values in connection.execute(sql)]
            rows[table] = {tuple(row[c] for c in info.primary_key): row for row in listed}
        return rows
    finally:
        connection.close()
