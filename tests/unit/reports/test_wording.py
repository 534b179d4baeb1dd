"""Figures and names as people read them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.engine.dialogue.transcript import Termination
from assay.reports.data import headline, main_figures
from assay.reports.source import ReportSource
from assay.reports.wording import (
    CAUSES,
    ENDINGS,
    cause,
    check_name,
    columns,
    count,
    ending,
    interval,
    moment,
    percent,
    value,
)


def plain(text: str) -> str:
    """With ordinary spaces; a number and its sign are kept on one line by another one."""
    return text.replace("\u00a0", " ")


def test_a_share_has_one_decimal_and_is_not_torn_from_its_sign() -> None:
    assert percent(0.65359) == "65.4\u00a0%"
    assert percent(0.0) == "0.0\u00a0%"
    assert percent(None) == "–"


def test_an_interval_is_two_numbers_and_one_sign() -> None:
    assert plain(interval({"value": 0.5, "low": 0.401, "high": 0.6})) == "40.1 to 60.0 %"
    assert interval(None) == ""
    assert interval({"value": None, "low": None, "high": None}) == ""
    assert value(None) == "–"


def test_things_are_counted_in_english() -> None:
    assert [count(n, "trial") for n in (0, 1, 2, 1540)] == ["0 trials", "1 trial", "2 trials", "1,540 trials"]


def test_every_way_a_conversation_ends_has_words() -> None:
    for name in Termination:
        assert name.value in (ENDINGS if name.fault != "platform" else CAUSES), name
        assert "_" not in ending(name.value)


def test_a_cause_that_is_not_known_here_is_still_readable() -> None:
    assert cause("moon_in_the_way") == "Moon in the way"


def test_checks_have_words_and_those_of_plugins_keep_their_names() -> None:
    names = ["state", "ending", "reply:complete", "reply:2", "told-result", "reply:tone"]
    words = [
        "Final database",
        "How it ended",
        "The reply is whole",
        "Rule 2 of the reply",
        "told-result",
        "reply:tone",
    ]
    assert [check_name(name) for name in names] == words


def test_a_time_is_told_in_utc_to_the_minute_and_other_text_left_alone() -> None:
    assert moment("2026-12-01T23:05:09.250+02:00") == "2026-12-01 21:05 UTC"
    assert moment("2026-12-01 21:05 UTC") == "2026-12-01 21:05 UTC"
    assert moment("") == ""


@pytest.mark.parametrize(
    ("trials", "headings"),
    [
        (1, ["pass@1"]),
        (2, ["pass@1", "pass@2", "pass^2"]),
        (5, ["pass@1", "pass@5", "pass^5"]),
        (20, ["pass@1", "pass@20", "pass^5", "pass^20"]),
    ],
)
def test_a_table_shows_the_figures_that_differ(
    run: Callable[..., ReportSource], trials: int, headings: list[str]
) -> None:
    summary = run({"A-1": "p" * trials, "A-2": "f" * trials}).summary
    assert [heading for heading, _, _ in columns(summary)] == headings
    for _, family, k in columns(summary):
        assert summary["overall"][family][k] is not None


def test_the_headline_says_how_often_and_whether_every_time(run: Callable[..., ReportSource]) -> None:
    text = plain(headline(run({"A-1": "pppp", "A-2": "pppf"}).summary))
    assert text.startswith(
        "A single trial is right in 87.5 % of the cases, but all 4 trials are right on 50.0 % of the tasks."
    )
    assert "Of 1 failed trial, 1 (100.0 %) look" in text
    perfect = plain(headline(run({"A-1": "pp"}).summary))
    assert (
        perfect
        == "A single trial is right in 100.0 % of the cases, and all 2 trials are right on 100.0 % of the tasks."
    )


def test_a_run_of_single_trials_has_one_main_figure(run: Callable[..., ReportSource]) -> None:
    summary = run({"A-1": "p", "A-2": "f"}).summary
    assert [f["name"] for f in main_figures(summary)] == ["pass@1"]
    assert "all 1 trials" not in headline(summary)
