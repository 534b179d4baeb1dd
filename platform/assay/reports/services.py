"""Reports of the platform's runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from assay.engine.statistics.summary import summarise
from assay.reports.render import render_source
from assay.reports.source import ReportSource
from assay.runs.models import OPEN, Run, RunStatus, Trial, TrialAttempt
from assay.runs.services import outcomes


def render_report(run: Run) -> str:
    """The run's report as one HTML page that opens without a network."""
    return render_source(report_source(run))


def report_source(run: Run, *, urls: Mapping[str, str] | None = None) -> ReportSource:
    """What the run's report is made from. `urls`: a page for each failure's fingerprint.

    A run that is not finished is reported by the trials that are over, and says so.
    """
    trials = Trial.objects.filter(run=run).exclude(status__in=OPEN).order_by("task_id", "index")
    statuses: dict[str, list[str]] = {}
    for task, status in trials.values_list("task_id", "status"):
        statuses.setdefault(task, []).append(status)
    titles = dict(Trial.objects.filter(run=run, index=0).values_list("task_id", "title"))
    finished = run.status == RunStatus.FINISHED and run.summary is not None
    summary: Mapping[str, Any] = run.summary if finished else summarise(outcomes(run)).as_json()
    done = sum(map(len, statuses.values()))
    return ReportSource(
        bot=str(run.bot_version),
        pack=f"{run.pack_version.title} {run.pack_version.version}",
        synthetic=run.bot_version.synthetic,
        summary=summary,
        manifest=run.manifest,
        statuses=statuses,
        titles=titles,
        void_attempts=_void_attempts(run),
        simulator_faults=_simulator_faults(run),
        gate_answer=run.gate_answer if finished else None,
        urls=urls or {},
        finished_at=f"{run.finished_at:%Y-%m-%d %H:%M} UTC" if run.finished_at else "",
        unfinished=""
        if finished
        else f"{done} of {run.trial_count} trials are over; the figures will change.",
    )


def _void_attempts(run: Run) -> dict[str, int]:
    causes: dict[str, int] = {}
    for cause in TrialAttempt.objects.filter(trial__run=run).values_list("cause", flat=True):
        causes[cause] = causes.get(cause, 0) + 1
    return causes


def _simulator_faults(run: Run) -> dict[str, int]:
    """Attempts whose simulated user was at fault, by kind."""
    kinds = TrialAttempt.objects.filter(trial__run=run, cause="simulator_fault").values_list(
        "kind", flat=True
    )
    return dict(Counter(kind or "broken" for kind in kinds))
