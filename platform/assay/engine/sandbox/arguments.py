"""Check what a bot passes to a tool, and say what is wrong so that the bot can correct it.

Whatever comes in (broken JSON, NaN, numbers of a thousand digits, lone surrogates, nesting without
end) is answered with an error; nothing raises.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import jsonschema
from jsonschema.exceptions import SchemaError, ValidationError

from assay.engine.sandbox.complaints import kind_of, sentences
from assay.engine.sandbox.patterns import BadPattern, longest_text
from assay.engine.sandbox.quickcheck import quick_check
from assay_sdk import PackFault

#: Bounds of one call's arguments: depth of nesting, characters of the JSON text, values in all.
DEEPEST = 32
LONGEST_TEXT = 50_000  # so that a tool may repeat them within the bytes of a result
MOST_VALUES = 1_000
#: Keywords in a tool's schema, at most.
MOST_KEYWORDS = 2_000

#: References can make a small schema endless; the others match what bots write against keys.
_REFUSED = ("$ref", "$dynamicRef", "$defs", "definitions", "patternProperties", "propertyNames")
#: Formats that are checked; others only describe.
_FORMATS = jsonschema.FormatChecker(formats=("date", "time", "date-time", "email", "uuid"))


def _bounded_pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[ValidationError]:
    if isinstance(instance, str):
        if len(instance) > longest_text(pattern):
            yield ValidationError(f"the text is longer than {longest_text(pattern):,} characters")
        elif not re.search(pattern, instance):
            yield ValidationError(f"{instance!r} does not match {pattern!r}")


def _decimal_multiple(validator: Any, step: Any, instance: Any, schema: Any) -> Iterator[ValidationError]:
    # In decimals, as people write amounts: in binary 19.99 is no multiple of 0.01.
    if validator.is_type(instance, "number") and _written(instance) % _written(step):
        yield ValidationError(f"{instance!r} is not a multiple of {step!r}")


def _written(number: float) -> Fraction:
    return Fraction(number) if isinstance(number, int) else Fraction(repr(number))


_Validator: Any = jsonschema.validators.extend(  # type: ignore[no-untyped-call]  # as jsonschema ships it
    jsonschema.Draft202012Validator, {"pattern": _bounded_pattern, "multipleOf": _decimal_multiple}
)


class BadArguments(Exception):
    """The arguments do not fit; the message tells the bot what to correct."""


class BadSchema(ValueError):
    """The tool's `input` cannot be used; the message tells the pack's author why."""


class ArgumentChecker:
    """The `input` schema of one tool, compiled once."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        """Raises BadSchema."""
        _refuse_unbounded(schema)
        if schema.get("type") != "object":
            raise BadSchema("'input' is a JSON Schema of type object: write 'type: object'.")
        properties = schema.get("properties", {})
        self.schema: dict[str, Any] = {"additionalProperties": False, "properties": properties, **schema}
        try:
            jsonschema.Draft202012Validator.check_schema(self.schema)
        except SchemaError as error:
            where = ".".join(str(p) for p in error.absolute_path) or "input"
            raise BadSchema(f"'input' is not a valid JSON Schema at {where}: {error.message}") from error
        self._validator = _Validator(self.schema, format_checker=_FORMATS)
        self._fits = quick_check(self.schema)
        self.names: tuple[str, ...] = tuple(properties)
        self._absent = {n: sql_value(_default(p)) for n, p in properties.items()}
        self._whole = frozenset(
            n for n, p in properties.items() if isinstance(p, Mapping) and p.get("type") == "integer"
        )

    def bind(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The values for SQL, one for each property. `arguments` come from `read_arguments`. Raises BadArguments."""
        if self._fits is None or not self._fits(arguments):
            try:
                errors = list(self._validator.iter_errors(arguments))
            except RecursionError as error:
                raise PackFault("The tool's 'input' is nested too deeply to be checked.") from error
            if errors:
                raise BadArguments(" ".join(sentences(errors, self.names)))
        values = dict(self._absent)
        for name, value in arguments.items():
            if name in values:
                whole = name in self._whole and isinstance(value, float)
                values[name] = int(value) if whole else sql_value(value)
        return values


def read_arguments(arguments: Any) -> dict[str, Any]:
    """The arguments as a fresh JSON object. Raises BadArguments."""
    if isinstance(arguments, str | bytes | bytearray):
        arguments = _parsed(arguments)
    if not isinstance(arguments, Mapping):
        raise BadArguments(f"The arguments must be a JSON object, not {kind_of(arguments)}.")
    budget = [MOST_VALUES]
    copied = _copied(arguments, DEEPEST, budget)
    assert isinstance(copied, dict)
    return copied


