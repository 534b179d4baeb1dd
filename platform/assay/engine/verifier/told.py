"""What a bot is given, can look up in the articles, or is told by the customer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from assay.engine.packs.models import Pack, Task
from assay.engine.verifier.knowing import Known, Passage, Place

_NUMBERING = re.compile(
    r"\{#[^}]*\}|^ {0,3}#{1,6}[ \t]+[\d.]+(?=\s)|^[ \t]*\d{1,3}[.)](?=\s)|\b(?:sections?|chapters?)\s+\d+(?:\.\d+)*(?:(?:,| and| or| to)\s+\d+(?:\.\d+)*)*",
    re.MULTILINE | re.IGNORECASE,
)


def known_to_all(pack: Pack) -> Known:
    """What every bot is given or can look up in the articles, and the clock."""
    known = Known(pack.clock)
    for clause in pack.clauses.values():
        known.say(bare(clause.text), Place("policy", clause.id))
    known.say(bare(pack.policy), Place("policy"))
    for section in pack.sections:
        known.say(
            f"{section.id}\n{section.article}\n{section.heading}\n{bare(section.text)}",
            Place("article", section.id),
        )
    known.say(pack.manifest.bot, Place("policy", "who the bot is"))
    for tool in pack.tools.values():
        known.say("\n".join([tool.description, *_said_by(tool.input)]), Place("tools", tool.name))
    known.learn(pack.clock.isoformat(timespec="seconds"), Place("clock"))
    return known


def told_by_customer(task: Task, clock: datetime) -> list[Passage]:
    """What the customer says or can be asked for."""
    user = task.user
    passages = [Passage(Place("opening"), user.opening, clock)]
    passages += [Passage(Place("fact", f.key), f.value, clock) for f in user.facts]
    passages += [Passage(Place("customer", "follow_ups"), text, clock) for text in user.follow_ups]
    passages += [
        Passage(Place("customer", f"when {r.when}"), r.say, clock)
        for r in user.reactions
        if r.say is not None
    ]
    return passages


def bare(policy: str) -> str:
    """A policy without the numbers of its clauses, sections and list items, which are figures of nothing."""
    return _NUMBERING.sub(" ", policy)


def _said_by(schema: Any) -> Iterator[str]:
    """Every text in a tool's schema that tells a bot something: descriptions, choices, defaults."""
    if isinstance(schema, Mapping):
        for key, value in schema.items():
            if key in ("description", "title", "default", "const") and isinstance(value, str | int | float):
                yield str(value)
            elif key in ("enum", "examples") and isinstance(value, Iterable):
                yield from (str(v) for v in value)
            else:
                yield from _said_by(value)
    elif isinstance(schema, list | tuple):
        for inner in schema:
            yield from _said_by(inner)
