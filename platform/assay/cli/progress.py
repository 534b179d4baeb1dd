"""Progress on standard error: done, passed, failed, void and the time left."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from assay.engine.trial import TrialRecord

#: Seconds between two lines where there is no terminal to draw on.
_EVERY = 10.0


class Progress:
    """A bar on a terminal, a line now and then elsewhere. Use as a context manager."""

    def __init__(self, total: int, done: Iterable[TrialRecord] = ()) -> None:
        self._total = total
        self._count: Counter[str] = Counter(record.status for record in done)
        self._before = self._count.total()
        self._again = 0
        self._start = self._last = time.monotonic()
        self._bar: Any = None
        self._row: Any = None

    def trial(self, record: TrialRecord) -> None:
        """A trial is over."""
        self._count[record.status] += 1
        self._show()

    def void_attempt(self, record: TrialRecord) -> None:
        """An attempt was void and is tried again."""
        self._again += 1
        self._show()

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bars

            self._bar = Bars(
                TextColumn("{task.completed} of {task.total}"),
                BarColumn(),
                TextColumn("{task.fields[says]}"),
                console=Console(stderr=True),
            )
            self._bar.start()
            self._row = self._bar.add_task(
                "", total=self._total, completed=self._count.total(), says=self._says()
            )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.update(self._row, completed=self._count.total(), says=self._says())
            self._bar.stop()
        else:
            self._line()

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._row, completed=self._count.total(), says=self._says())
        elif time.monotonic() - self._last >= _EVERY:
            self._last = time.monotonic()
            self._line()

    def _line(self) -> None:
        print(f"{self._count.total()} of {self._total} trials: {self._says()}", file=sys.stderr, flush=True)

    def _says(self) -> str:
        parts = [f"{self._count[status]} {status}" for status in ("passed", "failed", "void")]
        if self._again:
            parts.append(f"{self._again} tried again")
        done = self._count.total() - self._before
        left = self._total - self._count.total()
        if left and done:
            parts.append(f"about {_duration(left * (time.monotonic() - self._start) / done)} left")
        return ", ".join(parts)


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{seconds / 3600:.1f} h"
