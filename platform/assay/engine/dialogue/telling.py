"""Whether a line tells a fact, also in other words."""

from __future__ import annotations

import re
from functools import lru_cache

from assay.engine.dialogue.common_words import STOP, WEAK
from assay.engine.dialogue.known import Known
from assay.engine.dialogue.values import found_in, without_mails
from assay.engine.dialogue.wording import clauses, normal, phrase, words
from assay_sdk import Fact

ENOUGH = 0.6  # share of the content words of a fact that a line which tells it has
_POLAR = re.compile(r"(?:yes|no|not|none|never|nobody|nothing)\b")


class Hidden:
    """One fact, and the texts that may be said anyway: what stands in them gives nothing away."""

    def __init__(self, fact: Fact, sayable: Known) -> None:
        self._fact = fact
        self._sayable = sayable

    def told_by(self, text: str) -> bool:
        """Whether `text` tells the fact to somebody who has not asked for it."""
        return self._concretely(text) or self._in_words(text)

    def answered_by(self, text: str) -> bool:
        """Whether `text` answers a question for the fact: with some of its words, or its yes or no."""
        said = _stems(text)
        content = _content(self._fact.value)
        if content:
            return bool(content & said)
        polar = _POLAR.match(self._fact.value.casefold())
        return polar is not None and bool(_POLAR.search(text.casefold()))

    def _concretely(self, text: str) -> bool:
        """By its ids, figures, dates and names. One of them is enough, but for names, which are told whole."""
        values = [v for v in found_in(self._fact.value) if v not in self._sayable]
        figures = [v for v in values if v.what != "name"]
        there = Known()
        there.add(text)
        said = {v.key for v in found_in(text)}
        if any(v.key in said or (v in there and _long(v.key)) for v in figures):
            return True
        # A value that is a name: all its words, in whatever case.
        wanted = [w for w in words(self._fact.value) if w.isalpha()]
        if values and not figures and len(wanted) <= 4:
            new = [w for w in wanted if w not in self._sayable.words]
            return bool(new) and set(new) <= set(words(without_mails(text)))
        return False

    def _in_words(self, text: str) -> bool:
        content = _content(self._fact.value) - {_stem(w) for w in self._sayable.words}
        said = _stems(text)
        if len(content) >= 2:
            return len(content & said) >= max(2, ENOUGH * len(content))
        if len(content) == 1:
            return bool(content & said) and (len(words(self._fact.value)) <= 3 or self._named(text))
        # "Yes." tells something only where it is said of what.
        return not _content(self._fact.value) and not found_in(self._fact.value) and self._named(text)

    def _named(self, text: str) -> bool:
        """Whether a statement of `text` speaks of what the fact is about, which nobody has mentioned."""
        for line in normal(text).split("\n"):
            for clause, question in clauses(line):
                if question:
                    continue
                for name in (self._fact.key, *self._fact.aliases):
                    found = phrase(name)
                    if found and found.search(clause) and not found.search(normal(self._sayable.phrases)):
                        return True
        return False

    @staticmethod
    def raised(request: str, line: str) -> bool:
        """Whether `line` brings up `request`: with at least half of its content words."""
        content = _content(request)
        return not content or len(content & _stems(line)) >= 0.5 * len(content)


def prose(fact: Fact) -> bool:
    """Whether the fact is said in words rather than by a figure, a date or a name."""
    return not found_in(fact.value) or len(_content(without_mails(fact.value))) >= 3


def _long(key: tuple[str, ...]) -> bool:
    """Whether a value is long enough not to stand in a text by chance."""
    return key[0] in ("id", "mail", "digits", "date") or len("".join(key[1:])) >= 4


@lru_cache(maxsize=4096)
def _content(text: str) -> frozenset[str]:
    return frozenset(_stem(w) for w in words(text) if len(w) > 2 and w.isalpha() and w not in STOP | WEAK)


def _stems(text: str) -> frozenset[str]:
    return frozenset(_stem(w) for w in words(without_mails(text)) if w.isalpha())


def _stem(word: str) -> str:
    """Enough of a word to find it in another form: open, opened, opening."""
    for ending in ("ing", "ies", "ed", "en", "es", "s", "d", "e", "y"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            break
    return word[:-1] if len(word) > 3 and word[-1] == word[-2] else word
