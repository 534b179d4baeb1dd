"""`python -m tests.benchmarks`: prints the table. Figures depend on the machine; the ratios less so."""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.benchmarks.measure import Measure

ROOT = Path(__file__).parents[2]


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="make bench", description="Medians, and ratios to a reference of the same run."
    )
    parser.add_argument("--trials", type=int, default=10_000, help="through the platform (default 10,000)")
    parser.add_argument("--only", choices=["engine", "platform"])
    options = parser.parse_args()
    console = Console()
    console.print(f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    table = Table(
        "Measure", "Median", "Goal", "Reference", "Ratio", box=None, pad_edge=False, padding=(0, 2, 0, 0)
    )
    if options.only != "platform":
        from tests.benchmarks import engine

        for measure in engine.measures():
            _add(table, measure)
    if options.only != "engine":
        for measure in _platform(options.trials):
            _add(table, measure)
    console.print(table)


def _platform(trials: int) -> Iterator[Measure]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.platform", str(trials)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{ROOT}"},
        stdout=subprocess.PIPE,
        check=True,
        timeout=3600,
    )
    found = json.loads(done.stdout.splitlines()[-1])
    yield Measure(
        f"{found['trials']:,} trials through Celery and Postgres",
        found["rate"],
        "a second",
        60,
        True,
        found["alone"],
        "the engine alone, one process",
    )
    yield Measure(
        f"memory of two workers after {found['late_at']:,} trials", found["late_mb"], "MB", None, False,
        found["early_mb"], f"after {found['early_at']:,} trials",
    )  # fmt: skip
    if found["void"]:
        raise SystemExit(f"{found['void']} trials were void, so the rate says nothing; see the worker's log.")


def _add(table: Table, m: Measure) -> None:
    goal = "" if m.goal is None else f"{'≥' if m.more else '≤'} {m.goal:g}{'' if m.reached else ' (missed)'}"
    reference = "" if m.reference is None else f"{m.reference:,.3g} {m.unit}: {m.against}"
    ratio = "" if m.ratio is None else f"{m.ratio:.2f}"
    table.add_row(m.name, f"{m.value:,.3g} {m.unit}", goal, reference, ratio)


if __name__ == "__main__":
    main()
