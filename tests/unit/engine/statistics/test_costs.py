"""Costs of a run, summed over its failed trials."""

from __future__ import annotations

from typing import Any

from assay.engine.statistics.costs import sum_costs
from assay.engine.statistics.summary import TrialOutcome, summarise


def cost(what: str, over: float, under: float, paid_by: str = "company") -> dict[str, Any]:
    return {"what": what, "paid_by": paid_by, "currency": "USD", "over": over, "under": under}


def test_sums_by_sort_and_by_who_bears_them() -> None:
    summed = sum_costs(
        [[cost("refunded", 400.0, 0.0), cost("charged", 0.0, 30.0, "customer")], [cost("refunded", 12.0, 7.5)], []],
        20,
    )  # fmt: skip
    assert summed is not None
    assert summed.as_json() == {
        "currency": "USD",
        "trials": 2,
        "of": 20,
        "company": 442.0,  # refunded too much, and a fee not charged
        "customers": 7.5,  # refunded too little
        "by": [
            {"what": "refunded", "paid_by": "company", "over": 412.0, "under": 7.5},
            {"what": "charged", "paid_by": "customer", "over": 0.0, "under": 30.0},
        ],
    }


def test_nothing_known_is_not_nothing_lost() -> None:
    assert sum_costs([None, None], 5) is None
    none_lost = sum_costs([None, []], 5)
    assert none_lost is not None and none_lost.by == () and none_lost.trials == 0 and none_lost.company == 0


def test_no_binary_noise() -> None:
    summed = sum_costs([[cost("refunded", 0.1, 0)], [cost("refunded", 0.2, 0)]], 2)
    assert summed is not None and summed.by[0].over == 0.3


def test_the_summary_counts_failed_trials_only() -> None:
    trials = [
        TrialOutcome("R-1", "r", "failed", category="incorrect_state_update", costs=[cost("refunded", 5.0, 0)]),
        TrialOutcome("R-1", "r", "passed"),
        TrialOutcome("R-1", "r", "void", void_cause="pack_fault", costs=[cost("refunded", 9.0, 0)]),
    ]  # fmt: skip
    told = summarise(trials).as_json()["costs"]
    assert (told["trials"], told["of"], told["company"]) == (1, 2, 5.0)
    assert summarise(trials[1:]).as_json()["costs"] is None
