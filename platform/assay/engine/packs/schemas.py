"""The JSON Schemas of tool inputs: checked themselves, and used to check arguments written in tasks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError, ValidationError

from assay.engine.packs.findings import listed, shown, suggestion
from assay.engine.packs.patterns import check_pattern

#: Values in one schema.
MOST_VALUES = 5_000

_PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
#: Keywords that reach outside of the schema or into themselves.
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor", "$defs", "definitions"})
_TYPES = ("array", "boolean", "integer", "null", "number", "object", "string")
#: Keywords whose value holds schemas: one, a list, or a mapping of names to them.
_ONE = ("items", "contains", "additionalProperties", "propertyNames", "not", "if", "then", "else", "unevaluatedItems", "unevaluatedProperties")
_LIST = ("allOf", "anyOf", "oneOf", "prefixItems")
_NAMED = ("properties", "patternProperties", "dependentSchemas")
_KEYWORDS = frozenset(
    {*_ONE, *_LIST, *_NAMED}
    | set(
        """$schema $comment type enum const multipleOf maximum exclusiveMaximum minimum exclusiveMinimum maxLength
        minLength pattern maxItems minItems uniqueItems maxContains minContains maxProperties minProperties required
        dependentRequired title description default deprecated readOnly writeOnly examples format""".split()
    )
)

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
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return [(tuple(error.absolute_path), f"This is no JSON Schema: {_schema_sentence(error)}")]
    for name in schema.get("properties", {}):
        if not _PARAMETER.fullmatch(name):
            message = f"{shown(name)} cannot be a parameter's name in SQL; use letters, digits and '_'."
            found.append((("properties", name), message))
    if schema.get("additionalProperties", False) is False and "patternProperties" not in schema:
        for name in schema.get("required", []):
            if name not in schema.get("properties", {}):
                near = suggestion(name, schema.get("properties", {}))
                found.append((("required",), f"{shown(name)} is required, but there is no such property{near}"))
    for name, inner in schema.get("properties", {}).items():
        if isinstance(inner, Mapping) and "default" in inner:
            wrong = next(Draft202012Validator(inner).iter_errors(inner["default"]), None)
            if wrong is not None:
                message = f"The default of {shown(name)} does not fit its own schema: {_argument_sentence(wrong)}"
                found.append((("properties", name, "default"), message))
    return found


def check_arguments(schema: Mapping[str, Any], arguments: Mapping[str, Any], unknown: frozenset[str]) -> list[Finding]:
    """What is wrong with arguments, each with the keys that lead to it.

    `schema` is one that check_schema accepts. Arguments named in `unknown` have values that are known only
    when the task runs; they count as given, and their values are not looked at.
    """
    found: list[Finding] = []
    whole = input_schema(schema)
    known = list(whole["properties"])
    for error in Draft202012Validator(whole, format_checker=Draft202012Validator.FORMAT_CHECKER).iter_errors(arguments):
        path = tuple(error.absolute_path)
        if path and path[0] in unknown:
            continue
        if not path and error.validator == "additionalProperties":
            found += [
                ((name,), f"There is no parameter {shown(name)}{suggestion(name, known)} The tool's are {_those(known)}.")
                for name in arguments
                if name not in whole["properties"] and not _fits_a_pattern(whole, name)
            ]
        elif not path and error.validator == "required":
            missing = next((n for n in error.validator_value if n not in arguments and repr(n) in error.message), "?")
            found.append(((), f"The argument {shown(missing)} is missing; the tool requires it."))
        elif path or not unknown:
            found.append((path, _argument_sentence(error)))
    return list(dict.fromkeys(found))


def count_values(value: Any) -> int:
    """How many values there are in a value of a YAML file, itself and collections included."""
    if isinstance(value, Mapping):
        return 1 + sum(count_values(v) for v in value.values())
    if isinstance(value, list | tuple):
        return 1 + sum(count_values(v) for v in value)
    return 1


def _those(names: list[str]) -> str:
    return listed(names) if names else "none"


def _fits_a_pattern(schema: Mapping[str, Any], name: str) -> bool:
    return any(re.search(pattern, name) for pattern in schema.get("patternProperties", {}))


def _keywords(at: tuple[str | int, ...], schema: object) -> Iterator[Finding]:
    """Unknown keywords, references and dangerous patterns, anywhere in the schema."""
    if isinstance(schema, bool):
        return
    if not isinstance(schema, Mapping):
        yield at, "A schema is a mapping, like {type: string}."
        return
    for keyword, value in schema.items():
        here = (*at, keyword)
        if keyword in _REFERENCES:
            yield here, f"{keyword} is not supported; write the schema out where it is needed."
        elif keyword not in _KEYWORDS:
            yield here, f"There is no JSON Schema keyword {shown(keyword)}{suggestion(keyword, _KEYWORDS)}"
        elif keyword == "type":
            wrong = [t for t in (value if isinstance(value, list) else [value]) if t not in _TYPES]
            if wrong:
                yield here, f"There is no type {shown(wrong[0])}; types are {listed(_TYPES)}."
        elif keyword == "pattern" and isinstance(value, str):
            yield from ((here, said) for said in [check_pattern(value)] if said)
        elif keyword in _ONE:
            yield from _keywords(here, value)
        elif keyword in _LIST and isinstance(value, list):
            for number, inner in enumerate(value):
                yield from _keywords((*here, number), inner)
        elif keyword in _NAMED and isinstance(value, Mapping):
            for name, inner in value.items():
                if keyword == "patternProperties":
                    yield from (((*here, name), said) for said in [check_pattern(name)] if said)
                yield from _keywords((*here, name), inner)


def _schema_sentence(error: SchemaError) -> str:
    where = f"{shown(str(error.absolute_path[-1]))}: " if error.absolute_path else ""
    return f"{where}{_argument_sentence(error)}"


def _argument_sentence(error: ValidationError | SchemaError) -> str:
    value, wanted = error.instance, error.validator_value
    rule = str(error.validator)
    if rule == "type":
        return f"{shown(value)} is not of type {listed(wanted, 'or') if isinstance(wanted, list) else wanted}."
    if rule == "enum" and isinstance(wanted, list):
        return f"{shown(value)} is none of {listed([shown(w) for w in wanted], 'and')}."
    if rule in {"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"}:
        words = {"minimum": "less than", "exclusiveMinimum": "not more than", "maximum": "more than"}
        return f"{shown(value)} is {words.get(rule, 'not less than')} {wanted}."
    if rule == "additionalProperties":
        return f"{shown(value)} has a property that the schema does not list."
    message = str(error.message)
    return f"{message if len(message) < 200 else message[:200] + '...'}."
