"""The verification report as a page and as a part of one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from assay.engine.verifier import verify
from assay.engine.verifier.loading import load
from assay.reports.verification import render, render_page
from assay.reports.verification_data import MOST_FINDINGS, verification_data
from tests.unit.engine.verifier.boathouse import TASKS, boathouse
from tests.unit.reports.test_page import EVIL, Page

Edit = tuple[str, str, str]
WRONG: list[Edit] = [
    (TASKS, "paid * 0.12, 2", "paid * 0.13, 2"),
    (TASKS, "reference: HIR-11, summary", "reference: HIR-1, summary"),
]


def document(*edits: Edit) -> dict[str, Any]:
    checked, problems = load(boathouse(*edits))
    assert checked is not None and problems == []
    return verify(checked).as_json()


@pytest.fixture(scope="module")
def unsound() -> dict[str, Any]:
    return document(*WRONG)


def test_the_verdict_comes_first_and_every_finding_names_its_line(unsound: dict[str, Any]) -> None:
    page = Page(render_page(unsound))
    words = page.words()
    assert words.index("Not sound.") < words.index("Findings")
    assert len(unsound["problems"]) >= 3
    for problem in unsound["problems"]:
        assert problem["line"] > 0 and f"{problem['path']}:{problem['line']}" in words
        assert " ".join(problem["message"].split()) in words


def test_every_part_is_on_the_page(unsound: dict[str, Any]) -> None:
    words = Page(render(unsound)).words()
    for heading in (
        "Mutants: do wrong outcomes fail?",
        "Equivalents: does what is as good pass?",
        "Where each value can be known from",
        "How the tasks end",
        "What makes them hard",
        "Traps",
        "The tasks most alike",
        "Clauses and tasks",
        "What a bot has to ask for",
        "Answers left lying about",
        "What went in",
    ):
        assert heading in words, heading
    kinds = unsound["parts"]["mutation"]["kinds"]
    assert all(kind.replace("_", " ") in words for kind in kinds)
    assert "weather" in words and "days" in words  # a fact that nothing needs, and one that is hidden
    assert unsound["content_hash"] in words


def test_the_map_has_a_mark_for_every_clause_of_every_task(unsound: dict[str, Any]) -> None:
    page = Page(render(unsound))
    marks = [a for tag, a in page.tags if tag == "rect" and a.get("width") == "6"]
    assert len(marks) == sum(len(c["tasks"]) for c in unsound["parts"]["coverage"]["clauses"]) == 7
    assert "BOA-1.1, BOA-MOV-001" in page.words()
    assert len({(m["x"], m["y"]) for m in marks}) == len(marks)


def test_a_sound_pack_says_so() -> None:
    sound = document()
    assert sound["problems"] == []
    page = Page(render(sound))
    assert "Sound. No finding." in page.words() and "What is wrong, and what to do" not in page.words()
    assert ("p", {"class": "gate met"}) in page.tags


def test_the_page_asks_nothing_of_anybody(unsound: dict[str, Any]) -> None:
    html = render_page(unsound)
    page = Page(html)
    assert not [t for t, _ in page.tags if t in ("script", "link", "img", "iframe", "object")]
    assert not [
        a
        for _, attributes in page.tags
        for a in attributes
        if a.startswith("on") or a in ("src", "href", "style")
    ]
    assert "Content-Security-Policy" in html and "url(" not in html and "@import" not in html


def test_the_part_has_no_page_around_it(unsound: dict[str, Any]) -> None:
    part = render(unsound)
    assert part.lstrip().startswith("<main") and "<style" not in part and "<html" not in part
    assert part in render_page(unsound)


def test_what_a_pack_says_is_text_and_nothing_else(unsound: dict[str, Any]) -> None:
    evil = _with(unsound, EVIL)
    before = [tag for tag, _ in Page(render(unsound)).tags]
    page = Page(render(evil))
    assert [tag for tag, _ in page.tags] == before  # no tag more than without it
    assert "alert(1)" in page.words() and "{{ 7 * 7 }}" in page.words() and "49" not in page.words().split()


def _with(value: Any, evil: str) -> Any:
    """Every text of a document that comes from the pack, replaced."""
    if isinstance(value, Mapping):
        return {
            k: evil if k in ("message", "text", "through", "why", "summary", "pack") else _with(v, evil)
            for k, v in value.items()
        }
    return [_with(v, evil) for v in value] if isinstance(value, list) else value


def test_parts_that_were_not_reached_are_left_out() -> None:
    bare = {"sound": False, "pack": "p", "version": "1.0.0", "content_hash": "00", "tasks": ["A-1"], "seconds": 1.25,
            "problems": [{"path": "pack.yaml", "line": 0, "message": "It took too long.", "code": "verification_too_long", "task": None}],
            "parts": {"gold": None, "mutation": None, "similarity": None, "coverage": None}}  # fmt: skip
    words = Page(render(bare)).words()
    assert "pack.yaml" in words and "pack.yaml:0" not in words and "verified in 1.2 s" in words
    for heading in (
        "Mutants",
        "Equivalents",
        "Clauses and tasks",
        "The tasks most alike",
        "How the tasks end",
    ):
        assert heading not in words
    assert Page(render({**bare, "parts": {}})).words()


def test_a_pack_that_is_wrong_everywhere_stays_readable(unsound: dict[str, Any]) -> None:
    many = {**unsound, "problems": unsound["problems"] * MOST_FINDINGS}
    found = verification_data(many)
    assert len(found.findings) == MOST_FINDINGS
    assert (
        found.more_findings
        == f"{len(many['problems']) - MOST_FINDINGS} more are not shown; correct these first."
    )


def test_figures_are_those_of_the_document(unsound: dict[str, Any]) -> None:
    figures = {f["says"]: f for f in verification_data(unsound).figures}
    mutation = unsound["parts"]["mutation"]
    wrong = mutation["mutants"] - mutation["same"] - mutation["accepted"] - mutation["declared"]
    assert (
        figures["Wrong outcomes that are caught"]["name"]
        == f"{mutation['killed'] + mutation['refused']} of {wrong} mutants that are wrong"
    )
    assert figures["Findings"]["value"] == str(len(unsound["problems"]))
    assert figures["Clauses exercised"]["value"] == "100.0\u00a0%"


def test_it_needs_no_settings() -> None:
    code = (
        "import json, sys\n"
        "from assay.reports.verification import render_page\n"
        "page = render_page({'pack': 'p', 'version': '1', 'tasks': [], 'problems': [], 'parts': {}})\n"
        "from django.conf import settings\n"
        "assert not settings.configured\n"
        "print(len(page) > 1000)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=_environment()
    )
    assert done.stdout.strip() == "True", done.stderr


def _environment() -> dict[str, str]:
    import os
    from pathlib import Path

    return {
        **{k: v for k, v in os.environ.items() if k != "DJANGO_SETTINGS_MODULE"},
        "PYTHONPATH": str(Path(__file__).parents[3] / "platform"),
    }
