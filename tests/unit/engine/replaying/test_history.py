"""The database after every call, rebuilt from the transcript, is the database that the trial had."""

from __future__ import annotations

import dataclasses
import json
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.dialogue.transcript import (
    BotMessage,
    Injected,
    Termination,
    ToolCall,
    Transcript,
    UserMessage,
    transcript_from_json,
)
from assay.engine.replaying import history, state_at
from assay.engine.replaying.history import NoSuchMoment
from assay.engine.sandbox import ChangeSet, Sandbox, World
from tests.unit.engine.actors import library

TASKS = ("LIB-LOAN-001", "LIB-HOLD-001", "LIB-HOLD-002", "LIB-HOLD-003", "LIB-FEE-001", "LIB-MEM-001")


@cache
def world() -> World:
    return library()


def call(tool: str, **arguments: Any) -> tuple[str, dict[str, Any]]:
    return tool, arguments


CALLS = st.one_of(
    st.builds(
        lambda loan, days: call("loans_renew", loan_id=loan, days=days),
        st.sampled_from(["LN-1", "LN-2", "LN-3", "LN-4", "LN-99"]),
        st.integers(-1, 30),
    ),
    st.builds(
        lambda loan, amount: call("fees_record", loan_id=loan, amount=amount),
        st.sampled_from(["LN-1", "LN-4", "LN-99"]),
        st.sampled_from([0, 0.25, 1.5, -3]),
    ),
    st.builds(
        lambda member, book: call("holds_place", member_id=member, book_id=book),
        st.sampled_from(["MEM-1", "MEM-2", "MEM-3"]),
        st.sampled_from(["BK-1", "BK-4", "BK-5", "BK-99"]),
    ),
    st.builds(
        lambda ids: call("holds_cancel", hold_ids=ids), st.lists(st.sampled_from(["HD-1", "HD-2", "HD-9001"]))
    ),
    st.builds(
        lambda hold, on: call("pickups_book", hold_id=hold, pickup_on=on),
        st.sampled_from(["HD-2", "HD-9001", "HD-9002"]),
        st.sampled_from(["2026-05-07", "2026-05-08", "soon"]),
    ),
    st.builds(lambda e: call("members_find", email=e), st.sampled_from(["ada.brook@example.org", "nobody"])),
    st.just(call("no_such_tool", a=1)),
    st.just(("loans_renew", "{not json")),
)


def record(sandbox: Sandbox, number: int, tool: str, arguments: Any) -> ToolCall:
    done = sandbox.call(tool, arguments)
    return ToolCall(
        number, tool, done.kind, done.arguments, done.ok, done.content, done.error, done.message, done.empty, done.wrote
    )  # fmt: skip


def live(task: str, calls: list[Any]) -> tuple[Transcript, list[ChangeSet], list[dict[str, Any]]]:
    """The trial as it happened: its transcript, and after every call the changes and all tables."""
    events: list[Any] = [UserMessage("Hello")]
    with world().open(task) as sandbox:
        seen = [sandbox.changes()]
        tables = [dump(sandbox)]
        for number, (tool, arguments) in enumerate(calls):
            events += [record(sandbox, number, tool, arguments), BotMessage("Done.")]
            seen.append(sandbox.changes())
            tables.append(dump(sandbox))
    return Transcript(tuple(events), Termination.USER_DONE), seen, tables


def dump(sandbox: Sandbox) -> dict[str, Any]:
    return {table: sandbox.rows_of(table, {}, 1000) for table in world().tables}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(TASKS), st.lists(CALLS, max_size=8))
def test_the_state_after_every_call_is_the_one_that_was_there(task: str, calls: list[Any]) -> None:
    transcript, seen, tables = live(task, calls)
    kept = transcript_from_json(json.loads(json.dumps(transcript.as_json())))
    assert kept == transcript
    for number, state in enumerate(history(world(), task, kept), start=-1):
        assert (state.call, state.unlike) == (number, None)
        assert state.changes == seen[number + 1]
        again = state_at(world(), task, kept, number)
        assert (again.changes, again.unlike) == (state.changes, None)
        for table, rows in tables[number + 1].items():
            assert list(state_at(world(), task, kept, number, table=table).rows) == rows


