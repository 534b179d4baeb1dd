"""Figures of the checks that are only reported."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from assay.engine.statistics.other_checks import other_checks
from assay.engine.statistics.summary import TrialOutcome, summarise

LETTERS = {"p": ("pass", 1.0), "f": ("fail", 0.25), "?": ("cannot_tell", 0.0)}


def trials(task: str, said: str, group: str = "returns", name: str = "tone") -> list[TrialOutcome]:
    """A letter a trial: p and f for the check's outcome, ? cannot tell, v a void trial, - a trial without the check."""
    made = []
    for letter in said:
        checks: list[dict[str, Any]] = []
        if letter in LETTERS:
            outcome, reward = LETTERS[letter]
            checks = [{"name": name, "outcome": outcome, "reward": reward, "required": False, "evidence": []}]
        made.append(TrialOutcome(task, group, "void" if letter == "v" else "passed", checks=checks))
    return made


def figures(*parts: list[TrialOutcome]) -> dict[str, Any]:
    (check,) = other_checks([t for part in parts for t in part])
    return check.as_json()


def test_tasks_weigh_the_same_and_cannot_tell_does_not_pass() -> None:
    found = figures(trials("R-1", "pppp"), trials("R-2", "pf??????"))
    assert (found["passed"], found["failed"], found["cannot_tell"]) == (5, 1, 6)
    assert found["share"]["value"] == pytest.approx((1 + 1 / 8) / 2)
    assert found["unknown"]["value"] == pytest.approx((0 + 6 / 8) / 2)
    assert found["reward"]["value"] == pytest.approx((1 + (1 + 0.25) / 2) / 2)


def test_the_interval_is_that_of_pass_at_one_when_the_check_agrees_with_the_trial() -> None:
    draw = random.Random(3)
    made = []
    for number in range(40):
        rate = draw.betavariate(2, 1)
        for _ in range(20):
            right = draw.random() < rate
            check = {"name": "twin", "outcome": "pass" if right else "fail", "reward": float(right)}
            made.append(TrialOutcome(f"T-{number}", "g", "passed" if right else "failed", checks=[check]))
    summary = summarise(made).as_json()
    (twin,) = summary["checks"]
    assert twin["share"]["value"] == pytest.approx(summary["overall"]["pass_at"]["1"]["value"], abs=1e-12)
    for end in ("low", "high"):  # other resamples of the same tasks
        assert twin["share"][end] == pytest.approx(summary["overall"]["pass_at"]["1"][end], abs=0.005)
        assert twin["reward"][end] == pytest.approx(twin["share"][end], abs=1e-12)


def test_the_interval_holds_the_true_share_for_tasks_that_differ() -> None:
    held, runs = 0, 300
    for seed in range(runs):
        draw = random.Random(seed)
        made = []
        for number in range(30):
            rate = draw.betavariate(2, 1)
            made += trials(f"T-{number}", "".join("p" if draw.random() < rate else "f" for _ in range(10)))
        share = figures(made)["share"]
        held += share["low"] <= 2 / 3 <= share["high"]
    assert 0.91 <= held / runs <= 0.985


def test_flawless_tasks_prove_no_more_than_that_many_tasks_can() -> None:
    found = figures(*(trials(f"T-{n}", "p" * 20) for n in range(30)))
    assert found["share"]["low"] == pytest.approx(0.025 ** (1 / 30))
    assert found["reward"]["low"] == found["share"]["low"]


def test_one_task_speaks_for_itself() -> None:
    found = figures(trials("T", "ppppf"))
    assert found["share"]["value"] == 0.8
    assert 0.2 < found["share"]["low"] < 0.8 < found["share"]["high"] < 1.0
    reward = found["reward"]
    assert reward["value"] == pytest.approx(4.25 / 5)
    assert reward["low"] < reward["value"] < reward["high"]


def test_void_trials_stay_out_except_in_the_worst_case() -> None:
    found = figures(trials("R-1", "ppv"), trials("R-2", "pp"))
    assert found["void"] == 1
    assert found["share"]["value"] == 1.0
    assert found["worst_case"]["value"] == pytest.approx((2 / 3 + 1) / 2)


def test_a_trial_without_the_check_cannot_tell_and_what_broke_is_no_check_of_its_own() -> None:
    broken = trials("R-2", "?", name="manners")
    found = figures(trials("R-1", "pp", name="manners.tone"), broken)
    assert found["name"] == "manners.tone"
    assert (found["passed"], found["cannot_tell"]) == (2, 1)
    alone = figures(broken)
    assert alone["name"] == "manners"
    assert alone["reward"] is None


def test_a_rule_of_one_task_says_nothing_about_the_others() -> None:
    found = figures(trials("R-1", "pf"), trials("R-2", "--"), trials("R-3", "vv"))
    assert (found["tasks"], found["passed"], found["failed"], found["cannot_tell"]) == (1, 1, 1, 0)
    assert found["void"] == 0


def test_a_task_whose_trials_are_all_void_enters_the_worst_case_of_what_all_others_have() -> None:
    found = figures(trials("R-1", "pp"), trials("R-2", "pp"), trials("R-3", "vv"))
    assert (found["tasks"], found["void"]) == (3, 2)
    assert found["share"]["value"] == 1.0
    assert found["worst_case"]["value"] == pytest.approx(2 / 3)


def test_groups_have_their_own_figures() -> None:
    found = figures(trials("R-1", "pp"), trials("O-1", "ff", "orders"))
    assert [(g["name"], g["share"]["value"]) for g in found["groups"]] == [("returns", 1.0), ("orders", 0.0)]
    json.dumps(found, allow_nan=False)


def test_without_checks_there_are_no_figures_and_with_them_pass_at_k_is_the_same() -> None:
    bare = [TrialOutcome("T", "g", "passed"), TrialOutcome("U", "g", "passed")]
    with_checks = trials("T", "f", "g") + trials("U", "f", "g")
    assert summarise(bare).as_json()["checks"] == []
    assert summarise(bare).as_json()["overall"] == summarise(with_checks).as_json()["overall"]
