"""Certify two reference bots on the retail pack, from nothing, and show how reliable they are."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn

from assay.config import demonstration, installation
from assay.config.demonstration import Planned
from assay.config.processes import Worker, working
from assay.engine.packs import PackError
from assay.runs.models import RunStatus
from assay.runs.services import Progress as RunProgress
from assay.runs.services import progress
from assay.tenancy.services import in_tenant
from assay_sdk import AssayError

_STALLED = 300.0  # seconds without any change
_SAY_EVERY = 5.0  # seconds, where the output is not a terminal


class Command(BaseCommand):
    help = "Set up two companies, certify two reference bots on the retail pack, and print the tables."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--pack", type=Path, default=settings.ROOT / "domain_packs" / "retail")
        parser.add_argument("--trials", type=int, default=20, help="of each task (default 20)")
        parser.add_argument("--tasks", help="only tasks whose id matches, for example 'RET-RMA-*'")
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--processes", type=int, default=max(2, min(8, os.cpu_count() or 2)))

    def handle(self, *args: Any, **options: Any) -> None:
        console = Console()
        signal.signal(signal.SIGTERM, signal.default_int_handler)  # stop in order then, too
        try:
            with installation.services():
                self._run(console, options)
        except KeyboardInterrupt:
            console.print("\nStopped. What is done is kept: run the same command again and it carries on.")
            sys.exit(130)
        except PackError as error:
            raise CommandError(f"The pack cannot be loaded:\n{error}") from error
        except AssayError as error:
            raise CommandError(str(error)) from error

    def _run(self, console: Console, options: dict[str, Any]) -> None:
        console.print("Setting up the database")
        installation.migrate()
        for sign_in in [*demonstration.companies(), demonstration.operator()]:
            line = f"  {sign_in.company}: {sign_in.host}, sign in as {sign_in.email} / {sign_in.password}"
            console.print(line, soft_wrap=True, highlight=False)
        console.print(f"Loading {options['pack'].name}")
        planned = demonstration.plan(
            options["pack"], trials=options["trials"], tasks=options["tasks"], seed=options["seed"]
        )
        for p in planned:
            doing = "carrying on with" if p.carried_on else "planned"
            console.print(f"  {p.company}: {p.title}, {doing} run {p.run.pk} of {p.run.trial_count} trials")
        with working(options["processes"], settings.STATE_DIR / "logs" / "worker.log") as worker:
            started = time.monotonic()
            done = _watch(console, planned, worker)
            seconds = time.monotonic() - started
        rate = f", {done / seconds:.0f} a second" if seconds > 1 else ""
        console.print(f"{done} trials in {seconds:.0f} s with {options['processes']} worker processes{rate}")
        for p in planned:
            _show(console, p)


def _show(console: Console, planned: Planned) -> None:
    run, table, path = demonstration.results(planned)
    summary = run.summary or {}
    console.print()
    if planned.certifies:
        console.rule(f"{planned.company}: {planned.title}")
        console.print(f"{run.pack_version} x {run.trials_per_task} trials a task")
        console.print(table)
    else:
        console.print(
            f"{planned.company}: {planned.title}, {summary['passed']} of {summary['trials']} trials passed"
        )
    console.print(f"Report: {path}", soft_wrap=True, highlight=False)


def _watch(console: Console, planned: list[Planned], worker: Worker) -> int:
    """Show how the runs go until all are over; gives the number of trials done meanwhile.

    Raises CommandError when the worker ends, a run is stopped by somebody, or nothing moves any more.
    """
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("passed {task.fields[passed]} failed {task.fields[failed]} void {task.fields[void]}"),
        TextColumn("{task.fields[left]}"),
        console=console,
        disable=not console.is_terminal,
    )
    rows: dict[str, TaskID] = {}
    first = seen = _look(planned)
    for p in planned:
        rows[p.key] = bars.add_task(p.title, total=p.run.trial_count, passed=0, failed=0, void=0, left="")
    moved = said = time.monotonic()
    with bars:
        while True:
            before, seen = seen, _look(planned)
            clock = time.monotonic()
            for key, now in seen.items():
                counts = {"passed": now.passed, "failed": now.failed, "void": now.void}
                bars.update(rows[key], completed=now.done, left=_left(now.seconds_left), **counts)
            if all(s.status == RunStatus.FINISHED for s in seen.values()):
                return sum(s.done for s in seen.values()) - sum(s.done for s in first.values())
            if any(s.status in (RunStatus.CANCELLED, RunStatus.PAUSED) for s in seen.values()):
                raise CommandError(
                    "A run was paused or cancelled meanwhile; resume it, or start the demo again."
                )
            if [(s.done, s.status) for s in seen.values()] != [(s.done, s.status) for s in before.values()]:
                moved = clock
            if clock - moved > _STALLED:
                raise CommandError(
                    f"No trial has ended for {_STALLED:.0f} s; the worker's log is {worker.log}"
                )
            if worker.ended() is not None:
                raise CommandError(f"The worker ended with code {worker.ended()}; its log is {worker.log}")
            if not console.is_terminal and clock - said > _SAY_EVERY:
                said = clock
                console.print(_line(list(seen.values())))
            time.sleep(0.25)


def _look(planned: list[Planned]) -> dict[str, RunProgress]:
    seen = {}
    for p in planned:
        with in_tenant(p.schema):
            seen[p.key] = progress(p.run)
    return seen


def _line(runs: list[RunProgress]) -> str:
    """For a log instead of a terminal."""
    total = {
        name: sum(getattr(r, name) for r in runs) for name in ("done", "total", "passed", "failed", "void")
    }
    speed = sum(r.per_second for r in runs)
    left = _left((total["total"] - total["done"]) / speed if speed else None)
    return (
        f"  {total['done']} of {total['total']} trials: passed {total['passed']}, failed {total['failed']}, "
        f"void {total['void']}; {left}"
    )


def _left(seconds: float | None) -> str:
    if seconds is None:
        return "waiting"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02} left"
