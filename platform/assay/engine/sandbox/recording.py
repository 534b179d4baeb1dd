"""What a trial changed, taken from SQLite's session extension: the cost follows the rows changed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import apsw

from assay.engine.sandbox.changes import ChangeSet, RowChange
from assay.engine.sandbox.inspection import quoted
from assay.engine.sandbox.schema import TableInfo

Place = tuple[str, tuple[Any, ...]]  # table, primary key

_RANKS = {type(None): 0, int: 1, float: 1, str: 2, bytes: 3}


class Recorder:
    """One session over the whole trial (what changed in the end), and one for each writing call (who wrote it)."""

    def __init__(self, connection: apsw.Connection, tables: Mapping[str, TableInfo]) -> None:
        self._connection = connection
        self._tables = tables
        self._whole = self._session()
        self._call: apsw.Session | None = None
        self._writers: dict[Place, int] = {}
        self._known: ChangeSet | None = None  # until the next writing call

    def start_call(self) -> None:
        self._call = self._session()
        self._known = None

    def end_call(self, number: int) -> bool:
        """Note the rows that the call changed; whether there were any."""
        session, self._call = self._call, None
        assert session is not None
        try:
            if session.is_empty:
                return False
            wrote = False
            for change in apsw.Changeset.iter(session.changeset()):
                wrote = True
                row = change.new if change.op == "INSERT" else change.old
                assert row is not None
                self._writers[(change.name, self._key(change.name, row))] = number
            return wrote
        finally:
            session.close()

    def drop_call(self) -> None:
        """The call was rolled back."""
        if self._call is not None:
            self._call.close()
            self._call = None

    def mark(self) -> dict[Place, int]:
        return dict(self._writers)

    def back_to(self, mark: dict[Place, int]) -> None:
        """What was written since `mark` was rolled back."""
        self._writers = mark
        self._known = None

    def changes(self, given: frozenset[str]) -> ChangeSet:
        """All rows changed so far, net. `given`: the ids that next_id() made."""
        if self._known is not None:
            return self._known
        rows: list[RowChange] = []
        generated: set[Any] = set()
        if not self._whole.is_empty:
            rows += map(self._row_change, apsw.Changeset.iter(self._whole.changeset()))
        for row in rows:
            if row.op == "insert" and self._tables[row.table].rowid_key:
                generated.add(row.key[0])
        rows.sort(key=lambda r: (r.table, [(_RANKS[type(v)], v) for v in r.key]))
        self._known = ChangeSet(tuple(rows), given | generated)
        return self._known

    def close(self) -> None:
        self.drop_call()
        self._whole.close()

    def _session(self) -> apsw.Session:
        session = apsw.Session(self._connection, "main")
        session.attach()
        return session

    def _key(self, table: str, row: tuple[Any, ...]) -> tuple[Any, ...]:
        info = self._tables[table]
        return tuple([row[info.columns.index(c)] for c in info.primary_key])

    def _row_change(self, change: apsw.TableChange) -> RowChange:
        table = change.name
        columns = self._tables[table].columns
        op: Literal["insert", "update", "delete"]
        before: dict[str, Any] | None = None
        after: dict[str, Any] | None = None
        if change.op == "INSERT":
            assert change.new is not None
            op, key, after = (
                "insert",
                self._key(table, change.new),
                dict(zip(columns, change.new, strict=True)),
            )
        elif change.op == "DELETE":
            assert change.old is not None
            op, key, before = (
                "delete",
                self._key(table, change.old),
                dict(zip(columns, change.old, strict=True)),
            )
        else:
            # An update names only the key and the cells that changed: the rest is as it is now.
            assert change.old is not None
            op, key = "update", self._key(table, change.old)
            where = " AND ".join(f"{quoted(c)} = ?" for c in self._tables[table].primary_key)
            names = ", ".join(map(quoted, columns))
            sql = f"SELECT {names} FROM {quoted(table)} WHERE {where}"  # noqa: S608 - names of the schema, quoted
            (row,) = self._connection.execute(sql, key).fetchall()
            after = dict(zip(columns, row, strict=True))
            before = {
                c: after[c] if old is apsw.no_change else old
                for c, old in zip(columns, change.old, strict=True)
            }
        return RowChange(table, op, key, before, after, self._writers.get((table, key)))
