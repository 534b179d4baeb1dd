"""pass@k, pass^k and the plug-in, for one task with n trials of which c are right.

pass@k (Chen et al. 2021, "Evaluating Large Language Models Trained on Code", section 2.1) is the chance that at
least one of k trials is right, pass^k (Yao et al. 2024, "tau-bench", section 4) that all of them are. Both are
taken over all ways to draw k of the n trials without putting any back, which makes them unbiased. The plug-in
(c/n)^k is biased and goes by its own name only.
"""

from __future__ import annotations

from math import comb

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def pass_at_k(n: int, c: int, k: int) -> float:
    """1 - C(n-c, k) / C(n, k), in exact integers, rounded once. ValueError unless 0 <= c <= n and 1 <= k <= n."""
    _check(n, c, k)
    whole = comb(n, k)
    return (whole - comb(n - c, k)) / whole


def pass_hat_k(n: int, c: int, k: int) -> float:
    """C(c, k) / C(n, k), in exact integers, rounded once. ValueError unless 0 <= c <= n and 1 <= k <= n."""
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def plug_in(n: int, c: int, k: int) -> float:
    """(c/n)^k: what pass^k would be if c/n were the true rate. Biased upwards. ValueError as the others."""
    _check(n, c, k)
    return float((c / n) ** k)


def curves(n: Ints, c: Ints, k_max: int) -> tuple[Floats, Floats, Floats]:
    """(pass@k, pass^k, plug-in) for tasks with n[i] trials, c[i] of them right, and k = 1..k_max.

    Each has the shape (tasks, k_max); NaN where a task has fewer than k trials. Products are built up factor by
    factor, pass@k through log1p and expm1 so that a small value keeps its digits (relative error under 1e-12).
    """
    steps = np.arange(k_max, dtype=np.float64)
    trials = n[:, None].astype(np.float64)
    right = c[:, None].astype(np.float64)
    left = trials - steps  # trials left to draw from
    enough = left > 0
    safe = np.where(enough, left, 1.0)
    hat = np.cumprod(np.clip((right - steps) / safe, 0.0, 1.0), axis=1)
    share = np.clip(right / safe, 0.0, 1.0)
    with np.errstate(divide="ignore"):  # log1p(-1) is minus infinity: some draw is certain to be right
        at = -np.expm1(np.cumsum(np.log1p(-share), axis=1))
    with np.errstate(invalid="ignore", divide="ignore"):
        plug = np.where(trials > 0, right / np.maximum(trials, 1.0), 0.0) ** (steps + 1.0)
    return (np.where(enough, at, np.nan), np.where(enough, hat, np.nan), np.where(enough, plug, np.nan))


def _check(n: int, c: int, k: int) -> None:
    if not 0 <= c <= n:
        raise ValueError(f"of {n} trials {c} cannot be right")
    if not 1 <= k <= n:
        raise ValueError(f"k must be from 1 to the {n} trials, not {k}")
