"""Connections to worlds: in memory, with a frozen clock, without any of SQLite's ways out."""

from __future__ import annotations

import ctypes
import threading
from datetime import UTC, datetime

import apsw

#: Longest text, blob or row in a world, in bytes: more than a result may hold, and short enough that no
#: single function call takes long (SQLite looks at the clock only between the steps of its machine).
LONGEST_VALUE = 300_000
#: Longest statement, in bytes.
LONGEST_SQL = 100_000
#: Compiled statements kept by a connection.
STATEMENTS = 500
#: How much a world may grow in a trial, in bytes.
MOST_GROWTH = 32_000_000

_clocks: dict[int, apsw.VFS] = {}
_lock = threading.Lock()


class _FrozenClock(apsw.VFS):
    """SQLite asks its VFS for the time: with this one date('now') is the pack's frozen instant."""

    def __init__(self, name: str, milliseconds: int) -> None:
        super().__init__(name, "")
        self._julian = milliseconds + 210866760000000  # milliseconds since the Julian epoch

    def xCurrentTimeInt64(self) -> int:  # noqa: N802 - the name is SQLite's
        return self._julian

    def xCurrentTime(self) -> float:  # noqa: N802 - the name is SQLite's
        return self._julian / 86_400_000


def frozen_vfs(clock: datetime) -> str:
    """The name of a VFS whose clock stands at `clock`; made once for each instant."""
    milliseconds = round(clock.astimezone(UTC).timestamp() * 1000)
    name = f"assay-clock-{milliseconds}"
    with _lock:
        if milliseconds not in _clocks:
            _clocks[milliseconds] = _FrozenClock(name, milliseconds)
    return name


def connect(vfs: str, image: bytes | bytearray | None = None) -> apsw.Connection:
    """A private database in memory; with `image`, a copy of it."""
    connection = apsw.Connection(":memory:", vfs=vfs, statementcachesize=STATEMENTS)
    if image is not None:
        connection.deserialize("main", image)
        most = ctypes.c_int64(len(image) + MOST_GROWTH)
        connection.file_control("main", apsw.SQLITE_FCNTL_SIZE_LIMIT, ctypes.addressof(most))
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 1)
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    # One plan for a statement whatever its values: the same order of rows, and no planning again.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
    connection.limit(apsw.SQLITE_LIMIT_SQL_LENGTH, LONGEST_SQL)
    return connection
