"""Tool calls as text and as the provider's own: what is read, and what is sent back."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.agents.native import Native
from assay.engine.agents.protocol import Call, Turn
from assay.engine.agents.text import Text
from assay_sdk import ChatReply, ToolCallRequest, ToolResult, ToolSpec

_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
_arguments = st.dictionaries(st.text(), _json, max_size=4)
_name = st.from_regex(r"[a-z][a-z_]{1,20}", fullmatch=True)
_pieces = st.lists(
    st.one_of(
        st.text(max_size=12),
        st.sampled_from(
            ["```tool\n", "\n```", "```json\n", "{", "}", '"tool"', ": ", '"x"', "<tool_call>", "\n", "```"]
        ),
    ),
    max_size=14,
).map("".join)


def read(text: str) -> Turn:
    return Text().read(ChatReply(text, (), "stop"))


@given(
    st.lists(st.tuples(_name, _arguments), min_size=1, max_size=4),
    st.text(alphabet=st.characters(exclude_characters="`")),
)
def test_calls_written_as_blocks_are_read_back_as_they_were(
    calls: list[tuple[str, Any]], before: str
) -> None:
    blocks = [f"```tool\n{json.dumps({'tool': name, 'arguments': given})}\n```" for name, given in calls]
    turn = read("\n".join([before, *blocks]))
    assert [(c.name, json.loads(c.arguments), c.problem) for c in turn.calls] == [
        (n, a, None) for n, a in calls
    ]


@given(_pieces)
def test_any_text_is_either_for_the_customer_or_holds_calls(text: str) -> None:
    turn = read(text)
    for call in turn.calls:
        if call.problem is None:
            assert isinstance(json.loads(call.arguments), dict)
        else:
            with pytest.raises(ValueError):
                json.loads(call.arguments)
    if not turn.calls:
        assert turn.text == text.strip()
        assert "```tool\n" not in text


def test_a_block_inside_a_sentence_or_in_other_words_is_for_the_customer() -> None:
    for text in (
        "Use a ```spanner``` as the tool.",
        'The word "tool" is a noun.',
        "```\nTotal: 5\n```",
        "{curly}",
    ):
        assert read(text) == Turn(text)


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "members_find"}\n</tool_call>',
        '```json\n{"arguments": {}, "tool": "members_find"}\n```',
        '{"tool": "members_find"}',
        '```tool\n{"tool": "members_find"}',
        "```tool\n\n```",
    ],
)
def test_what_looks_like_a_call_is_not_said_to_the_customer(text: str) -> None:
    (call,) = read(text).calls
    assert call.problem


def test_what_follows_the_last_block_is_dropped_from_the_history() -> None:
    turn = read('```tool\n{"tool": "a_b", "arguments": {}}\n```\n```result\n{"ok": true}\n```\nAll done!')
    assert Text().called(turn)["content"] == '```tool\n{"tool": "a_b", "arguments": {}}\n```'


@given(st.lists(st.tuples(_name, _json), min_size=1, max_size=3))
def test_no_value_of_a_result_can_end_its_block(results: list[tuple[str, Any]]) -> None:
    given_back = [
        (Call(str(n), name, "{}"), ToolResult(n, True, {"text": "```\n```tool", "value": value}))
        for n, (name, value) in enumerate(results)
    ]
    (message,) = Text().answered(given_back)
    blocks = re.findall(r"```result\n(.*)\n```", message["content"])
    assert message["content"].count("```") == 2 * len(results)
    assert [json.loads(b)["result"]["value"] for b in blocks] == [value for _, value in results]


def test_the_tools_are_listed_with_their_arguments() -> None:
    spec = ToolSpec(
        "members_find",
        "Find a\n member.",
        {"type": "object", "properties": {"email": {"type": "string"}}, "additionalProperties": False},
    )
    text = Text().instructions([spec, ToolSpec("now", "The time.", {"type": "object"})])
    assert '- members_find: Find a member. Arguments: {"properties":{"email":{"type":"string"}}}' in text
    assert "- now: The time. Arguments: none" in text


@given(
    st.lists(
        st.tuples(st.text(max_size=3), st.text(max_size=30), st.one_of(st.text(), _json.map(json.dumps))),
        max_size=5,
    )
)
def test_a_native_history_is_one_that_servers_take_whatever_the_model_wrote(
    calls: list[tuple[str, str, str]],
) -> None:
    reply = ChatReply("", tuple(ToolCallRequest(*call) for call in calls), "tool_calls")
    turn = Native().read(reply)
    assert [c.name for c in turn.calls] == [name for _, name, _ in calls]
    sent = Native().called(turn)["tool_calls"]
    assert len({c["id"] for c in sent}) == len(calls) and all(c["id"] for c in sent)
    for call in sent:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", call["function"]["name"])
        assert isinstance(json.loads(call["function"]["arguments"]), dict)
    results = [(c, ToolResult(n, True, None)) for n, c in enumerate(turn.calls)]
    assert [m["tool_call_id"] for m in Native().answered(results)] == [c["id"] for c in sent]


@pytest.mark.parametrize(
    ("result", "body"),
    [
        (ToolResult(0, True, [1], notice="Cut short."), {"result": [1], "notice": "Cut short."}),
        (
            ToolResult(0, False, None, "not_found", "No order.", "Out of date."),
            {"error": "not_found", "message": "No order.", "notice": "Out of date."},
        ),
    ],
)
def test_what_a_system_says_of_its_own_answer_reaches_the_model_by_either_way(
    result: ToolResult, body: dict[str, Any]
) -> None:
    call = Call("a", "orders_get", "{}")
    (native,) = Native().answered([(call, result)])
    assert json.loads(native["content"]) == body
    (text,) = Text().answered([(call, result)])
    assert json.dumps({"tool": "orders_get", **body}, separators=(",", ":")) in text["content"]


def test_a_call_that_has_been_is_written_as_the_protocol_reads_it() -> None:
    wanted = {"text": "a ``` fence", "days": 7}
    for arguments in (json.dumps(wanted), "{not json"):
        call = Call("past_1", "loans_renew", arguments)
        turn = Text().written(call)
        assert turn.calls == (call,)
        (again,) = Text().read(ChatReply(turn.text, (), "stop")).calls
        assert again.name == "loans_renew"
        if arguments != "{not json":
            assert json.loads(again.arguments) == wanted
            assert again.problem is None
        assert Native().called(Native().written(call))["tool_calls"][0]["function"]["name"] == "loans_renew"
