"""The summary of a run: its shape, what void trials do to it, and the published figures."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.statistics.summary import TrialOutcome, summarise

PUBLISHED = Path(__file__).parents[3] / "reference" / "published_results.csv"
ESTIMATE = {"value", "low", "high"}
SHARE = {"count", "of", "share", "low", "high"}
GROUP = {"name", "tasks", "trials", "valid", "passed", "failed", "void", "pass_at", "pass_hat", "plug_in"}


def outcome(task: str, status: str, group: str = "returns", **more: Any) -> TrialOutcome:
    if status == "failed":
        more = {
            "category": "missing_state_change",
            "s1": True,
            "s2": False,
            "s3": False,
            "fingerprint": "f-" + task,
            "explanation": "Nothing was written.",
            **more,
        }
    if status == "void":
        more = {"void_cause": "provider_outage", **more}
    return TrialOutcome(task, group, status, **more)


def trials(
    task: str, passed: int, failed: int = 0, void: int = 0, group: str = "returns"
) -> list[TrialOutcome]:
    statuses = ["passed"] * passed + ["failed"] * failed + ["void"] * void
    return [outcome(task, status, group) for status in statuses]


def test_the_summary_has_the_shape_that_reports_gates_and_webhooks_read() -> None:
    summary = summarise(
        trials("R-1", 3, 1) + trials("R-2", 2, 1, 1) + trials("O-1", 0, 4, group="orders")
    ).as_json()
    assert list(summary) == [
        "tasks",
        "trials",
        "valid",
        "passed",
        "failed",
        "void",
        "trials_per_task",
        "confidence",
        "method",
        "overall",
        "groups",
        "worst_case",
        "per_task",
        "illusion",
        "categories",
        "voids",
        "failures",
        "costs",
        "checks",
        "faults",
        "users",
        "disclosures",
    ]
    assert (summary["tasks"], summary["trials"], summary["valid"]) == (3, 12, 11)
    assert (summary["passed"], summary["failed"], summary["void"]) == (5, 6, 1)
    assert summary["trials_per_task"] == 4
    assert [g["name"] for g in (summary["overall"], *summary["groups"], summary["worst_case"])] == [
        "all",
        "returns",
        "orders",
        "worst_case",
    ]
    for group in (summary["overall"], *summary["groups"], summary["worst_case"]):
        assert set(group) == GROUP
        for curve in ("pass_at", "pass_hat", "plug_in"):
            assert list(group[curve]) == ["1", "2", "3", "4"]
            assert all(e is None or set(e) == ESTIMATE for e in group[curve].values())
    assert [t["task"] for t in summary["per_task"]] == ["R-1", "R-2", "O-1"]
    assert set(summary["per_task"][0]) == {"task", "group", "valid", "passed", "failed", "void", "rate"}
    assert set(summary["illusion"]) == {"s1", "s2", "s3"}
    assert all(set(share) == SHARE for share in summary["illusion"].values())
    assert [c["category"] for c in summary["categories"]] == [
        "tool_use_error",
        "missing_state_change",
        "incorrect_state_update",
        "incomplete_response",
    ]
    assert set(summary["failures"][0]) == {
        "fingerprint",
        "task",
        "category",
        "explanation",
        "count",
        "trials",
    }
    json.dumps(summary, allow_nan=False)


def test_the_mean_is_over_tasks_and_not_over_trials() -> None:
    summary = summarise(trials("R-1", 1, 1) + trials("R-2", 20, 0)).as_json()
    assert summary["overall"]["pass_at"]["1"]["value"] == pytest.approx((0.5 + 1.0) / 2)


def test_each_task_uses_its_own_number_of_trials_and_drops_out_beyond_it() -> None:
    summary = summarise(trials("R-1", 1, 1) + trials("R-2", 3, 1)).as_json()
    hat = summary["overall"]["pass_hat"]
    assert hat["2"]["value"] == pytest.approx((0 + 3 / 6) / 2)
    assert hat["3"]["value"] == pytest.approx(1 / 4)  # R-2 alone
    assert "1 of 2 at k = 4" in summary["method"]


def test_void_trials_are_counted_by_cause_and_never_leave_the_denominator_silently() -> None:
    with_void = summarise(trials("R-1", 4) + trials("R-2", 2, 0, 2)).as_json()
    assert with_void["voids"] == {"provider_outage": 2}
    assert with_void["overall"]["pass_at"]["1"]["value"] == 1.0
    worst = with_void["worst_case"]
    assert (worst["valid"], worst["failed"], worst["void"]) == (8, 2, 0)
    assert worst["pass_at"]["1"]["value"] == pytest.approx((1.0 + 0.5) / 2)
    assert worst["pass_hat"]["4"]["value"] == pytest.approx(0.5)
    assert with_void["overall"]["pass_hat"]["4"]["value"] == 1.0  # R-1 alone, as the method says


def test_without_void_trials_the_worst_case_is_what_was_seen() -> None:
    summary = summarise(trials("R-1", 3, 1) + trials("R-2", 2, 2)).as_json()
    assert {**summary["worst_case"], "name": "all"} == summary["overall"]


def test_a_task_of_which_every_trial_was_void_has_no_rate() -> None:
    summary = summarise(trials("R-1", 0, 0, 3)).as_json()
    assert summary["per_task"][0]["rate"] is None
    assert summary["overall"]["pass_at"] == {"1": None, "2": None, "3": None}
    assert summary["worst_case"]["pass_at"]["1"]["value"] == 0.0
    assert summary["illusion"]["s1"] == {"count": 0, "of": 0, "share": None, "low": None, "high": None}


def test_a_run_without_trials_has_a_summary() -> None:
    summary = summarise([]).as_json()
    assert summary["tasks"] == summary["trials"] == 0
    assert summary["groups"] == summary["failures"] == []


def test_illusion_and_categories_are_shares_of_the_failed_trials() -> None:
    failed = [
        outcome("R-1", "failed", category="tool_use_error", s1=True, s2=True, s3=False),
        outcome("R-1", "failed", category="incorrect_state_update", s1=True, s2=True, s3=True),
        outcome("R-1", "failed", category="incorrect_state_update", s1=False, s2=False, s3=False),
    ]
    summary = summarise([*failed, *trials("R-1", 7)]).as_json()
    assert [(summary["illusion"][s]["count"], summary["illusion"][s]["of"]) for s in ("s1", "s2", "s3")] == [
        (2, 3),
        (2, 3),
        (1, 3),
    ]
    assert [c["count"] for c in summary["categories"]] == [1, 0, 2, 0]
    assert sum(c["share"] for c in summary["categories"]) == pytest.approx(1)


def test_equal_fingerprints_are_one_failure_and_the_most_frequent_comes_first() -> None:
    some = [
        outcome("R-1", "failed", fingerprint="a", explanation=text) for text in ("Fee 3.", "Fee 2.", "Fee 2.")
    ]
    more = [outcome("R-1", "failed", fingerprint="b")]
    failures = summarise([*more, *some, *trials("R-1", 2)]).as_json()["failures"]
    assert [(f["fingerprint"], f["count"], f["trials"]) for f in failures] == [("a", 3, 6), ("b", 1, 6)]
    assert failures[0]["explanation"] == "Fee 2."


def test_the_order_of_the_trials_changes_no_figure() -> None:
    given = trials("R-1", 3, 2) + trials("R-2", 1, 4) + trials("R-3", 5)
    mixed = given.copy()
    random.Random(4).shuffle(mixed)
    one, other = summarise(given).as_json(), summarise(mixed).as_json()
    assert one["overall"] == other["overall"]
    assert {g["name"]: g for g in one["groups"]} == {g["name"]: g for g in other["groups"]}


def test_unknown_statuses_and_tasks_in_two_groups_are_refused() -> None:
    with pytest.raises(ValueError, match="passed, failed or void"):
        summarise([TrialOutcome("R-1", "returns", "running")])
    with pytest.raises(ValueError, match="R-1"):
        summarise(trials("R-1", 1) + trials("R-1", 1, group="orders"))


def published() -> list[tuple[str, float, float | None, float]]:
    with PUBLISHED.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [
        (
            r["model"],
            float(r["mean"]),
            float(r["pass_at_20"]) if r["pass_at_20"] else None,
            float(r["pass_hat_20"]),
        )
        for r in rows
        if r["pass_hat_20"]
    ]


@pytest.mark.parametrize(("model", "pass_1", "at_20", "hat_20"), published())
def test_counts_that_fit_a_published_model_give_its_published_figures(
    model: str, pass_1: float, at_20: float | None, hat_20: float
) -> None:
    """507 tasks, 20 trials each. pass^20 fixes how many tasks were always right, pass@20 how many ever were."""
    always = round(507 * hat_20 / 100)
    ever = round(507 * (at_20 or 80.0) / 100)
    left = round(507 * 20 * pass_1 / 100) - 20 * always - (ever - always)
    between = [1] * (ever - always)
    for i in range(left):  # the rest evenly over the tasks that were right sometimes, none of them always
        between[i % len(between)] += 1
    assert max(between) < 20, model
    counts = [20] * always + between + [0] * (507 - ever)
    summary = summarise(
        t for number, c in enumerate(counts) for t in trials(f"T-{number}", c, 20 - c)
    ).as_json()["overall"]
    assert round(100 * summary["pass_at"]["1"]["value"], 2) == pytest.approx(pass_1, abs=0.011)
    assert round(100 * summary["pass_hat"]["20"]["value"], 2) == hat_20
    if at_20 is not None:
        assert round(100 * summary["pass_at"]["20"]["value"], 2) == at_20
    assert (
        summary["pass_at"]["20"]["value"]
        > summary["pass_at"]["1"]["value"]
        > summary["pass_hat"]["20"]["value"]
    )


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 2)).filter(
            lambda counts: sum(counts) > 0
        ),
        min_size=1,
        max_size=6,
    )
)
def test_nothing_gets_lost_on_the_way_to_a_summary(tasks: list[tuple[int, int, int]]) -> None:
    given = [
        t
        for number, counts in enumerate(tasks)
        for t in trials(f"T-{number}", *counts, group=f"g{number % 2}")
    ]
    summary = summarise(given).as_json()
    assert summary["trials"] == len(given) == summary["valid"] + summary["void"]
    assert summary["valid"] == summary["passed"] + summary["failed"]
    assert sum(g["trials"] for g in summary["groups"]) == len(given)
    assert sum(f["count"] for f in summary["failures"]) == summary["failed"]
    assert sum(summary["voids"].values()) == summary["void"]
    assert summary["worst_case"]["trials"] == len(given) and summary["worst_case"]["void"] == 0
    overall, worst = summary["overall"]["pass_at"].get("1"), summary["worst_case"]["pass_at"]["1"]
    if overall is not None:
        assert worst["value"] <= overall["value"] + 1e-12
