"""The terse persona says less and never something else."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk import Fact, Situation, UserLine, UserScript

PACKAGE = Path(__file__).parents[3] / "plugins" / "assay-persona-terse"
SCRIPT = UserScript(
    "o", "g", (Fact("order", "ORD-1007"), Fact("name", "Please Smith"), Fact("opened", "the box is open"))
)


@pytest.fixture(scope="module")
def plugin() -> Iterator[Any]:
    sys.path.insert(0, str(PACKAGE))
    import assay_persona_terse

    yield assay_persona_terse
    sys.path.remove(str(PACKAGE))


def said(plugin: Any, text: str, **options: Any) -> str:
    kind = plugin.assay_personas()[0]
    line = kind.build(kind.options(**options), 1).shape(
        UserLine(text, done=True, facts_given=("order",)), Situation(SCRIPT)
    )
    assert (line.done, line.facts_given) == (True, ("order",))
    return str(line.text)


@pytest.mark.parametrize(
    ("full", "terse"),
    [
        (
            "Hello, could you please cancel my order ORD-1007? Thank you very much!",
            "Cancel my order ORD-1007?",
        ),
        ("I would like to return it, please.", "Want to return it"),
        ("My order number is ORD-1007.", "Order number is ORD-1007"),
        ("Yes, please go ahead.", "Yes, go ahead"),
        ("Thanks, that is all.", "That is all"),
        ("I don't know that.", "I don't know that"),
    ],
)
def test_what_politeness_adds_is_left_out(plugin: Any, full: str, terse: str) -> None:
    assert said(plugin, full) == terse


@pytest.mark.parametrize("text", ["Please Smith.", "The box is open.", "I am Please Smith."])
def test_a_value_that_looks_like_politeness_stays(plugin: Any, text: str) -> None:
    assert said(plugin, text) == text.removesuffix(".")


@pytest.mark.parametrize("text", ["Hi", "Thanks a lot!", "...", "Hello!"])
def test_a_line_of_which_nothing_would_be_left_stays(plugin: Any, text: str) -> None:
    assert said(plugin, text) == text


def test_lines_can_begin_with_a_small_letter_but_never_a_value(plugin: Any) -> None:
    assert said(plugin, "Could you cancel it?", lower_case=True) == "cancel it?"
    assert said(plugin, "ORD-1007.", lower_case=True) == "ORD-1007"


WORDS = st.sampled_from(
    ["Hello, ", "please ", "Thank you. ", "my ", "the ", "It is ", "ORD-1007", "Please Smith", "the box is open", ". ",
     "? ", ", ", " ", "I would like to ", "Thanks", "étui", "\n"]
)  # fmt: skip


@given(st.lists(WORDS, min_size=1, max_size=12).map("".join))
def test_whatever_is_said_no_value_is_lost_or_added_and_something_is_left(plugin: Any, text: str) -> None:
    kind = plugin.assay_personas()[0]
    line = kind.build(kind.options(), 1).shape(UserLine(text), Situation(SCRIPT))
    for fact in SCRIPT.facts:
        assert line.text.count(fact.value) == text.count(fact.value)
    assert bool(line.text.strip()) == bool(text.strip())
