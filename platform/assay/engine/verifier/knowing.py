"""What a bot can know at a moment: everything that was said, written or returned so far, and where it stands."""

from __future__ import annotations

import difflib
import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal, get_args

from assay.engine.verifier import prose

Kind = Literal["opening", "fact", "customer", "result", "clock", "article", "policy", "tools"]
KINDS = get_args(Kind)

_QUOTES = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-", "\u00a0": " "}
)
_WORD = re.compile(r"\w+(?:[-.@'/&+]\w+)*")
_PHONE = re.compile(r"\+?[\d\s().-]{7,}")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value stands: in what, by which name ("email address", "found.0.customer_id", "RET-4.2")."""

    kind: Kind
    name: str = ""

    def __str__(self) -> str:
        words = {
            "opening": "the opening",
            "fact": f"the fact '{self.name}'",
            "customer": f"what the customer says ({self.name})",
            "result": f"the result of {self.name}",
            "policy": f"the policy ({self.name})" if self.name else "the policy",
            "article": f"the article section {self.name}",
            "clock": "the clock",
            "tools": f"the description of the tool {self.name}",
        }
        return words[self.kind]


@dataclass
class Passage:
    """A text in which values can stand. What it holds is worked out when it is first asked for."""

    place: Place
    text: str
    clock: datetime = field(repr=False)

    @property
    def spoken(self) -> bool:
        return self.place.kind in ("opening", "fact", "customer")

    @cached_property
    def plain(self) -> str:
        return plain(self.text)

    @cached_property
    def words(self) -> frozenset[str]:
        return words(self.text)

    @cached_property
    def numbers(self) -> frozenset[float]:
        return frozenset(value for value, _ in prose.numbers(self.text))

    @cached_property
    def amounts(self) -> frozenset[float]:
        if self.spoken:
            return self.numbers
        # In the texts of rows stand names of things and telephone numbers.
        return frozenset(prose.amounts(self.text, bare=self.place.kind != "result"))

    @cached_property
    def dates(self) -> frozenset[str]:
        return frozenset(prose.dates(self.text, self.clock, spoken=self.spoken))

    @cached_property
    def months(self) -> frozenset[str]:
        return frozenset(prose.months(self.text, self.clock)) | {day[:7] for day in self.dates}

    @cached_property
    def times(self) -> frozenset[str]:
        return frozenset(prose.times(self.text))

    @cached_property
    def phones(self) -> frozenset[str]:
        return frozenset(re.sub(r"\D", "", found) for found in _PHONE.findall(self.text))

    def holds_text(self, value: str, folded: str | None = None) -> bool:
        """Whether the text stands here as a whole, not inside a longer word, number, id or address.

        `folded`: plain(value), for who asks many passages.
        """
        if len(value) <= 2:
            wanted, here = value, self.text
        else:
            wanted, here = plain(value) if folded is None else folded, self.plain
        start = here.find(wanted)
        while start != -1:
            if _whole(here, start, start + len(wanted)):
                return True
            start = here.find(wanted, start + 1)
        return False


@dataclass
class Store:
    """What was learnt at one stage: texts, and the scalars of results, each where it was first met."""

    passages: list[Passage] = field(default_factory=list)
    rows: list[Passage] = field(
        default_factory=list
    )  # the scalars of one object, for names and addresses in parts
    numbers: dict[float, Place] = field(default_factory=dict)
    amounts: dict[float, Place] = field(default_factory=dict)
    texts: dict[str, Place] = field(default_factory=dict)
    instants: dict[float, Place] = field(default_factory=dict)  # by POSIX time


class Known:
    """Everything known so far."""

    def __init__(self, clock: datetime, stores: Sequence[Store] = ()) -> None:
        self._clock = clock
        self._own = Store()
        self._stores = (self._own, *stores)  # what was learnt last stands first

    def more(self) -> Known:
        """A Known of its own that holds all of this one."""
        return Known(self._clock, self._stores)

    def learn(self, value: Any, place: Place, *, amounts: bool = False) -> None:
        """Add what a result holds, at any depth. `amounts`: every number in it can be an amount of money."""
        for path, row in _rows(value):
            self._own.rows.append(Passage(Place(place.kind, _joined(place.name, path)), row, self._clock))
        for path, leaf in leaves(value):
            at = Place(place.kind, _joined(place.name, path))
            if isinstance(leaf, bool) or leaf is None:
                continue
            if isinstance(leaf, int | float):
                self._own.numbers.setdefault(float(leaf), at)
                if amounts or isinstance(leaf, float):  # a column of amounts is REAL; a count is not
                    self._own.amounts.setdefault(float(leaf), at)
            elif isinstance(leaf, str) and leaf:
                self._own.texts.setdefault(plain(leaf), at)
                self.say(leaf, at)
                instant = prose.moment(leaf)
                if instant is not None and instant.tzinfo is not None:
                    self._own.instants.setdefault(instant.timestamp(), at)

    def say(self, text: str, place: Place) -> None:
        """Add a text."""
        self._own.passages.append(Passage(place, text, self._clock))

    def passages(self) -> Iterator[Passage]:
        """What was learnt last first, down to policy and articles."""
        for store in self._stores:
            yield from store.passages

    def places(self, value: Any, *, money: bool = False) -> tuple[Place, ...]:
        """Every place in which a scalar value stands, in the form its type asks for; what is nearest to the task first.

        `money`: a number is an amount. The 6 of "6 days", of a count or of a line's number is none.
        """
        if isinstance(value, bool) or value is None:
            return ()
        if isinstance(value, int | float):
            found = self._number(float(value), money)
        else:
            found = self._text(value) if isinstance(value, str) else iter(())
        return tuple(sorted(dict.fromkeys(found), key=lambda place: KINDS.index(place.kind)))

    def knows_words(self, text: str) -> bool:
        """Whether every word of a text stands somewhere, for texts that are searched by."""
        wanted = words(text)
        return all(any(_has_word(p.words, word) for p in self.passages()) for word in wanted)

    def _number(self, value: float, money: bool) -> Iterator[Place]:
        for number, place in self._numbers(money):
            if _same(number, value) or (place.kind != "result" and _same(number, abs(value))):
                yield place
        if value == self._clock.year and not money:
            yield Place("clock")

    def _numbers(self, money: bool) -> Iterator[tuple[float, Place]]:
        for store in self._stores:
            yield from (store.amounts if money else store.numbers).items()
        for passage in self.passages():
            for number in passage.amounts if money else passage.numbers:
                yield number, passage.place

    def _text(self, value: str) -> Iterator[Place]:
        wanted = plain(value)
        if not wanted:
            return
        for store in self._stores:
            if wanted in store.texts:
                yield store.texts[wanted]
        as_date, as_moment = prose.is_date(value), prose.moment(value)
        for passage in self.passages():
            if passage.holds_text(value, wanted) or (as_date and value in passage.dates):
                yield passage.place
        if as_moment is not None:
            yield from self._moment(as_moment, value)
        elif re.fullmatch(r"\d{2}:\d{2}(:00)?", value):
            yield from (p.place for p in self.passages() if value[:5] in p.times)
        elif re.fullmatch(r"\d{4}-\d{2}", value):
            yield from (p.place for p in self.passages() if value in p.months)
        elif _PHONE.fullmatch(value):
            digits = re.sub(r"\D", "", value)
            yield from (p.place for p in self.passages() if len(digits) >= 7 and digits in p.phones)
        pieces = words(value)
        if len(pieces) > 1 and not as_date and as_moment is None:
            # The same words in another order, or the parts of a name or an address in one row. A policy is too long
            # for that: all words stand somewhere in it.
            short = (p for p in self.passages() if p.spoken or p.place.kind == "result")
            rows = (row for store in self._stores for row in store.rows)
            yield from (p.place for p in itertools.chain(short, rows) if pieces <= p.words)

    def _moment(self, value: datetime, text: str) -> Iterator[Place]:
        if value.tzinfo is not None:
            for store in self._stores:
                if value.timestamp() in store.instants:
                    yield store.instants[value.timestamp()]
        # A day and a time of day, said together or apart.
        local = value if value.tzinfo is None else value.astimezone(self._clock.tzinfo)
        for day, hour in {(text[:10], text[11:16]), (local.date().isoformat(), local.strftime("%H:%M"))}:
            days = (p.place for p in self.passages() if day in p.dates)
            if any(hour in p.times for p in self.passages()):
                yield from days

    def nearest(self, value: Any, *, money: bool = False) -> tuple[str, Place] | None:
        """The known value that looks most like one that is not known, and where it stands."""
        if isinstance(value, int | float):
            return self._nearest_number(float(value), money)
        if prose.is_date(str(value)):
            return self._nearest_date(str(value))
        return self._nearest_text(str(value))

    def _nearest_number(self, value: float, money: bool) -> tuple[str, Place] | None:
        found = [pair for pair in self._numbers(money) if pair[1].kind != "tools"]
        best = min(found, key=lambda pair: abs(pair[0] - value), default=None)
        return best and (f"{best[0]:g}" if best[0] == round(best[0]) else f"{best[0]:.2f}", best[1])

    def _nearest_date(self, value: str) -> tuple[str, Place] | None:
        day = date.fromisoformat(value)
        found = [(d, p.place) for p in self.passages() for d in p.dates]
        return min(found, key=lambda pair: abs((date.fromisoformat(pair[0]) - day).days), default=None)

    def _nearest_text(self, value: str) -> tuple[str, Place] | None:
        prefix = re.match(r"[A-Za-z]+-", value)
        near: dict[str, Place] = {}
        for passage in self.passages():
            if passage.place.kind in ("policy", "article", "tools"):
                continue
            candidates = [passage.text] if len(passage.text) <= 60 else []
            candidates += _WORD.findall(passage.text)
            for candidate in candidates:
                if prefix is None or candidate.startswith(prefix.group()):
                    near.setdefault(candidate, passage.place)
        best = difflib.get_close_matches(value, near, n=1, cutoff=0.5)
        return (best[0], near[best[0]]) if best else None


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every scalar in a JSON value with its path ("lines.0.paid")."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from leaves(inner, _joined(path, str(key)))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from leaves(inner, _joined(path, str(number)))
    else:
        yield path, value


def _rows(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every object in a JSON value with its own scalars as one text."""
    if isinstance(value, Mapping):
        own = [str(v) for v in value.values() if isinstance(v, str | int | float) and not isinstance(v, bool)]
        if len(own) > 1:
            yield path, "\n".join(own)
        for key, inner in value.items():
            yield from _rows(inner, _joined(path, str(key)))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _rows(inner, _joined(path, str(number)))


def _joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path and name else path or name


def plain(text: str) -> str:
    """A text without what never matters: capitals, white space, the kind of quotation mark, Markdown's stars."""
    return " ".join(text.translate(_QUOTES).replace("**", "").replace("`", "").casefold().split())


def words(text: str) -> frozenset[str]:
    """The words of a text: runs of letters and digits, with what ties them together."""
    return frozenset(_WORD.findall(plain(text)))


def _whole(text: str, start: int, end: int) -> bool:
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before[-1:].isalnum() or before[-1:] == "_" or after[:1].isalnum() or after[:1] == "_":
        return False
    if len(before) == 2 and before[1] in "-.@" and before[0].isalnum():
        return False
    return not (len(after) == 2 and after[0] in "-.@" and after[1].isalnum())


def _has_word(known: frozenset[str], word: str) -> bool:
    return word in known or f"{word}s" in known or (word.endswith("s") and word[:-1] in known)


def _same(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-12, abs_tol=1e-9)
