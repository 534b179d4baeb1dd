"""What a bot passes: checked, explained, and never a reason to break."""

from __future__ import annotations

import json
import math
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.sandbox import CallOutcome, World
from assay.engine.sandbox.arguments import ArgumentChecker, BadArguments, BadSchema
from assay.engine.sandbox.patterns import BadPattern, longest_text
from assay.engine.sandbox.quickcheck import quick_check

from .conftest import world_of
from .test_steps import read

PROPERTIES = (
    "order_id: {type: string, pattern: '^ORD-[0-9]+$'}, amount: {type: number, exclusiveMinimum: 0, maximum: 500}, "
    "qty: {type: integer, minimum: 1}, reason: {type: string, enum: [late, lost]}, note: {type: string, minLength: 2, maxLength: 5}, "
    "day: {type: string, format: date}, tags: {type: array, minItems: 1, maxItems: 2, uniqueItems: true, items: {type: string}}, "
    "to: {type: object, required: [city], additionalProperties: false, properties: {city: {type: string}, zip: {type: [string, 'null']}}}"
)


@pytest.fixture(scope="module")
def world() -> World:
    return world_of(
        tools=read("", "SELECT :order_id AS id", PROPERTIES).replace(
            "type: object, properties", "type: object, required: [order_id], properties", 1
        )
    )


def call(world: World, arguments: Any) -> CallOutcome:
    with world.open() as sandbox:
        outcome = sandbox.call("try_it", arguments)
        assert not sandbox.changes()
        return outcome


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "order_id is missing."),
        ({"order_id": "ORD-1", "colour": "red"}, "Unknown parameter colour; the parameters are: order_id, amount, qty, reason, note, day, tags, to."),
        ({"order_id": 7}, "order_id must be of type string; it is number."),
        ({"order_id": None}, "order_id must be of type string; it is null."),
        ({"order_id": "7"}, "order_id must match the pattern ^ORD-[0-9]+$; it is 7."),
        ({"order_id": "ORD-1", "amount": 0}, "amount must be more than 0; it is 0."),
        ({"order_id": "ORD-1", "amount": 501.5}, "amount must be at most 500; it is 501.5."),
        ({"order_id": "ORD-1", "amount": "5"}, "amount must be of type number; it is string."),
        ({"order_id": "ORD-1", "amount": True}, "amount must be of type number; it is boolean."),
        ({"order_id": "ORD-1", "qty": 1.5}, "qty must be of type integer; it is number."),
        ({"order_id": "ORD-1", "qty": 0}, "qty must be at least 1; it is 0."),
        ({"order_id": "ORD-1", "reason": "bored"}, "reason must be one of late, lost; it is bored."),
        ({"order_id": "ORD-1", "note": "x"}, "note must have at least 2 character(s)."),
        ({"order_id": "ORD-1", "note": "xxxxxx"}, "note must have at most 5 characters."),
        ({"order_id": "ORD-1", "day": "2026-02-30"}, "day must be a valid date; it is 2026-02-30."),
        ({"order_id": "ORD-1", "tags": []}, "tags must have at least 1 item(s)."),
        ({"order_id": "ORD-1", "tags": ["a", "a"]}, "tags must not hold the same item twice."),
        ({"order_id": "ORD-1", "tags": ["a", 1]}, "tags.1 must be of type string; it is number."),
        ({"order_id": "ORD-1", "to": {}}, "to.city is missing."),
        ({"order_id": "ORD-1", "to": {"city": "A", "zip": 1}}, "to.zip must be of type string or null; it is number."),
        ({"order_id": "ORD-1", "to": {"city": "A", "street": "B"}}, "Unknown parameter to.street; the parameters are: city, zip."),
        ({"qty": 0, "amount": -1}, "order_id is missing. amount must be more than 0; it is -1. qty must be at least 1; it is 0."),
        ("[1]", "The arguments must be a JSON object, not array."),
        ("null", "The arguments must be a JSON object, not null."),
        ('{"order_id": "ORD-1"', "The arguments are not valid JSON: Expecting ',' delimiter at character 21."),
        ('{"order_id": NaN}', "The arguments are not valid JSON: NaN is not a JSON number."),
        ('{"amount": -Infinity}', "The arguments are not valid JSON: -Infinity is not a JSON number."),
        ({"amount": math.nan}, "A number in the arguments is not finite."),
        ({"amount": 10**400}, "A number in the arguments is too large."),
        ({"qty": 2**63}, "A number in the arguments is too large."),
        ({"order_id": "\ud800"}, "A text in the arguments holds half a character (a lone surrogate)."),
        ({"order_id": "a\x00b"}, "A text in the arguments holds a NUL character."),
        ({"order_id": {1, 2}}, "A value of type set is not JSON."),
        ({1: "x"}, "Names in the arguments must be texts, not number."),
        ({"order_id": "x" * 300_000}, "A text in the arguments is longer than 50,000 characters."),
        ("x" * 300_000, "The arguments are longer than 50,000 characters."),
        ({"tags": ["x"] * 2000}, "The arguments hold more than 1,000 values."),
        (None, "The arguments must be a JSON object, not null."),
        (7, "The arguments must be a JSON object, not number."),
    ],
)  # fmt: skip
def test_a_mistake_is_named_so_that_a_bot_can_correct_it(world: World, arguments: Any, message: str):
    outcome = call(world, arguments)
    assert (outcome.ok, outcome.error, outcome.message, outcome.kind) == (
        False,
        "invalid_arguments",
        message,
        "read",
    )


