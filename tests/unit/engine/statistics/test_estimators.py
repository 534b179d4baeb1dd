"""pass@k, pass^k and the plug-in against exact vectors, and the properties that make them what they are."""

from __future__ import annotations

import csv
import itertools
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.statistics.estimators import curves, pass_at_k, pass_hat_k, plug_in

VECTORS = Path(__file__).parents[3] / "reference" / "estimator_vectors.csv"


def vectors() -> list[tuple[int, int, int, float, float, float]]:
    with VECTORS.open(encoding="utf-8") as file:
        rows = csv.DictReader(line for line in file if not line.startswith("#"))
        return [
            (
                int(r["n"]),
                int(r["c"]),
                int(r["k"]),
                float(r["pass_at_k"]),
                float(r["pass_hat_k"]),
                float(r["plug_in"]),
            )
            for r in rows
        ]


@pytest.mark.parametrize(("n", "c", "k", "at", "hat", "plug"), vectors())
def test_the_published_vectors_are_met_to_a_part_in_a_million_million(
    n: int, c: int, k: int, at: float, hat: float, plug: float
) -> None:
    assert pass_at_k(n, c, k) == pytest.approx(at, rel=1e-12, abs=0)
    assert pass_hat_k(n, c, k) == pytest.approx(hat, rel=1e-12, abs=0)
    assert plug_in(n, c, k) == pytest.approx(plug, rel=1e-12, abs=0)
    whole = [curve[0, k - 1] for curve in curves(np.array([n]), np.array([c]), k)]
    assert whole == pytest.approx([at, hat, plug], rel=1e-12, abs=0)


def test_the_vectors_are_all_there() -> None:
    assert len(vectors()) == 24


trials = st.integers(1, 400).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@settings(deadline=None)
@given(trials)
def test_whole_curves_agree_with_exact_integers(case: tuple[int, int]) -> None:
    n, c = case
    at, hat, _ = curves(np.array([n]), np.array([c]), n)
    ks = {1, n // 2 or 1, n}
    for k in ks:
        assert at[0, k - 1] == pytest.approx(pass_at_k(n, c, k), rel=1e-12, abs=0)
        assert hat[0, k - 1] == pytest.approx(pass_hat_k(n, c, k), rel=1e-12, abs=1e-300)


@settings(deadline=None)
@given(trials)
def test_with_k_passing_at_least_once_gets_no_rarer_and_always_no_likelier(case: tuple[int, int]) -> None:
    n, c = case
    at, hat, plug = (curve[0] for curve in curves(np.array([n]), np.array([c]), n))
    assert np.all(np.diff(at) >= -1e-15)
    assert np.all(np.diff(hat) <= 1e-15)
    assert at[0] == pytest.approx(c / n) == pytest.approx(hat[0])
    assert np.all(hat <= plug + 1e-12)  # the plug-in is biased upwards


@settings(deadline=None)
@given(trials, st.integers(1, 400))
def test_failing_and_passing_mirror_each_other(case: tuple[int, int], k: int) -> None:
    n, c = case
    k = min(k, n)
    assert pass_at_k(n, c, k) == pytest.approx(1 - pass_hat_k(n, n - c, k), abs=1e-12)


@pytest.mark.parametrize(("n", "k"), [(5, 1), (5, 3), (6, 6)])
def test_the_mean_over_all_ways_to_draw_k_trials_is_the_estimate(n: int, k: int) -> None:
    for c in range(n + 1):
        results = [1] * c + [0] * (n - c)
        draws = list(itertools.combinations(results, k))
        assert pass_hat_k(n, c, k) == pytest.approx(np.mean([all(d) for d in draws]))
        assert pass_at_k(n, c, k) == pytest.approx(np.mean([any(d) for d in draws]))


def test_a_task_with_fewer_trials_than_k_has_no_value_there() -> None:
    at, hat, plug = curves(np.array([3, 5]), np.array([3, 0]), 5)
    for curve in (at, hat, plug):
        assert np.isnan(curve[0, 3:]).all() and np.isfinite(curve[0, :3]).all()
        assert np.isfinite(curve[1]).all()


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 3, 0), (5, 3, 6), (0, 0, 1)])
def test_impossible_counts_are_refused(n: int, c: int, k: int) -> None:
    for estimator in (pass_at_k, pass_hat_k, plug_in):
        with pytest.raises(ValueError):
            estimator(n, c, k)
