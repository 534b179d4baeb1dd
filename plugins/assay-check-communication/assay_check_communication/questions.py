"""Questions for what the customer has told already."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay_check_communication.texts import Sentence, plain, replies, sentences

_REQUEST = (
    r"(?:what(?:'s|\s+is|\s+was|\s+are)|which|provide(?:\s+me)?(?:\s+with)?|tell\s+me|give\s+me|send\s+me|share|confirm|may\s+i\s+have"
    r"|can\s+i\s+have|could\s+i\s+have|let\s+me\s+have|need|know|enter|state|specify)"
)
_ASKED = rf"\b{_REQUEST}\s+(?:(?:your|the|me|us|a|an|its|full|exact|please|again|both|once|more|to|i|know)\s+){{0,4}}"
_SHORTEST = 5  # words of a question that is compared with earlier ones


@dataclass(frozen=True, slots=True)
class Repeated:
    sentence: Sentence
    fact: str
    told: int  # index of the message in which the customer said it


def repeated(task: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> list[Repeated]:
    """Questions for a fact that the customer has told, where nothing since has put it in doubt.

    A look-up that failed or found nothing is such a doubt, and so is a value that the customer has said wrongly on
    purpose. A question that names the value is a read-back and no repetition.
    """
    facts = {fact["key"]: fact for fact in (task.get("user") or {}).get("facts") or ()}
    told: dict[str, int] = {}
    found: list[Repeated] = []
    said = dict(replies(events))
    for at, event in enumerate(events):
        if event["type"] == "user":
            wrong = event.get("misstated") or {}
            told.update(
                {key: at for key in event.get("facts_given", ()) if key in facts and key not in wrong}
            )
            for key in wrong:
                told.pop(key, None)
        elif event["type"] == "tool" and (not event["ok"] or event["empty"]):
            told.clear()
        elif at in said:
            for sentence in sentences(at, said[at]):
                found += _again(sentence, facts, told)
    return found


def asked(events: Sequence[Mapping[str, Any]]) -> int:
    """How many sentences of the bot ask for something."""
    return sum(_asks(s) for turn, text in replies(events) for s in sentences(turn, text))


def _again(
    sentence: Sentence, facts: Mapping[str, Mapping[str, Any]], told: Mapping[str, int]
) -> Iterator[Repeated]:
    if not _asks(sentence):
        return
    for key, when in told.items():
        value = plain(str(facts[key].get("value", "")))
        if value and value in sentence.plain:
            continue
        if any(re.search(rf"{_ASKED}{name}\b", sentence.plain) for name in _names(facts[key])):
            yield Repeated(sentence, key, when)


def _asks(sentence: Sentence) -> bool:
    return (
        sentence.asks or re.search(rf"^(?:please|kindly)\b|\bplease\s+{_REQUEST}", sentence.plain) is not None
    )


def _names(fact: Mapping[str, Any]) -> list[str]:
    """The key, and the aliases that name no less: "order" beside "order number" stands in every question."""
    key = plain(fact["key"]).replace("_", " ")
    names = [key, *(plain(a) for a in fact.get("aliases") or ())]
    return [
        re.escape(name)
        for name in names
        if name == key or (" " in name and len(name.split()) >= len(key.split()))
    ]