def test_a_row_is_read_as_it_was_before_and_after_the_call_that_wrote_it() -> None:
    transcript, _, _ = live("LIB-LOAN-001", [call("loans_renew", loan_id="LN-1", days=7)])
    due = [
        state_at(world(), "LIB-LOAN-001", transcript, n, table="loans", key={"id": "LN-1"}).rows[0]["due_on"]
        for n in (-1, 0)
    ]
    assert due == ["2026-05-06", "2026-05-13"]


def test_a_moment_table_or_column_that_does_not_exist_is_named() -> None:
    transcript, _, _ = live("LIB-LOAN-001", [call("loans_renew", loan_id="LN-1", days=7)])
    for wanted, says in (
        ({"call": 7}, "There is no call 7: the trial made calls 0 to 0"),
        ({"call": 0, "table": "lones"}, "There is no table lones"),
        ({"call": 0, "table": "loans", "key": {"ident": 1}}, "loans has no column ident"),
    ):
        with pytest.raises(NoSuchMoment, match=says):
            state_at(world(), "LIB-LOAN-001", transcript, **wanted)  # type: ignore[arg-type]
    with pytest.raises(NoSuchMoment, match="The pack has no task LIB-X-1"):
        state_at(world(), "LIB-X-1", transcript, 0)


def test_a_call_that_now_comes_to_something_else_is_named() -> None:
    transcript, _, _ = live("LIB-LOAN-001", [call("loans_renew", loan_id="LN-1", days=7)])
    event = transcript.events[1]
    assert isinstance(event, ToolCall)
    other = dataclasses.replace(event, result={"due_on": "2030-01-01"})
    state = state_at(
        world(), "LIB-LOAN-001", dataclasses.replace(transcript, events=(transcript.events[0], other)), 0
    )
    assert state.unlike is not None
    assert (state.unlike.call, state.unlike.what) == (0, "result")
    assert "now behaves differently: its result was" in state.unlike.sentence()


def test_what_is_no_transcript_is_refused_with_a_sentence() -> None:
    for data in (
        {},
        {"events": [{"type": "smoke"}], "termination": "user_done"},
        {"events": 3, "termination": "x"},
    ):
        with pytest.raises(ValueError, match=r"transcript|Termination"):
            transcript_from_json(data)


def test_calls_that_faults_kept_from_the_sandbox_are_left_out_and_altered_answers_do_not_count() -> None:
    renew = call("loans_renew", loan_id="LN-1", days=7)
    with world().open("LIB-LOAN-001") as sandbox:
        sandbox.skip_call()
        lost = ToolCall(
            0, renew[0], "write", renew[1], False, error="timeout", injected=Injected("timeout", False)
        )
        done = record(sandbox, 1, *renew)
        truth = {"ok": True, "result": done.result, "error": None, "message": None}
        late = dataclasses.replace(
            done, ok=False, result=None, error="timeout", injected=Injected("timeout", True, truth)
        )
        again = dataclasses.replace(done, call=2, wrote=False, repeats=1)
        sandbox.skip_call()
        other = record(sandbox, 3, *call("loans_renew", loan_id="LN-2", days=7))
        seen = sandbox.changes()
    events = (UserMessage("Hello"), lost, late, again, other, BotMessage("Done."))
    kept = transcript_from_json(json.loads(json.dumps(Transcript(events, Termination.USER_DONE).as_json())))
    states = list(history(world(), "LIB-LOAN-001", kept))
    assert [len(state.changes.rows) for state in states] == [0, 0, 1, 1, 2]
    assert states[-1].changes == seen
    assert {row.call for row in seen.rows} == {1, 3}
    assert all(state.unlike is None for state in states)
