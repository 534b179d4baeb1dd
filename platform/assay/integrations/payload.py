"""What a `run.finished` event says. See docs/reference/webhooks.md."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.db import connection

from assay.integrations.addresses import page, site
from assay.runs.models import Run, Trial, TrialStatus
from assay_sdk.ticketing import RUN_FINISHED

MOST_FAILURES = 500  # distinct ones in one event; the most frequent come first
_SUMMARY = (
    "tasks",
    "trials",
    "valid",
    "passed",
    "failed",
    "void",
    "trials_per_task",
    "confidence",
    "method",
    "overall",
    "groups",
    "worst_case",
    "illusion",
    "categories",
    "voids",
    "costs",
)  # what is left out, the figures of each task, is in the report


def run_finished(run: Run) -> dict[str, Any]:
    """The event of a finished run: plain JSON values. The run must have its summary."""
    summary = run.summary
    if summary is None:
        raise ValueError(f"Run {run.pk} has no summary; it is not finished.")
    version, bot, here = run.pack_version, run.bot_version, site()
    failures = summary["failures"]
    return {
        "type": RUN_FINISHED,
        "timestamp": _instant(run.finished_at),
        "data": {
            "tenant": str(connection.schema_name),
            "run": {
                "id": run.pk,
                "url": page(here, "run", pk=run.pk),
                "bot": {
                    "name": bot.bot.name,
                    "version": f"v{bot.number}",
                    "spec": bot.spec,
                    "synthetic": bot.synthetic,
                },
                "pack": {
                    "name": version.pack.name,
                    "version": version.version,
                    "title": version.title,
                    "content_hash": version.content_hash,
                },
                "trials_per_task": run.trials_per_task,
                "seed": str(run.seed),  # as text: JavaScript cannot hold it
                "started_at": _instant(run.started_at),
                "finished_at": _instant(run.finished_at),
            },
            "summary": {
                key: summary.get(key) for key in _SUMMARY
            },  # runs of before costs were kept have none
            "gate": run.gate_answer,
            "failures": _failures(run, failures[:MOST_FAILURES], here),
            "failures_left_out": max(0, len(failures) - MOST_FAILURES),
        },
    }


def _failures(run: Run, failures: list[dict[str, Any]], here: str | None) -> list[dict[str, Any]]:
    """One entry for each distinct failure, with a trial that shows it."""
    shown = {
        trial.fingerprint: trial
        for trial in Trial.objects.filter(
            run=run, status=TrialStatus.FAILED, fingerprint__in=[f["fingerprint"] for f in failures]
        )
        .order_by("fingerprint", "id")
        .distinct("fingerprint")
    }
    entries = []
    for failure in failures:
        trial = shown.get(failure["fingerprint"])
        entries.append(
            {
                "fingerprint": failure["fingerprint"],
                "task": failure["task"],
                "title": (trial.title if trial else "") or failure["task"],
                "category": failure["category"],
                "explanation": failure["explanation"],
                "count": failure["count"],
                "trials": failure["trials"],
                "url": page(here, "trial", pk=trial.pk) if trial else None,
                "details": {
                    "group": trial.group if trial else None,
                    "bot": str(run.bot_version),
                    "pack": f"{run.pack_version.pack.name} {run.pack_version.version}",
                    "run": run.pk,
                },
            }
        )
    return entries


def _instant(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat(timespec="milliseconds") if at is not None else None
