"""Read the tables of a world back from SQLite, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import apsw

from assay.engine.sandbox.schema import TableInfo


@dataclass(frozen=True, slots=True)
class ForeignKey:
    table: str
    columns: tuple[str, ...]
    parent: str
    parent_columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All tables of a world. `affinity`: (table, column) -> declared type in capital letters."""

    tables: Mapping[str, TableInfo]
    views: frozenset[str]
    foreign_keys: tuple[ForeignKey, ...]
    affinity: Mapping[tuple[str, str], str]

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.tables) | self.views


def quoted(name: str) -> str:
    """A name as SQL writes it, whatever is in it."""
    return '"' + name.replace('"', '""') + '"'


def catalogue(connection: apsw.Connection) -> tuple[Catalogue, list[tuple[str, str, str]]]:
    """The tables of a connection, and what is wrong: (table, code, sentence)."""
    wrong: list[tuple[str, str, str]] = []
    tables: dict[str, TableInfo] = {}
    affinity: dict[tuple[str, str], str] = {}
    keys: list[ForeignKey] = []
    rows = connection.execute(
        "SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"
    ).fetchall()
    names = sorted(str(name) for name, kind, _, _ in rows if kind == "table")
    views = frozenset(str(name) for name, kind, _, _ in rows if kind == "view")
    strict = {str(name) for name, _, without, is_strict in rows if is_strict or without}
    for name in names:
        columns: list[str] = []
        primary: dict[int, str] = {}
        types: dict[str, str] = {}
        nullable: list[str] = []
        for column, declared, notnull, pk, hidden in connection.execute(
            'SELECT name, type, "notnull", pk, hidden FROM pragma_table_xinfo(?)', (name,)
        ):
            if hidden:
                message = f"Column {name}.{column} is generated: compute it in a view instead."
                wrong.append((name, "generated_column", message))
                continue
            columns.append(column)
            types[column] = str(declared).upper()
            affinity[(name, column)] = types[column]
            if pk:
                primary[pk] = column
                if not notnull:
                    nullable.append(column)
        key = tuple(primary[n] for n in sorted(primary))
        rowid = len(key) == 1 and types[key[0]] == "INTEGER"
        if not key:
            message = f"Table {name} has no PRIMARY KEY: changes are told by it; add one."
            wrong.append((name, "no_primary_key", message))
        elif nullable and not rowid and name not in strict:
            message = (
                f"Column {name}.{nullable[0]} of the primary key may be NULL, and such rows cannot be told apart: "
                "write NOT NULL, or make the table STRICT."
            )
            wrong.append((name, "nullable_key", message))
        own = _foreign_keys(connection, name)
        keys += own
        references = {
            c: (k.parent, p) for k in own for c, p in zip(k.columns, k.parent_columns, strict=False)
        }
        tables[name] = TableInfo(name, tuple(columns), key, references, rowid)
    found = Catalogue(tables, views, tuple(keys), affinity)
    wrong += [(k.table, "foreign_key", sentence) for k, sentence in _bad_references(connection, found)]
    return found, wrong


def _foreign_keys(connection: apsw.Connection, table: str) -> list[ForeignKey]:
    grouped: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, parent, column, to in connection.execute(
        'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq', (table,)
    ):
        grouped.setdefault(number, []).append((parent, column, to))
    found = []
    for parts in grouped.values():
        parent = parts[0][0]
        if any(to is None for _, _, to in parts):  # REFERENCES parent, without columns: its primary key
            to_columns = tuple(
                str(row[0])
                for row in connection.execute(
                    "SELECT name FROM pragma_table_info(?) WHERE pk ORDER BY pk", (parent,)
                )
            )
        else:
            to_columns = tuple(str(to) for _, _, to in parts)
        found.append(ForeignKey(table, tuple(str(c) for _, c, _ in parts), parent, to_columns))
    return found


def _bad_references(connection: apsw.Connection, found: Catalogue) -> Iterator[tuple[ForeignKey, str]]:
    folded = {name.casefold(): name for name in found.tables}
    for key in found.foreign_keys:
        where = f"{key.table} ({', '.join(key.columns)})"
        parent = folded.get(key.parent.casefold())
        if parent is None:
            yield key, f"{where} refers to the table {key.parent}, which does not exist."
            continue
        missing = [c for c in key.parent_columns if c not in found.tables[parent].columns]
        if missing:
            yield key, f"{where} refers to {parent}.{missing[0]}, which does not exist."
        elif len(key.columns) != len(key.parent_columns) or not _is_unique(connection, found, parent, key):
            yield (
                key,
                (
                    f"{where} refers to {parent} ({', '.join(key.parent_columns)}), which is neither its primary key nor UNIQUE."
                ),
            )
        elif parent != key.parent:
            yield key, f"{where} refers to {key.parent}: write the table's name as it is declared, {parent}."


def _is_unique(connection: apsw.Connection, found: Catalogue, parent: str, key: ForeignKey) -> bool:
    if set(found.tables[parent].primary_key) == set(key.parent_columns):
        return True
    for (index,) in connection.execute(
        'SELECT name FROM pragma_index_list(?) WHERE "unique" AND NOT partial', (parent,)
    ).fetchall():
        columns = {row[0] for row in connection.execute("SELECT name FROM pragma_index_info(?)", (index,))}
        if columns == set(key.parent_columns):
            return True
    return False
