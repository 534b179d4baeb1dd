"""Put rows of a pack into a world: seed rows and a task's rows on top, with every problem named."""

# ruff: noqa: S608 - names of tables and columns are the schema's own, and quoted; values are bound
from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from typing import Any

import apsw

from assay.engine.packs.models import SeedRow, Source
from assay.engine.sandbox.functions import FIRST_ID
from assay.engine.sandbox.inspection import Catalogue, ForeignKey, quoted
from assay.engine.sandbox.problems import Findings, did_you_mean

Place = tuple[str, tuple[Any, ...]]  # table, primary key

_INTEGER = re.compile(r"[+-]?\d{1,18}")
_REAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?")
_BOOLEANS = {"true": 1, "false": 0}


class RowWriter:
    """Writes rows while foreign keys are not enforced; `check_references` looks at them all afterwards."""

    def __init__(
        self, connection: apsw.Connection, catalogue: Catalogue, findings: Findings, task: str | None = None
    ) -> None:
        self._connection = connection
        self._catalogue = catalogue
        self._findings = findings
        self._task = task
        self.sources: dict[Place, Source] = {}
        self.laid: list[tuple[str, tuple[Any, ...]]] = []  # what was executed for rows of a task

    def insert(self, rows: Sequence[SeedRow]) -> None:
        """Insert seed rows; parents may come after children."""
        for row in rows:
            values = self._values(row)
            if values is not None:
                self._write(row, _insertion(row.table, tuple(values)), tuple(values.values()))

    def lay_over(self, rows: Sequence[SeedRow]) -> None:
        """Rows of a task: by primary key, new or updated."""
        for row in rows:
            values = self._values(row)
            if values is None:
                continue
            key = self._catalogue.tables[row.table].primary_key
            missing = [c for c in key if values.get(c) is None]
            if missing:
                self._add(
                    row,
                    f"Give {row.table}.{missing[0]}: rows of a task are laid over the seed by primary key.",
                    "no_key",
                )
                continue
            where = " AND ".join(f"{quoted(c)} = ?" for c in key)
            at = tuple(values[c] for c in key)
            known = self._connection.execute(
                f"SELECT 1 FROM {quoted(row.table)} WHERE {where}", at
            ).fetchone()
            if known:
                others = {c: v for c, v in values.items() if c not in key} or {c: values[c] for c in key}
                sets = ", ".join(f"{quoted(c)} = ?" for c in others)
                sql = f"UPDATE {quoted(row.table)} SET {sets} WHERE {where}"
                self._write(row, sql, (*others.values(), *at))
            else:
                self.insert([row])

    def check_references(self, only: frozenset[Place] | None = None) -> None:
        """Report rows that refer to a row that does not exist."""
        for key in self._catalogue.foreign_keys:
            for at, wanted in _dangling(self._connection, self._catalogue, key):
                source = self.sources.get((key.table, at))
                if source is None:
                    # A seed row whose parent a task's row changed away: blame the task's rows of the parent.
                    source = next(
                        (s for (t, _), s in self.sources.items() if t in (key.parent, key.table)), None
                    )
                if source is None:
                    continue
                value = ", ".join(str(v) for v in wanted)
                self._findings.add(
                    source,
                    f"{key.table} row {_shown(at)}: {', '.join(key.columns)} is {value}, but {key.parent} has no such row. "
                    f"Add it, or correct the value.",
                    "foreign_key",
                    self._task,
                )

    def check_cycles(self) -> None:
        """Report rows that refer to each other in a circle (a row may refer to itself)."""
        graph: dict[Place, set[Place]] = {}
        for key in self._catalogue.foreign_keys:
            if not _may_be_cyclic(self._catalogue.foreign_keys, key):
                continue
            for child, parent in _references(self._connection, self._catalogue, key):
                if child != parent:
                    graph.setdefault(child, set()).add(parent)
        while True:
            try:
                TopologicalSorter(graph).prepare()
                return
            except CycleError as error:
                circle: list[Place] = error.args[1]
                text = " -> ".join(f"{table} {_shown(at)}" for table, at in circle)
                source = next((self.sources[p] for p in circle if p in self.sources), Source("world/seed", 0))
                self._findings.add(
                    source,
                    f"Rows refer to each other in a circle: {text}. Break it: make one of them NULL.",
                    "cyclic_rows",
                    self._task,
                )
                for place in circle:
                    graph.pop(place, None)

    def _values(self, row: SeedRow) -> dict[str, Any] | None:
        info = self._catalogue.tables.get(row.table)
        if info is None:
            self._add(
                row,
                f"There is no table {row.table}.{did_you_mean(row.table, self._catalogue.tables)}",
                "unknown_table",
            )
            return None
        values: dict[str, Any] = {}
        good = True
        for column, value in row.values.items():
            if column not in info.columns:
                self._add(
                    row,
                    f"The table {row.table} has no column {column}.{did_you_mean(column, info.columns)}",
                    "unknown_column",
                )
                good = False
                continue
            try:
                values[column] = _converted(value, self._catalogue.affinity[(row.table, column)])
            except ValueError as error:
                self._add(row, f"{row.table}.{column}: {error}", "bad_value")
                good = False
        return values if good else None

    def _returning(self, table: str) -> str:
        return " RETURNING " + ", ".join(quoted(c) for c in self._catalogue.tables[table].primary_key)

    def _write(self, row: SeedRow, sql: str, values: tuple[Any, ...]) -> None:
        try:
            (at,) = self._connection.execute(sql + self._returning(row.table), values).fetchall()
        except apsw.ConstraintError as error:
            self._add(row, constraint_sentence(error, row.table), "constraint")
        except apsw.Error as error:
            self._add(row, f"The row does not fit the table {row.table}: {error}.", "bad_row")
        else:
            self.sources[(row.table, tuple(at))] = row.source
            if self._task is not None:
                self.laid.append((sql, values))

    def _add(self, row: SeedRow, message: str, code: str) -> None:
        self._findings.add(row.source, message, code, self._task)


