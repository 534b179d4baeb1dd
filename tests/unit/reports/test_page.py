"""The report as a page and in a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

from rich.console import Console, RenderableType

from assay.reports.data import report_data
from assay.reports.render import render_source
from assay.reports.source import ReportSource
from assay.reports.text import failures_table, gate_text, text_table

Run = Callable[..., ReportSource]
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)> [bold red]red[/] {{ 7 * 7 }} & \"quoted\" 'too'"


class Page(HTMLParser):
    """Tags with their attributes, and the text that is read."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._skip = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._skip = tag == "style"

    def handle_endtag(self, tag: str) -> None:
        self._skip = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self._skip else f"{data} "

    def words(self) -> str:
        return " ".join(self.text.split())


def printed(what: RenderableType, width: int = 400) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(what)
    text: str = console.file.getvalue()  # type: ignore[attr-defined]
    return text


def test_whatever_a_bot_or_a_pack_says_is_text_in_the_page(run: Run) -> None:
    source = run(
        {"A-1": "pf"},
        says=EVIL,
        group=EVIL,
        bot=EVIL,
        pack=EVIL,
        titles={"A-1": EVIL},
        void_attempts={EVIL: 1},
        manifest={"bot": {"spec": EVIL}, "plugins": {EVIL: {"version": EVIL}}},
        gate_answer={"met": False, "says": EVIL},
    )
    page = Page(render_source(source))
    assert not {"script", "img", "link", "iframe", "object", "base"} & {tag for tag, _ in page.tags}
    assert not [name for _, attributes in page.tags for name in attributes if name.startswith("on")]
    assert page.words().count(EVIL) >= 9
    assert "49" not in page.text


def test_whatever_a_bot_or_a_pack_says_is_text_in_the_terminal(run: Run) -> None:
    source = run({"A-1": "pf"}, says=EVIL, group="[red]group[/red]")
    assert EVIL in printed(failures_table(source.summary))
    assert "[red]group[/red]" in printed(text_table(source.summary))
    assert EVIL in printed(gate_text({"met": None, "says": EVIL}))


def test_the_page_needs_nothing_from_elsewhere(run: Run) -> None:
    html = render_source(run({"A-1": "pppf", "A-2": "vvpp"}, void_attempts={"provider_outage": 2}))
    page = Page(html)
    assert not [
        value for _, attributes in page.tags for name, value in attributes.items() if name in ("src", "href")
    ]
    for reference in ("http://", "https://", "url(", "@import", "//cdn"):
        assert reference not in html
    policy = dict(page.tags[[tag for tag, _ in page.tags].index("meta") + 2][1])
    assert policy["content"] == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_failures_lead_to_the_page_that_is_given_for_them(run: Run) -> None:
    page = Page(render_source(run({"A-1": "f"}, urls={"A-1-1": "https://acme.example/trials/7/"})))
    assert [a["href"] for tag, a in page.tags if tag == "a"] == ["https://acme.example/trials/7/"]


def test_void_trials_are_shown_by_cause_and_in_the_worst_case(run: Run) -> None:
    source = run({"A-1": "pppv", "A-2": "ppvv"}, void_attempts={"provider_outage": 5, "worker_lost": 1})
    words = Page(render_source(source)).words().replace("\u00a0", " ")
    assert "3 trials of 8 stayed void. The figures above leave them out: pass@1 is 100.0 %." in words
    assert "If all of them had failed it would be 62.5 %" in words
    assert "A model provider or the bot's endpoint did not answer 5" in words
    assert "A worker was lost 1" in words
    assert "3 passed, 0 failed, 1 void" in str(report_data(source).tasks) or "3 passed, 1 void" in str(
        report_data(source).tasks
    )
    assert "3 trials void" in printed(text_table(source.summary))
    assert "62.5" in printed(text_table(source.summary))


