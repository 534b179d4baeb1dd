"""What a user says or agrees to, held against what they know."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.engine.dialogue.asking import Understood, mentions_in
from assay.engine.dialogue.claims import agrees
from assay.engine.dialogue.known import known
from assay.engine.dialogue.role_words import decides
from assay.engine.dialogue.turns_of_speech import RIGHT
from assay.engine.dialogue.values import Value, found_in
from assay.engine.dialogue.wording import clauses, normal
from assay_sdk import Fact, UserScript

_IN_AN_ID = re.compile(r"[-_/#]?\d")
_DIRECTLY = re.compile(r"[^\d@]*?\b(?:is|was|are|as|:|=) (?:now |still )?(\S*[\d@]\S*)")


def contradicts(text: str, heard: str, asks: Understood, script: UserScript) -> list[str]:
    """Keys of facts that `text`, the answer to `heard`, contradicts as far as rules can tell."""
    facts = script.facts
    said = known([text])
    right = {f.key for f in facts if (own := found_in(f.value)) and all(v in said for v in own)}
    own_words = normal(
        " \n ".join((*(r.say or "" for r in script.reactions), *script.follow_ups, script.opening))
    )
    found = [
        facts[i].key
        for i, clause in _clauses(text, facts)
        if facts[i].key not in right
        and not _denied(clause)
        and differs(facts[i], clause)
        # What stands so in the script contradicts nothing: "postal code 15203" of the new place.
        and clause.strip(" .") not in own_words
        and not any(clause.strip(" .") in normal(f.value) for f in facts if f is not facts[i])
    ]
    decision = decides(text)
    if decision == "yes" and _asks_whether_right(heard, asks):
        found += [
            facts[i].key
            for i, clause in _clauses(heard, facts)
            if facts[i].key not in right and differs(facts[i], clause)
        ]
    elif decision == "no" and asks.claimed and not asks.finished and RIGHT.search(normal(heard)):
        agreed = [agrees(facts[i].value, named) for i, named in asks.claimed if i in asks.facts]
        if agreed and all(agreed) and not found_in(text):
            found += [facts[i].key for i, _ in asks.claimed]
    return list(dict.fromkeys(found))


def differs(fact: Fact, clause: str) -> bool:
    """Whether `clause`, which begins where `fact` is named, names values of its kind, and none of them is its own.

    "Your order number is RMA-7" names an id of the order, whatever the letters: it says so.
    """
    own = found_in(fact.value)
    if not own or (any(v.what == "name" for v in own) and not any(v.what != "name" for v in own)):
        return False
    mine = known([fact.value])
    said = _DIRECTLY.match(clause)
    if said and own[0].key[0] == "id":
        first = next((v for v in found_in(said[1]) if v.key[0] == "id"), None)
        if first is not None:
            return first not in mine
    for what in {_sort(v) for v in own if v.what != "name"}:
        named = [v for v in found_in(clause) if _sort(v) == what]
        if named and not any(v in mine for v in named):
            return True
    return False


def _sort(value: Value) -> str:
    """Values that could stand for each other: ids of the same letters, whole dates, amounts, e-mail addresses."""
    kind = value.key[0]
    if kind == "id":
        return "id " + value.key[1].rstrip("0123456789")
    if kind == "date" and not value.key[3]:
        return "month and year"
    return kind


def _asks_whether_right(heard: str, asks: Understood) -> bool:
    return asks.consent or bool(asks.claimed) or RIGHT.search(normal(heard)) is not None


def _clauses(text: str, facts: Sequence[Fact]) -> Iterator[tuple[int, str]]:
    """(fact, what is said of it) for each mention of a fact: up to the next mention, in its own words."""
    for line in text.split("\n"):
        plain = normal(line)
        for clause, _ in clauses(plain):
            # The "RMA" of RMA-1447 is part of a value and names no fact.
            mentions = [m for m in mentions_in(clause, facts) if not _IN_AN_ID.match(clause, m.end)]
            for number, m in enumerate(mentions):
                end = min((o.start for o in mentions[number + 1 :] if o.fact != m.fact), default=len(clause))
                yield m.fact, clause[m.start : end]


def _denied(clause: str) -> bool:
    return any(word in clause.split() for word in ("not", "no", "never", "isn't", "wrong"))
