"""Brevity, clarity and tone: measured on the words alone."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from assay_check_communication.texts import Sentence, length, words

_LONG_WORD = 7  # letters: LIX counts words of more than six
_FEWEST = 30  # words below which an index of readability says nothing

#: What belittles, blames or brushes off. Whole words; an option replaces the list.
RUDE = (
    "stupid", "idiot", "idiotic", "dumb", "ridiculous", "nonsense", "shut up", "calm down", "your fault", "you people",
    "not my problem", "not our problem", "as i already told you", "as i already said", "as i said before", "like i said",
    "i already told you", "you should have known", "you failed to", "you clearly", "you obviously", "deal with it",
    "stop wasting", "waste of time", "whatever", "too bad", "take it or leave it", "quit whining", "stop complaining",
    "read the policy", "damn", "hell no", "crap", "what part of",
)  # fmt: skip
_SHOUTED = re.compile(r"(?<![\w-])(?:[A-Z]{2,}(?:'[A-Z]+)?[\s,]+){2,}[A-Z]{2,}(?![\w-])")
_EXCLAIMED = re.compile(r"!{2,}|\?!|!\?")


@dataclass(frozen=True, slots=True)
class Readability:
    """LIX (Björnsson 1968): words in a sentence + 100 x the share of words of more than six letters. Up to 40 is easy,
    50 is a newspaper, above 60 is hard. It needs no dictionary of syllables, so the same text gets the same figure
    everywhere. None below 30 words."""

    lix: float | None
    longest: Sentence | None
    longest_words: int


def readability(found: Sequence[Sentence]) -> Readability:
    counted = [(s, len(words(s.text))) for s in found]
    counted = [(s, n) for s, n in counted if n]
    longest, most = max(counted, key=lambda pair: pair[1], default=(None, 0))
    total = sum(n for _, n in counted)
    if total < _FEWEST:
        return Readability(None, longest, most)
    long = sum(len(w) >= _LONG_WORD for s, _ in counted for w in words(s.text))
    return Readability(total / len(counted) + 100 * long / total, longest, most)


def too_long(text: str, most: int) -> int | None:
    """The number of words of a message that has more than `most`."""
    found = length(text)
    return found if found > most else None


def rudeness(sentence: Sentence, phrases: Sequence[str]) -> list[tuple[str, str]]:
    """(what it is, the words) of a sentence that belittles, blames or shouts."""
    found = [
        ("An unfriendly phrase", phrase)
        for phrase in phrases
        if re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", sentence.plain)
    ]
    if shouted := _SHOUTED.search(sentence.text):
        found.append(("Several words in capitals", shouted.group()))
    if exclaimed := _EXCLAIMED.search(sentence.text):
        found.append(("More than one exclamation mark", exclaimed.group()))
    return found
