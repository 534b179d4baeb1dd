"""Rows as pages show them. Reading only; what a figure is worth is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Min, QuerySet
from django.db.models.fields.json import KeyTransform
from pydantic import BaseModel

from assay.engine.packs import Problem
from assay.packs.models import TaskEntry
from assay.plugin_choices.services import available
from assay.reports.charts import Strip, strip
from assay.reports.wording import category, cause, value
from assay.runs.models import ACTIVE, Run, Trial
from assay.runs.services import Progress

#: For a report: one page with its own style inside, and nothing else.
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'self'"
)


@dataclass(frozen=True, slots=True)
class RunRow:
    run: Run
    once: str  # pass@1
    every: str  # pass^n
    k: int
    gate: bool | None


def runs_to_list() -> QuerySet[Run]:
    """Runs with what a list shows of them, newest first. A summary can have a megabyte, so only its total is read."""
    return (
        Run.objects.select_related("pack_version__pack", "bot_version__bot")
        .defer("summary", "manifest", "task_ids", "pack_version__bundle")
        .annotate(overall=KeyTransform("overall", "summary"))
    )


def run_rows(runs: Iterable[Any]) -> list[RunRow]:
    """`runs`: from runs_to_list()."""
    rows = []
    for run in runs:
        overall = run.overall or {"pass_at": {}, "pass_hat": {}}
        k = run.trials_per_task
        rows.append(
            RunRow(
                run,
                value(overall["pass_at"].get("1")),
                value(overall["pass_hat"].get(str(k))),
                k,
                run.gate_answer.get("met") if run.gate_answer else None,
            )
        )
    return rows


def connector_rows() -> list[dict[str, Any]]:
    """The ways to talk to a bot that are installed, each with the options it takes."""
    return [
        {
            "name": kind.name,
            "title": kind.title,
            "targets": ", ".join(kind.targets),
            "options": _option_rows(kind.options),
        }
        for kind in available("connector").values()
    ]


def ticket_system_rows() -> list[dict[str, Any]]:
    """The ticket systems that plugins bring, each with the options it takes."""
    return [
        {"name": kind.name, "title": kind.title, "options": _option_rows(kind.options)}
        for kind in available("ticket system").values()
    ]


def _option_rows(options: type[BaseModel]) -> list[dict[str, Any]]:
    return [
        {"name": field.alias or name, "required": field.is_required(), "says": field.description or ""}
        for name, field in options.model_fields.items()
    ]


def progress_row(now: Progress) -> dict[str, Any]:
    """Where a run stands, in words besides the numbers."""
    return {
        "now": now,
        "active": now.status in ACTIVE,
        "left": about(now.seconds_left) if now.seconds_left and now.status in ACTIVE else "",
        "voids": ", ".join(f"{n} × {cause(name).lower()}" for name, n in now.void_attempts.items()),
    }


def about(seconds: float) -> str:
    """40 s, 12 min, 3 h: as exact as a guess can be."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = seconds / 60
    return f"{minutes:.0f} min" if minutes < 90 else f"{minutes / 60:.1f} h"


@dataclass(frozen=True, slots=True)
class TaskRow:
    """A task of a run with its trials, in order."""

    id: str
    title: str
    group: str
    statuses: tuple[str, ...]

    @property
    def passed(self) -> int:
        return self.statuses.count("passed")

    @property
    def valid(self) -> int:
        return self.passed + self.statuses.count("failed")

    @property
    def strip(self) -> Strip:
        return strip(self.statuses)


def task_rows(run: Run) -> list[TaskRow]:
    """Every task of the run, least reliable first."""
    tasks = (
        Trial.objects.filter(run=run)
        .order_by()
        .values_list("task_id", "group")
        .annotate(title=Min("title"), statuses=ArrayAgg("status", order_by="index"))
    )
    rows = [TaskRow(task, title, group, tuple(statuses)) for task, group, title, statuses in tasks]
    return sorted(rows, key=lambda r: (r.passed / r.valid if r.valid else 1.0, r.id))


def failure_rows(run: Run, tasks: Iterable[TaskRow], most: int = 30) -> list[dict[str, Any]]:
    """The most frequent distinct failures, each with the first trial that shows it. `tasks`: all of the run."""
    valid = {row.id: row.valid for row in tasks}
    found = list(
        Trial.objects.filter(run=run, status="failed")
        .order_by()
        .values("task_id", "fingerprint")
        .annotate(count=Count("pk"), first=Min("pk"))
        .order_by("-count", "task_id", "first")[:most]
    )
    shown = Trial.objects.in_bulk([f["first"] for f in found])
    return [
        {
            "trial": shown[f["first"]],
            "category": category(shown[f["first"]].category),
            "count": f["count"],
            "of": valid[f["task_id"]],
        }
        for f in found
    ]


def with_source(problems: Sequence[Problem], entry: TaskEntry, text: str) -> list[Any]:
    """Problems of an edited task, those inside it with their line counted from the start of its text as well."""
    lines = len(text.strip("\n").split("\n"))
    first = entry.source_line
    return [
        {
            **asdict(p),
            "here": p.line - first + 1
            if p.path == entry.source_path and first <= p.line < first + lines
            else None,
        }
        for p in problems
    ]


def storable(text: str) -> bool:
    """Whether a text of a request may be looked for in the database: Postgres takes no zero byte, not even to compare."""
    return "\0" not in text
