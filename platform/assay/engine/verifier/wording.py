"""Which texts anybody could know word for word, and the same text in other words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assay.engine.packs.models import Pack
from assay.engine.verifier.subject import Gold


def known_words(pack: Pack, gold: Gold) -> Callable[[str], bool]:
    """Whether a text stands, word for word, where the bot can have read or heard it: what the customer says, policy,
    articles, tools, and results of the task's look-ups. A longer passage holds every text inside it."""
    user = gold.task.user
    said = [user.opening, *user.follow_ups, *(f.value for f in user.facts)]
    said += [r.say for r in user.reactions if r.say]
    read = [pack.policy, *(s.text for s in pack.sections), *(s.heading for s in pack.sections)]
    described = [text for tool in pack.tools.values() for text in (tool.description, *_texts(tool.input))]
    found = [text for outcome in gold.outcomes if outcome.kind == "read" for text in _texts(outcome.content)]
    passages = "\n".join(_folded(text) for text in (*said, *read, *described, *found))
    return lambda text: re.search(rf"(?<!\w){re.escape(_folded(text))}(?!\w)", passages) is not None


def reads_as_wording(text: str) -> bool:
    """Whether a text is a phrase and not a name, an address or a code: words of which one begins with a small letter."""
    words = text.split()
    return len(words) > 1 and any(word[0].islower() for word in words)


def reworded(text: str) -> str:
    """Another text of the same length: its words in the opposite order, or one letter more."""
    other = " ".join(reversed(text.split()))
    return other if other != text else f"{text}s"


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
