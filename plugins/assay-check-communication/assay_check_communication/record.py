"""What the bot had done and seen by a moment of the conversation, for comparing with what it said."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from assay_sdk import TrialView


class Record:
    """The writes and look-ups of a trial. A write is a call that changed rows, whatever the bot was told of it."""

    def __init__(self, trial: TrialView) -> None:
        self._events = trial.events
        self._changes: dict[int, list[Mapping[str, Any]]] = {}
        for change in trial.changes:
            if change.get("call") is not None:
                self._changes.setdefault(change["call"], []).append(change)

    def writes(self, *, before: int | None = None, after: int | None = None) -> list[Mapping[str, Any]]:
        """The calls that changed rows, of the events before and after these indexes."""
        return [e for e in self._calls(before, after) if e["wrote"]]

    def calls(self, *, before: int | None = None, after: int | None = None) -> list[Mapping[str, Any]]:
        return list(self._calls(before, after))

    def did(self, stems: Sequence[str], writes: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """Those of the writes that are about one of the stems: by the tool's name, the tables and columns written, or
        a text that stands in the rows now."""
        return [write for write in writes if _holds(stems, self._says_of(write))]

    def read(self, stems: Sequence[str], *, before: int) -> bool:
        """Whether a look-up has shown that something of the kind is so: a text that says it, or a field named so that
        is not empty, zero or false."""
        return any(_shows(stems, e["result"]) for e in self._calls(before, None) if e["ok"])

    def amounts(self, writes: Iterable[Mapping[str, Any]]) -> set[Decimal]:
        """Every number in the arguments, results and rows of the writes, and by how much a cell was changed."""
        found: set[Decimal] = set()
        for write in writes:
            found.update(_numbers(write["arguments"]), _numbers(write["result"]))
            for change in self._changes.get(write["call"], ()):
                before, after = change.get("before") or {}, change.get("after") or {}
                found.update(_numbers(before), _numbers(after))
                for column in before.keys() & after.keys():
                    pair = [*_numbers(before[column]), *_numbers(after[column])]
                    if len(pair) == 2:
                        found.add(abs(pair[1] - pair[0]))
        return found

    def _calls(self, before: int | None, after: int | None) -> Iterator[Mapping[str, Any]]:
        first = 0 if after is None else after + 1
        return (e for e in self._events[first:before] if e["type"] == "tool")

    def _says_of(self, write: Mapping[str, Any]) -> str:
        parts = [write["tool"]]
        for change in self._changes.get(write["call"], ()):
            before, after = change.get("before") or {}, change.get("after") or {}
            parts.append(str(change.get("table", "")))
            written = {c: v for c, v in after.items() if c not in before or before[c] != v}
            parts += [str(c) for c in written if before]  # a new row has every column, whatever it is about
            parts += [v for v in written.values() if isinstance(v, str)]
        if not self._changes.get(write["call"]):
            parts.append(json.dumps(write["arguments"]))
        return " ".join(parts).casefold()


def _holds(stems: Sequence[str], text: str) -> bool:
    return any(re.search(rf"(?<![a-z]){stem}", text) for stem in stems)


def _shows(stems: Sequence[str], data: Any) -> bool:
    if isinstance(data, Mapping):
        return any(
            (_holds(stems, str(key).casefold()) and _is_something(value)) or _shows(stems, value)
            for key, value in data.items()
        )
    if isinstance(data, list | tuple):
        return any(_shows(stems, inner) for inner in data)
    return isinstance(data, str) and _holds(stems, data.casefold())


def _is_something(value: Any) -> bool:
    return value not in (None, 0, False, "", "0", "no", "none") and value not in ([], {})


def _numbers(data: Any) -> Iterator[Decimal]:
    if isinstance(data, Mapping):
        for inner in data.values():
            yield from _numbers(inner)
    elif isinstance(data, list | tuple):
        for inner in data:
            yield from _numbers(inner)
    elif isinstance(data, int | float | str) and not isinstance(data, bool):
        try:
            number = Decimal(str(data))
        except InvalidOperation:
            return
        if number.is_finite():
            yield abs(number)
