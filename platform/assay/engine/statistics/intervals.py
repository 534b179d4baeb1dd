"""Intervals at 95 %: over tasks (bootstrap, BCa), for one task (Beta posterior), for shares (Wilson).

The sampling unit is the task: trials of one task are alike, so treating all trials as independent would claim
far too much. docs/reference/statistics.md has the formulas, the sources and what happens at the edges.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from assay.engine.statistics.estimators import Floats, Ints

CONFIDENCE = 0.95
RESAMPLES = 10_000
_AT_ONCE = 64  # quantities; bounds the memory of curves over many k
_SEED = 20_240_612  # any fixed number: the same trials always give the same report


@dataclass(frozen=True, slots=True)
class Estimate:
    value: float
    low: float
    high: float

    def as_json(self) -> dict[str, float]:
        return {"value": self.value, "low": self.low, "high": self.high}


def bootstrap_means(values: Floats, weights: Ints, confidence: float = CONFIDENCE) -> list[Estimate | None]:
    """The mean over tasks of each column of `values`, with its BCa interval.

    `values`: (kinds of tasks, quantities), in [0, 1]; NaN where a kind of task does not enter a quantity.
    `weights`: how many tasks there are of each kind (tasks with the same trials and successes are one kind, which
    makes a resample a draw of counts). All quantities share one set of resamples. None where no task enters.

    BCa after Efron (1987), "Better Bootstrap Confidence Intervals". Where every task agrees there is nothing to
    resample: then the interval is `tasks_alike`. No interval claims more than that many flawless tasks could.
    """
    tasks = int(weights.sum())
    if not tasks:
        return [None] * values.shape[1]
    enters = np.isfinite(values)
    filled = np.where(enters, values, 0.0)
    rng = np.random.default_rng(_SEED)
    draws = rng.multinomial(tasks, weights / tasks, size=RESAMPLES).astype(np.float64)
    found: list[Estimate | None] = []
    for start in range(0, values.shape[1], _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        with np.errstate(invalid="ignore"):
            # NaN for a resample that holds no task of this quantity
            means = np.ascontiguousarray(((draws @ filled[:, part]) / (draws @ enters[:, part])).T)
        for means_of_one, q in zip(means, range(start, values.shape[1]), strict=False):
            found.append(_bca(filled[enters[:, q], q], weights[enters[:, q]], means_of_one, confidence))
    return found


def _bca(values: Floats, weights: Ints, means: Floats, confidence: float) -> Estimate | None:
    tasks = int(weights.sum())
    if not tasks:
        return None
    value = float(np.clip(weights @ values / tasks, 0.0, 1.0))
    away = values - value
    spread = float(values.max() - values.min())
    if spread < 1e-12:
        return tasks_alike(value, tasks, confidence)
    means = means[np.isfinite(means)]
    # Sums in another order differ in the last digit; equal is equal all the same.
    noise = 1e-10 * spread
    below = np.count_nonzero(means < value - noise) + np.count_nonzero(means <= value + noise)
    bias = float(ndtri(np.clip(below / (2 * len(means)), 0.5 / len(means), 1 - 0.5 / len(means))))
    second = float(weights @ away**2)
    acceleration = float(weights @ away**3) / (6.0 * second**1.5)
    tail = (1 - confidence) / 2
    ends = bias + ndtri(np.array([tail, 1 - tail]))
    quantiles = ndtr(bias + ends / (1 - acceleration * ends))
    low, high = np.quantile(means, quantiles, overwrite_input=True)
    least, most = _flawless(tasks, confidence)
    return _around(value, min(float(low), most), max(float(high), least))


def tasks_alike(value: float, tasks: int, confidence: float = CONFIDENCE) -> Estimate:
    """For tasks that all have the same value: Clopper and Pearson (1934), as if `value` of them were successes.

    A quantity in [0, 1] varies most when it is only ever 0 or 1, so this is wide enough for any other. With
    value 1 it is (tail^(1/tasks), 1): what that many flawless tasks can prove about tasks in general.
    """
    tail = (1 - confidence) / 2
    right, wrong = tasks * value, tasks * (1 - value)
    low = float(betaincinv(right, wrong + 1, tail)) if right > 1e-9 else 0.0
    high = float(betaincinv(right + 1, wrong, 1 - tail)) if wrong > 1e-9 else 1.0
    return _around(value, low, high)


def beta_posterior(n: int, c: float, confidence: float = CONFIDENCE) -> Estimate | None:
    """The rate of one task: Jeffreys' Beta(c + 1/2, n - c + 1/2); None without trials.

    At c = 0 the low end is 0 and at c = n the high end 1 (Brown, Cai and DasGupta 2001, section 4.1.1). `c` may be a
    sum of rewards in [0, 1]: they vary less than as many successes.
    """
    if not 0 <= c <= n:
        raise ValueError(f"of {n} trials {c} cannot be right")
    if n == 0:
        return None
    tail = (1 - confidence) / 2
    low = float(betaincinv(c + 0.5, n - c + 0.5, tail)) if c > 0 else 0.0
    high = float(betaincinv(c + 0.5, n - c + 0.5, 1 - tail)) if c < n else 1.0
    return _around(c / n, low, high)


def one_task(
    n: int, c: int, values: tuple[Floats, Floats, Floats], confidence: float = CONFIDENCE
) -> list[Estimate | None]:
    """Intervals of a single task's curves (pass@k, pass^k, plug-in, each (k_max,)): there is nothing to resample.

    The ends of the Beta posterior of its rate p are carried through 1 - (1-p)^k and p^k, which only ever rise with
    p. They speak of this task, not of tasks in general.
    """
    rate = beta_posterior(n, c, confidence)
    at, hat, plug = values
    found: list[Estimate | None] = []
    for curve, is_at in ((at, True), (hat, False), (plug, False)):
        for index, value in enumerate(curve):
            if rate is None or not np.isfinite(value):
                found.append(None)
                continue
            ends = (1 - (1 - p) ** (index + 1) if is_at else p ** (index + 1) for p in (rate.low, rate.high))
            found.append(_around(float(value), *ends))
    return found


def wilson(count: int, of: int, confidence: float = CONFIDENCE) -> Estimate | None:
    """A share of trials: Wilson (1927), score interval; None when there is nothing to share."""
    if not 0 <= count <= of:
        raise ValueError(f"{count} of {of} is no share")
    if of == 0:
        return None
    share = count / of
    z2 = float(ndtri((1 + confidence) / 2)) ** 2
    centre = (share + z2 / (2 * of)) / (1 + z2 / of)
    half = sqrt(z2 * (share * (1 - share) / of + z2 / (4 * of * of))) / (1 + z2 / of)
    return _around(share, centre - half, centre + half)


def _flawless(tasks: int, confidence: float) -> tuple[float, float]:
    """The highest rate that `tasks` failed tasks leave possible, and the lowest that `tasks` perfect ones do."""
    most = float(((1 - confidence) / 2) ** (1 / tasks))
    return 1 - most, most


def _around(value: float, low: float, high: float) -> Estimate:
    """Within [0, 1] and around the value: an unbiased pass^k may be 0 where the posterior excludes 0."""
    return Estimate(value, max(0.0, min(low, value)), min(1.0, max(high, value)))
