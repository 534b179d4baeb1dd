"""From what the engine says about a trial to what the queue writes for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from assay.engine.trial import CANNOT_TELL, TrialRecord, seed_for
from assay.runs.models import Run, TrialStatus
from assay.runs.queue import Claim, Result

_CAUSE = re.compile(r"[a-z_]{1,40}")


def from_record(run: Run, claim: Claim, record: TrialRecord, versions: Mapping[str, Any]) -> Result:
    """A tried trial: its columns, and its evidence with the versions of what went in."""
    outcome = record.outcome()
    void = record.status == TrialStatus.VOID
    transcript = record.transcript
    return Result(
        claim=claim,
        status=record.status,
        columns={
            "termination": transcript.get("termination", ""),
            "category": outcome.category or "",
            "s1": outcome.s1,
            "s2": outcome.s2,
            "s3": outcome.s3,
            "fingerprint": outcome.fingerprint or "",
            "explanation": outcome.explanation or "",
            "turns": transcript.get("turns", 0),
            "tool_calls": transcript.get("tool_calls", 0),
            "seconds": record.seconds,
            "started_at": record.started_at,
        },
        evidence={
            "transcript": transcript,
            "changes": record.changes,
            "verdict": record.verdict,
            "notes": record.notes,
            "versions": versions,
        },
        void_cause=_cause(record.void_cause or "internal_error") if void else "",
        void_kind=str((transcript.get("user") or {}).get("fault") or "")[:40] if void else "",
        detail=str(transcript.get("detail", ""))[:2000] if void else "",
        seed=record.seed,
        plugin_failures=record.plugin_failures,
        # What cannot be told now cannot be told of another attempt either.
        retry_in=_retry_in(run, claim) if void and record.void_cause != CANNOT_TELL else None,
    )


def void(run: Run, claim: Claim, cause: str, detail: str, part: str = "") -> Result:
    """A trial that could not even be tried, through no fault of the bot. `part`: of a plugin, whose fault it was."""
    return Result(
        claim=claim,
        status=TrialStatus.VOID,
        columns={},
        evidence=None,
        void_cause=_cause(cause),
        detail=detail[:2000],
        seed=seed_for(run.seed, claim.task_id, claim.index, claim.attempt),
        plugin_failures=[{"part": part, "sentence": detail[:500]}] if part else [],
        retry_in=_retry_in(run, claim),
    )


def _cause(said: object) -> str:
    """The word to count a void trial under. A plugin may give its fault any cause; one that is no short word is
    the plugin's fault, and the sentence beside it still says what happened."""
    return said if isinstance(said, str) and _CAUSE.fullmatch(said) else "plugin_fault"


def _retry_in(run: Run, claim: Claim) -> float | None:
    """Seconds until a void trial's next attempt; None when it had its last."""
    if claim.attempt + 1 >= run.max_attempts:
        return None
    return float(min(60.0, settings.ASSAY_RETRY_SECONDS * 2**claim.attempt))