def test_a_long_number_in_json_text_is_no_trouble(world: World):
    assert call(world, '{"qty": ' + "9" * 5000 + "}").error == "invalid_arguments"
    assert call(world, '{"amount": 1e999}').message == "A number in the arguments is not finite."


def test_endless_nesting_is_no_trouble(world: World):
    assert call(world, '{"tags": ' + "[" * 100_000).error == "invalid_arguments"
    deep: Any = []
    for _ in range(100):
        deep = [deep]
    assert call(world, {"tags": deep}).message == "The arguments are nested more than 32 levels deep."
    circle: dict[str, Any] = {}
    circle["to"] = circle
    assert call(world, circle).error == "invalid_arguments"


def test_right_arguments_may_come_as_text_or_object(world: World):
    given = {
        "order_id": "ORD-7",
        "amount": 2.5,
        "qty": 2.0,
        "reason": "late",
        "day": "2026-02-28",
        "tags": ["a"],
        "to": {"city": "Ä", "zip": None},
    }
    for arguments in (given, json.dumps(given), json.dumps(given).encode()):
        outcome = call(world, arguments)
        assert outcome.content == {"id": "ORD-7"}
        assert outcome.arguments == given


def test_an_empty_text_means_no_arguments(world: World):
    assert call(world, "  ").message == "order_id is missing."


def test_many_mistakes_are_counted(world: World):
    many = {f"p{n}": n for n in range(30)} | {
        "qty": 0,
        "amount": 0,
        "note": "",
        "reason": "",
        "day": "",
        "tags": 1,
        "to": 1,
    }
    message = call(world, many).message
    assert message is not None
    assert message.startswith("Unknown parameter p0, p1, p2, p3, p4; the parameters are")
    assert message.endswith("And 4 more.")


@pytest.mark.parametrize("amount", [19.99, 0.1 + 0.2 - 0.1 - 0.1, 25, -5.55, 10**30, 1e300])
def test_an_amount_in_cents_is_a_multiple_of_a_cent(amount: float):
    assert priced().bind({"amount": round(amount, 2)}) == {"amount": round(amount, 2)}


@pytest.mark.parametrize("amount", [19.995, 0.001, 1e-300])
def test_an_amount_with_part_of_a_cent_is_refused(amount: float):
    with pytest.raises(BadArguments, match=r"must be a multiple of 0\.01"):
        priced().bind({"amount": amount})


def priced() -> ArgumentChecker:
    return ArgumentChecker(
        {"type": "object", "properties": {"amount": {"type": "number", "multipleOf": 0.01}}}
    )


def test_an_unknown_tool_is_answered_with_the_nearest_name(library: World):
    with library.open() as sandbox:
        outcome = sandbox.call("loan_list", {"member_id": "MEM-1"})
        assert (outcome.error, outcome.kind) == ("unknown_tool", "unknown")
        assert outcome.message == "There is no tool loan_list. Did you mean loans_list?"
        strange: Any
        for strange in ("", "loans_list\x00", "x" * 10_000, "\ud800", None, 7, ["loans_list"]):
            outcome = sandbox.call(strange, "{")
            assert outcome.error == "unknown_tool"
            assert json.dumps(outcome.message).isascii()


class _Breaks:
    def __repr__(self) -> str:
        return "\ud800"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
_names = st.sampled_from(
    [
        "member_id",
        "loan_id",
        "days",
        "email",
        "interests",
        "hold_ids",
        "text",
        "limit",
        "query",
        "section",
        "x",
    ]
)
_arguments = st.one_of(
    _json,
    st.dictionaries(_names, _json, max_size=5),
    st.dictionaries(_names, _json, max_size=5).map(json.dumps),
    st.text(max_size=60),
    st.binary(max_size=30),
    st.sampled_from([object(), {"days": object()}, {1: 2}, {"member_id": _Breaks()}, '{"days": 1e400}']),
)


