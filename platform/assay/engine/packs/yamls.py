"""YAML as packs write it: the 1.2 core schema and nothing else, with the line of every value.

PyYAML's parser (libyaml's where it is there) gives events with marks; what they mean is decided here,
because PyYAML builds YAML 1.1, where `no` is false and 2026-03-02 a date. Nothing recurses, so depth
costs no stack, and an alias is an event that is refused and never followed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from assay.engine.packs.findings import Findings, shown
from assay.engine.packs.scalars import plain_scalar

#: Collections inside each other.
DEEPEST = 32
#: Values in all YAML files of a pack.
MOST_VALUES = 300_000

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: Control characters but tab and newline, and halves of a pair: they come by escapes, show nothing, and no database
#: and no JSON takes them all.
_UNUSABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")

#: What libyaml and PyYAML say, and what it means for somebody who edits a pack.
_HINTS = (
    (
        "mapping values are not allowed",
        "A ': ' stands where no value can; put text that holds ': ' into quotes.",
    ),
    (
        "cannot start any token",
        "This character cannot begin a value; indent with spaces, and put such text into quotes.",
    ),
    (
        "could not find expected ':'",
        "A 'key: value' is expected here; check the line above and the indentation.",
    ),
    (
        "expected ',' or '}'",
        "A ',' or '}' is missing in { ... }; text with a comma, ':' or a bracket needs quotes.",
    ),
    (
        "expected ',' or ']'",
        "A ',' or ']' is missing in [ ... ]; text with a comma, ':' or a bracket needs quotes.",
    ),
    ("expected key", "A key is expected here; check the indentation."),
    ("expected <block end>", "This does not fit what stands above; check the indentation."),
    ("expected '-' indicator", "A list item '- ...' is expected here; check the indentation."),
    (
        "block sequence entries are not allowed",
        "A list item cannot stand here; begin the list on a new line.",
    ),
    ("unexpected end of stream", "A quote that opens here is not closed."),
    (
        "unknown escape character",
        "There is an unknown escape in this text; in double quotes write \\\\ for a backslash.",
    ),
    (
        "expected <document start>",
        "Something follows the end of the document; check brackets and indentation.",
    ),
    ("node content", "A value is expected here; check brackets and commas."),
    ("expected the node content", "A value is expected here; check brackets and commas."),
    ("nesting depth", f"Values are nested more than {DEEPEST} deep; make it flatter."),
    ("tab character", "Indent with spaces, not with tabs."),
)


class Place:
    """Where a mapping or a list, and everything in it, stands. Lines count from 1."""

    __slots__ = ("inside", "keys", "line", "values")

    def __init__(self, line: int) -> None:
        self.line = line
        self.keys: dict[str, int] = {}  # of a mapping: the lines of its keys
        self.values: dict[str | int, int] = {}
        self.inside: dict[str | int, Place] = {}

    def locate(self, keys: Sequence[str | int], *, key: bool = False) -> int:
        """The line of the value at `keys`, or of the innermost thing around it that exists.

        With `key` it is the line of the last key itself, which differs when its value begins below.
        """
        place, line = self, self.line
        for number, part in enumerate(keys, start=1):
            if part not in place.values:
                break
            line = place.values[part]
            if key and number == len(keys) and isinstance(part, str):
                line = place.keys[part]
            inner = place.inside.get(part)
            if inner is None:
                break
            place = inner
        return line


@dataclass(frozen=True, slots=True)
class Document:
    """A YAML file: its value (dicts, lists, text, numbers, booleans, None) and where its parts stand."""

    path: str
    value: Any
    place: Place

    def line(self, *keys: str | int, key: bool = False) -> int:
        """The line of the value at `keys` (see Place.locate)."""
        return self.place.locate(keys, key=key)


class Budget:
    """How many values may still be read; shared by the files of a pack."""

    def __init__(self, values: int = MOST_VALUES) -> None:
        self.left = values


class _StopError(Exception):
    """The rest of the file is not worth reading."""


def parse(path: str, text: str, findings: Findings, budget: Budget | None = None) -> Document | None:
    """Read one YAML document; None, with the problems reported, when it cannot be used.

    Every duplicate key, anchor, alias and tag is reported; a file with a syntax error ends there.
    """
    budget = budget or Budget()
    if budget.left < 0:
        return None  # the file that took too much has its problem
    reader = _Reader(path, findings, budget)
    try:
        for event in _events(text):
            reader.take(event)
    except _StopError:
        return None
    except yaml.YAMLError as error:
        line, message = _explain(error, text)
        findings.add(path, line, message, "yaml_syntax")
        return None
    return None if reader.damaged else Document(path, reader.value, reader.place)


def _events(text: str) -> Iterator[Any]:
    loader = _LOADER(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


class _Level:
    """A collection being read."""

    __slots__ = ("kept", "key", "key_line", "keyed", "place", "value")

    def __init__(self, value: Any, place: Place, *, keyed: bool) -> None:
        self.value = value
        self.place = place
        self.keyed = keyed
        self.key: str | None = None  # of a mapping: the key whose value comes next
        self.key_line = 0
        self.kept = True  # False for the value of a key that appears twice


class _Reader:
    def __init__(self, path: str, findings: Findings, budget: Budget) -> None:
        self.value: Any = None
        self.place = Place(1)
        self.damaged = False  # a value is missing, so what is wrong with the rest would be guesswork
        self._path = path
        self._findings = findings
        self._budget = budget
        self._levels: list[_Level] = []
        self._documents = 0

    def take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._check_plain(event)
            self._scalar(event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._check_plain(event)
            self._open(event, keyed=kind is yaml.MappingStartEvent)
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._levels.pop()
        elif kind is yaml.AliasEvent:
            name = shown(f"*{event.anchor}")
            self._refuse(event, f"{name} is an alias; packs have none, write the value out.", "yaml_alias")
            self.damaged = True
            self._scalar_value(None, _line(event), blank=False)
        elif kind is yaml.DocumentStartEvent:
            self._documents += 1
            if self._documents > 1:
                self._refuse(event, "A second document begins here; a file holds one.", "yaml_documents")
                raise _StopError

    def _check_plain(self, event: Any) -> None:
        self._budget.left -= 1
        if self._budget.left < 0:
            self._refuse(
                event,
                f"The YAML files hold more than {MOST_VALUES:,} values; use CSV for seed rows.",
                "too_many_values",
            )
            raise _StopError
        if event.anchor is not None:
            name = shown(f"&{event.anchor}")
            message = f"{name} is an anchor; packs have none, write the value out where it is needed."
            self._refuse(event, message, "yaml_anchor")
        if event.tag is not None:
            self._refuse(event, f"{shown(event.tag)} is a tag; packs have none, delete it.", "yaml_tag")

    def _refuse(self, event: Any, message: str, code: str) -> None:
        self._findings.add(self._path, _line(event), message, code)

    def _open(self, event: Any, *, keyed: bool) -> None:
        line = _line(event)
        if len(self._levels) >= DEEPEST:
            self._refuse(
                event, f"Values are nested more than {DEEPEST} deep here; make it flatter.", "yaml_depth"
            )
            raise _StopError
        if self._levels and self._levels[-1].keyed and self._levels[-1].key is None:
            self._refuse(event, "A list or mapping cannot be a key; keys are text.", "yaml_key")
            raise _StopError
        value: Any = {} if keyed else []
        place = Place(line)
        self._attach(value, line, place)
        self._levels.append(_Level(value, place, keyed=keyed))

    def _scalar(self, event: Any) -> None:
        line = _line(event)
        if found := _UNUSABLE.search(event.value):
            code = f"U+{ord(found.group()):04X}"
            self._refuse(
                event, f"This text holds the control character {code}; take it out.", "yaml_character"
            )
        if self._levels and self._levels[-1].keyed and self._levels[-1].key is None:
            self._key(event.value, line)
            return
        if not event.implicit[0]:
            self._scalar_value(event.value, line, blank=False)
            return
        try:
            value = plain_scalar(event.value)
        except ValueError as error:
            self._refuse(event, str(error), "yaml_number")
            value = event.value
        self._scalar_value(value, line, blank=not event.value)

    def _scalar_value(self, value: Any, line: int, *, blank: bool) -> None:
        if self._levels and self._levels[-1].keyed:
            level = self._levels[-1]
            if level.key is None:  # an alias as a key
                level.key, level.key_line, level.kept = "", line, False
                return
            if blank:  # the mark of nothing stands where the next thing begins
                line = level.key_line
        self._attach(value, line, None)

    def _key(self, key: str, line: int) -> None:
        level = self._levels[-1]
        level.key, level.key_line = key, line
        level.kept = key not in level.place.keys
        if not level.kept:
            first = level.place.keys[key]
            message = f"The key {shown(key)} appears twice, first in line {first}; keep one."
            self._findings.add(self._path, line, message, "duplicate_key")

    def _attach(self, value: Any, line: int, place: Place | None) -> None:
        if not self._levels:
            self.value = value
            self.place = place or Place(line)
            return
        level = self._levels[-1]
        at: str | int
        if level.keyed:
            assert level.key is not None
            at, level.key = level.key, None
            if not level.kept:
                return
            level.place.keys[at] = level.key_line
            level.value[at] = value
        else:
            at = len(level.value)
            level.value.append(value)
        level.place.values[at] = line
        if place is not None:
            level.place.inside[at] = place


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1


def _explain(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    """Line and sentence for what PyYAML could not read."""
    mark = getattr(error, "problem_mark", None)
    if not isinstance(error, yaml.MarkedYAMLError) or mark is None:
        return 0, "The file is no YAML; it holds characters that YAML does not allow."
    said, context, opened = error.problem or "it is not YAML", error.context or "", error.context_mark
    if opened is not None and mark.index >= len(text.rstrip()):
        # Something is not closed: the place where it opens helps, the end of the file does not.
        for kind, form in (("flow sequence", "[ ... ]"), ("flow mapping", "{ ... }")):
            if kind in context:
                return opened.line + 1, f"The {form} that opens here is not closed."
        mark = opened
    # The mark of an end may stand a line behind the last one.
    line = min(mark.line, text.rstrip().count("\n")) + 1
    for needle, sentence in _HINTS:
        if needle in said:
            return line, sentence
    return line, f"The YAML cannot be read here: {said}."