def test_voids_that_were_made_good_are_not_held_against_the_figures(run: Run) -> None:
    words = Page(render_source(run({"A-1": "pp"}, void_attempts={"worker_lost": 2}))).words()
    assert "A worker was lost 2" in words
    assert "Every one of these was tried again, and the trial counted then." in words
    assert "No trial was void." in Page(render_source(run({"A-1": "pp"}))).words()


def test_a_run_in_which_no_trial_counts_says_so_and_has_no_figures(run: Run) -> None:
    source = run({"A-1": "vv", "A-2": "vv"}, void_attempts={"provider_outage": 12})
    data = report_data(source)
    assert data.headline == "No trial counts, so nothing can be said about this bot."
    assert {figure["value"] for figure in data.figures} == {"–"}
    assert not data.curves
    words = Page(render_source(source)).words()
    assert data.headline in words
    assert "4 trials of 4 stayed void" in words
    assert "All tasks" in printed(text_table(source.summary))


def test_a_run_without_any_trial_yet_can_be_reported(run: Run) -> None:
    source = run({}, unfinished="0 of 8 trials are over; the figures will change.")
    words = Page(render_source(source)).words()
    assert "Not finished. 0 of 8 trials are over" in words
    assert "No trial counts" in words
    assert printed(text_table(source.summary))


def test_the_failures_are_cut_after_the_most_frequent_and_the_page_says_so(run: Run) -> None:
    data = report_data(run({f"A-{n:02}": "f" for n in range(30)} | {"B-1": "ff"}))
    assert data.failures_shown == "32 failed trials show 31 distinct failures; the 25 most frequent are here."
    assert len(data.failures) == 25
    assert data.failures[0]["task"] == "B-1"


def test_the_least_reliable_tasks_come_first(run: Run) -> None:
    data = report_data(run({"A-1": "pp", "B-1": "ff", "C-1": "pf", "D-1": "vv"}))
    assert [task["id"] for task in data.tasks] == ["D-1", "B-1", "C-1", "A-1"]


def test_each_answer_of_a_gate_has_its_words_and_its_look(run: Run) -> None:
    for met, answer, css in (
        (True, "Gate met.", "met"),
        (False, "Gate not met.", "missed"),
        (None, "Gate undecided.", "open"),
    ):
        gate = {"met": met, "says": "Asked for pass^5 >= 0.9."}
        html = render_source(run({"A-1": "pf"}, gate_answer=gate))
        assert f'<p class="gate {css}"><strong>{answer}</strong> Asked for pass^5 &gt;= 0.9.</p>' in html
        assert printed(gate_text(gate)).strip() == f"{answer} Asked for pass^5 >= 0.9."
    assert 'class="gate' not in render_source(run({"A-1": "pf"}))


def test_a_synthetic_bot_is_named_as_such_before_any_figure(run: Run) -> None:
    words = Page(render_source(run({"A-1": "pf"}, synthetic=True))).words()
    assert words.index("Synthetic reference bot.") < words.index("pass@1")
    assert "Synthetic" not in Page(render_source(run({"A-1": "pf"}))).words()


def test_a_report_is_rendered_without_django_settings(root: Path) -> None:
    program = """
import sys
from assay.engine.statistics.summary import TrialOutcome, summarise
from assay.reports.render import render_source
from assay.reports.source import ReportSource
summary = summarise([TrialOutcome("A-1", "a", "passed"), TrialOutcome("A-1", "a", "passed")]).as_json()
html = render_source(ReportSource("Desk v1", "Library 1.0.0", False, summary, {}, {"A-1": ["passed"] * 2}, {"A-1": "One"}))
from django.conf import settings
assert not settings.configured
assert "psycopg" not in sys.modules and "litellm" not in sys.modules
print(html)
"""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("DJANGO_", "ASSAY_"))}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**environment, "PYTHONPATH": str(root / "platform")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Desk v1" in done.stdout
    assert "100.0\u00a0%" in done.stdout
