"""From which call on the right end state could no longer be reached, and which clause a failure is about."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.engine.dialogue.transcript import BotMessage, Termination, ToolCall, Transcript, UserMessage
from assay.engine.grading.no_return import no_return
from assay.engine.grading.undoing import Undoing
from assay.engine.packs import load_pack
from assay.engine.sandbox import World
from tests.unit.engine.grading.conftest import LIBRARY, Play, Stage

SCHEMA = """
CREATE TABLE notices (
  id TEXT PRIMARY KEY,
  member_id TEXT NOT NULL REFERENCES members (id),
  fee REAL NOT NULL,
  state TEXT NOT NULL DEFAULT 'draft'
) STRICT;
"""
TOOLS = """- name: notices_send
  kind: write
  description: Send a notice with a fee to a member.
  input:
    type: object
    required: [member_id, fee]
    properties: {member_id: {type: string}, fee: {type: number}}
  steps:
    - one: notice
      sql: INSERT INTO notices (id, member_id, fee) VALUES (next_id('NT'), :member_id, :fee) RETURNING *
  result: SELECT :notice.id AS notice_id
- name: notices_close
  kind: write
  description: Close a notice, paid or void.
  input:
    type: object
    required: [notice_id, paid]
    properties: {notice_id: {type: string}, paid: {type: boolean}}
  steps:
    - sql: UPDATE notices SET state = 'paid' WHERE id = :notice_id AND :paid
    - sql: UPDATE notices SET state = 'void' WHERE id = :notice_id AND NOT :paid
- name: members_note
  kind: write
  description: Write a remark about a member.
  input:
    type: object
    required: [member_id, text]
    properties: {member_id: {type: string}, text: {type: string}}
  steps:
    - sql: UPDATE members SET staff_remark = :text WHERE id = :member_id
"""
TASK = """
- id: LIB-NOTE-001
  title: A notice
  clauses: [LIB-1.1, LIB-3.1, LIB-4.3]
  user:
    opening: Send the notice, please.
    goal: The notice is sent.
    facts:
      - {key: account, value: MEM-1, decides: [members_note.text, LIB-4.3]}
  expected:
    actions:
      - tool: notices_send
        as: notice
        args: {member_id: MEM-1, fee: 2.50}
        derived: {fee: {clause: LIB-3.1, value: "SELECT 0.25 * 10"}}
      - {tool: notices_close, args: {notice_id: $notice.notice_id, paid: true}}
      - {tool: members_note, args: {member_id: MEM-1, text: told}}
