"""Trials as a queue in Postgres: claim, renew, write, give back. Every statement here keeps one promise:
a trial is counted once.

A claim marks trials as running under a fresh token and an expiry. Whatever is written later names the token, so
a worker whose lease ran out and was taken over writes nothing. All times are the database's.

All functions work in the current schema, on Django's connection of the current thread.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from django.db import connection


@dataclass(frozen=True, slots=True)
class Claim:
    """One trial that this worker holds."""

    trial: int  # primary key
    token: UUID
    task_id: str
    index: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Result:
    """What to write for a claimed trial.

    `status` is passed, failed or void. A void trial with `retry_in` (seconds) goes back into the queue with its
    next attempt; without, it stays void. `columns` are the trial's columns for people (category, seconds, ...);
    `evidence` the columns of Evidence, or None when there is nothing to keep.
    """

    claim: Claim
    status: str
    columns: Mapping[str, Any]
    evidence: Mapping[str, Any] | None
    void_cause: str = ""
    void_kind: str = ""  # of a simulator's fault
    detail: str = ""
    seed: int = 0
    plugin_failures: Sequence[Mapping[str, str]] = ()  # as in the engine's record of the trial
    retry_in: float | None = None


_CLAIM = """
UPDATE runs_trial t
SET status = 'running', lease_token = %(token)s, leased_by = %(worker)s, available_at = NULL,
    heartbeat_at = now(), lease_expires_at = now() + make_interval(secs => %(lease)s)
FROM (
    SELECT id FROM runs_trial
    WHERE run_id = %(run)s AND status = 'queued' AND (available_at IS NULL OR available_at <= now())
      AND EXISTS (SELECT FROM runs_run WHERE id = %(run)s AND status IN ('planned', 'running'))
    ORDER BY id LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
) free
WHERE t.id = free.id
RETURNING t.id, t.task_id, t.index, t.attempt
"""


def claim(run: int, *, worker: str, limit: int, lease: float) -> list[Claim]:
    """Take up to `limit` queued trials of a run that may run, for `lease` seconds."""
    token = uuid4()
    with connection.cursor() as cursor:
        cursor.execute(
            _CLAIM, {"run": run, "token": token, "worker": worker[:100], "lease": lease, "limit": limit}
        )
        return [Claim(row[0], token, *row[1:]) for row in sorted(cursor.fetchall())]


def renew(claims: Iterable[Claim], *, lease: float) -> set[int]:
    """Prolong leases. Gives the trials that are still held; the others were taken over and can be dropped."""
    held = list(claims)
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE runs_trial t
            SET heartbeat_at = now(), lease_expires_at = now() + make_interval(secs => %s)
            FROM unnest(%s::bigint[], %s::uuid[]) AS c(id, token)
            WHERE t.id = c.id AND t.lease_token = c.token AND t.status = 'running'
            RETURNING t.id
            """,
            [lease, [c.trial for c in held], [c.token for c in held]],
        )
        return {row[0] for row in cursor.fetchall()}


