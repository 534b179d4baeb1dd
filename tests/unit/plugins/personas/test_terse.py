"""The terse persona says less and never something else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk import Fact, PersonaType, Situation, UserLine, UserScript

SCRIPT = UserScript(
    "o", "g", (Fact("order", "ORD-1007"), Fact("name", "Please Smith"), Fact("opened", "the box is open"))
)


def said(personas: dict[str, PersonaType], text: str, **options: Any) -> str:
    kind = personas["terse"]
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
def test_what_politeness_adds_is_left_out(personas: dict[str, PersonaType], full: str, terse: str) -> None:
    assert said(personas, full) == terse


@pytest.mark.parametrize("text", ["Please Smith.", "The box is open.", "I am Please Smith."])
def test_a_value_that_looks_like_politeness_stays(personas: dict[str, PersonaType], text: str) -> None:
    assert said(personas, text) == text.removesuffix(".")


@pytest.mark.parametrize("text", ["Hi", "Thanks a lot!", "...", "Hello!"])
def test_a_line_of_which_nothing_would_be_left_stays(personas: dict[str, PersonaType], text: str) -> None:
    assert said(personas, text) == text


def test_the_only_thing_asked_for_is_said_without_its_name(personas: dict[str, PersonaType]) -> None:
    assert said(personas, "Order: ORD-1007") == "ORD-1007"
    assert said(personas, "Order: ORD-1007\nName: Please Smith") == "Order: ORD-1007\nName: Please Smith"


def test_lines_can_begin_with_a_small_letter_but_never_a_value(personas: dict[str, PersonaType]) -> None:
    assert said(personas, "Could you cancel it?", lower_case=True) == "cancel it?"
    assert said(personas, "ORD-1007.", lower_case=True) == "ORD-1007"


WORDS = st.sampled_from(
    ["Hello, ", "please ", "Thank you. ", "my ", "the ", "It is ", "ORD-1007", "Please Smith", "the box is open", ". ",
     "? ", ", ", " ", "I would like to ", "Thanks", "étui", "\n"]
)  # fmt: skip


@given(st.lists(WORDS, min_size=1, max_size=12).map("".join))
def test_whatever_is_said_no_value_is_lost_or_added_and_something_is_left(
    personas: dict[str, PersonaType], text: str
) -> None:
    kind = personas["terse"]
    line = kind.build(kind.options(), 1).shape(UserLine(text), Situation(SCRIPT))
    for fact in SCRIPT.facts:
        assert line.text.count(fact.value) == text.count(fact.value)
    assert bool(line.text.strip()) == bool(text.strip())
