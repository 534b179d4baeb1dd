"""Which facts came out, and by which question."""

from __future__ import annotations

from assay.engine.dialogue.disclosure import disclosed
from assay.engine.dialogue.transcript import BotMessage, ToolCall, UserMessage
from assay_sdk import Fact, UserScript

SCRIPT = UserScript(
    opening="Cancel ORD-7, please.",
    goal="It is cancelled.",
    facts=(
        Fact("order number", "ORD-7"),
        Fact("email", "ann@example.org", ("e-mail",)),
        Fact("reason", "too late", ("why",)),
        Fact("phone", "555 0101"),
    ),
)


def test_each_hidden_fact_is_told_with_the_reply_and_the_sentence_that_drew_it_out() -> None:
    asks = "Of course.\nPlease give me:\n- your email\nThank you."
    found = disclosed(
        SCRIPT,
        [
            UserMessage(SCRIPT.opening, ("order number",)),
            BotMessage(asks),
            UserMessage("Email: ann@example.org", ("email",)),
            ToolCall(0, "t", "read", {}, ok=True),
            BotMessage("And your phone number, please?"),
            UserMessage("555 0110", (), {"phone": "555 0110"}),
            BotMessage("I cannot find that. What is your phone number?"),
            UserMessage("555 0101, sorry. Email: ann@example.org", ("phone", "email")),
        ],
    )
    assert found == {
        "hidden": ["email", "reason", "phone"],
        "drawn": [
            {"fact": "email", "turn": 1, "question": "- your email", "wrongly": False},
            {"fact": "phone", "turn": 2, "question": "And your phone number, please?", "wrongly": True},
        ],
        "not_drawn": ["reason"],
    }


def test_a_fact_that_no_sentence_asks_for_keeps_the_whole_reply_in_brief() -> None:
    reply = "Tell me more. " * 100
    found = disclosed(
        SCRIPT, [UserMessage(SCRIPT.opening), BotMessage(reply), UserMessage("too late", ("reason",))]
    )
    assert found["drawn"][0]["question"] == reply.strip()[:300]


def test_nothing_is_drawn_out_where_the_bot_says_nothing() -> None:
    assert disclosed(SCRIPT, [UserMessage("555 0101", ("phone",))])["not_drawn"] == [
        "email",
        "reason",
        "phone",
    ]
