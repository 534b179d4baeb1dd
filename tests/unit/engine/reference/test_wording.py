"""What the reference bots say holds the reply rules, or surely breaks them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.packs import load_pack_bytes
from assay.engine.packs.loader import read_files
from assay.engine.reference import answer_key
from assay.engine.reference.wording import CLOSERS, Wording, satisfies, written
from assay.engine.sandbox import World

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"


def must(text: str, **rule: Any) -> dict[str, Any]:
    return {"must": text, "must_not": None, "phrases": (), "numbers": (), "contradictions": (), **rule}


def must_not(*phrases: Any) -> dict[str, Any]:
    return {"must": None, "must_not": "say it", "phrases": phrases, "numbers": (), "contradictions": ()}


FEE = must(
    "say that a fee of 1.50 was charged",
    phrases=(("late fee", "fee"),),
    numbers=(1.5,),
    contradictions=("no fee",),
)


def test_a_statement_follows_the_rule_where_the_rule_says_it_all():
    assert Wording([FEE]).answer().split(". ")[1] == "A fee of 1.50 was charged"


def test_a_statement_names_what_the_rule_only_describes():
    text = Wording(
        [must("name the return number", phrases=("RMA-9001", ("label", "sticker")), numbers=(12.0, 3.5))]
    ).answer()
    assert "RMA-9001, label: 12, 3.50." in text


def test_what_is_forbidden_is_avoided():
    wording = Wording([FEE, must_not(("taken care", "waive")), must_not("anything else")])
    text = wording.answer()
    assert "taken care" not in text
    assert "anything else" not in text
    assert wording.more() == CLOSERS[1]
    text = Wording(
        [must("explain it", phrases=(("we waive it", "it is charged"),)), must_not("waive")]
    ).answer()
    assert "It is charged" in text


def test_a_contradiction_says_both():
    text = Wording([FEE]).contradicted()
    assert text is not None
    assert "A fee of 1.50 was charged." in text
    assert "no fee" in text


def test_a_reply_that_breaks_off_does_not_say_what_it_must():
    text = Wording([FEE]).cut()
    assert text is not None
    assert not satisfies(FEE, text)
    assert text in Wording([FEE]).cut()  # the same each time


@pytest.mark.parametrize("rules", [[], [must_not("x")], [must("be kind")], [FEE, must("be kind")]])
def test_a_reply_fault_does_not_apply_where_the_rules_ask_for_nothing_or_need_a_judge(
    rules: list[dict[str, Any]],
):
    assert Wording(rules).cut() is None
    assert Wording(rules).contradicted() is None


def test_a_contradiction_needs_an_opposite():
    assert Wording([must("say it", phrases=("it",))]).contradicted() is None


def test_a_break_that_happens_to_say_it_all_is_not_used():
    assert Wording([must("say it", phrases=("tell you", "is there", "so"))]).cut() is not None
    everything = [must("say so", phrases=("so",)), must("say as", phrases=("i",))]
    assert all(not satisfies(rule, "") for rule in everything)
    assert Wording([must("say i", phrases=("i",))]).cut() is None


@pytest.mark.parametrize(
    ("number", "text"), [(3.0, "3"), (1.5, "1.50"), (193.5, "193.50"), (0.125, "0.125"), (1290.01, "1290.01")]
)
def test_numbers_are_written_as_people_write_them(number: float, text: str):
    assert written(number) == text


_words = st.text(alphabet="abcdefgh ", min_size=3, max_size=12).filter(
    lambda t: len(t.split()) > 0 and t == t.strip()
)
_phrases = st.lists(_words | st.lists(_words, min_size=1, max_size=3).map(tuple), max_size=3).map(tuple)
_rule = st.builds(
    lambda text, phrases, numbers: must(text, phrases=phrases, numbers=numbers),
    _words, _phrases, st.lists(st.integers(0, 10**6).map(lambda n: n / 100), max_size=2).map(tuple),
)  # fmt: skip


@given(st.lists(_rule, max_size=4))
def test_an_answer_says_all_that_it_must(rules: list[dict[str, Any]]):
    text = Wording(rules).answer()
    assert all(satisfies(rule, text) for rule in rules)


@given(st.lists(_rule, min_size=1, max_size=4))
def test_a_cut_reply_followed_by_goodbyes_never_says_it_all(rules: list[dict[str, Any]]):
    wording = Wording(rules)
    text = wording.cut()
    if text is not None:
        heard = " ".join([text, *[wording.more()] * 3])
        assert any(not satisfies(rule, heard) for rule in rules)


def test_numbers_of_the_world_are_in_the_answer_key() -> None:
    files = read_files(LIBRARY)
    tasks = files["tasks/lending.yaml"].decode()
    old = "      numbers: [1.50]\n"
    assert old in tasks
    new = "      numbers_from: SELECT late_fee FROM loans WHERE id = 'LN-4'\n"
    files["tasks/lending.yaml"] = tasks.replace(old, new).encode()
    world = World.prepare(load_pack_bytes(files))
    assert world.check_tasks() == []
    rules = answer_key(world, "LIB-FEE-001").reply
    assert rules[0]["numbers"] == [1.5]
    assert satisfies(rules[0], Wording(rules).answer())
