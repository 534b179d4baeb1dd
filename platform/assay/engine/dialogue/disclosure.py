"""Which facts a bot drew out of the customer, and by which question; from the events of a conversation."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from assay.engine.dialogue.asking import mentions_in, understand
from assay.engine.dialogue.manners import stands
from assay.engine.dialogue.transcript import BotMessage, Event, UserMessage
from assay.engine.dialogue.wording import normal
from assay_sdk import Fact, UserScript

_LONGEST = 300  # characters kept of a question


def disclosed(script: UserScript, events: Iterable[Event]) -> dict[str, Any]:
    """{"hidden": keys that the opening does not tell, "drawn": [{"fact", "turn", "question", "wrongly"}],
    "not_drawn": the hidden keys that never came out}, all in the order of the script, `drawn` in order of time.

    `turn`: number of the bot's reply that drew the fact out, from 1. `question`: the sentence of it that asks, or all
    of it where no sentence names the fact. `wrongly`: the customer said another value, as their persona has it.
    """
    facts = {f.key: f for f in script.facts}
    hidden = [key for key, fact in facts.items() if not stands(fact.value, script.opening)]
    drawn: dict[str, dict[str, Any]] = {}
    turn, heard = 0, ""
    for event in events:
        if isinstance(event, BotMessage):
            turn, heard = turn + 1, event.text
        elif isinstance(event, UserMessage) and turn:
            for key in (*event.facts_given, *event.misstated):
                if key in hidden and key not in drawn:
                    drawn[key] = {
                        "fact": key,
                        "turn": turn,
                        "question": _question(heard, facts[key]),
                        "wrongly": key in event.misstated,
                    }
    return {
        "hidden": hidden,
        "drawn": list(drawn.values()),
        "not_drawn": [key for key in hidden if key not in drawn],
    }


def _question(message: str, fact: Fact) -> str:
    """The sentence or line of `message` that asks for the fact."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    asking = next((line for line in lines if understand(line, [fact]).facts), None) or next(
        (line for line in lines if mentions_in(normal(line), [fact])), message
    )
    return " ".join(asking.split())[:_LONGEST]
