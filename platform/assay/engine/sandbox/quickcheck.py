"""A quick answer for the plain schemas that nearly all tools have.

The full validator takes 30 to 60 microseconds for five parameters, more than the tool's SQL. For
schemas made of the few keywords below, a compiled check answers in 2; whatever it does not accept,
and every other schema, goes to the full validator, which also finds the words for what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from assay.engine.sandbox.patterns import longest_text

Check = Callable[[Any], bool]

_DESCRIBING = {"description", "title", "default", "examples"}
_NUMBER_KEYS = {"type", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"}
_TEXT_KEYS = {"type", "minLength", "maxLength", "pattern", "enum"}


def quick_check(schema: Mapping[str, Any]) -> Check | None:
    """A check that says True only for arguments that fit; None when the schema is not plain enough."""
    keys = schema.keys() - _DESCRIBING - {"type", "properties", "required", "minProperties"}
    if keys != {"additionalProperties"} or schema["additionalProperties"] is not False:
        return None
    checks: dict[str, Check] = {}
    for name, inner in schema.get("properties", {}).items():
        check = _value_check(inner)
        if check is None:
            return None
        checks[name] = check
    required = tuple(schema.get("required", ()))
    least = schema.get("minProperties", 0)

    def fits(arguments: Any) -> bool:
        for name in required:
            if name not in arguments:
                return False
        if len(arguments) < least:
            return False
        for name, value in arguments.items():
            check = checks.get(name)
            if check is None or not check(value):
                return False
        return True

    return fits


def _value_check(schema: Any) -> Check | None:
    if not isinstance(schema, Mapping):
        return None
    keys = schema.keys() - _DESCRIBING
    match schema.get("type"):
        case "string" if keys <= _TEXT_KEYS:
            return _text_check(schema)
        case "integer" | "number" if keys <= _NUMBER_KEYS:
            return _number_check(schema)
        case "boolean" if keys == {"type"}:
            return lambda value: value is True or value is False
    return None


def _text_check(schema: Mapping[str, Any]) -> Check:
    least, most = schema.get("minLength", 0), schema.get("maxLength")
    pattern = schema.get("pattern")
    choices = schema.get("enum")
    allowed = None if choices is None else frozenset(c for c in choices if isinstance(c, str))
    compiled = None if pattern is None else re.compile(pattern)
    longest = None if pattern is None else longest_text(pattern)

    def fits(value: Any) -> bool:
        return (
            type(value) is str
            and (allowed is None or value in allowed)
            and len(value) >= least
            and (most is None or len(value) <= most)
            and (
                compiled is None
                or longest is None
                or (len(value) <= longest and compiled.search(value) is not None)
            )
        )

    return fits


def _number_check(schema: Mapping[str, Any]) -> Check:
    whole = schema["type"] == "integer"
    least, most = schema.get("minimum"), schema.get("maximum")
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")

    def fits(value: Any) -> bool:
        if type(value) is float:
            if whole and not value.is_integer():
                return False
        elif type(value) is not int:
            return False
        return (
            (least is None or value >= least)
            and (most is None or value <= most)
            and (above is None or value > above)
            and (below is None or value < below)
        )

    return fits
