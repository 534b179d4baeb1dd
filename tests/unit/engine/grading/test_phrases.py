"""Phrases and the negations around them, in both directions."""

from __future__ import annotations

import time

import pytest

from assay.engine.grading.phrases import asserts, denies

MEANT = [
    ("Your refund is approved.", "refund is approved"),
    ("It is not your fault. Your refund is approved.", "refund is approved"),
    ("I cannot thank you enough, your refund is approved.", "refund is approved"),
    ("No problem, your refund is approved!", "your refund is approved"),
    ("Not only is the fee waived, you also get a credit.", "fee waived"),
    ("This is not possible without an approval.", "an approval"),
    ("We cannot do this until your manager gives an approval.", "approval"),
    ("Nothing happens unless you return the laptop.", "return the laptop"),
    ("The old fee was not charged but a restocking fee of 30 applies.", "restocking fee"),
    ("It isn't my decision and your refund is approved.", "refund is approved"),
    ("I refused nothing.\nYour refund is approved", "refund is approved"),
    ("There is no restocking fee.", "there is no restocking fee"),
    ("The fee is not waived. Well, the fee is waived after all.", "fee is waived"),
    ("Of course.", "of course"),
    ("We never refuse a refund in this case.", "a refund"),
    ("您的退款已经批准。", "退款已经批准"),
    ("This cannot be refunded since it is past 30 days.", "30 days"),
    ("We're not able to approve this because the 30-day window is over.", "30-day window"),
    ("We cannot refund it so you keep the laptop.", "you keep the laptop"),
    ("这不是您的错。退款已经批准。", "退款已经批准"),
]
NEGATED = [
    ("This is not possible without an approval.", "possible without an approval"),
    ("I cannot tell you your internal grade.", "internal grade"),
    ("I'm not able to share the internal grade.", "internal grade"),
    ("We are unable to waive the fee.", "waive the fee"),
    ("The fee can't be waived.", "be waived"),
    ("The fee can’t be waived.", "be waived"),
    ("No refund can be granted.", "refund can be granted"),
    ("A restocking fee is not charged.", "a restocking fee"),
    ("A restocking fee was never charged here.", "restocking fee"),
    ("You will not be charged a restocking fee.", "restocking fee"),
    ("I have to decline a refund.", "a refund"),
    ("It is not true that there is no restocking fee.", "there is no restocking fee"),
    ("Neither a refund nor a credit is possible.", "a credit"),
    ("It is your data, yes, but I may not show it.", "yes"),
    ("Yes, however that is for somebody else to decide.", "yes"),
    ("您的退款无法批准。", "批准"),
    ("Your refund has not yet been approved.", "been approved"),
    ("The fee is not so easily waived.", "waived"),
    ("I cannot say whether it will be waived.", "be waived"),
]


@pytest.mark.parametrize(("text", "phrase"), MEANT)
def test_a_phrase_that_is_meant(text: str, phrase: str) -> None:
    said = asserts(text, phrase)
    assert said is not None
    assert not said.negated


@pytest.mark.parametrize(("text", "phrase"), NEGATED)
def test_a_phrase_that_is_denied(text: str, phrase: str) -> None:
    said = asserts(text, phrase)
    assert said is not None
    assert said.negated


def test_a_phrase_that_is_not_there() -> None:
    assert asserts("Your refund is approved.", "a credit") is None
    assert asserts("ORD-100 is on its way.", "ORD-10") is None


def test_a_line_break_ends_a_clause_and_does_not_hide_a_phrase() -> None:
    said = asserts("I cannot do that\nyour refund is\napproved", "your refund is approved")
    assert said is not None
    assert (said.span, said.negated) == ("your refund is approved", False)


def test_a_rule_that_speaks_of_what_is_not_so() -> None:
    assert denies("refuse the third extension")
    assert denies("say that the fee cannot be waived")
    assert denies("say that the item is outside of the window")
    assert not denies("say that a restocking fee of 30 was charged")


def test_no_text_takes_long() -> None:
    started = time.monotonic()
    for text in ("not " * 20_000, "a" * 100_000, "no refund, " * 10_000, "’" * 50_000):
        asserts(text, "no refund")
    assert time.monotonic() - started < 20
