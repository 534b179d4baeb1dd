"""Check the values of YAML files against the models, and say what is wrong in plain sentences."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Tag, ValidationError
from pydantic_core import ErrorDetails

from assay.engine.packs.findings import MOST_IN_A_FILE, Findings, listed, shown, suggestion, torn
from assay.engine.packs.yamls import Document

M = TypeVar("M", bound=BaseModel)

#: The tags of unions in models.py.
_TAGS = ("<text>", "<mapping>", "<fields>", "<list>")
#: What the patterns of models.py mean.
_PATTERNS = {
    "^[a-z][a-z0-9_]{1,39}$": "2 to 40 small letters, digits and '_', beginning with a letter",
    "^[a-z][a-z0-9_]{2,63}$": "3 to 64 small letters, digits and '_', beginning with a letter",
    "^[a-z][a-z0-9_]{0,39}$": "at most 40 small letters, digits and '_', beginning with a letter",
    "^[a-z][a-z_]{1,39}$": "2 to 40 small letters and '_', beginning with a letter, like not_found",
    "^[0-9]{1,6}\\.[0-9]{1,6}\\.[0-9]{1,6}$": "three numbers like 1.0.0",
    "^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$": "a language tag like en-US",
    "^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*(\\.[A-Z0-9]+)*$": "a clause id like RET-4.2: capital letters, digits, '-' and '.'",
    "^[A-Z][A-Z0-9]*(-[A-Z0-9]+)+$": "an id like RET-RMA-007: capital letters, digits and '-'",
}


def validate(
    model: type[M], document: Document, findings: Findings, *keys: str | int, task: str | None = None
) -> M | None:
    """The value at `keys` of the document as a model; None, with every problem reported, if it does not fit."""
    value = document.value
    for key in keys:
        value = value[key]
    try:
        return model.model_validate(value)
    except ValidationError as error:
        for detail in error.errors(include_url=False, include_input=False)[: MOST_IN_A_FILE + 1]:
            path, rest = _path_in(value, detail["loc"])
            line = document.line(*keys, *path, key=detail["type"] == "extra_forbidden")
            message = _sentence(detail, model, path, rest, value)
            findings.add(document.path, line, message, _code(detail["type"]), task=task)
        return None


def kind_of(value: object) -> str:
    """What a value of a YAML file is, in a word or two."""
    if value is None:
        return "empty (null)"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "text"
    return "a list" if isinstance(value, list) else "a mapping"


def _path_in(value: Any, loc: Sequence[str | int]) -> tuple[list[str | int], list[str | int]]:
    """The part of an error's location that exists in the value, and what is left of it (a missing key).

    Tags of unions, like <text>, are in the location but not in the value.
    """
    path: list[str | int] = []
    for number, part in enumerate(loc):
        if part in _TAGS and not (isinstance(value, Mapping) and part in value):
            continue
        there = (
            part in value
            if isinstance(value, Mapping)
            else isinstance(value, list) and part in range(len(value))
        )
        if not there:
            return path, [p for p in loc[number:] if p not in _TAGS]
        value = value[part]
        path.append(part)
    return path, []


def _at(value: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        value = value[part]
    return value


def _sentence(
    detail: ErrorDetails, model: type[BaseModel], path: list[str | int], rest: list[str | int], whole: Any
) -> str:
    kind = detail["type"]
    if kind == "missing":
        return f"{shown(str(rest[-1]) if rest else '?')} is missing{_inside(path)}; add it."
    name = _name(path)
    if kind == "extra_forbidden":
        known = sorted(_keys_at(model, detail["loc"][:-1]))
        wrong = str(detail["loc"][-1])
        hint = torn(wrong, _at(whole, path)) or f" The keys are {listed(known)}."
        return f"There is no key {shown(wrong)} here{suggestion(wrong, known)}{hint}"
    value = _at(whole, path)
    simple = _SENTENCES.get(kind)
    if simple is not None:
        return simple(name, value, detail.get("ctx", {}))
    if kind == "value_error":
        text = str(detail.get("ctx", {}).get("error", detail["msg"]))
        return f"{text[:1].upper()}{text[1:]}."
    return f"{name}: {detail['msg'][:1].lower()}{detail['msg'][1:]}."


def _text(name: str, value: Any, _: Mapping[str, Any]) -> str:
    hint = "; put it into quotes" if isinstance(value, bool | int | float) else ""
    return f"{name} must be text, but is {kind_of(value)}{hint}."


def _number(name: str, value: Any, _: Mapping[str, Any]) -> str:
    hint = "; write it without quotes" if isinstance(value, str) and _is_number(value) else ""
    return f"{name} must be a number, but is {kind_of(value)}{hint}."


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _choice(name: str, value: Any, context: Mapping[str, Any]) -> str:
    expected = str(context.get("expected", ""))
    names = [part.strip().strip("'") for part in expected.replace(" or ", ", ").split(",")]
    near = suggestion(value, names) if isinstance(value, str) else "."
    hint = near if near != "." else ""
    return f"{name} is {shown(value)}, but must be {'one of ' if len(names) > 1 else ''}{listed(names, 'or')}{hint or '.'}"


def _pattern(name: str, value: Any, context: Mapping[str, Any]) -> str:
    pattern = str(context.get("pattern", ""))
    return f"{name} is {shown(value)}, but must be {_PATTERNS.get(pattern, f'text that matches {pattern}')}."


def _union(name: str, value: Any, context: Mapping[str, Any]) -> str:
    forms = {"<text>": "text", "<mapping>": "a mapping", "<fields>": "{fields: ...}", "<list>": "a list"}
    expected = [form for tag, form in forms.items() if tag in str(context.get("expected_tags", ""))]
    return f"{name} must be {listed(expected, 'or')}, but is {kind_of(value)}."


_SENTENCES: dict[str, Callable[[str, Any, Mapping[str, Any]], str]] = {
    "string_type": _text,
    "string_too_short": lambda name, _, __: f"{name} is empty; write something.",
    "string_too_long": lambda name, value, context: (
        f"{name} has {len(value):,} characters; at most {context.get('max_length')} are allowed."
    ),
    "string_pattern_mismatch": _pattern,
    "literal_error": _choice,
    "enum": _choice,
    "union_tag_invalid": _union,
    "tuple_type": lambda name, value, _: (
        f"{name} must be a list ([...] or lines with '- '), but is {kind_of(value)}."
    ),
    "dict_type": lambda name, value, _: f"{name} must be a mapping ('key: value'), but is {kind_of(value)}.",
    "model_type": lambda name, value, _: f"{name} must be a mapping ('key: value'), but is {kind_of(value)}.",
    "bool_type": lambda name, value, _: f"{name} must be true or false, but is {shown(value)}.",
    "float_type": _number,
    "greater_than": lambda name, value, context: (
        f"{name} must be more than {context.get('gt'):g}, but is {shown(value)}."
    ),
    "finite_number": lambda name, _, __: f"{name} must be a finite number.",
}


def _name(path: Sequence[str | int]) -> str:
    """`'title'`, or `Item 2 of 'clauses'`."""
    if not path:
        return "This"
    numbers: list[int] = []
    for part in reversed(path):
        if isinstance(part, str):
            inner = "".join(f"item {n + 1} of " for n in numbers) + shown(part)
            return f"{inner[:1].upper()}{inner[1:]}"
        numbers.append(part)
    return f"Item {numbers[0] + 1}"


def _inside(path: Sequence[str | int]) -> str:
    if not path:
        return ""
    name = _name(path)
    return f" in {name[:1].lower()}{name[1:]}"


def _code(kind: str) -> str:
    return {"missing": "missing_key", "extra_forbidden": "unknown_key"}.get(kind, "bad_value")


def _keys_at(model: type[BaseModel], loc: Sequence[str | int]) -> set[str]:
    """The keys that the model allows at a location of an error."""
    here: list[Any] = [model]
    for part in loc:
        here = [inner for kind in here for inner in _step(kind, part)]
    return {
        field.alias or name
        for kind in here
        for member in _members(kind, None)
        if isinstance(member, type) and issubclass(member, BaseModel)
        for name, field in member.model_fields.items()
    }


def _step(kind: Any, part: str | int) -> Iterator[Any]:
    if part in _TAGS:
        yield from _members(kind, part)
        return
    for member in _members(kind, None):
        if isinstance(member, type) and issubclass(member, BaseModel):
            for name, field in member.model_fields.items():
                if part in {name, field.alias}:
                    yield (
                        Annotated[(field.annotation, *field.metadata)] if field.metadata else field.annotation
                    )
        elif typing.get_origin(member) is tuple:
            yield typing.get_args(member)[0]
        elif typing.get_origin(member) is dict:
            yield typing.get_args(member)[1]


def _members(kind: Any, tag: str | None) -> Iterator[Any]:
    """The types a type may stand for: those of a union, without Annotated; with `tag`, the one that carries it."""
    origin = typing.get_origin(kind)
    if origin is Annotated:
        inner, *extras = typing.get_args(kind)
        if tag is not None and any(isinstance(e, Tag) and e.tag == tag for e in extras):
            yield inner
        else:
            yield from _members(inner, tag)
    elif origin in {typing.Union, types.UnionType}:
        for member in typing.get_args(kind):
            yield from _members(member, tag)
    elif tag is None and kind is not type(None):
        yield kind
