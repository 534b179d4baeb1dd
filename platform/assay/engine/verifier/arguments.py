"""Arguments of expected actions: their scalars, and what the tool's schema says of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from assay.engine.verifier import prose
from assay.engine.verifier.subject import Subject

_MONEY = re.compile(
    r"amount|fee|price|cost|total|refund|charge|premium|deductible|payout|payment|credit|deposit|balance|penalty|excess|"
    r"reimburse|paid|allowance|value"
)


def scalars(
    raw: Any, value: Any, schema: Mapping[str, Any], path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any, Any, Mapping[str, Any]]]:
    """(path, as written, as given to the tool, schema) of every scalar in an argument."""
    if isinstance(raw, Mapping) and isinstance(value, Mapping):
        properties = schema.get("properties", {}) if isinstance(schema, Mapping) else {}
        for key, inner in raw.items():
            yield from scalars(inner, value[key], properties.get(key, {}), (*path, key))
    elif isinstance(raw, list | tuple) and isinstance(value, list | tuple):
        items = schema.get("items", {}) if isinstance(schema, Mapping) else {}
        for number, inner in enumerate(raw):
            yield from scalars(inner, value[number], items, (*path, number))
    else:
        yield path, raw, value, schema if isinstance(schema, Mapping) else {}


def is_choice(schema: Mapping[str, Any]) -> bool:
    if "enum" in schema or "const" in schema or schema.get("type") == "boolean":
        return True
    members = [m for key in ("anyOf", "oneOf") for m in schema.get(key, ()) if isinstance(m, Mapping)]
    return bool(members) and all(is_choice(m) or m.get("type") == "null" for m in members)


def is_word(value: Any) -> bool:
    """Whether a value is a text that is no date: a name, an id, a code is what it is wherever it stands."""
    return isinstance(value, str) and not prose.is_date(value)


def is_money(argument: str, schema: Mapping[str, Any]) -> bool:
    """Whether an argument is an amount of money: any number, by its schema, with a name that says so."""
    return schema.get("type") == "number" and _MONEY.search(argument.casefold()) is not None


def input_of(subject: Subject, tool: str) -> Mapping[str, Any]:
    return next((s.input_schema for s in subject.world.specs if s.name == tool), {})


def kind_of(subject: Subject, tool: str) -> str:
    compiled = subject.world.compiled.get(tool)
    return compiled.spec.kind if compiled else "read"


def value_at(value: Any, keys: tuple[str | int, ...]) -> Any:
    for key in keys:
        value = value[key]
    return value


def with_value(value: Any, keys: tuple[str | int, ...], other: Any) -> Any:
    """A copy of a JSON value with another scalar at `keys`."""
    if not keys:
        return other
    if isinstance(value, Mapping):
        return {k: with_value(v, keys[1:], other) if k == keys[0] else v for k, v in value.items()}
    return [with_value(v, keys[1:], other) if n == keys[0] else v for n, v in enumerate(value)]
