"""Rows as pages show them. Reading only; what a figure is worth is decided elsewhere."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.engine.packs import Problem
from assay.packs.models import TaskEntry
from assay.plugins.manager import get_manager
from assay.reports.wording import category, value
from assay.runs.models import Run, Trial


@dataclass(frozen=True, slots=True)
class RunRow:
    run: Run
    once: str  # pass@1
    every: str  # pass^n
    k: int
    gate: bool | None


def run_rows(runs: Iterable[Run]) -> list[RunRow]:
    rows = []
    for run in runs:
        overall = run.summary["overall"] if run.summary else {"pass_at": {}, "pass_hat": {}}
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
    """The ways to talk to a bot that are installed."""
    return [
        {"name": kind.name, "title": kind.title, "targets": ", ".join(kind.targets)}
        for kind in get_manager().connectors().values()
    ]


def ticket_system_rows() -> list[dict[str, Any]]:
    """The ticket systems that plugins bring, each with the options it takes."""
    return [
        {
            "name": kind.name,
            "title": kind.title,
            "options": [
                {
                    "name": field.alias or name,
                    "required": field.is_required(),
                    "says": field.description or "",
                }
                for name, field in kind.options.model_fields.items()
            ],
        }
        for kind in get_manager().ticket_systems().values()
    ]


@dataclass(slots=True)
class TaskRow:
    """A task of a run with its trials, in order: (trial's id, number from 1, status)."""

    id: str
    title: str
    group: str
    trials: list[tuple[int, int, str]]

    @property
    def passed(self) -> int:
        return sum(status == "passed" for *_, status in self.trials)

    @property
    def valid(self) -> int:
        return sum(status in ("passed", "failed") for *_, status in self.trials)


def task_rows(run: Run) -> list[TaskRow]:
    """Every task of the run, least reliable first."""
    rows: dict[str, TaskRow] = {}
    trials = Trial.objects.filter(run=run).order_by("task_id", "index")
    for pk, task, title, group, index, status in trials.values_list(
        "pk", "task_id", "title", "group", "index", "status"
    ).iterator(chunk_size=5_000):
        row = rows.setdefault(task, TaskRow(task, title, group, []))
        row.trials.append((pk, index + 1, status))
    return sorted(rows.values(), key=lambda r: (r.passed / r.valid if r.valid else 1.0, r.id))


def failure_rows(run: Run, summary: Mapping[str, Any], most: int = 30) -> list[dict[str, Any]]:
    """The most frequent distinct failures, each with a trial that shows it."""
    failures = summary["failures"][:most]
    shown = dict(
        Trial.objects.filter(run=run, status="failed", fingerprint__in=[f["fingerprint"] for f in failures])
        .order_by("fingerprint", "index")
        .distinct("fingerprint")
        .values_list("fingerprint", "pk")
    )
    return [
        {**f, "category": category(f["category"]), "trial": shown.get(f["fingerprint"])} for f in failures
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
