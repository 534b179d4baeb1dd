"""Dates, times and numbers as people write them in running text, for finding where a value stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta

from assay.engine.grading.numbers import numbers_in

_MONTHS = (
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()  # noqa: SIM905 - reads better
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?" if name[3:] else name for name in _MONTHS) + "|sept"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_ISO = re.compile(
    r"(?<![\d-])(?P<date>\d{4}-\d{2}-\d{2})(?P<time>[T ]\d{2}:\d{2}(?::\d{2})?(?P<zone>Z|[+-]\d{2}:\d{2})?)?(?![\d-])"
)
_DAY_FIRST = re.compile(rf"\b{_DAY}(?:\s+of)?\s+(?P<month>{_MONTH})\b\.?{_YEAR}", re.IGNORECASE)
_MONTH_FIRST = re.compile(rf"\b(?P<month>{_MONTH})\.?\s+(?:the\s+)?{_DAY}(?!\w|:|\.\d){_YEAR}", re.IGNORECASE)
_SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])")
_WEEKDAY = re.compile(rf"\b({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_NEAR = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tonight": 0,
    "the day after tomorrow": 2,
    "tomorrow": 1,
}
_MONTH_ALONE = re.compile(rf"\b(?P<month>{'|'.join(_MONTHS)})\b(?:\s+(?P<year>\d{{4}}))?", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?<![\d:])([01]?\d|2[0-3]):([0-5]\d)(?::[0-5]\d)?\s*(am|pm|a\.m\.|p\.m\.)?", re.IGNORECASE
)
_HOUR = re.compile(r"(?<![\d:.])(1[0-2]|0?[1-9])\s*(am|pm|a\.m\.|p\.m\.|o'clock)(?!\w)", re.IGNORECASE)
_HOURS_IN_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve".split()  # noqa: SIM905 - reads better
)
_WORDED_HOUR = re.compile(
    rf"\b(?P<half>half past\s+)?(?P<hour>{'|'.join(_HOURS_IN_WORDS)})(?P<rest>\s+(?:o'clock|in the (?:morning|afternoon|evening)))?\b",
    re.IGNORECASE,
)
_CURRENCY = re.compile(r"(?:[$€£¥]|[A-Z]{3})\s?$")
_MONEY_WORD = re.compile(
    r"\s(?:dollars?|euros?|pounds?|francs?|crowns?|cents?|(?-i:[A-Z]{3}))\b", re.IGNORECASE
)
#: What follows a number that counts something. Nothing but white space, a hyphen or a degree's mark comes between.
_UNIT = re.compile(
    r"[\s\u00a0-]{0,2}(?:%|per\s?cent|percent|(?:st|nd|rd|th)\b|(?:(?!(?:an?|per|each|every|for|the|of|and|or|if|by|in|on|to|is)\s)[a-z]+\s){0,2}"
    r"(?:second|minute|hour|day|night|week|month|quarter|year|time|km|mile|metre|meter|kg|inch|guest|adult|child|person|people|"
    r"room|point|digit|character|letter|instalment|installment|step|attempt|letter|piece|unit|item|seat|licen[cs]e|device|mb|gb|tb|wh|a\.m|p\.m|am\b|pm\b))",
    re.IGNORECASE,
)
_PAIRS = {"both": 2.0, "twice": 2.0, "pair": 2.0, "couple": 2.0, "dozen": 12.0, "half": 0.5}
_PAIR = re.compile(rf"\b({'|'.join(_PAIRS)})\b", re.IGNORECASE)
_UP_TO_TWELFTH = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_ORDINALS = {name: float(number) for number, name in enumerate(_UP_TO_TWELFTH.split(), 1)}
_ORDINAL = re.compile(rf"\b({'|'.join(_ORDINALS)})\b", re.IGNORECASE)


def numbers(text: str) -> Iterator[tuple[float, int]]:
    """Every number that the text names, as a magnitude, and where it begins. "both" and "a dozen" are numbers too."""
    for named in numbers_in(text):
        for value in named.values:
            yield value, named.start
    for words, pattern in ((_PAIRS, _PAIR), (_ORDINALS, _ORDINAL)):
        for found in pattern.finditer(text):
            yield words[found[1].casefold()], found.start()


def amounts(text: str, *, bare: bool = True) -> Iterator[float]:
    """The numbers of a text that can be amounts of money: with cents or a currency; `bare`: or without a unit after
    them."""
    for named in numbers_in(text):
        digits = text[named.start : named.end]
        if not digits[:1].isdigit():  # "two" hours or "three" nights, but "fifty dollars"
            if _MONEY_WORD.match(text, named.end):
                yield from named.values
            continue
        decimals = re.search(r"[.,]\d{2}$", digits) is not None
        currency = _CURRENCY.search(text, max(0, named.start - 4), named.start) is not None
        if decimals or currency or (bare and not _UNIT.match(text, named.end)):
            yield from named.values


def dates(text: str, clock: datetime, *, spoken: bool = False) -> Iterator[str]:
    """Every date that the text names, as YYYY-MM-DD, in every way it can be read.

    A date without a year is read in the clock's year, and in the years beside it when that comes within half a year.
    `spoken`: the words of a customer, who may say "tomorrow" or "Friday"; a weekday is one within two weeks.
    """
    for readings in mentions(text, clock, spoken=spoken):
        yield from readings


def mentions(text: str, clock: datetime, *, spoken: bool = False) -> Iterator[tuple[str, ...]]:
    """Every mention of a date with its readings, the likeliest first. See `dates`."""
    for found in _ISO.finditer(text):
        if _date(found["date"]) is not None:
            yield (found["date"], *(_local(found.group(), clock) if found["zone"] else ()))
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for found in pattern.finditer(text):
            readings = _named(found, clock)
            if readings:
                yield readings
    for found in _SLASHED.finditer(text):
        first, second, year = (int(part) for part in found.groups())
        readings = (*_valid(year, first, second), *_valid(year, second, first))
        if readings:
            yield readings
    if spoken:
        yield from _spoken(text, clock.date())


def whole_date(text: str, clock: datetime) -> str | None:
    """The date that a text is and nothing else, in its likeliest reading."""
    bare = text.strip().rstrip(".")
    if is_date(bare):
        return bare
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        found = pattern.fullmatch(bare)
        if found is not None:
            return next(iter(_named(found, clock)), None)
    return None


def months(text: str, clock: datetime) -> Iterator[str]:
    """Every month that the text names without a day, as YYYY-MM."""
    for found in _MONTH_ALONE.finditer(text):
        month = _month(found["month"])
        for year in [int(found["year"])] if found["year"] else _years(clock.date(), month, 15):
            yield f"{year:04}-{month:02}"


def times(text: str) -> Iterator[str]:
    """Every time of day that the text names, as HH:MM. "At three" may be meant in the afternoon."""
    for found in _CLOCK.finditer(text):
        hour, minute, half = int(found[1]), found[2], (found[3] or "").replace(".", "").casefold()
        yield f"{_of_day(hour, half):02}:{minute}"
    for found in _ISO.finditer(text):
        if found["time"]:
            yield found["time"][1:6]
    for found in _HOUR.finditer(text):
        half = found[2].replace(".", "").casefold()
        yield f"{_of_day(int(found[1]), half):02}:00"
        if half == "o'clock":
            yield f"{_of_day(int(found[1]), 'pm'):02}:00"
    for found in _WORDED_HOUR.finditer(text):
        if found["half"] or found["rest"]:
            hour = _HOURS_IN_WORDS.index(found["hour"].casefold()) + 1
            minute = "30" if found["half"] else "00"
            yield f"{hour % 12:02}:{minute}"
            yield f"{hour % 12 + 12:02}:{minute}"
    for word, said in (("noon", "12:00"), ("midday", "12:00"), ("midnight", "00:00")):
        if re.search(rf"\b{word}\b", text, re.IGNORECASE):
            yield said


def moment(text: str) -> datetime | None:
    """The instant or local time that an ISO 8601 text names; None for anything else, a date alone too."""
    if len(text) < 16 or text[4:5] != "-" or text[10:11] not in ("T", " "):
        return None
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


def is_date(text: str) -> bool:
    """Whether a text is a date, YYYY-MM-DD, and nothing else."""
    return len(text) == 10 and text[4] == "-" and _date(text) is not None


def _spoken(text: str, today: date) -> Iterator[tuple[str, ...]]:
    plain = " ".join(text.casefold().split())
    for words, days in _NEAR.items():
        if re.search(rf"\b{words}\b", plain):
            plain = plain.replace(words, " ")
            yield ((today + timedelta(days)).isoformat(),)
    for found in _WEEKDAY.finditer(plain):
        ahead = (_WEEKDAYS.index(found[1]) - today.weekday()) % 7
        yield tuple((today + timedelta(ahead + days)).isoformat() for days in (0, 7, -7))


def _named(found: re.Match[str], clock: datetime) -> tuple[str, ...]:
    month, day = _month(found["month"]), int(found["day"])
    years = [int(found["year"])] if found["year"] else _years(clock.date(), month, day)
    return tuple(reading for year in years for reading in _valid(year, month, day))


def _local(text: str, clock: datetime) -> Iterator[str]:
    found = moment(text)
    if found is not None and found.tzinfo is not None:
        yield found.astimezone(clock.tzinfo).date().isoformat()


def _years(today: date, month: int, day: int) -> list[int]:
    """The years in which a day without a year can be meant: the one at hand, and one beside it when that is near."""
    beside = [
        year
        for year in (today.year - 1, today.year + 1)
        for text in _valid(year, month, day)
        if abs((date.fromisoformat(text) - today).days) <= 183
    ]
    return [today.year, *beside]


def _month(name: str) -> int:
    return next(n for n, month in enumerate(_MONTHS, 1) if month.startswith(name.casefold()[:3]))


def _valid(year: int, month: int, day: int) -> Iterator[str]:
    try:
        yield date(year, month, day).isoformat()
    except ValueError:
        return


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


def _of_day(hour: int, half: str) -> int:
    if half == "pm":
        return hour % 12 + 12
    return hour % 12 if half == "am" else hour
