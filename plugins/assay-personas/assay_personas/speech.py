"""What several personas need to say a line their way."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from assay_sdk import UserLine, UserScript


def instead_of_leaving(line: UserLine, script: UserScript, text: str) -> UserLine:
    """`text` in place of the closing; what the line says beside it stays."""
    said = line.text.removesuffix(script.closing).strip()
    return replace(line, text=f"{said}\n{text}" if said else text, done=False)


def told(part: str, line: UserLine, script: UserScript) -> tuple[str, str] | None:
    """Key and value when `part`, a line of the text, is how the scripted customer tells a fact: "Key: value"."""
    for fact in script.facts:
        if fact.key in line.facts_given and part == f"{fact.key[:1].upper()}{fact.key[1:]}: {fact.value}":
            return fact.key, fact.value
    return None


def rather(line: UserLine, script: UserScript, text: str) -> UserLine:
    """`text` in place of a line that answers nothing. What the script has the customer say once only stays in it."""
    once = [
        said
        for said in (*script.follow_ups, *(r.say for r in script.reactions if r.say))
        if said in line.text
    ]
    facts = [part for part in line.text.split("\n") if _holds_fact(part, script) and part not in once]
    return replace(line, text="\n".join([text, *facts, *once]))


def put_right(line: UserLine, script: UserScript, value: str, sorry: str) -> UserLine:
    """`line` with `sorry`, which says the right `value`, in place of what it says of it; no yes to the wrong one."""
    parts = [part for part in line.text.split("\n") if not has_word(part, value)]
    facts = [part for part in parts if told(part, line, script)]
    first = [
        part
        for part in parts
        if part not in facts and (_holds_fact(part, script) or not part.startswith("Yes"))
    ]
    return replace(line, text="\n".join([*first, sorry, *facts]))


def _holds_fact(part: str, script: UserScript) -> bool:
    return any(has_word(part, f.value) for f in script.facts)


def in_turn(ways: Sequence[str], seed: int) -> Iterator[str]:
    """The ways without end, in an order that the seed decides; none comes twice in a row."""
    draw = random.Random(seed)  # noqa: S311 - a choice of words, nothing secret
    last = ""
    while True:
        order = [way for way in ways if way != last] or list(ways)
        last = draw.choice(order)
        yield last


def choose(ways: Sequence[str], seed: int) -> str:
    return random.Random(seed).choice(ways)  # noqa: S311 - a choice of words, nothing secret


def has_word(text: str, value: str) -> bool:
    """Whether `value` stands whole in `text`: ORD-7 does not stand in ORD-71."""
    before = r"(?<![A-Za-z0-9])" if value[:1].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if value[-1:].isalnum() else ""
    return re.search(before + re.escape(value) + after, text) is not None


def free_text(value: str) -> bool:
    """Whether a value is something told in a sentence, which a bot may write down, and no name, number or address."""
    return len(value.split()) >= 4 and not re.search(r"\d|@", value) and value.rstrip()[-1:] in ".!?"
