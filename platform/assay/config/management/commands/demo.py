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
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

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
        for sign_in in demonstration.companies():
            console.print(f"  {sign_in.company}: {sign_in.host}, sign in as {sign_in.email} / {sign_in.password}")
        console.print(f"Loading {options['pack'].name}")
        planned = demonstration.plan(
            options["pack"], trials=options["trials"], tasks=options["tasks"], seed=options["seed"]
        )
        for p in planned:
            console.print(f"  {p.company}: {p.title}, {'carrying on with' if p.carried_on else 'planned'} run {p.run.pk}")
        with working(options["processes"], settings.STATE_DIR / "logs" / "worker.log") as worker:
            started = time.monotonic()
            _watch(console, planned, worker)
            seconds = time.monotonic() - started
        trials = sum(p.run.trial_count for p in planned)
        console.print(f"{trials} trials in {seconds:.0f} s with {options['processes']} worker processes")
        for p in planned:
            console.print()
            console.rule(f"{p.company}: {p.title}")
            table, path = demonstration.results(p)
            console.print(table)
            console.print(f"Report: {path}", soft_wrap=True)


def _watch(console: Console, planned: list[Planned], worker: Worker) -> None:
    """Show how the runs go until all are over. Raises CommandError when the worker ends or nothing moves."""
    bars = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("passed {task.fields[passed]} failed {task.fields[failed]} void {task.fields[void]}"),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
    )
    rows = {
        p.key: bars.add_task(p.title, total=p.run.trial_count, passed=0, failed=0, void=0) for p in planned
    }
    states: dict[str, RunProgress] = {}
    moved = said = time.monotonic()
    with bars:
        while True:
            before = dict(states)
            for p in planned:
                with in_tenant(p.schema):
                    now = states[p.key] = progress(p.run)
                bars.update(
                    rows[p.key], completed=now.done, passed=now.passed, failed=now.failed, void=now.void
                )
            if all(s.status == RunStatus.FINISHED for s in states.values()):
                return
            if any(s.status in (RunStatus.CANCELLED, RunStatus.PAUSED) for s in states.values()):
                raise CommandError("A run was paused or cancelled meanwhile; resume it, or start the demo again.")
            clock = time.monotonic()
            if {k: (s.done, s.status) for k, s in states.items()} != {
                k: (s.done, s.status) for k, s in before.items()
            }:
                moved = clock
            if clock - moved > _STALLED:
                raise CommandError(f"No trial has ended for {_STALLED:.0f} s; the worker's log is {worker.log}")
            if worker.ended() is not None:
                raise CommandError(f"The worker ended with code {worker.ended()}; its log is {worker.log}")
            if not console.is_terminal and clock - said > 10:
                said = clock
                done, total = sum(s.done for s in states.values()), sum(s.total for s in states.values())
                console.print(f"  {done} of {total} trials done")
            time.sleep(0.25)
