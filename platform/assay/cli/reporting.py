"""`assay report`, and what `assay run` shows at its end."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from assay.cli.codes import OK
from assay.engine.results import read_results
from assay.engine.statistics.summary import summarise
from assay.runs import gates


def report(folder: Path, html: Path | None, as_json: bool) -> int:
    """Show the results of a folder; with `html`, write the report there as well."""
    shown = document(folder)  # first, so that a damaged folder is refused before anything is written
    if html is not None:
        from assay.reports.folder import render_folder

        html.write_text(render_folder(folder), encoding="utf-8")
        print(f"Report: {html}", file=sys.stderr)
    if as_json:
        print(json.dumps(shown, ensure_ascii=False))
    elif html is None:
        print_text(folder)
    return OK


def document(folder: Path) -> dict[str, Any]:
    """The results of a folder as one JSON value: manifest, summary, void attempts by cause, the gate's answer."""
    results = read_results(folder)
    summary = summarise(trial.outcome() for trial in results.trials).as_json()
    return {
        "format": 1,
        "out": str(folder),
        "finished": results.missing == 0,
        "missing": results.missing,
        "manifest": results.manifest,
        "summary": summary,
        "void_attempts": results.void_causes(),
        "simulator_faults": results.simulator_faults(),
        "gate": gates.answer(results.manifest.get("gate"), summary),
    }


def print_text(folder: Path) -> None:
    """The tables of a folder on standard output."""
    from rich.console import Console

    from assay.reports.folder import text_of_folder

    console = Console(width=None if sys.stdout.isatty() else 120)
    console.print(text_of_folder(folder))