def recordable(arguments: Any) -> Any:
    """Arguments that could not be read, as text that can be stored anywhere."""
    if isinstance(arguments, bytes | bytearray):
        arguments = bytes(arguments).decode("utf-8", "replace")
    if not isinstance(arguments, str):
        try:
            arguments = json.dumps(arguments, default=repr, ensure_ascii=False)
        except (ValueError, TypeError, RecursionError):
            arguments = f"({type(arguments).__name__} that is not JSON)"
    text = arguments[:10_000].encode("utf-8", "replace").decode("utf-8")
    return text.replace("\x00", "\ufffd")


def written(arguments: Mapping[str, Any]) -> int:
    """The size of arguments that were read, in bytes."""
    return len(json.dumps(arguments, ensure_ascii=False).encode())


def sql_value(value: Any) -> Any:
    """A JSON value as SQL sees it: booleans are 0 and 1, arrays and objects are JSON text."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return value


def _default(schema: Any) -> Any:
    return schema.get("default") if isinstance(schema, Mapping) else None


def _parsed(text: str | bytes | bytearray) -> Any:
    if len(text) > LONGEST_TEXT:
        raise BadArguments(f"The arguments are longer than {LONGEST_TEXT:,} characters.")
    if isinstance(text, str) and not text.strip():
        return {}  # models send an empty text to a tool without parameters
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise BadArguments(
            f"The arguments are not valid JSON: {error.msg} at character {error.pos + 1}."
        ) from None
    except RecursionError:
        raise BadArguments("The arguments are nested too deeply.") from None
    except ValueError as error:  # a constant, a number of thousands of digits, text that is not UTF-8
        raise BadArguments(f"The arguments are not valid JSON: {error}.") from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a JSON number")


def _copied(value: Any, depth: int, budget: list[int]) -> Any:
    budget[0] -= 1
    if budget[0] < 0:
        raise BadArguments(f"The arguments hold more than {MOST_VALUES:,} values.")
    if value is None or value is True or value is False:
        return value
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise BadArguments("A number in the arguments is too large.")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise BadArguments("A number in the arguments is not finite.")
        return float(value)
    if depth == 0:
        raise BadArguments(f"The arguments are nested more than {DEEPEST} levels deep.")
    if isinstance(value, Mapping):
        copied = {}
        for key, inner in value.items():
            if not isinstance(key, str):
                raise BadArguments(f"Names in the arguments must be texts, not {kind_of(key)}.")
            copied[_text(key)] = _copied(inner, depth - 1, budget)
        return copied
    if isinstance(value, list | tuple):
        return [_copied(inner, depth - 1, budget) for inner in value]
    raise BadArguments(f"A value of type {type(value).__name__} is not JSON.")


def _text(value: str) -> str:
    if len(value) > LONGEST_TEXT:
        raise BadArguments(f"A text in the arguments is longer than {LONGEST_TEXT:,} characters.")
    if value.isascii():
        if "\x00" not in value:
            return str(value)
    else:
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise BadArguments("A text in the arguments holds half a character (a lone surrogate).") from None
        if "\x00" not in value:
            return str(value)
    raise BadArguments("A text in the arguments holds a NUL character.")


def _refuse_unbounded(schema: Any) -> None:
    """Raises BadSchema for what could make checking a value endless."""
    waiting = [(schema, False)]
    seen = 0
    while waiting:
        value, names = waiting.pop()
        if isinstance(value, Mapping):
            seen += len(value)
            if seen > MOST_KEYWORDS:
                raise BadSchema(f"'input' has more than {MOST_KEYWORDS:,} keywords.")
            for name, inner in value.items():
                # under 'properties' stand the names of parameters, not keywords
                if not names and name in _REFUSED:
                    raise BadSchema(f"'{name}' is not possible in 'input': write the schema out.")
                if not names and name == "pattern" and isinstance(inner, str):
                    try:
                        longest_text(inner)
                    except BadPattern as error:
                        raise BadSchema(f"In 'input' {error}.") from error
                if name not in ("default", "enum", "const", "examples") or names:
                    waiting.append((inner, not names and name == "properties"))
        elif isinstance(value, list | tuple):
            waiting += [(inner, False) for inner in value]
