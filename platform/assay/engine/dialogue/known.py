"""What stands in some texts, and whether a value is among it however it is written: "$1,290.5" in "1290.50", "14 April"
in 1973-04-14, "4516" in ORD-4516.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date

from assay.engine.dialogue.values import (
    DAYS,
    MONTHS,
    NUMBER_WORD,
    WORD,
    Value,
    bare,
    figure,
    found_in,
    read,
    without_mails,
)


@dataclass(slots=True)
class Known:
    """What stands in some texts."""

    keys: set[tuple[str, ...]] = field(default_factory=set)
    dates: set[tuple[int | None, int, int | None]] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    digits: set[str] = field(default_factory=set)
    phrases: str = ""

    def add(self, text: str) -> None:
        for value in found_in(text):
            self.keys.add(value.key)
            if value.key[0] == "date":
                self.dates.add(_date(value.key))
                if value.key[1]:
                    self.digits.add(value.key[1])
            elif value.key[0] in ("id", "digits"):
                self.digits.update(re.findall(r"\d{3,}", value.text))
        lower = text.casefold()
        self.words.update(_plain_words(without_mails(text)))  # a name in an address is not said as a name
        self.phrases += " \n " + lower
        for number in _numbers_in_words(lower):
            self.keys.add(("number", number))

    def __contains__(self, value: Value) -> bool:
        if value.key in self.keys:
            return True
        return _KNOWN[value.key[0]](value, self)


def known(texts: Iterable[str]) -> Known:
    """Everything in `texts`."""
    found = Known()
    for text in texts:
        found.add(text)
    return found


# --- reading ---


def _date(key: tuple[str, ...]) -> tuple[int | None, int, int | None]:
    _, year, month, day, *_rest = key
    return (int(year) if year else None, int(month), int(day) if day else None)


def _numbers_in_words(lower: str) -> set[str]:
    found = re.findall(rf"\b{NUMBER_WORD}(?:[ -](?:and )?{NUMBER_WORD}){{0,8}}\b", lower)
    return {str(n) for words in found if (n := read(words)) is not None}


def _plain_words(text: str) -> set[str]:
    found = {bare(w) for w in WORD.findall(text.replace("’", "'"))}
    return found | {part for w in found for part in re.split(r"[-']", w) if len(part) > 1}


# --- is it known? -----------------------------------------------------------------------------------


def _known_date(value: Value, there: Known) -> bool:
    year, month, day = _date(value.key)
    ways = [(month, day)]
    if value.key[-1] == "either":
        ways = [(m, d) for m, d in ((month, day), (day, month)) if m is not None and m <= 12]
    return any(
        m == there_m
        and (d is None or there_d is None or d == there_d)
        and (year is None or y is None or year == y)
        for m, d in ways
        for y, there_m, there_d in there.dates
        if d is not None or there_d is not None or y == year
    )


def _known_digits(value: Value, there: Known) -> bool:
    digits = value.key[1]
    known = (re.sub(r"\D", "", k[1]) for k in there.keys if k[0] in ("digits", "id", "number"))
    # With and without the code of a country.
    return any(
        digits == k or (min(len(digits), len(k)) >= 7 and (digits.endswith(k) or k.endswith(digits)))
        for k in known
    )


def _known_id(value: Value, there: Known) -> bool:
    """Also where letters and figures are apart: "ord4516" in "order ORD 4516"."""
    parts = re.fullmatch(r"([a-z]+)(\d+)", value.key[1])
    return (
        parts is not None
        and parts[1] in there.words
        and (parts[2] in there.digits or ("number", figure(parts[2])) in there.keys)
    )


def _known_number(value: Value, there: Known) -> bool:
    # The figures of an id, said alone: "4516" for ORD-4516.
    return value.text.strip() in there.digits or ("digits", value.key[1]) in there.keys


def _known_weekday(value: Value, there: Known) -> bool:
    if value.key[1] in there.words or f"{value.key[1]}s" in there.words:
        return True
    for year, month, day in there.dates:
        if year and day:
            try:
                if DAYS[date(year, month, day).weekday()] == value.key[1]:
                    return True
            except ValueError:
                continue
    return False


def _known_name(value: Value, there: Known) -> bool:
    word = value.key[1]
    if word in there.words:
        return True
    plural = word.removesuffix("s") in there.words or f"{word}s" in there.words
    parts = [p for p in re.split(r"[-']", word) if len(p) > 1]
    return plural or (len(parts) > 1 and all(p in there.words for p in parts))


_KNOWN = {
    "placeholder": lambda value, there: False,
    "mail": lambda value, there: value.key[1] in there.phrases,
    "street": lambda value, there: " ".join(value.key[1:]).replace(",", "") in there.phrases.replace(",", ""),
    "date": _known_date,
    "phrase": lambda value, there: value.key[1] in " ".join(there.phrases.split()),
    "time": lambda value, there: (
        value.key[2] == "00"
        and any(("number", str(h)) in there.keys for h in {int(value.key[1]), int(value.key[1]) % 12})
    ),
    "day": lambda value, there: (
        any(d == int(value.key[1]) for _, _, d in there.dates) or ("number", value.key[1]) in there.keys
    ),
    "month": lambda value, there: (
        any(m == int(value.key[1]) for _, m, _ in there.dates) or MONTHS[int(value.key[1]) - 1] in there.words
    ),
    "weekday": _known_weekday,
    "digits": _known_digits,
    "id": _known_id,
    "number": _known_number,
    "name": _known_name,
}
