"""The JSON Schemas of tool inputs: checked themselves, and used to check arguments written in tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import jsonschema
from jsonschema.exceptions import SchemaError, ValidationError

from assay.engine.packs.findings import listed, shown, suggestion, torn

#: Values in one schema.
MOST_VALUES = 5_000

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
#: Keywords that reach outside of the schema or into themselves, or match patterns against names.
_REFUSED = (
    "$ref", "$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions",
    "patternProperties", "propertyNames",
)  # fmt: skip
#: Keywords whose value holds schemas: one, a list, or a mapping of names to them.
_ONE = (
    "items",
    "contains",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "unevaluatedItems",
    "unevaluatedProperties",
)
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "dependentSchemas")
_PLAIN = (
    "$schema", "$comment", "title", "description", "default", "deprecated", "readOnly", "writeOnly", "examples",
    "type", "enum", "const", "format", "pattern", "minLength", "maxLength",
    "minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
    "minItems", "maxItems", "uniqueItems", "minContains", "maxContains",
    "minProperties", "maxProperties", "required", "dependentRequired",
)  # fmt: skip
_KEYWORDS = frozenset({*_ONE, *_LIST, *_NAMED, *_PLAIN})

#: Patterns are tried where actions are replayed, under the bounds that calls have; not while a pack is read.
_Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": lambda *_: ()})  # type: ignore[no-untyped-call]

Finding = tuple[tuple[str | int, ...], str]  # keys into the schema or the arguments, sentence


def input_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema as it is meant: of type object, and closed unless it says otherwise."""
    return {"type": "object", "properties": {}, "additionalProperties": False, **schema}


def check_schema(schema: Mapping[str, Any]) -> list[Finding]:
    """What is wrong with the `input` of a tool, each with the keys that lead to it; nothing when it can be used."""
    found: list[Finding] = []
    if count_values(schema) > MOST_VALUES:
        return [((), f"The input holds more than {MOST_VALUES:,} values; make it smaller.")]
    if schema.get("type", "object") != "object":
        found.append((("type",), f"The input's type must be object, not {shown(schema['type'])}."))
    found += _keywords((), schema)
    if found:
        return found
    try:
        jsonschema.Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return [(tuple(error.absolute_path), f"This is no JSON Schema: {_sentence(error)}")]
    properties = schema.get("properties", {})
    for name in properties:
        if not _PARAMETER.fullmatch(name):
            message = f"{shown(name)} cannot be a parameter's name in SQL; use letters, digits and '_'."
            found.append((("properties", name), message))
    for name in schema.get("required", []):
        if name not in properties and schema.get("additionalProperties", False) is False:
            message = (
                f"{shown(name)} is required, but there is no such property{suggestion(name, properties)}"
            )
            found.append((("required",), message))
    for name, inner in properties.items():
        if isinstance(inner, Mapping) and "default" in inner:
            wrong = next(_Validator(inner).iter_errors(inner["default"]), None)
            if wrong is not None:
                message = f"The default of {shown(name)} does not fit its own schema: {_sentence(wrong)}"
                found.append((("properties", name, "default"), message))
    return found


def check_arguments(
    schema: Mapping[str, Any], arguments: Mapping[str, Any], unknown: frozenset[str]
) -> list[Finding]:
    """What is wrong with arguments, each with the keys that lead to it.

    `schema` is one that check_schema accepts. Arguments named in `unknown` have values that are known only
    when the task runs; they count as given, and their values are not looked at.
    """
    whole = input_schema(schema)
    known = list(whole["properties"])
    listing = listed(known) if known else "none"
    found: list[Finding] = []
    for error in _Validator(whole).iter_errors(arguments):
        path = tuple(error.absolute_path)
        if path:
            if path[0] not in unknown:
                found.append((path, f"Argument {shown(str(path[0]))}: {_sentence(error)}"))
        elif error.validator == "additionalProperties":
            for name in arguments:
                if name not in whole["properties"]:
                    near = suggestion(name, known)
                    found.append(
                        ((name,), f"There is no parameter {shown(name)}{near} The tool's are {listing}.")
                    )
        elif error.validator == "required":
            missing = [name for name in error.validator_value if name not in arguments]
            found += [
                ((), f"The argument {shown(name)} is missing; the tool requires it.") for name in missing
            ]
        elif not unknown:
            found.append((path, _sentence(error)))
    return list(dict.fromkeys(found))


def count_values(value: Any) -> int:
    """How many values there are in a value of a YAML file, itself and collections included."""
    if isinstance(value, Mapping):
        return 1 + sum(count_values(v) for v in value.values())
    if isinstance(value, list | tuple):
        return 1 + sum(count_values(v) for v in value)
    return 1


def _keywords(at: tuple[str | int, ...], schema: object) -> Iterator[Finding]:
    """Keywords that are unknown or not supported, anywhere in the schema."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        yield at, "A schema is a mapping, like {type: string}."
        return
    for keyword, value in schema.items():
        here = (*at, keyword)
        said = _keyword(keyword, value)
        if said is not None:
            yield here, said
        elif keyword in _ONE:
            yield from _keywords(here, value)
        elif keyword in _LIST and isinstance(value, list):
            for number, inner in enumerate(value):
                yield from _keywords((*here, number), inner)
        elif keyword in _NAMED and isinstance(value, Mapping):
            for name, inner in value.items():
                yield from _keywords((*here, name), inner)


def _keyword(keyword: str, value: Any) -> str | None:
    if keyword in _REFUSED:
        return f"{keyword} is not supported; write what you mean without it."
    if keyword not in _KEYWORDS:
        return f"There is no JSON Schema keyword {shown(keyword)}{suggestion(keyword, _KEYWORDS)}{torn(keyword, value)}"
    if keyword == "type":
        wrong = [t for t in (value if isinstance(value, list) else [value]) if t not in _TYPES]
        return f"There is no type {shown(wrong[0])}; types are {listed(_TYPES)}." if wrong else None
    return None


def _sentence(error: ValidationError | SchemaError) -> str:
    value, wanted = error.instance, error.validator_value
    rule = str(error.validator)
    if rule == "type":
        return (
            f"{shown(value)} is not of type {listed(wanted, 'or') if isinstance(wanted, list) else wanted}."
        )
    if rule == "enum" and isinstance(wanted, list):
        return f"{shown(value)} is none of {listed([shown(w) for w in wanted], 'and')}."
    if rule in {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}:
        words = {"minimum": "less than", "exclusiveMinimum": "not more than", "maximum": "more than"}
        return f"{shown(value)} is {words.get(rule, 'not less than')} {wanted}."
    if rule == "additionalProperties":
        return f"{shown(value)} has a property that the schema does not list."
    message = str(error.message)
    return f"{message if len(message) < 200 else message[:200] + '...'}."
