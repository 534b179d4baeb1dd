"""Measuring: medians of repeated calls, and what a line of the table is."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measure:
    """One line. `value` and `reference` in `unit`; `goal`: the most (or, with `more`, the least) it should be."""

    name: str
    value: float
    unit: str
    goal: float | None = None
    more: bool = False  # more is better: trials a second
    reference: float | None = None
    against: str = ""  # what the reference is

    @property
    def ratio(self) -> float | None:
        return self.value / self.reference if self.reference else None

    @property
    def reached(self) -> bool | None:
        if self.goal is None:
            return None
        return self.value >= self.goal if self.more else self.value <= self.goal


def median_seconds(
    work: Callable[[], object], *, repeat: int, clock: Callable[[], float] = time.perf_counter
) -> float:
    """Median of `repeat` calls, after a tenth as many to warm up. The collector runs before, not within."""
    for _ in range(max(1, repeat // 10)):
        work()
    gc.collect()
    times = []
    for _ in range(repeat):
        start = clock()
        work()
        times.append(clock() - start)
    return statistics.median(times)
