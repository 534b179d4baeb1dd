"""What the receiver keeps in its SQLite file: events that were taken, and what Request Tracker was told."""

from __future__ import annotations

import sqlite3
import threading
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from assay_sdk import TicketRef

_KEEP = 90 * 86_400  # seconds that finished events are remembered; Assay repeats one for about three days
_SCHEMA = """
CREATE TABLE IF NOT EXISTS events (
    id TEXT PRIMARY KEY,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'given_up')),
    tries INTEGER NOT NULL DEFAULT 0,
    received_at REAL NOT NULL,
    next_at REAL NOT NULL,
    problem TEXT NOT NULL DEFAULT ''
);
CREATE INDEX IF NOT EXISTS events_next ON events (next_at) WHERE state = 'waiting';
CREATE TABLE IF NOT EXISTS told (
    fingerprint TEXT NOT NULL,
    event_id TEXT NOT NULL,
    ticket_id TEXT NOT NULL,
    ticket_url TEXT,
    created INTEGER NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (fingerprint, event_id)
) WITHOUT ROWID;
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event to be turned into tickets. `tries` that failed; `age` in seconds."""

    id: str
    body: str
    tries: int
    age: float


class Inbox:
    """Safe to use from several threads. Also assay_sdk.ticketing.Memory."""

    def __init__(self, path: Path | str) -> None:
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, timeout=10, isolation_level=None, check_same_thread=False)
        self._db.executescript("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;" + _SCHEMA)
        old = time.time() - _KEEP
        self._run("DELETE FROM told WHERE at < ?", old)
        self._run("DELETE FROM events WHERE state <> 'waiting' AND received_at < ?", old)

    def take(self, event_id: str, body: str) -> bool:
        """Keep an event; False when it was taken before. One that was given up starts again."""
        now = time.time()
        changed = self._run(
            "INSERT INTO events (id, body, received_at, next_at) VALUES (?, ?, ?, ?) "
            "ON CONFLICT DO UPDATE SET state = 'waiting', tries = 0, "
            "received_at = excluded.received_at, next_at = excluded.next_at "
            "WHERE state = 'given_up'",
            event_id,
            body,
            now,
            now,
        )
        return changed == 1

    def due(self) -> Waiting | None:
        """The event that has waited longest for its turn."""
        now = time.time()
        with self._lock, closing(self._db.cursor()) as cursor:
            row = cursor.execute(
                "SELECT id, body, tries, received_at FROM events WHERE state = 'waiting' AND next_at <= ? "
                "ORDER BY next_at LIMIT 1",
                (now,),
            ).fetchone()
        return Waiting(row[0], row[1], row[2], now - row[3]) if row else None

    def finish(self, event_id: str) -> None:
        self._run("UPDATE events SET state = 'done', problem = '', body = '' WHERE id = ?", event_id)

    def postpone(self, event_id: str, problem: str, seconds: float) -> None:
        self._run(
            "UPDATE events SET tries = tries + 1, problem = ?, next_at = ? WHERE id = ?",
            problem, time.time() + seconds, event_id,
        )  # fmt: skip

    def give_up(self, event_id: str, problem: str) -> None:
        self._run("UPDATE events SET state = 'given_up', problem = ? WHERE id = ?", problem, event_id)

    def hurry(self) -> None:
        """Make everything that waits due now: at a start, what was wrong may have been put right."""
        self._run("UPDATE events SET next_at = 0 WHERE state = 'waiting'")

    def counts(self) -> dict[str, int]:
        """How many events are in each state."""
        with self._lock, closing(self._db.cursor()) as cursor:
            rows = dict(cursor.execute("SELECT state, count(*) FROM events GROUP BY state").fetchall())
        return {state: int(rows.get(state, 0)) for state in ("waiting", "done", "given_up")}

    def was_told(self, fingerprint: str, event_id: str) -> bool:
        with self._lock, closing(self._db.cursor()) as cursor:
            row = cursor.execute(
                "SELECT 1 FROM told WHERE fingerprint = ? AND event_id = ?", (fingerprint, event_id)
            ).fetchone()
        return row is not None

    def told(self, fingerprint: str, event_id: str, ticket: TicketRef, *, created: bool) -> None:
        self._run(
            "INSERT INTO told VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            fingerprint, event_id, ticket.id, ticket.url, int(created), time.time(),
        )  # fmt: skip

    def close(self) -> None:
        with self._lock:
            self._db.close()

    def _run(self, sql: str, *values: object) -> int:
        with self._lock, closing(self._db.cursor()) as cursor:
            return cursor.execute(sql, values).rowcount
