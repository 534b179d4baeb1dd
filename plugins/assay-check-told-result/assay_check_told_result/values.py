"""Amounts, dates and ids in tool calls, and whether a text says them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

_MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
           "november", "december")  # fmt: skip
_ISO_DATE = re.compile(r"(\d{4})-(\d{2})-(\d{2})(?:[T ].*)?")
_ID = re.compile(r"(?=[^\s]*\d)[^\s]{3,40}")
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d.,' \u00a0\u202f]*\d(?![\w-])|(?<![\w.,-])\d(?![\w-])")
_SMALLEST = 10  # whole numbers below it are counts, and appear in any text

Value = Decimal | date | str


def values_in(data: Any, *, key: str = "") -> Iterator[Value]:
    """The telling values in JSON-like data: numbers, ISO dates, and words with a digit in them (ids).

    Not: the instant at which a row was written (keys that end in _at), free text, small whole numbers.
    """
    if isinstance(data, Mapping):
        for name, inner in data.items():
            yield from values_in(inner, key=str(name))
    elif isinstance(data, Sequence) and not isinstance(data, str):
        for inner in data:
            yield from values_in(inner, key=key)
    elif isinstance(data, bool) or data is None or key.endswith("_at"):
        return
    elif isinstance(data, int | float):
        number = Decimal(str(data))
        if number.is_finite() and (number % 1 or abs(number) >= _SMALLEST):
            yield number
    elif isinstance(data, str):
        found = _ISO_DATE.fullmatch(data)
        if found:
            try:
                yield date(int(found[1]), int(found[2]), int(found[3]))
            except ValueError:
                yield data
        elif _ID.fullmatch(data):
            yield data


def says(text: str, value: Value) -> bool:
    """Whether the text says the value: 193.5 also as 193.50, 1290.01 as 1,290.01, a date in the usual ways."""
    if isinstance(value, Decimal):
        return any(abs(value) in _readings(token) for token in _NUMBER.findall(text))
    if isinstance(value, date):
        return any(re.search(rf"(?<!\w){pattern}(?!\w)", text, re.IGNORECASE) for pattern in _dates(value))
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, re.IGNORECASE) is not None


def _readings(token: str) -> set[Decimal]:
    """What a written number may mean. "1,290" is 1290, and where the comma is decimal it is 1.290."""
    plain = re.sub(r"[' \u00a0\u202f]", "", token).rstrip(".,")
    readings = set()
    for thousands, point in ((",", "."), (".", ",")):
        if re.fullmatch(
            rf"\d{{1,3}}(?:{re.escape(thousands)}\d{{3}})*(?:{re.escape(point)}\d+)?", plain
        ) or re.fullmatch(rf"\d+(?:{re.escape(point)}\d+)?", plain):
            readings.add(Decimal(plain.replace(thousands, "").replace(point, ".")))
    return readings


def _dates(day: date) -> list[str]:
    month = _MONTHS[day.month - 1]
    name = rf"(?:{month}|{month[:3]}\.?)"
    number = rf"0?{day.day}(?:st|nd|rd|th)?"
    return [
        day.isoformat(),
        rf"{number}\.?\s+(?:of\s+)?{name}",
        rf"{name}\s+(?:the\s+)?{number}",
        rf"0?{day.day}[./-]0?{day.month}(?:[./-](?:{day.year}|{day.year % 100:02})?)?",
        rf"0?{day.month}[/-]0?{day.day}(?:[/-](?:{day.year}|{day.year % 100:02}))?",
    ]
