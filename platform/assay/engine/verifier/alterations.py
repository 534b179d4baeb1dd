"""Wrong values for one argument, by its type: what a careless bot could have passed instead."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from typing import Any

from assay.engine.verifier.content import Content
from assay.engine.verifier.plan import Path

#: Rows beside a row that are tried in its place.
NEIGHBOURS = 2
#: Other values of an enum, or elements of a list, that are tried.
MOST_CHOICES = 40

_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT = re.compile(r"(\d{4}-\d{2}-\d{2})([T ]\d{2}:\d{2}.*)")
_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_CODE = re.compile(r"[\d@]")
_ID_NAME = re.compile(r"(^|_)(id|ids|number|no)$")

Altered = tuple[str, Any]  # kind of mutant, wrong value


def leaves(value: Any, schema: Any, path: Path = ()) -> Iterator[tuple[Path, Any, Mapping[str, Any]]]:
    """(path, value, schema) of everything in arguments that is no list and no mapping."""
    schema = schema if isinstance(schema, Mapping) else {}
    if isinstance(value, Mapping):
        properties = schema.get("properties", {})
        for key, inner in value.items():
            yield from leaves(inner, properties.get(key), (*path, key))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from leaves(inner, schema.get("items"), (*path, number))
    else:
        yield path, value, schema


def altered(path: Path, value: Any, schema: Mapping[str, Any], content: Content) -> Iterator[Altered]:
    """Wrong values for a value, without those that a schema of plain types refuses anyway."""
    choices = schema.get("enum")
    if isinstance(choices, list):
        for choice in choices[:MOST_CHOICES]:
            if choice != value:
                yield "enum", choice
    elif isinstance(value, bool):
        yield "boolean", not value
    elif isinstance(value, int | float):
        yield from _numbers(path, value, schema, content)
    elif isinstance(value, str):
        yield from _texts(value, schema, content)


def _numbers(path: Path, value: float, schema: Mapping[str, Any], content: Content) -> Iterator[Altered]:
    whole = schema.get("type") == "integer" or (isinstance(value, int) and schema.get("type") != "number")
    if whole:
        if _ID_NAME.search(_name(path)):
            others = _neighbours(value, content)
            if others:
                yield from (("row", other) for other in others)
                return
        yield "integer", value + 1
        yield "integer", value - 1
        return
    for other in (value + 0.01, value - 0.01):
        yield "amount_cent", round(other, 4)
    for other in (value * 1.1, value * 0.9):
        if round(other, 2) != value:
            yield "amount_tenth", round(other, 2)
    if value:
        yield "amount_sign", -value


def _texts(value: str, schema: Mapping[str, Any], content: Content) -> Iterator[Altered]:
    moment = _INSTANT.fullmatch(value)
    day = value if _DATE.fullmatch(value) else moment[1] if moment else None
    if day is not None:
        rest = moment[2] if moment else ""
        for days in (1, -1):
            try:
                yield "date", (date.fromisoformat(day) + timedelta(days=days)).isoformat() + rest
            except (ValueError, OverflowError):
                return  # no day of the calendar, or the first or last of it
        return
    if _TIME.fullmatch(value):
        yield "time", f"{(int(value[:2]) + 1) % 24:02}{value[2:]}"
        return
    # A subject may happen to be the name of a row; an id, a code or an address is no subject.
    named = " " in value or not (_CODE.search(value) or content.is_key(value))
    kind = "text" if named else "row"
    for other in _neighbours(value, content):
        yield kind, other


def _neighbours(value: Any, content: Content) -> list[Any]:
    """The same column of the rows that stand nearest to the row a value names."""
    for place, column in content.named(value)[:1]:
        table = place[0]
        found = (content.row((table, key))[column] for key in content.nearest(place))
        return list(dict.fromkeys(v for v in found if v is not None))[:NEIGHBOURS]
    return []


def mistyped(text: str) -> str:
    """The text with its last two letters or digits exchanged, or one more when they are the same."""
    at = [n for n, c in enumerate(text) if c.isalnum()][-2:]
    if len(at) == 2 and text[at[0]].casefold() != text[at[1]].casefold():
        letters = list(text)
        letters[at[0]], letters[at[1]] = letters[at[1]], letters[at[0]]
        return "".join(letters)
    return text + "1"


def _name(path: Path) -> str:
    return next((part for part in reversed(path) if isinstance(part, str)), "")
