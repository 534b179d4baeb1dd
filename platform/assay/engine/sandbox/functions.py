"""The functions that Assay adds to SQL: now(), today(), next_id()."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import apsw

#: Generated ids start here; seed rows may not use numbers from here up with a prefix that some tool generates.
FIRST_ID = 9001


class Counters:
    """Numbers for next_id(), one row of them for each prefix, and every id given out in this trial."""

    def __init__(self) -> None:
        self._next: dict[str, int] = {}
        self._given: list[str] = []

    def reset(self) -> None:
        self._next = {}
        self._given = []

    def next_id(self, prefix: str) -> str:
        number = self._next.get(prefix, FIRST_ID)
        self._next[prefix] = number + 1
        made = f"{prefix}-{number}"
        self._given.append(made)
        return made

    def mark(self) -> tuple[dict[str, int], int]:
        return dict(self._next), len(self._given)

    def back_to(self, mark: tuple[dict[str, int], int]) -> None:
        """Forget what was given out since `mark`: a failed call leaves nothing behind."""
        self._next = mark[0]
        del self._given[mark[1] :]

    @property
    def given(self) -> frozenset[str]:
        return frozenset(self._given)


def now_text(clock: datetime) -> str:
    """The frozen instant as now() gives it: ISO 8601 with the pack's own offset."""
    return clock.isoformat(timespec="seconds").replace("+00:00", "Z")


def today_text(clock: datetime) -> str:
    return clock.date().isoformat()


def add_functions(connection: apsw.Connection, now: str, today: str, counters: Counters) -> None:
    def now_function(*_: Any) -> str:
        return now

    def today_function(*_: Any) -> str:
        return today

    def next_id_function(*arguments: Any) -> str:
        return counters.next_id(arguments[0])

    # Innocuous: they may stand in DEFAULT and CHECK as well.
    connection.create_scalar_function("now", now_function, 0, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)
    connection.create_scalar_function(
        "today", today_function, 0, deterministic=True, flags=apsw.SQLITE_INNOCUOUS
    )
    connection.create_scalar_function("next_id", next_id_function, 1)
