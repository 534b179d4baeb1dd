"""Intervals: against scipy, at the edges, and how often they hold what they claim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from assay.engine.statistics import intervals
from assay.engine.statistics.estimators import curves, pass_hat_k
from assay.engine.statistics.intervals import (
    beta_posterior,
    bootstrap_means,
    one_task,
    tasks_alike,
    wilson,
)


def test_bca_agrees_with_scipy_up_to_the_noise_of_resampling() -> None:
    values = np.random.default_rng(5).beta(2, 1, size=60)
    ours = bootstrap_means(values[:, None], np.ones(60, dtype=np.int64))[0]
    theirs = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(9)
    ).confidence_interval
    assert ours is not None
    assert ours.value == pytest.approx(values.mean())
    width = theirs.high - theirs.low
    assert ours.low == pytest.approx(theirs.low, abs=0.05 * width)
    assert ours.high == pytest.approx(theirs.high, abs=0.05 * width)


def test_bca_agrees_with_scipy_on_skewed_values_with_ties() -> None:
    counts = np.array([20] * 25 + [19] * 5 + [12, 7, 3, 0, 0])
    values = np.array([pass_hat_k(20, int(c), 3) for c in counts])
    ours = bootstrap_means(values[:, None], np.ones(len(values), dtype=np.int64))[0]
    theirs = stats.bootstrap(
        (values,), np.mean, method="BCa", n_resamples=20_000, rng=np.random.default_rng(3)
    ).confidence_interval
    assert ours is not None
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.01)


def test_tasks_of_one_kind_may_be_given_once_with_their_number() -> None:
    values = np.array([[0.2], [0.9], [1.0]])
    weights = np.array([3, 10, 5])
    pooled = bootstrap_means(values, weights)[0]
    apart = bootstrap_means(np.repeat(values, weights, axis=0), np.ones(18, dtype=np.int64))[0]
    assert pooled is not None and apart is not None
    assert pooled.value == pytest.approx(apart.value)
    assert (pooled.low, pooled.high) == pytest.approx((apart.low, apart.high), abs=0.01)


def test_the_same_trials_give_the_same_interval() -> None:
    values, weights = np.array([[0.2, 0.1], [0.9, 0.8]]), np.array([3, 10])
    assert bootstrap_means(values, weights) == bootstrap_means(values, weights)


def test_flawless_tasks_prove_no_more_than_their_number_allows() -> None:
    perfect = bootstrap_means(np.array([[1.0]]), np.array([30]))[0]
    assert perfect is not None
    assert (perfect.value, perfect.high) == (1.0, 1.0)
    assert perfect.low == pytest.approx(0.025 ** (1 / 30))
    assert perfect.low == pytest.approx(stats.binomtest(30, 30).proportion_ci(method="exact").low)
    hopeless = bootstrap_means(np.array([[0.0]]), np.array([30]))[0]
    assert hopeless is not None
    assert (hopeless.low, hopeless.high) == pytest.approx((0.0, 1 - 0.025 ** (1 / 30)))


def test_one_failed_trial_never_makes_the_interval_better_than_none() -> None:
    perfect = bootstrap_means(np.array([[1.0]]), np.array([30]))[0]
    nearly = bootstrap_means(np.array([[1.0], [0.95]]), np.array([29, 1]))[0]
    assert perfect is not None and nearly is not None
    assert nearly.low <= perfect.low
    assert nearly.value < perfect.value


def test_tasks_that_agree_between_none_and_all_have_an_interval_with_width() -> None:
    alike = tasks_alike(0.5, 10)
    exact = stats.binomtest(5, 10).proportion_ci(method="exact")
    assert (alike.low, alike.high) == pytest.approx((exact.low, exact.high))


def test_a_quantity_that_no_task_has_is_none_and_one_that_some_have_uses_those() -> None:
    values = np.array([[0.5, np.nan, np.nan], [1.0, 1.0, np.nan]])
    found = bootstrap_means(values, np.array([4, 6]))
    assert found[0] is not None and found[0].value == pytest.approx(0.8)
    assert found[1] is not None and found[1].value == 1.0
    assert found[1].low == pytest.approx(0.025 ** (1 / 6))
    assert found[2] is None
    assert bootstrap_means(np.empty((0, 2)), np.empty(0, dtype=np.int64)) == [None, None]


def test_one_task_is_given_by_the_posterior_of_its_rate() -> None:
    at, hat, plug = (curve[0] for curve in curves(np.array([20]), np.array([19]), 20))
    found = one_task(20, 19, (at, hat, plug))
    rate = beta_posterior(20, 19)
    assert rate is not None and len(found) == 60
    first, last_hat = found[0], found[39]
    assert first is not None and last_hat is not None
    assert (first.low, first.high) == pytest.approx((rate.low, rate.high))
    # pass^20 is 0 with one failure in 20, while the posterior excludes 0: the interval holds the value all the same
    assert last_hat.value == 0.0 == last_hat.low
    assert last_hat.high == pytest.approx(rate.high**20)


@pytest.mark.parametrize(
    ("n", "c", "low", "high"), [(20, 0, 0.0, 0.116), (20, 20, 0.884, 1.0), (1, 1, 0.147, 1.0)]
)
def test_the_posterior_of_a_task_reaches_the_end_that_was_seen(
    n: int, c: int, low: float, high: float
) -> None:
    found = beta_posterior(n, c)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((low, high), abs=5e-3)


def test_the_posterior_is_jeffreys() -> None:
    found = beta_posterior(20, 13)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(stats.beta(13.5, 7.5).ppf([0.025, 0.975]))
    assert beta_posterior(0, 0) is None


@settings(deadline=None)
@given(st.integers(1, 5000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_shares_are_wilsons(case: tuple[int, int]) -> None:
    count, of = case
    found = wilson(count, of)
    exact = stats.binomtest(count, of).proportion_ci(method="wilson")
    assert found is not None
    assert (found.low, found.high) == pytest.approx((exact.low, exact.high), abs=1e-9)
    assert wilson(0, 0) is None


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 20)), min_size=1, max_size=8).map(
        lambda kinds: [(n, min(c, n)) for n, c in kinds]
    )
)
def test_an_interval_holds_its_value_and_stays_between_0_and_1(kinds: list[tuple[int, int]]) -> None:
    n, c = (np.array(column) for column in zip(*kinds, strict=True))
    values = np.concatenate(curves(n, c, 20), axis=1)
    for found in bootstrap_means(values, np.ones(len(kinds), dtype=np.int64)):
        if found is not None:
            assert 0 <= found.low <= found.value <= found.high <= 1
            assert math.isfinite(found.value) and found.low < found.high


def test_95_percent_intervals_hold_the_truth_about_that_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks with rates from Beta(2, 1), 20 trials each: the true pass^3 of such tasks is E[p^3] = 2/5."""
    monkeypatch.setattr(intervals, "RESAMPLES", 1_000)
    rng = np.random.default_rng(1)
    held = worlds = 0
    for _ in range(500):
        c = rng.binomial(20, rng.beta(2, 1, size=40))
        hat = curves(np.full(40, 20), c, 3)[1][:, 2:]
        found = bootstrap_means(hat, np.ones(40, dtype=np.int64))[0]
        assert found is not None
        worlds += 1
        held += found.low <= 2 / 5 <= found.high
    assert 0.91 <= held / worlds <= 0.98


def test_intervals_of_bots_that_hardly_ever_fail_hold_the_truth_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """One task in 50 always fails: 30 tasks often show none of it, where a plain bootstrap would claim certainty."""
    monkeypatch.setattr(intervals, "RESAMPLES", 1_000)
    rng = np.random.default_rng(2)
    held = 0
    for _ in range(400):
        broken = int(rng.binomial(30, 0.02))
        values, weights = np.array([[0.0], [1.0]]), np.array([broken, 30 - broken])
        found = bootstrap_means(values[weights > 0], weights[weights > 0])[0]
        assert found is not None
        held += found.low <= 0.98 <= found.high
    assert held / 400 >= 0.95
