"""Words for what is wrong with a call's arguments, so that a bot can correct it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jsonschema.exceptions import ValidationError

#: How many mistakes one answer names.
MOST_NAMED = 5

#: {where} the value stands, what the keyword {wanted}, what the value {is}.
_WORDS = {
    "type": "{where} must be of type {wanted}; it is {kind}.",
    "enum": "{where} must be one of {wanted}; it is {is}.",
    "const": "{where} must be {wanted}; it is {is}.",
    "minimum": "{where} must be at least {wanted}; it is {is}.",
    "exclusiveMinimum": "{where} must be more than {wanted}; it is {is}.",
    "maximum": "{where} must be at most {wanted}; it is {is}.",
    "exclusiveMaximum": "{where} must be less than {wanted}; it is {is}.",
    "multipleOf": "{where} must be a multiple of {wanted}; it is {is}.",
    "minLength": "{where} must have at least {wanted} character(s).",
    "maxLength": "{where} must have at most {wanted} characters.",
    "pattern": "{where} must match the pattern {wanted}; it is {is}.",
    "format": "{where} must be a valid {wanted}; it is {is}.",
    "minItems": "{where} must have at least {wanted} item(s).",
    "maxItems": "{where} must have at most {wanted} items.",
    "uniqueItems": "{where} must not hold the same item twice.",
    "maxProperties": "{where} must have at most {wanted} names.",
}


def sentences(errors: Sequence[ValidationError], names: Sequence[str]) -> Iterator[str]:
    """One sentence for each mistake, the first few. `names`: the parameters that the tool has."""
    # absolute_path holds texts and numbers: compared as text, so that the order is always the same
    ordered = sorted(errors, key=lambda e: ([str(p) for p in e.absolute_path], str(e.validator), e.message))
    for error in ordered[:MOST_NAMED]:
        yield _sentence(error, names)
    if len(ordered) > MOST_NAMED:
        yield f"And {len(ordered) - MOST_NAMED} more."


def kind_of(value: Any) -> str:
    """The JSON type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list | tuple):
        return "array"
    return "object" if isinstance(value, Mapping) else type(value).__name__


def _sentence(error: ValidationError, names: Sequence[str]) -> str:
    rule, wanted, value = str(error.validator), error.validator_value, error.instance
    path = ".".join(str(p) for p in error.absolute_path)
    prefix = f"{path}." if path else ""
    if rule == "required":
        # one error for each missing name, and the message of jsonschema starts with it
        missing = next((n for n in _list(wanted) if error.message.startswith(repr(n))), "a parameter")
        return f"{prefix}{missing} is missing."
    if rule == "additionalProperties" and isinstance(value, Mapping) and isinstance(error.schema, Mapping):
        known = list(error.schema.get("properties", ()))
        extra = [n for n in value if n not in known]
        shown = ", ".join(prefix + _shown(n) for n in extra[:5])
        return f"Unknown parameter {shown}; the parameters are: {', '.join(known) or 'none'}."
    if rule == "minProperties" and not path:
        return f"Give at least {wanted} of: {', '.join(names)}."
    words = _WORDS.get(rule)
    if words is None:
        message = error.message if len(error.message) <= 200 else error.message[:200] + "..."
        return f"{path or 'The arguments'}: {message}."
    listed = (" or " if rule == "type" else ", ").join(_shown(w) for w in _list(wanted))
    return words.format_map(
        {"where": path or "The arguments", "wanted": listed, "is": _shown(value), "kind": kind_of(value)}
    )


def _list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= 60 else text[:57] + "..."