def check_reserved(
    rows: Sequence[SeedRow], prefixes: frozenset[str], findings: Findings, task: str | None = None
) -> None:
    """Report ids that next_id() could make again."""
    if not prefixes:
        return
    pattern = re.compile(rf"({'|'.join(re.escape(p) for p in sorted(prefixes))})-(\d+)")
    for row in rows:
        for column, value in row.values.items():
            found = pattern.fullmatch(value) if isinstance(value, str) else None
            if found and len(found[2]) < 18 and int(found[2]) >= FIRST_ID:
                findings.add(
                    row.source,
                    f"{row.table}.{column} is {value}, but ids {found[1]}-{FIRST_ID} and up are made by next_id('{found[1]}'): "
                    "use a smaller number.",
                    "reserved_id",
                    task,
                )


def constraint_sentence(error: Exception, table: str | None = None) -> str:
    """What a broken constraint means, in plain words. SQLite says for example
    `NOT NULL constraint failed: orders.total`."""
    text = str(error).split(": ", 1)
    kind, detail = text[0], text[1] if len(text) > 1 else ""
    if kind.startswith("NOT NULL"):
        return f"{detail} must have a value."
    if kind.startswith("UNIQUE"):
        return f"There is already a row with this {detail.replace(', ', ' and ')}."
    if kind.startswith("FOREIGN KEY"):
        return "It refers to something that does not exist, or something else still refers to it."
    if kind.startswith("CHECK"):
        where = f" of {table}" if table else ""
        return f"A rule{where} is broken: {detail}."
    if kind.startswith("cannot store"):
        return f"{str(error)[0].upper()}{str(error)[1:]}."
    return f"A rule of the database is broken: {error}."


@lru_cache(maxsize=1024)
def _insertion(table: str, columns: tuple[str, ...]) -> str:
    if not columns:
        return f"INSERT INTO {quoted(table)} DEFAULT VALUES"
    names = ", ".join(map(quoted, columns))
    return f"INSERT INTO {quoted(table)} ({names}) VALUES ({', '.join('?' * len(columns))})"


def _converted(value: Any, declared: str) -> Any:
    """A value of YAML or CSV as the column wants it. Raises ValueError."""
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, float):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise ValueError(f"{value} does not fit into 64 bits.")
        return value
    if isinstance(value, list | tuple | Mapping):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    if not isinstance(value, str):
        raise ValueError(  # noqa: TRY004 - a wrong value in a file, reported like any other
            f"a value of type {type(value).__name__} cannot be stored; write a text or a number."
        )
    if "INT" in declared:
        if value.casefold() in _BOOLEANS:
            return _BOOLEANS[value.casefold()]
        if _INTEGER.fullmatch(value.strip()):
            return int(value)
        raise ValueError(f"{value!r} is not a whole number.")
    if any(kind in declared for kind in ("REAL", "FLOA", "DOUB")):
        if _REAL.fullmatch(value.strip()):
            return float(value)
        raise ValueError(f"{value!r} is not a number.")
    return value


def _dangling(
    connection: apsw.Connection, catalogue: Catalogue, key: ForeignKey
) -> list[tuple[tuple[Any, ...], tuple[Any, ...]]]:
    own = catalogue.tables[key.table].primary_key
    select = ", ".join(f"c.{quoted(n)}" for n in (*own, *key.columns))
    given = " AND ".join(f"c.{quoted(n)} IS NOT NULL" for n in key.columns)
    # The parent's column on the left: its affinity and collation decide, as in SQLite's own check.
    same = " AND ".join(
        f"p.{quoted(p)} = c.{quoted(n)}" for n, p in zip(key.columns, key.parent_columns, strict=True)
    )
    rows = connection.execute(
        f"SELECT {select} FROM {quoted(key.table)} c WHERE {given} "
        f"AND NOT EXISTS (SELECT 1 FROM {quoted(key.parent)} p WHERE {same})"
    ).fetchall()
    return [(tuple(r[: len(own)]), tuple(r[len(own) :])) for r in rows]


def _references(
    connection: apsw.Connection, catalogue: Catalogue, key: ForeignKey
) -> list[tuple[Place, Place]]:
    own, other = catalogue.tables[key.table].primary_key, catalogue.tables[key.parent].primary_key
    select = ", ".join([f"c.{quoted(n)}" for n in own] + [f"p.{quoted(n)}" for n in other])
    same = " AND ".join(
        f"p.{quoted(p)} = c.{quoted(n)}" for n, p in zip(key.columns, key.parent_columns, strict=True)
    )
    rows = connection.execute(
        f"SELECT {select} FROM {quoted(key.table)} c JOIN {quoted(key.parent)} p ON {same}"
    ).fetchall()
    return [((key.table, tuple(r[: len(own)])), (key.parent, tuple(r[len(own) :]))) for r in rows]


def _may_be_cyclic(keys: Sequence[ForeignKey], key: ForeignKey) -> bool:
    """Whether the key's parent leads back to its table."""
    reached, waiting = set(), [key.parent]
    while waiting:
        table = waiting.pop()
        if table == key.table:
            return True
        if table not in reached:
            reached.add(table)
            waiting += [k.parent for k in keys if k.table == table]
    return False


def _shown(key: tuple[Any, ...]) -> str:
    return ", ".join(str(v) for v in key)