def release(claims: Iterable[Claim]) -> None:
    """Put claimed trials back as they were, for a worker that stops in order."""
    held = list(claims)
    if not held:
        return
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE runs_trial t
            SET status = 'queued', lease_token = NULL, leased_by = '', lease_expires_at = NULL, heartbeat_at = NULL
            FROM unnest(%s::bigint[], %s::uuid[]) AS c(id, token)
            WHERE t.id = c.id AND t.lease_token = c.token AND t.status = 'running'
            """,
            [[c.trial for c in held], [c.token for c in held]],
        )


# One statement, so a result and its evidence are there together or not at all.
_WRITE = """
WITH given AS (
    SELECT * FROM jsonb_to_recordset(%s::jsonb) AS x(
        id bigint, token uuid, status text, retry_in float8, void_cause text, void_kind text, detail text, seed bigint,
        termination text, category text, s1 bool, s2 bool, s3 bool, fingerprint text, explanation text,
        turns int, tool_calls int, seconds float8, started_at timestamptz, evidence jsonb, plugin_failures jsonb)
),
over AS (
    UPDATE runs_trial t
    SET status = g.status, void_cause = g.void_cause, seed = g.seed, termination = g.termination,
        category = g.category, s1 = g.s1, s2 = g.s2, s3 = g.s3, fingerprint = g.fingerprint,
        explanation = g.explanation, turns = g.turns, tool_calls = g.tool_calls, seconds = g.seconds,
        started_at = g.started_at, finished_at = now(),
        lease_token = NULL, lease_expires_at = NULL, heartbeat_at = NULL
    FROM given g
    WHERE t.id = g.id AND t.lease_token = g.token AND t.status = 'running' AND g.retry_in IS NULL
    RETURNING t.id, t.attempt + t.losses AS number, t.leased_by
),
again AS (
    UPDATE runs_trial t
    SET status = 'queued', attempt = t.attempt + 1, available_at = now() + make_interval(secs => g.retry_in),
        lease_token = NULL, leased_by = '', lease_expires_at = NULL, heartbeat_at = NULL
    FROM given g
    WHERE t.id = g.id AND t.lease_token = g.token AND t.status = 'running' AND g.retry_in IS NOT NULL
    RETURNING t.id, t.attempt - 1 + t.losses AS number
),
kept AS (
    INSERT INTO runs_evidence (trial_id, transcript, changes, verdict, notes, versions, plugin_failures)
    SELECT g.id, g.evidence -> 'transcript', g.evidence -> 'changes', nullif(g.evidence -> 'verdict', 'null'::jsonb),
           g.evidence -> 'notes', g.evidence -> 'versions', g.plugin_failures
    FROM given g JOIN over USING (id) WHERE jsonb_typeof(g.evidence) = 'object'
),
noted AS (
    INSERT INTO runs_trialattempt (trial_id, number, cause, kind, detail, worker, seed, at, plugin_failures)
    SELECT g.id, coalesce(over.number, again.number), g.void_cause, g.void_kind, g.detail, %s, g.seed, now(), g.plugin_failures
    FROM given g LEFT JOIN over USING (id) LEFT JOIN again USING (id)
    WHERE g.status = 'void' AND coalesce(over.id, again.id) IS NOT NULL
)
SELECT (SELECT count(*) FROM over), (SELECT count(*) FROM again)
"""


def write(results: Sequence[Result], *, worker: str) -> tuple[int, int]:
    """Write results whose leases are still held, each with its evidence, in one transaction.

    Gives how many trials are over and how many went back into the queue; the rest had been taken over.
    """
    rows = [
        {
            "id": r.claim.trial,
            "token": str(r.claim.token),
            "status": r.status,
            "retry_in": r.retry_in,
            "void_cause": r.void_cause,
            "void_kind": r.void_kind,
            "detail": r.detail,
            "seed": r.seed,
            "termination": "",
            "category": "",
            "fingerprint": "",
            "explanation": "",
            "turns": 0,
            "tool_calls": 0,
            **r.columns,
            "evidence": r.evidence,
            "plugin_failures": list(r.plugin_failures),
        }
        for r in results
    ]
    with connection.cursor() as cursor:
        cursor.execute(_WRITE, [to_jsonb(rows), worker[:100]])
        over, again = cursor.fetchone()
        return over, again


_EXPIRE = """
WITH lost AS (
    SELECT id, attempt, losses, leased_by, seed FROM runs_trial
    WHERE run_id = %(run)s AND status = 'running' AND (lease_expires_at < now() OR leased_by = ANY(%(dead)s))
    ORDER BY id LIMIT 1000
    FOR UPDATE SKIP LOCKED
),
noted AS (
    INSERT INTO runs_trialattempt (trial_id, number, cause, kind, detail, worker, seed, at, plugin_failures)
    SELECT id, attempt + losses, 'worker_lost', '', 'The worker went away with this trial.', leased_by, seed, now(), '[]'
    FROM lost
)
UPDATE runs_trial t
SET losses = t.losses + 1, lease_token = NULL, leased_by = '', lease_expires_at = NULL, heartbeat_at = NULL,
    status = CASE WHEN t.losses + 1 >= %(most)s THEN 'void' ELSE 'queued' END,
    void_cause = CASE WHEN t.losses + 1 >= %(most)s THEN 'worker_lost' ELSE '' END,
    termination = CASE WHEN t.losses + 1 >= %(most)s THEN 'worker_lost' ELSE '' END,
    finished_at = CASE WHEN t.losses + 1 >= %(most)s THEN now() END
FROM lost WHERE t.id = lost.id
"""


def expire(run: int, *, most_losses: int, dead: Sequence[str] = ()) -> int:
    """Put trials of lost workers back into the queue: leases that ran out, and those of workers known dead.

    A trial that has outlived `most_losses` workers becomes void: it may be what kills them. Gives their number.
    """
    with connection.cursor() as cursor:
        cursor.execute(_EXPIRE, {"run": run, "most": most_losses, "dead": list(dead)})
        return cursor.rowcount


def next_available_in(run: int) -> float | None:
    """Seconds until a queued trial may be claimed (0 when one may now), None when nothing is queued."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT extract(epoch FROM min(coalesce(available_at, now())) - now()) FROM runs_trial
            WHERE run_id = %s AND status = 'queued'
            """,
            [run],
        )
        (seconds,) = cursor.fetchone()
    return None if seconds is None else max(0.0, float(seconds))


def to_jsonb(value: Any) -> str:
    """JSON text that Postgres takes. What a bot says may hold what jsonb cannot: those characters are replaced."""
    try:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError):
        return json.dumps(_storable(value), separators=(",", ":"), allow_nan=False)
    if "\\u0000" in text or "\\ud" in text:
        return json.dumps(_storable(value), separators=(",", ":"), allow_nan=False)
    return text


def _storable(value: Any) -> Any:
    """NUL and lone surrogates become U+FFFD, numbers that JSON lacks and foreign objects become text."""
    if isinstance(value, str):
        return value.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_storable(str(k)): _storable(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_storable(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    return _storable(str(value))