"""


@pytest.fixture(scope="module")
def notices(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    """The library with notices, which no tool deletes."""
    folder = tmp_path_factory.mktemp("packs") / "library"
    shutil.copytree(LIBRARY, folder)
    with (folder / "world" / "schema.sql").open("a", encoding="utf-8") as file:
        file.write(SCHEMA)
    (folder / "tools" / "notices.yaml").write_text(TOOLS, encoding="utf-8")
    (folder / "tasks" / "notices.yaml").write_text(TASK, encoding="utf-8")
    return Stage(World.prepare(load_pack(folder)))


def send(fee: float = 2.5, member: str = "MEM-1") -> tuple[str, dict[str, Any]]:
    return ("notices_send", {"member_id": member, "fee": fee})


def close(paid: bool = True) -> tuple[str, dict[str, Any]]:
    return ("notices_close", {"notice_id": "NT-9001", "paid": paid})


def note(text: str = "told", member: str = "MEM-1") -> tuple[str, dict[str, Any]]:
    return ("members_note", {"member_id": member, "text": text})


def test_the_call_that_makes_a_row_which_nothing_deletes_is_where_it_was_lost(notices: Stage) -> None:
    verdict = notices.play("LIB-NOTE-001", "One moment.", send(), "Sent.", send(), close(), note(), "Done.")
    lost = verdict.no_return
    assert lost is not None
    assert (lost.status, lost.call, lost.turn, lost.tool) == ("lost", 1, 3, "notices_send")
    assert verdict.explanation.endswith(
        "After call 1 (turn 3) the right end state could no longer be reached."
    )
    assert verdict.as_json()["no_return"]["event"] == 4


def test_a_wrong_amount_that_no_tool_changes_is_lost_at_once_and_the_derived_clause_is_named(
    notices: Stage,
) -> None:
    verdict = notices.play("LIB-NOTE-001", send(fee=5), close(), note(), "Done.")
    assert verdict.no_return is not None
    assert (verdict.no_return.status, verdict.no_return.call) == ("lost", 0)
    assert (verdict.clauses.ids, verdict.clauses.told) == (("LIB-3.1",), True)
    assert (
        "fee is 5 and should be 2.5; clause LIB-3.1 says “A returned book costs 0.25 for"
        in verdict.explanation
    )


def test_what_an_expected_call_can_still_put_right_is_not_lost(notices: Stage) -> None:
    for steps in (
        ("Sorry, I cannot.",),
        (send(), "Sent."),
        (send(), close(paid=False), "Closed."),  # closing it again, as paid, would have done
        (note("rude"), send(), close(), "Done."),
    ):
        verdict = notices.play("LIB-NOTE-001", *steps)
        assert verdict.no_return is not None
        assert verdict.no_return.status == "reachable", steps
        assert verdict.explanation.endswith("To the end, it could still have been put right.")


def test_where_another_tool_could_perhaps_undo_it_nothing_is_claimed(notices: Stage) -> None:
    verdict = notices.play("LIB-NOTE-001", note(member="MEM-2"), send(), close(), note(), "Done.")
    assert verdict.no_return is not None
    assert (verdict.no_return.status, verdict.no_return.call) == ("cannot_tell", 0)
    later = notices.play("LIB-NOTE-001", note(member="MEM-2"), send(), send(), close(), note(), "Done.")
    assert later.no_return is not None
    assert later.no_return.status == "cannot_tell"
    assert later.no_return.sentence == (
        "Whether the right end state could still be reached after call 0 (turn 1) cannot be told; "
        "after call 2 (turn 1) it could not."
    )


def test_a_right_database_has_no_such_call(play: Play) -> None:
    verdict = play(
        "LIB-FEE-001", ("fees_record", {"loan_id": "LN-4", "amount": 1.5}), "It is on your account."
    )
    assert verdict.no_return is None


def test_a_clause_that_a_fact_decides_with_the_wrong_argument_is_named(notices: Stage) -> None:
    verdict = notices.play("LIB-NOTE-001", send(), close(), note("rude"), "Done.")
    assert (verdict.clauses.ids, verdict.clauses.told) == (("LIB-4.3",), True)
    assert "; clause LIB-4.3 says “A member may cancel own reservations at any time”." in verdict.explanation


def test_where_no_link_tells_the_clauses_of_the_task_are_listed(notices: Stage) -> None:
    verdict = notices.play("LIB-NOTE-001", send(), note(), "Done.")
    assert verdict.clauses.told is False
    assert "The task turns on LIB-1.1, LIB-3.1 and LIB-4.3." in verdict.explanation


def test_the_clause_that_alone_speaks_of_the_tool_is_named(play: Play) -> None:
    verdict = play("LIB-HOLD-001", ("holds_place", {"member_id": "MEM-5", "book_id": "BK-4"}), "Done.")
    assert (verdict.clauses.ids, verdict.clauses.told) == (("LIB-4.2",), True)


def test_a_search_that_needs_too_many_calls_claims_nothing(notices: Stage) -> None:
    call = ToolCall(0, "notices_send", "write", {"member_id": "MEM-1", "fee": 9.0}, True, wrote=True)
    transcript = Transcript((UserMessage("Hi"), call, BotMessage("Done.")), Termination.USER_DONE)
    found = no_return(notices.task("LIB-NOTE-001"), notices.world, transcript, most=1)
    assert found.status == "cannot_tell"


def test_a_trial_is_as_it_was_after_something_was_tried(notices: Stage) -> None:
    with notices.world.open("LIB-NOTE-001") as sandbox:
        sandbox.call(*send())
        before = sandbox.changes()
        with sandbox.undone():
            assert sandbox.call(*send()).content == {"notice_id": "NT-9002"}
            sandbox.call(*note("rude"))
            assert len(sandbox.changes().rows) == 3
        assert sandbox.changes() == before
        assert sandbox.call(*send()).content == {"notice_id": "NT-9002"}


def test_rows_that_go_with_others_are_never_claimed_to_stay(library: Stage, tmp_path: Path) -> None:
    undoing = Undoing(library.world)
    with library.world.open("LIB-HOLD-001") as sandbox:
        sandbox.call("pickups_book", {"hold_id": "HD-1", "pickup_on": "2026-05-08"})
        assert not undoing.lost(library.world.expected("LIB-LOAN-001"), sandbox.changes())