@given(
    st.sampled_from(
        [
            "loans_list",
            "loans_renew",
            "members_update",
            "holds_cancel",
            "catalogue_search",
            "knowledge_search",
            "knowledge_read",
            "nope",
        ]
    ),
    _arguments,
)
@settings(deadline=None, max_examples=500)
def test_whatever_a_bot_passes_it_is_answered_and_can_be_recorded(library: World, tool: str, arguments: Any):
    with library.open() as sandbox:
        outcome = sandbox.call(tool, arguments)
        stored = json.dumps(
            [outcome.arguments, outcome.content, outcome.message], allow_nan=False, ensure_ascii=False
        )
        stored.encode("utf-8")
        assert "\x00" not in str(outcome.arguments)
        assert outcome.ok or (outcome.error and outcome.message)
        assert outcome.ok or not sandbox.changes()


# --- the schema itself -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "says"),
    [
        ({"type": "array"}, "type: object"),
        ({"type": "object", "properties": {"a": {"type": "strin"}}}, "not a valid JSON Schema"),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://example.org/x.json"}}},
            "'$ref' is not possible",
        ),
        ({"type": "object", "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}}, "'$defs' is not possible"),
        ({"type": "object", "patternProperties": {"^(a+)+$": {}}}, "'patternProperties' is not possible"),
        (
            {"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}},
            "can take for ever",
        ),
        ({"type": "object", "properties": {"a": {"items": {"pattern": "["}}}}, "not a regular expression"),
        (
            {"type": "object", "properties": {f"a{n}": {"type": "string"} for n in range(2000)}},
            "more than 2,000 keywords",
        ),
    ],
)
def test_a_schema_that_cannot_be_used_is_refused(schema: dict[str, Any], says: str):
    with pytest.raises(BadSchema) as caught:
        ArgumentChecker(schema)
    assert says in str(caught.value)


def test_a_parameter_may_be_called_like_a_keyword():
    checker = ArgumentChecker(
        {"type": "object", "properties": {"pattern": {"type": "string"}, "definitions": {"type": "string"}}}
    )
    assert checker.bind({"pattern": "(a+)+"}) == {"pattern": "(a+)+", "definitions": None}


@pytest.mark.parametrize(
    "pattern",
    ["(a+)+", "(a*)*b", "(a|aa)+$", "((a{1,9})+)", "(.*)(.*)(.*)(.*)", r"(a)\1+", "(x+x+)+y", "(?:a?){70,}"],
)
def test_patterns_that_could_take_for_ever_are_refused(pattern: str):
    with pytest.raises(BadPattern):
        longest_text(pattern)


@pytest.mark.parametrize(
    "pattern",
    [
        "^ORD-[0-9]+$",
        "^[A-Z]{2}$",
        "^[a-z]+@[a-z]+$",
        r"^\d{4}-\d{2}$",
        "^(a|b)$",
        "^[A-Z]+(-[A-Z0-9]{1,9}){1,5}$",
        "(?=x)y(ab){1,3}",
    ],
)
def test_ordinary_patterns_are_fine(pattern: str):
    assert longest_text(pattern) >= 150


def test_a_pattern_is_not_tried_on_a_text_that_is_too_long_for_it():
    checker = ArgumentChecker(
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "x.*y.*z"}}}
    )
    assert checker.bind({"a": "x" + "-" * 400 + "yz"})["a"].startswith("x-")
    with pytest.raises(Exception, match="pattern"):
        checker.bind({"a": "xy" * 400})


_property = st.one_of(
    st.fixed_dictionaries({"type": st.just("boolean")}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["integer", "number"])},
        optional={k: st.integers(-3, 3) | st.floats(-3, 3) for k in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")},
    ),
    st.fixed_dictionaries(
        {"type": st.just("string")},
        optional={
            "minLength": st.integers(0, 3), "maxLength": st.integers(0, 3), "pattern": st.sampled_from(["^a", "b$", "[0-9]+"]),
            "enum": st.lists(st.sampled_from(["a", "b", "ab", 1, None]), min_size=1, unique_by=str),
            "description": st.just("x"), "format": st.just("date"),
        },
    ),
    st.fixed_dictionaries({"type": st.just("array")}),
)  # fmt: skip
_schema = st.fixed_dictionaries(
    {
        "type": st.just("object"),
        "properties": st.dictionaries(st.sampled_from("abc"), _property),
        "additionalProperties": st.just(False),
    },
    optional={"required": st.lists(st.sampled_from("abc"), unique=True), "minProperties": st.integers(0, 2)},
)
_value = (
    st.none()
    | st.booleans()
    | st.integers(-4, 4)
    | st.floats(-4, 4)
    | st.sampled_from(["", "a", "b", "ab", "abc", "1", "2026-01-01"])
    | st.just([])
)


@given(_schema, st.dictionaries(st.sampled_from("abcd"), _value, max_size=4))
@settings(deadline=None, max_examples=500)
def test_the_quick_check_says_yes_exactly_when_the_full_validator_does(
    schema: dict[str, Any], arguments: dict[str, Any]
):
    quick = quick_check(schema)
    if quick is not None:
        assert quick(arguments) == jsonschema.Draft202012Validator(schema).is_valid(arguments)
