"""Which numbers a reply names: 193.5, 193.50, $193.50, 1,290.01, 1.290,01 and 1 290.01 in running text.

Digits inside ids (ORD-1007), dates (2026-02-10) and times (10:30) name no number. Where a notation can be read in
two ways (1,290 is 1290 or 1.29) both readings count: a reply is not failed for the way its language writes numbers.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterator
from dataclasses import dataclass

_CURRENCIES = [
    "USD",
    "EUR",
    "GBP",
    "CAD",
    "AUD",
    "NZD",
    "CHF",
    "JPY",
    "CNY",
    "INR",
    "SEK",
    "NOK",
    "DKK",
    "PLN",
    "CZK",
    "BRL",
    "MXN",
]
_DATES = re.compile(
    r"""
      \b\d{4}-\d{2}-\d{2}(?:[T\ ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?)?
    | \b\d{1,2}[/.]\d{1,2}[/.](?:\d{4}|\d{2})\b  # 10/02/2026, 10.02.2026
    | \b\d{1,2}:\d{2}(?::\d{2})?\b               # 10:30
    | \#\w+                                      # #1007
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WORDS_WITH_DIGITS = re.compile(r"(?P<word>[^\W\d]\w*(?:-\w+)*)(?P<tail>(?:\.\d+)*)")
_WITH_CURRENCY = re.compile(rf"(?:{'|'.join(_CURRENCIES)})(?=\d)", re.IGNORECASE)
_NUMBER = re.compile(
    r"""
    (?<![\w.,])
    (?P<digits>\d{1,3}(?:[,.'\u2019\ \u00a0\u202f]\d{3})+(?:[.,]\d+)? | \d+(?:[.,]\d+)? | [.,]\d+)
    (?!\d)
    (?:\s?(?P<scale>k|m|thousand|million)\b)?
    """,
    re.VERBOSE,
)
_BLANK = "\x00"
#: Typographic hyphens and the minus sign as "-", ASCII letters in lower case. Not str.lower(): the length has to stay.
_PLAIN = str.maketrans("\u2010\u2011\u2212" + string.ascii_uppercase, "---" + string.ascii_lowercase)
#: Markdown's underscores around a word. To a regular expression they are letters, which would hide the word.
EMPHASIS = re.compile(r"(?<!\w)_{1,3}(?=[^\W_])|(?<=[^\W_])_{1,3}(?!\w)")
_SCALE = {"k": 1e3, "thousand": 1e3, "million": 1e6, "m": 1e6}

_UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
#: "one" is left out: it mostly is no number ("this one", "no one").
_WORDS = {word: float(value) for value, word in enumerate(_UNITS) if word != "one"}
_WORDS |= {ten: 20.0 + 10 * i for i, ten in enumerate(_TENS)}
_WORDS |= {
    f"{ten}-{unit}": 20.0 + 10 * i + u
    for i, ten in enumerate(_TENS)
    for u, unit in enumerate(_UNITS[:10])
    if u
}
_ANY_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
#: A space may stand for the hyphen of "twenty-five", but "twenty five-day passes" are twenty.
_SPACED = re.sub(r"-([a-z]+)", r"(?:-\1|\\s+\1(?!-))", _ANY_WORD)
_WORD = re.compile(rf"(?<![\w-])({_SPACED})(?!\w)")
#: "one hundred and twenty" names no twenty. Bounded, so that no text takes long.
_LARGE = re.compile(
    rf"(?<!\w)(?:(?:{_ANY_WORD}|one)[\s-]{{1,3}}){{0,9}}(?:hundred|thousand|million)"
    rf"(?:[\s-]{{1,3}}(?:{_ANY_WORD}|one|and|hundred|thousand|million)(?!\w)){{0,9}}(?!\w)"
)


@dataclass(frozen=True, slots=True)
class Named:
    """A number in a text: every value it can be read as, and the span where it stands."""

    values: tuple[float, ...]
    start: int
    end: int


def names_number(text: str, number: float) -> Named | None:
    """Where `text` names `number`, or None. The sign is not looked at: a deducted fee may be written -193.50."""
    wanted = abs(number)
    for named in numbers_in(text):
        if any(math.isclose(value, wanted, rel_tol=1e-9, abs_tol=1e-9) for value in named.values):
            return named
    return None


def numbers_in(text: str) -> Iterator[Named]:
    """Every number that the text names, as magnitudes, in digits or as a word up to ninety-nine."""
    bare = EMPHASIS.sub(lambda found: " " * len(found.group()), text.translate(_PLAIN))
    bare = _WORDS_WITH_DIGITS.sub(_without_ids, _DATES.sub(_blank, bare))
    for found in _NUMBER.finditer(bare):
        values = _readings(found["digits"])
        if found["scale"]:
            values = (*values, *(v * _SCALE[found["scale"]] for v in values))
        yield Named(values, *found.span("digits"))
    for found in _WORD.finditer(_LARGE.sub(_blank, bare)):
        yield Named((_WORDS["-".join(re.split(r"-|\s+", found[1]))],), *found.span(1))


def _blank(found: re.Match[str]) -> str:
    return _BLANK * len(found.group())


def _without_ids(found: re.Match[str]) -> str:
    """Blank a word that holds digits, but keep the digits of USD193.50 and Rs.193.50. The length stays."""
    word, tail = found["word"], found["tail"]
    currency = _WITH_CURRENCY.match(word)
    if currency:
        return " " * currency.end() + word[currency.end() :] + tail
    if any(character.isdigit() for character in word):
        return _BLANK * len(word + tail)
    if word.isalpha() and tail.count(".") in (1, 2):
        return f"{word} {tail[1:]}"
    return word + tail


def _readings(digits: str) -> tuple[float, ...]:
    pieces = digits.split()
    plain = re.sub(r"['\u2019\s]", "", digits)
    if len(pieces) > 1:  # 1 290 is one number or two
        return (*_readings(plain), *(value for piece in pieces for value in _readings(piece)))
    marks = re.findall(r"[.,]", plain)
    if not marks:
        return (float(plain),)
    if len(set(marks)) == 2:
        # The last mark is the decimal one: 1,290.01 or 1.290,01.
        decimal = marks[-1]
        thousands = "," if decimal == "." else "."
        return (float(plain.replace(thousands, "").replace(decimal, ".")),)
    if len(marks) > 1:
        return (float(re.sub(r"[.,]", "", plain)),)
    as_decimal = float(plain.replace(",", "."))
    if re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", plain):
        return (as_decimal, float(re.sub(r"[.,]", "", plain)))
    return (as_decimal,)
