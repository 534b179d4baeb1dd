"""Where a run stands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from django.db import connection

from assay.runs.models import ACTIVE, Run, TrialStatus


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands. `done` = passed + failed + void; `void_attempts` by cause, those tried again included.

    `seconds_left` is None while it cannot be told.
    """

    status: str
    total: int
    queued: int
    running: int
    passed: int
    failed: int
    void: int
    void_attempts: Mapping[str, int]
    per_second: float
    seconds_left: float | None

    @property
    def done(self) -> int:
        return self.passed + self.failed + self.void

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "done": self.done}


_RECENT = 15.0  # seconds over which the speed is taken


def progress(run: Run) -> Progress:
    """Where the run stands now."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT status, count(*), count(*) FILTER (WHERE finished_at > now() - make_interval(secs => %s)),
                   extract(epoch FROM now() - min(finished_at))
            FROM runs_trial WHERE run_id = %s GROUP BY status
            """,
            [_RECENT, run.pk],
        )
        rows = {status: (count, recent, since) for status, count, recent, since in cursor.fetchall()}
        cursor.execute(
            """
            SELECT a.cause, count(*) FROM runs_trialattempt a JOIN runs_trial t ON t.id = a.trial_id
            WHERE t.run_id = %s GROUP BY a.cause ORDER BY a.cause
            """,
            [run.pk],
        )
        void_attempts = dict(cursor.fetchall())
        cursor.execute("SELECT status FROM runs_run WHERE id = %s", [run.pk])
        (status,) = cursor.fetchone()
    count = {s: rows.get(s, (0, 0, None))[0] for s in TrialStatus.values}
    over = [rows[s] for s in (TrialStatus.PASSED, TrialStatus.FAILED, TrialStatus.VOID) if s in rows]
    recent = sum(r[1] for r in over)
    since = max((float(r[2]) for r in over if r[2] is not None), default=0.0)
    speed = recent / max(1.0, min(_RECENT, since)) if recent else 0.0
    left = count[TrialStatus.QUEUED] + count[TrialStatus.RUNNING]
    if status not in ACTIVE or not left:
        seconds_left = 0.0 if not left else None
    else:
        seconds_left = left / speed if speed else None
    return Progress(
        status=status,
        total=run.trial_count,
        queued=count[TrialStatus.QUEUED],
        running=count[TrialStatus.RUNNING],
        passed=count[TrialStatus.PASSED],
        failed=count[TrialStatus.FAILED],
        void=count[TrialStatus.VOID],
        void_attempts=void_attempts,
        per_second=round(speed, 2),
        seconds_left=seconds_left,
    )
