"""A gate is answered from intervals, and void trials neither help the bot nor count against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.statistics.summary import TrialOutcome, summarise
from assay.runs import gates
from assay.runs.gate_text import read_conditions, read_gate
from assay_sdk import OptionsError


def summary(tasks: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    """By task: its group, and its trials as text: p passed, f failed, v void."""
    words = {"p": "passed", "f": "failed", "v": "void"}
    return summarise(
        TrialOutcome(task=task, group=group, status=words[letter])
        for task, (group, trials) in tasks.items()
        for letter in trials
    ).as_json()


def gate(**fields: Any) -> dict[str, Any]:
    parsed = gates.parse({"at_least": 0.8, **fields}, trials=1000, reported=["manners.tone", "other"])
    assert parsed is not None
    return parsed


def answer(asked: Mapping[str, Any], tasks: Mapping[str, tuple[str, str]]) -> dict[str, Any]:
    answered = gates.answer(asked, summary(tasks))
    assert answered is not None
    return answered


def tasks_of(group: str, *trials: str) -> dict[str, tuple[str, str]]:
    return {f"{group}-{i}": (group, t) for i, t in enumerate(trials)}


ALWAYS = ["p" * 20] * 30  # so many flawless tasks show 0.88 with 95 % confidence


def test_a_run_without_a_gate_has_no_answer() -> None:
    assert gates.answer(None, summary(tasks_of("a", *ALWAYS))) is None


def test_a_bot_that_is_always_right_meets_the_gate() -> None:
    answered = answer(gate(k=5), tasks_of("a", *ALWAYS))
    assert answered["met"] is True
    assert answered["gate"] == "pass^5 >= 0.8"
    assert [g["name"] for g in answered["groups"]] == ["all"]
    assert answered["groups"][0]["value"] == 1.0


def test_a_bot_whose_interval_lies_below_the_limit_does_not_meet_it() -> None:
    answered = answer(gate(), tasks_of("a", *["p" * 5 + "f" * 15] * 30))
    assert answered["met"] is False
    assert "lies below it" in answered["says"]
    assert answered["groups"][0]["high"] < 0.8


def test_what_the_interval_leaves_open_was_not_shown_and_is_not_met() -> None:
    answered = answer(gate(), tasks_of("a", *["p" * 20] * 9, "f" * 20))
    part = answered["groups"][0]
    assert part["low"] < 0.8 <= part["high"]
    assert answered["met"] is False
    assert "does not show it" in answered["says"]


def test_the_point_estimate_alone_does_not_meet_a_gate() -> None:
    answered = answer(gate(), tasks_of("a", *["p" * 20] * 9, "f" * 20))
    assert answered["groups"][0]["value"] >= 0.8
    assert answered["met"] is False


def test_pass_at_and_pass_hat_are_different_gates() -> None:
    sometimes = tasks_of("a", *["p" * 10 + "f" * 10] * 30)
    assert answer(gate(metric="pass_at", k=10), sometimes)["met"] is True
    assert answer(gate(metric="pass_hat", k=10), sometimes)["met"] is False


def test_a_group_that_is_weak_fails_a_gate_in_every_group_and_only_that() -> None:
    tasks = tasks_of("strong", *ALWAYS, *ALWAYS) | tasks_of("weak", "f" * 20, "f" * 20)
    assert answer(gate(), tasks)["met"] is True
    answered = answer(gate(in_every_group=True), tasks)
    assert answered["met"] is False
    assert {g["name"]: g["met"] for g in answered["groups"]} == {"strong": True, "weak": False}
    assert "weak" in answered["says"] and "strong" not in answered["says"]
    assert answered["gate"] == "pass^1 >= 0.8 in every group"


def test_a_gate_that_holds_even_if_every_void_trial_had_failed_is_met_and_says_so() -> None:
    answered = answer(gate(), tasks_of("a", *ALWAYS[:-1], "p" * 19 + "v"))
    assert answered["met"] is True
    assert "had every void trial failed" in answered["says"]


def test_a_gate_that_only_void_trials_stand_in_the_way_of_is_undecided_and_says_so() -> None:
    answered = answer(gate(), tasks_of("a", *["p" * 15 + "v" * 5] * 30))
    assert answered["met"] is None
    assert answered["groups"][0]["value"] == 1.0
    assert "150 void trials" in answered["says"]


def test_void_trials_of_one_group_are_weighed_in_that_group() -> None:
    tasks = tasks_of("calm", *ALWAYS) | tasks_of("shaken", *["p" * 15 + "v" * 5] * 30)
    answered = answer(gate(in_every_group=True), tasks)
    assert {g["name"]: g["met"] for g in answered["groups"]} == {"calm": True, "shaken": None}
    assert answered["met"] is None


def test_a_run_of_void_trials_alone_is_undecided() -> None:
    answered = answer(gate(), tasks_of("a", "vvv"))
    assert answered["met"] is None
    assert "no valid trial" in answered["says"]


def test_more_trials_than_a_task_has_leave_the_gate_undecided() -> None:
    answered = answer(gate(k=5), tasks_of("a", "ppp"))
    assert answered["met"] is None
    assert "5 valid trials" in answered["says"]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.text("pfv", min_size=1, max_size=8), min_size=1, max_size=6),
    st.sampled_from(["pass_hat", "pass_at"]),
    st.integers(1, 8),
    st.floats(0.01, 1.0),
    st.booleans(),
)
def test_met_always_means_that_no_interval_reaches_below_the_limit(
    trials: list[str], metric: str, k: int, at_least: float, every: bool
) -> None:
    tasks = {f"T-{i}": (f"g{i % 2}", t) for i, t in enumerate(trials)}
    answered = answer(gate(metric=metric, k=k, at_least=at_least, in_every_group=every), tasks)
    for part in answered["groups"]:
        if part["met"]:
            assert part["low"] >= at_least
        if part["met"] is False:
            assert part["low"] < at_least
    if answered["met"]:
        assert all(p["met"] for p in answered["groups"])
        # Void trials that turn out as failures cannot take a met gate away.
        failed = {name: (group, text.replace("v", "f")) for name, (group, text) in tasks.items()}
        assert (
            answer(gate(metric=metric, k=k, at_least=at_least, in_every_group=every), failed)["met"] is True
        )


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"k": 1}, "at_least"),
        ({"at_least": 0}, "greater than 0"),
        ({"at_least": 90}, "less than or equal to 1"),
        ({"at_least": 0.9, "metric": "pass"}, "metric"),
        ({"at_least": 0.9, "limit": 3}, "limit"),
        ({"at_least": 0.9, "k": 21}, "needs at least 21 trials"),
    ],
)
def test_a_gate_that_cannot_be_answered_is_refused_with_a_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(OptionsError, match=said):
        gates.parse(asked, trials=20, reported=["manners.tone"])


def checked(tasks: Mapping[str, tuple[str, str]], name: str = "manners.tone") -> dict[str, Any]:
    """By task: its group, and its trials as text: p and f pass and fail the check, ? cannot tell, v void; every trial
    that is not void has the right end state."""
    words = {"p": "pass", "f": "fail", "?": "cannot_tell"}
    return summarise(
        TrialOutcome(
            task,
            group,
            "void" if letter == "v" else "passed",
            checks=[{"name": name, "outcome": words[letter], "reward": 1.0}] if letter in words else (),
        )
        for task, (group, trials) in tasks.items()
        for letter in trials
    ).as_json()


TONE = {"check": "manners.tone", "at_least": 0.8}


def test_a_gate_that_names_a_check_needs_both() -> None:
    good, bad = checked(tasks_of("a", *ALWAYS)), checked(tasks_of("a", *["f" * 20] * 30))
    both = gate(k=5, checks=[TONE])
    met = gates.answer(both, good)
    assert met is not None and met["met"] is True
    assert met["gate"] == "pass^5 >= 0.8 and check:manners.tone >= 0.8"
    assert [(g["name"], g["check"]) for g in met["groups"]] == [("all", None), ("all", "manners.tone")]
    missed = gates.answer(both, bad)
    assert missed is not None and missed["met"] is False
    assert "manners.tone: 0.0 %" in missed["says"].lower()
    wrong_state = summary(tasks_of("a", *["f" * 20] * 30)) | {"checks": good["checks"]}
    not_instead = gates.answer(both, wrong_state)
    assert not_instead is not None and not_instead["met"] is False


def test_a_gate_that_names_no_check_looks_at_none() -> None:
    bad = checked(tasks_of("a", *["f" * 20] * 30))
    answered = gates.answer(gate(k=5), bad)
    assert answered is not None and answered["met"] is True
    assert answered == gates.answer(gate(k=5), {**bad, "checks": []})


def test_what_cannot_be_told_does_not_pass_the_check_of_a_gate() -> None:
    unsure = gates.answer(gate(checks=[TONE]), checked(tasks_of("a", *["p" * 10 + "?" * 10] * 30)))
    assert unsure is not None and unsure["met"] is False
    assert "300 trials cannot be told" in unsure["says"]


def test_void_trials_leave_the_check_of_a_gate_undecided() -> None:
    only = gate(at_least=0.1, checks=[TONE])
    answered = gates.answer(only, checked(tasks_of("a", *["p" * 15 + "v" * 5] * 30)))
    assert answered is not None and answered["met"] is None
    assert "150 void trials" in answered["says"]


def test_a_check_that_no_trial_has_leaves_the_gate_undecided() -> None:
    answered = gates.answer(gate(checks=[TONE]), checked(tasks_of("a", *ALWAYS), name="other"))
    assert answered is not None and answered["met"] is None
    assert "No trial has the check manners.tone" in answered["says"]


def test_a_check_is_held_to_in_every_group() -> None:
    tasks = tasks_of("calm", *ALWAYS) | tasks_of("rude", *["f" * 20] * 30)
    over_all = gates.answer(gate(checks=[{**TONE, "at_least": 0.3}]), checked(tasks))
    assert over_all is not None and over_all["met"] is True
    answered = gates.answer(gate(checks=[{**TONE, "at_least": 0.3}], in_every_group=True), checked(tasks))
    assert answered is not None and answered["met"] is False
    assert [g["name"] for g in answered["groups"] if g["met"] is False] == ["rude"]
    assert "Not shown in 1 of 2 groups" in answered["says"]


@pytest.mark.parametrize(
    ("checks", "says"),
    [
        ([{"check": "manners.tune", "at_least": 0.9}], "did you mean manners.tone"),
        ([{"check": "manners.tone", "at_least": 0.9}] * 2, "twice"),
        ([{"check": "manners.tone", "at_least": 1.5}], "less than or equal to 1"),
        ([{"check": "a b", "at_least": 0.5}], "should match pattern"),
        ([{"check": "manners.tone"}], "Field required"),
        ("manners.tone", "valid tuple"),
    ],
)
def test_a_gate_on_a_check_that_cannot_be_is_refused(checks: Any, says: str) -> None:
    with pytest.raises(OptionsError, match=says):
        gates.parse({"at_least": 0.8, "checks": checks}, trials=1, reported=["manners.tone"])


def test_rules_of_the_pack_and_the_search_for_leaks_may_be_named() -> None:
    for name in ("process:verified-first", "reply:1", "leak"):
        asked = gates.parse(
            {"at_least": 0.8, "checks": [{"check": name, "at_least": 0.5}]}, trials=1, reported=[]
        )
        assert asked is not None and asked["checks"][0]["check"] == name


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("pass^5>=0.9", "pass^5 >= 0.9"),
        ("pass@1 >= 80% in every group", "pass@1 >= 0.8 in every group"),
        ("pass^5>=.9 and check:manners.tone>=0.95", "pass^5 >= 0.9 and check:manners.tone >= 0.95"),
        (
            " pass^2>=90% and check:manners.tone >= 95 % and check:other>=0.5 in every group ",
            "pass^2 >= 0.9 and check:manners.tone >= 0.95 and check:other >= 0.5 in every group",
        ),
    ],
)
def test_a_gate_is_read_as_people_write_it(text: str, shown: str) -> None:
    read = read_gate(text)
    assert read is not None
    assert str(gates.Gate(**gate(**read))) == shown


@pytest.mark.parametrize(
    "text",
    ["", "good", "check:manners.tone>=0.9", "pass^5>=0.9 and", "pass^5>=0.9 and manners.tone>=0.9", "pass^5>=0.9 or x",
     "pass^5>=0.9 and check:>=0.9", "pass^5>=0.9 and pass@1>=0.9", "pass^5>=0.9in every groups"],
)  # fmt: skip
def test_what_is_no_gate_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(OptionsError, match="is no gate; write for example"):
        read_gate(text)


def test_conditions_on_checks_are_read_one_a_line() -> None:
    read = read_conditions("\ncommunication.tone >= 95 %\r\ncheck:leak>=1\n")
    assert read == [{"check": "communication.tone", "at_least": 0.95}, {"check": "leak", "at_least": 1.0}]
    with pytest.raises(OptionsError, match="'tone' is no condition"):
        read_conditions("tone")
