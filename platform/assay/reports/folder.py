"""Reports of a folder that `assay run` wrote. No Django settings, no database."""

from __future__ import annotations

from pathlib import Path

from rich.console import Group, RenderableType
from rich.text import Text

from assay.engine.results import Results, read_results
from assay.engine.statistics.summary import summarise
from assay.reports.data import headline
from assay.reports.money import costs_sentence
from assay.reports.render import render_source
from assay.reports.source import ReportSource
from assay.reports.text import failures_table, gate_text, text_table
from assay.runs import gates


def render_folder(folder: Path) -> str:
    """The report as one HTML page that opens without a network. Raises ResultsError."""
    return render_source(folder_source(read_results(folder)))


def text_of_folder(folder: Path) -> RenderableType:
    """The report for a terminal. Raises ResultsError."""
    source = folder_source(read_results(folder))
    parts: list[RenderableType] = [Text(f"{source.bot} on {source.pack}", style="bold")]
    if source.synthetic:
        parts.append(Text("A synthetic reference bot: it reads the expected actions of each task."))
    if source.unfinished:
        parts.append(Text(source.unfinished))
    parts += [Text(), text_table(source.summary)]
    if source.summary["failures"]:
        parts += [Text(), failures_table(source.summary)]
    parts += [Text(), Text(headline(source.summary))]
    if says := costs_sentence(source.summary.get("costs")):
        parts.append(Text(says))
    if source.gate_answer is not None:
        parts.append(gate_text(source.gate_answer))
    return Group(*parts)


def folder_source(results: Results) -> ReportSource:
    """What the report of these results is made from."""
    manifest = results.manifest
    summary = summarise(trial.outcome() for trial in results.trials).as_json()
    statuses: dict[str, list[str]] = {}
    for trial in results.trials:
        statuses.setdefault(trial.task, []).append(trial.status)
    done = len(results.trials)
    return ReportSource(
        bot=str(manifest["bot"].get("spec", "")),
        pack=f"{manifest['pack'].get('title', '')} {manifest['pack'].get('version', '')}".strip(),
        synthetic=bool(manifest["bot"].get("synthetic")),
        summary=summary,
        manifest=manifest,
        statuses=statuses,
        titles={task["id"]: str(task.get("title", "")) for task in manifest["tasks"]},
        void_attempts=results.void_causes(),
        simulator_faults=results.simulator_faults(),
        gate_answer=gates.answer(manifest.get("gate"), summary),
        finished_at=str(manifest.get("finished_at") or ""),
        unfinished=f"{done} of {results.planned} trials are over; the figures will change."
        if results.missing
        else "",
    )
