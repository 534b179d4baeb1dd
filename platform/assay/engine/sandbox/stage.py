"""Connections that hold a world's image and serve one sandbox after the other.

Reading a schema of 25 tables and compiling 40 statements costs 2 ms in a fresh connection, ten times
what a trial's calls cost themselves. So a connection is used again, and what a trial did in it can
never be seen by the next:

- a trial lives in one transaction that is rolled back and never committed;
- afterwards the cached pages are dropped, so the next trial reads the image's own bytes;
- a connection that ever wrote a page to the image (because a trial outgrew the page cache), or that
  could not be rolled back, is thrown away.

Two sandboxes never share a connection at the same time.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import apsw

from assay.engine.sandbox.connection import connect
from assay.engine.sandbox.functions import Counters, add_functions
from assay.engine.sandbox.running import STRIDE, Budget

#: A statement that lays rows over the seed, and its values.
Laid = tuple[str, tuple[Any, ...]]

#: Idle connections kept by a world; each holds the image and as much again in cached pages.
MOST_IDLE = 8


class Stage:
    """One connection with the world's functions and limits."""

    def __init__(self, vfs: str, image: bytes, now: str, today: str) -> None:
        self.counters = Counters()
        self.budget = Budget()
        self.connection = connect(vfs, image)
        add_functions(self.connection, now, today, self.counters)
        self.connection.set_progress_handler(self.budget, STRIDE)

    def begin(self, overlay: Sequence[Laid]) -> None:
        """Start a trial: its transaction, with the task's rows laid over the seed."""
        self.counters.reset()
        self.budget.start()
        execute = self.connection.execute
        execute("BEGIN")
        if overlay:
            execute("PRAGMA defer_foreign_keys = ON")  # rows come in any order; they were checked together
            for sql, values in overlay:
                execute(sql, values)
            execute("PRAGMA defer_foreign_keys = OFF")

    def end(self) -> bool:
        """Undo the trial. Whether the connection may be used again."""
        try:
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")
            self.connection.release_memory()
            return self.connection.status(apsw.SQLITE_DBSTATUS_CACHE_WRITE)[0] == 0
        except apsw.Error:
            return False

    def close(self) -> None:
        self.connection.close()


class Stages:
    """The idle stages of one world. Safe to use from several threads."""

    def __init__(self, vfs: str, image: bytes, now: str, today: str) -> None:
        self._made_with = (vfs, image, now, today)
        self._idle: list[Stage] = []
        self._lock = threading.Lock()

    def take(self) -> Stage:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return Stage(*self._made_with)

    def give_back(self, stage: Stage) -> None:
        if stage.end():
            with self._lock:
                if len(self._idle) < MOST_IDLE:
                    self._idle.append(stage)
                    return
        stage.close()
