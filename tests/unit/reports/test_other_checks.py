"""The checks that are only reported, in the page and in the terminal."""

from __future__ import annotations

from collections.abc import Callable

from assay.engine.statistics.summary import TrialOutcome, summarise
from assay.reports.other_checks import check_rows
from assay.reports.render import render_source
from assay.reports.source import ReportSource
from assay.reports.text import text_table
from tests.unit.reports.test_page import EVIL, Page, printed

Run = Callable[..., ReportSource]


def said(task: str, *outcomes: str, name: str = "communication.promises") -> list[TrialOutcome]:
    rewards = {"pass": 1.0, "fail": 0.5, "cannot_tell": 0.0}
    return [
        TrialOutcome(task, "returns", "passed", checks=[{"name": name, "outcome": o, "reward": rewards[o]}])
        for o in outcomes
    ]


def test_a_row_says_share_cannot_tell_and_mean_reward_with_intervals() -> None:
    summary = summarise([*said("A", "pass", "pass"), *said("B", "fail", "cannot_tell")]).as_json()
    (row,) = check_rows(summary)
    assert (row["name"], row["passed"]) == ("communication.promises", "2 of 4")
    assert (row["share"], row["unknown"], row["reward"]) == ("50.0\u00a0%", "25.0\u00a0%", "0.75")
    low, high = row["reward_interval"].split(" to ")
    assert float(low) < 0.75 < float(high)


def test_the_page_and_the_terminal_have_the_table_and_keep_names_as_text(run: Run) -> None:
    summary = summarise([*said("A", "pass", name=EVIL), *said("B", "fail", name=EVIL)]).as_json()
    source = run({"A": "p", "B": "p"}, summary=summary)
    page = Page(render_source(source))
    assert "Other checks" in page.words()
    assert " ".join(EVIL.split()) in page.words()
    assert not [tag for tag, _ in page.tags if tag in ("script", "img")]
    assert EVIL in printed(text_table(source.summary))


def test_without_such_checks_there_is_no_table(run: Run) -> None:
    source = run({"A": "pp"})
    assert "Other checks" not in render_source(source)
    assert "Other checks" not in printed(text_table(source.summary))
