"""A value that is found known really stands there; what does not stand anywhere is not known."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.verifier.knowing import Known, Place, leaves, plain, words

CLOCK = datetime.fromisoformat("2026-03-02T10:00:00-05:00")
FACT = Place("fact", "answer")


def said(text: str, place: Place = FACT) -> Known:
    known = Known(CLOCK)
    known.say(text, place)
    return known


def place(known: Known, value: Any) -> Place | None:
    return next(iter(known.places(value)), None)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My order is ORD-71.", "ORD-71"),
        ("Write to ADA@brook.example.", "ada@brook.example"),
        ("It is 7 Mill  Lane,\nLowmill", "7 mill lane"),
        ("Lowmill, 7 Mill Lane", "7 Mill Lane, Lowmill"),
        ("It’s the O'Neill account", "o'neill"),
        ("call +1-512-555-0106", "+1 512 555 0106"),
        ("on 20 March", "2026-03-20"),
        ("tomorrow at half past two", "2026-03-03T14:30:00-05:00"),
        ("20 March, 9 am", "2026-03-20 09:00"),
        ("at 2 pm", "14:00"),
        ("the January bill", "2026-01"),
        ("two of them", 2),
        ("$1,290.01", 1290.01),
        ("I paid 25", 25.0),
    ],
)
def test_what_is_said_is_known(text: str, value: Any) -> None:
    assert place(said(text), value) == FACT


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("My order is ORD-710.", "ORD-71"),
        ("My order is XORD-71.", "ORD-71"),
        ("My order is ORD-71-2.", "ORD-71"),
        ("Write to bada@brook.example", "ada@brook.example"),
        ("Write to ada@brook.example", "ada@brook"),
        ("Write to ada@brook.example", "brook.example"),
        ("Come to us", "US"),  # the country is no pronoun
        ("7 Mill Lane, Lowmill", "9 Mill Lane, Lowmill"),
        ("on 20 March", "2026-03-21"),
        ("tomorrow at two", "2026-03-03T15:00:00-05:00"),
        ("call 512 555 0106", "+1 512 555 0107"),
        ("ORD-1290", 1290),
        ("2026-03-20", 20),
        ("$1,290.01", 1290.02),
    ],
)
def test_what_only_looks_like_it_is_not(text: str, value: Any) -> None:
    assert place(said(text), value) is None


def test_results_are_known_at_any_depth_by_their_path() -> None:
    known = Known(CLOCK)
    known.learn(
        {"lines": [{"id": "OL-1"}, {"id": "OL-2", "paid": 12.5, "at": "2026-03-01T23:30:00-05:00"}]},
        Place("result", "order"),
    )
    assert str(place(known, "OL-2")) == "the result of order.lines.1.id"
    assert str(place(known, 12.5)) == "the result of order.lines.1.paid"
    assert place(known, "2026-03-01") and place(
        known, "2026-03-02T04:30:00Z"
    )  # the day, and the same instant
    assert place(known, "OL-3") is None and place(known, 12.51) is None and place(known, True) is None


def test_the_parts_of_a_name_stand_in_one_row_or_nowhere() -> None:
    known = Known(CLOCK)
    known.learn(
        [{"first": "Ada", "last": "Brook"}, {"first": "Ben", "last": "Chan"}], Place("result", "found")
    )
    assert str(place(known, "Ada Brook")) == "the result of found.0"
    assert place(known, "Ada Chan") is None


def test_the_words_of_a_policy_make_no_sentence_known() -> None:
    known = said("A return is refused when it is late. A refund is paid.", Place("policy", "P-1"))
    assert place(known, "refund refused") is None
    assert place(known, "it is late") == Place("policy", "P-1")


def test_an_amount_is_no_count() -> None:
    known = said("within 6 days of the visit", Place("policy", "P-1"))
    known.learn({"lines": 6}, Place("result", "order"))
    assert place(known, 6) is not None
    assert known.places(6.0, money=True) == ()
    known.learn({"title": "Canoe 6, blue", "phone": "6 555 0106"}, Place("result", "order"))
    assert known.places(6.0, money=True) == ()
    known.learn({"note": "It costs 7.00"}, Place("result", "order"))
    assert known.places(7.0, money=True) == (Place("result", "order.note"),)
    known.learn({"fee": 6.0}, Place("result", "order"))
    assert known.places(6.0, money=True) == (Place("result", "order.fee"),)


def test_more_adds_without_touching_the_one_it_came_from() -> None:
    first = said("ORD-1")
    second = first.more()
    second.say("ORD-2", FACT)
    assert place(second, "ORD-1") and place(second, "ORD-2") and place(first, "ORD-2") is None


def test_the_nearest_is_of_the_same_kind() -> None:
    known = said("ORD-71 and INV-72 on 20 March for 41.50")
    assert known.nearest("ORD-72") == ("ORD-71", FACT)
    assert known.nearest("2026-03-22") == ("2026-03-20", FACT)
    assert known.nearest(41.0) == ("41.50", FACT)
    assert Known(CLOCK).nearest("ORD-72") is None and Known(CLOCK).nearest(1.5) is None


_TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=60)
_VALUE = st.one_of(
    st.text("AB12-@. ", min_size=1, max_size=12),
    st.integers(2, 9999),
    st.floats(2, 9999).map(lambda x: round(x, 2)),
)


@given(st.lists(_TEXT, max_size=4), _VALUE)
def test_a_value_found_known_really_stands_there(texts: list[str], value: Any) -> None:
    known = Known(CLOCK)
    for number, text in enumerate(texts):
        known.say(text, Place("fact", str(number)))
    for found in known.places(value):
        text = texts[int(found.name)]
        if isinstance(value, str):
            assert plain(value) in plain(text) or words(value) <= words(text)
        else:  # some run of digits or a word stands for it
            assert re.search(r"\d", text) or words(text)


@given(
    st.recursive(
        _VALUE,
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", min_size=1), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_every_scalar_of_a_result_is_known_after_it(result: Any) -> None:
    known = Known(CLOCK)
    known.learn(result, Place("result", "r"))
    for _, leaf in leaves(result):
        if not isinstance(leaf, str) or plain(leaf):
            assert place(known, leaf) is not None
