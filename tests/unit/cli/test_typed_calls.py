"""Tool calls as a person types them."""

from __future__ import annotations

from typing import Any

import pytest

from assay.cli.typed_calls import completions, describe, read_call
from assay_sdk import OptionsError, ToolSpec


def spec(name: str, *required: str, **properties: Any) -> ToolSpec:
    schema = {"type": "object", "required": list(required), "properties": properties}
    return ToolSpec(name, f"What {name}\n does.", schema, "write")


TOOLS = {
    s.name: s
    for s in (
        spec(
            "booking_cancel",
            "booking_id",
            "reason",
            booking_id={"type": "string", "description": "Its id."},
            reason={"type": "string", "enum": ["illness", "plans"]},
            refund={"type": "number"},
            tell={"type": "boolean"},
            items={"type": "array"},
        ),
        spec("booking_list"),
    )
}


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("booking_list", {}),
        ("booking_cancel booking_id=B-1 refund=70", {"booking_id": "B-1", "refund": 70}),
        ("booking_cancel  booking_id=007  refund=7.5", {"booking_id": "007", "refund": 7.5}),
        ("booking_cancel booking_id='B 1'", {"booking_id": "B 1"}),
        ('booking_cancel booking_id="B=1"', {"booking_id": "B=1"}),
        ("booking_cancel booking_id=", {"booking_id": ""}),
        ("booking_cancel tell=true items=[1,2]", {"tell": True, "items": [1, 2]}),
        ("booking_cancel refund=much", {"refund": "much"}),  # the tool refuses it, as it would a bot's
        ("booking_cancel other=5", {"other": 5}),
        ('booking_cancel {"booking_id": "B-1"}', '{"booking_id": "B-1"}'),
        ("booking_cancel {oops", "{oops"),
    ],
)
def test_arguments_are_read_by_the_schema_of_the_tool(typed: str, arguments: object) -> None:
    assert read_call(typed, TOOLS) == (typed.split(maxsplit=1)[0], arguments)


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        ("", "Name a tool"),
        ("booking_cancle booking_id=1", "did you mean booking_cancel"),
        (
            "booking_cancel B-1",
            "'B-1' is no key=value; write for example /call booking_cancel booking_id=...",
        ),
        ("booking_cancel =B-1", "is no key=value"),
        ("booking_cancel booking_id='B-1", "The quotes do not match"),
        ("booking_cancel refund=1 refund=2", "'refund' is given twice"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_to_write(typed: str, says: str) -> None:
    with pytest.raises(OptionsError) as caught:
        read_call(typed, TOOLS)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("/c", ["/call "]),
        ("c", []),  # said to the customer
        ("/call booking_c", ["booking_cancel "]),
        ("/call ", ["booking_cancel ", "booking_list "]),
        ("/call booking_cancel re", ["reason=", "refund="]),
        ("/call booking_cancel reason=plans re", ["refund="]),
        ("/call booking_cancel reason=", ["reason=illness ", "reason=plans "]),
        ("/call booking_cancel tell=t", ["tell=true "]),
        ("/call booking_cancel booking_id=", []),
        ("/call nothing re", []),
        ("/tool booking_l", ["booking_list "]),
        ("/policy re", []),
    ],
)
def test_what_could_be_typed_next_is_offered(line: str, words: list[str]) -> None:
    assert completions(line, TOOLS, ["/call", "/tool", "/policy"]) == words


def test_a_tool_is_described_with_its_arguments_and_how_it_is_called() -> None:
    assert describe(TOOLS["booking_cancel"]).splitlines() == [
        "booking_cancel: What booking_cancel does.",
        "  booking_id: string, Its id.",
        "  reason: one of illness, plans",
        "  refund: number, optional",
        "  tell: boolean, optional",
        "  items: array, optional",
        "  /call booking_cancel booking_id=... reason=...",
    ]
    assert describe(TOOLS["booking_list"]).splitlines()[1:] == ["  (no arguments)", "  /call booking_list"]
