"""Lines for training: every one fits its schema, and every conversation is one that a chat interface would take."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given as drawn
from hypothesis import settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from assay.engine.packs import load_pack
from assay.engine.rewards import LINE_SCHEMA, Given, given_by, run_line, trial_line
from assay.engine.rewards.chat import as_chat
from assay.engine.sandbox import World
from assay.engine.trial import Lab, TrialRecord, run_trial
from assay.plugins.bots import build_connector
from assay.plugins.mishaps import choose_faults
from tests.support.chat import check_chat

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"
GIVEN = Given("You are the desk.", [])


def user(text: str) -> dict[str, Any]:
    return {"type": "user", "text": text, "facts_given": []}


def bot(text: str, *, truncated: bool = False) -> dict[str, Any]:
    return {"type": "bot", "text": text, "truncated": truncated, "ends": None}


def call(number: int = 0, **fields: Any) -> dict[str, Any]:
    return {
        "type": "tool", "call": number, "tool": "loans_get", "kind": "read", "arguments": {"loan_id": "LN-1"},
        "ok": True, "result": {"id": "LN-1"}, "error": None, "message": None, "empty": False, "wrote": False, **fields,
    }  # fmt: skip


def record(*events: dict[str, Any], **fields: Any) -> TrialRecord:
    made: dict[str, Any] = {
        "task": "T-1", "group": "g", "index": 0, "attempt": 0, "seed": 2**62 + 1, "status": "passed",
        "void_cause": None, "transcript": {"events": list(events), "termination": "user_done"}, "changes": [],
        "verdict": {"category": None, "checks": []}, "notes": {}, "seconds": 0.1, "started_at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    return TrialRecord(**{**made, **fields})


def line_of(*events: dict[str, Any], **fields: Any) -> dict[str, Any]:
    line = trial_line(record(*events, **fields), GIVEN)
    jsonschema.validate(line, LINE_SCHEMA)
    check_chat(line["messages"])
    return line


def test_a_conversation_becomes_messages_in_order() -> None:
    line = line_of(user("Renew LN-1."), call(), bot("Done."), user("Thanks."))
    assert line["messages"] == [
        {"role": "system", "content": "You are the desk."},
        {"role": "user", "content": "Renew LN-1."},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_0",
                    "type": "function",
                    "function": {"name": "loans_get", "arguments": '{"loan_id":"LN-1"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call_0", "content": '{"id":"LN-1"}'},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "Thanks."},
    ]
    assert line["seed"] == str(2**62 + 1)  # as text: no JavaScript number holds it


def test_what_a_model_wrote_that_no_interface_takes_is_written_so_that_it_does() -> None:
    odd = call(
        tool="loans get!",
        kind="unknown",
        arguments="{not json",
        ok=False,
        error="unknown_tool",
        message="No.",
    )
    message = line_of(user("Hi."), odd)["messages"][2]["tool_calls"][0]["function"]
    assert message == {"name": "loans_get_", "arguments": '{"unreadable": "{not json"}'}
    answer = line_of(user("Hi."), odd)["messages"][3]["content"]
    assert json.loads(answer) == {"error": "unknown_tool", "message": "No."}


def test_replies_without_a_word_are_left_out_and_the_nudge_joins_what_was_said() -> None:
    messages = line_of(user("Hi."), bot("  "), user("Are you there?"), bot("Yes.", truncated=True))[
        "messages"
    ]
    assert [m["content"] for m in messages[1:]] == ["Hi.\n\nAre you there?", "Yes."]
    assert line_of(user("Hi."), bot(""), user("Hello?"), bot("Yes.", truncated=True))["truncated"] == [2]


def test_faults_on_purpose_are_marked_with_the_message_that_tells_the_bot() -> None:
    lost = call(1, ok=False, result=None, error="timeout", message="No answer.",
                injected={"kind": "timeout", "reached": True, "truth": None}, notice="late")  # fmt: skip
    line = line_of(user("Hi."), call(), lost, bot("Sorry."))
    (fault,) = line["faults"]
    assert fault == {"message": 5, "call": 1, "kind": "timeout", "reached": True}
    assert line["messages"][5]["tool_call_id"] == "call_1"


def test_the_reward_of_a_trial_is_its_verdict_and_checks_have_their_own() -> None:
    checks = [
        {"name": "state", "outcome": "pass", "required": True, "reward": 1.0, "evidence": [{"message": "x"}]},
        {"name": "m.tone", "outcome": "fail", "required": False, "reward": 0.25, "evidence": []},
        {"name": "m.claims", "outcome": "cannot_tell", "required": False, "reward": 0.0, "evidence": []},
    ]
    line = line_of(user("Hi."), bot("Ok."), verdict={"category": None, "checks": checks})
    assert line["reward"] == 1.0
    assert [(c["name"], c["reward"]) for c in line["checks"]] == [
        ("state", 1.0),
        ("m.tone", 0.25),
        ("m.claims", None),
    ]
    verdict = {"category": "missing_state_change", "checks": []}
    failed = line_of(user("Hi."), bot("Ok."), status="failed", verdict=verdict)
    assert (failed["reward"], failed["category"]) == (0.0, "missing_state_change")
    void = line_of(status="void", void_cause="provider_outage", verdict=None, transcript={})
    assert (void["reward"], void["checks"], len(void["messages"])) == (None, [], 1)


def test_the_first_line_has_what_all_trials_share_and_a_line_may_stand_alone() -> None:
    world = World.prepare(load_pack(LIBRARY))
    given = given_by(world)
    assert given.system.startswith(world.pack.instructions.strip())
    assert world.now in given.system
    manifest = {
        "format": 1,
        "assay": "0",
        "pack": {"name": "library"},
        "bot": {},
        "seed": "1",
        "trials": 2,
        "tasks": [],
    }
    first = run_line(manifest, given)
    jsonschema.validate(first, LINE_SCHEMA)
    assert [t["function"]["name"] for t in first["tools"]] == [s.name for s in world.specs]
    alone = trial_line(record(user("Hi.")), given, tools=True)
    jsonschema.validate(alone, LINE_SCHEMA)
    assert alone["tools"] == first["tools"]
    assert Given.from_json(json.loads(json.dumps(given.as_json()))) == given


@pytest.mark.parametrize("data", [None, [], {}, {"system": 1, "tools": []}, {"system": "", "tools": [1]}])
def test_what_was_given_is_refused_when_it_is_no_such_thing(data: Any) -> None:
    with pytest.raises(ValueError, match=r"system|tools"):
        Given.from_json(data)


@pytest.mark.parametrize("target", ["faithful", "careless"])
def test_trials_of_every_task_with_faults_on_purpose_give_lines_that_fit(target: str) -> None:
    world = World.prepare(load_pack(LIBRARY))
    given = given_by(world)
    profile, options = choose_faults("harsh", {"rate": 0.5})
    lab = Lab(world, build_connector(f"reference:{target}", {}), faults=profile, fault_options=options)
    marked = 0
    for index, task in enumerate(world.pack.tasks):
        tried = asyncio.run(run_trial(lab, task, index, 11, 0))
        line = json.loads(json.dumps(trial_line(tried, given)))
        jsonschema.validate(line, LINE_SCHEMA)
        check_chat(line["messages"])
        marked += len(line["faults"])
        for fault in line["faults"]:
            assert line["messages"][fault["message"]]["tool_call_id"] == f"call_{fault['call']}"
    assert marked


_TEXT = st.text(max_size=20)
_EVENTS = st.lists(
    st.one_of(
        _TEXT.map(user),
        _TEXT.map(bot),
        st.builds(
            lambda tool, arguments, ok: call(
                tool=tool, arguments=arguments, ok=ok, error=None if ok else "e"
            ),
            _TEXT,
            _TEXT | st.dictionaries(_TEXT, st.integers() | _TEXT, max_size=2),
            st.booleans(),
        ),
    ),
    max_size=8,
)


@settings(max_examples=150, deadline=None)
@drawn(events=_EVENTS)
def test_any_transcript_gives_a_line_that_fits(events: list[dict[str, Any]]) -> None:
    numbered = [
        {**event, "call": number} if event["type"] == "tool" else event for number, event in enumerate(events)
    ]
    line_of(*numbered)
    assert as_chat("", numbered).messages[0] == {"role": "system", "content": ""}


def test_the_types_of_the_openai_library_take_the_messages() -> None:
    """Checked by somebody else's definition of the format, where that library is installed."""
    chat = pytest.importorskip("openai.types.chat")
    messages = line_of(user("Hi."), call(), call(1, ok=False, error="e", arguments="{"), bot("Done."))[
        "messages"
    ]
    kinds = {
        "system": chat.ChatCompletionSystemMessageParam,
        "user": chat.ChatCompletionUserMessageParam,
        "assistant": chat.ChatCompletionAssistantMessageParam,
        "tool": chat.ChatCompletionToolMessageParam,
    }
    for message in messages:
        TypeAdapter(kinds[message["role"]]).validate_python(message)
