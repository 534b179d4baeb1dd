"""Values that tell who they belong to: which cells of a row are such, and where a text says them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Words of a value that are looked for together at most; longer ones are looked for by their first words.
MOST_WORDS = 8
#: Characters below which a text tells nothing by itself.
SHORTEST = 4
#: Words of a free text that have to be repeated in a row before it counts as told.
QUOTED_WORDS = 6

_WORD = re.compile(r"[\w@+]+(?:[.\-'/@+_][\w@+]+)*")
_PHONE = re.compile(r"\+?\(?\d[\d\s().\-/]{5,24}\d")
_PHONE_CELL = re.compile(r"\+?[\d\s().\-/]{7,25}")
#: The end of a sentence or paragraph, over which no name or address goes.
_BREAK = re.compile(r"[.!?;]\s|\n\s*\n")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?|\d{1,2}:\d{2}(:\d{2})?|\d{4}-\d{2}")
_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")
_MIXED = re.compile(r"(?=.*[a-z])(?=.*\d)", re.IGNORECASE)
_FIRST, _LAST = (
    re.compile(r"(?:^|_)(?:first|given)_?name$"),
    re.compile(r"(?:^|_)(?:last|family)_?name$|^surname$"),
)
#: Columns that hold a person's name, or a street, or a free text.
_PERSON = re.compile(r"(?:^|_)(?:name|holder|reporter|collector|signed_by|contact)$")
_STREET = re.compile(r"street|address_line|^address$")


@dataclass(frozen=True, slots=True)
class Value:
    """`key`: what a text is searched by. `column`: the cell it stands in ("first_name" for a whole name)."""

    key: str
    column: str
    shown: str


@dataclass(frozen=True, slots=True)
class Mention:
    """A piece of text that may say a value."""

    key: str
    span: str


def folded(text: str) -> str:
    return (
        unicodedata.normalize("NFKC", text)
        .replace("\u2019", "'")
        .replace("\u2010", "-")
        .replace("\u2011", "-")
        .casefold()
    )


def key_of(text: str) -> str:
    """How a text is searched by: its words in lower case, one space between them."""
    return " ".join(found.group() for found in _WORD.finditer(folded(text)))


def telling_values(row: Mapping[str, Any]) -> Iterator[Value]:
    """The values of a row that tell by themselves who they belong to: ids, e-mail addresses, phone numbers, whole names,
    streets, serial numbers. No dates, amounts, single words and short numbers: many rows share them."""
    first = next((c for c in row if _FIRST.search(c.lower())), None)
    last = next((c for c in row if _LAST.search(c.lower())), None)
    for column, value in row.items():
        if not isinstance(value, str):
            continue
        text = value.strip()
        if len(text) < SHORTEST or _DATE.fullmatch(text) or text[:1] in "[{":
            continue
        words = key_of(text).split()
        if _PHONE_CELL.fullmatch(text) and sum(c.isdigit() for c in text) >= 7:
            yield Value(_phone(text), column, text)
        elif (
            _EMAIL.fullmatch(text)
            or (len(words) == 1 and _MIXED.search(text))
            or (
                2 <= len(words) <= MOST_WORDS
                and (
                    _PERSON.search(column.lower())
                    or (_STREET.search(column.lower()) and any(c.isdigit() for c in text))
                )
            )
        ):
            yield Value(" ".join(words), column, text)
        elif len(words) >= QUOTED_WORDS:
            yield Value(" ".join(words[:QUOTED_WORDS]), column, text)
        elif len(words) > 1 and len("".join(words)) >= 10 and sum(c.isdigit() for c in text) >= 6:
            yield Value("".join(words), column, text)  # an IBAN in groups
        if _PERSON.search(column.lower()) and text.count(",") == 1:  # Chan, Mei
            yield Value(key_of(" ".join(reversed(text.split(",")))), column, text)
    if first and last and row[first] and row[last]:
        name = f"{row[first]} {row[last]}"
        if len(name) > SHORTEST + 1:
            yield Value(key_of(name), first, name)


def mentions(text: str) -> Iterator[Mention]:
    """Every piece of a text that could be a telling value, longer ones first at each place."""
    plain = folded(text)
    found = list(_WORD.finditer(plain))
    words = [word.group() for word in found]
    digits = [any(map(str.isdigit, word)) for word in words]
    for number in range(len(found)):
        start = found[number].start()
        for count in range(min(MOST_WORDS, len(found) - number), 0, -1):
            span = plain[start : found[number + count - 1].end()]
            if 1 < count <= 4 and _BREAK.search(span):
                continue
            parts = words[number : number + count]
            yield Mention(" ".join(parts), span)
            if count > 1:
                if any(digits[number : number + count]):
                    yield Mention("".join(parts), span)
            elif "/" in span:
                for part in span.split("/"):
                    yield Mention(part, part)
    for phone in _PHONE.finditer(plain):
        yield Mention(_phone(phone.group()), phone.group())


def _phone(text: str) -> str:
    """The last nine digits: country codes and leading zeros are written or not."""
    digits = re.sub(r"\D", "", text).lstrip("0")
    return f"phone {digits[-9:]}"
