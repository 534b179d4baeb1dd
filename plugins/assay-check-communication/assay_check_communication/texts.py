"""What the bot said, as sentences and words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_PLAIN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-", "\u00a0": " "}
    | {"*": " ", "`": " ", "_": " ", "#": " "}
)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|\n+")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|mr|mrs|ms|dr|no|approx|etc|vs|st)\.$", re.IGNORECASE)
_WORD = re.compile(r"[^\W\d_]+(?:['-][^\W\d_]+)*")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
#: Words that any English text of some length holds.
_ENGLISH = frozenset(
    [
        "the",
        "a",
        "an",
        "and",
        "or",
        "of",
        "to",
        "in",
        "on",
        "for",
        "is",
        "are",
        "was",
        "were",
        "be",
        "been",
        "have",
        "has",
        "had",
        "will",
        "can",
        "not",
        "your",
        "you",
        "i",
        "we",
        "it",
        "that",
        "this",
        "with",
        "my",
        "our",
        "at",
        "from",
        "as",
        "by",
        "do",
    ]
)
_TELLING = 20  # words by which a language can be told


@dataclass(frozen=True, slots=True)
class Sentence:
    """`turn`: index of the bot's message among the events. `text` is as it was written; `plain` in lower case with
    plain quotation marks and without emphasis. `asks`: it ends in a question mark."""

    turn: int
    text: str
    plain: str

    @property
    def asks(self) -> bool:
        return self.plain.endswith("?")


def replies(events: Sequence[Mapping[str, Any]]) -> list[tuple[int, str]]:
    """(index among the events, text) of each message of the bot that says anything."""
    return [(i, e["text"]) for i, e in enumerate(events) if e["type"] == "bot" and e["text"].strip()]


def sentences(turn: int, text: str) -> list[Sentence]:
    """The sentences of a message; the items of a list are sentences of their own."""
    found: list[str] = []
    for piece in _SENTENCE_END.split(text):
        if found and _ABBREVIATION.search(found[-1]):
            found[-1] += f" {piece}"
        else:
            found.append(piece)
    return [Sentence(turn, piece.strip(), plain(piece)) for piece in found if piece.strip(" \t-*•.")]


def plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(_PLAIN).split()).casefold()


def words(text: str) -> list[str]:
    """The words of a text, without numbers, ids and Markdown."""
    return _WORD.findall(text.translate(_PLAIN))


def length(text: str) -> int:
    """How many words a text has; where words are written without spaces, two characters count as one."""
    unspaced = len(_UNSPACED.findall(text))
    return len(_UNSPACED.sub(" ", text).split()) + (unspaced + 1) // 2


def any_language(texts: Sequence[str]) -> bool:
    return True


def with_spaces(texts: Sequence[str]) -> bool:
    """Whether the texts are mostly of a script that writes spaces between words."""
    joined = " ".join(texts)
    return len(_UNSPACED.findall(joined)) * 4 <= len(joined.replace(" ", ""))


def in_english(texts: Sequence[str]) -> bool:
    """Whether the texts can be read by rules for English. Short ones of Latin letters can."""
    joined = " ".join(texts)
    letters = [c for c in joined if c.isalpha()]
    if not with_spaces(texts) or sum(c.isascii() for c in letters) * 2 < len(letters):
        return False
    found = [word.casefold() for word in words(joined)]
    return len(found) < _TELLING or sum(word in _ENGLISH for word in found) * 8 >= len(found)
