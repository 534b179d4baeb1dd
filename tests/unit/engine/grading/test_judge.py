"""Verdicts on trials played in a real sandbox: pass or fail, the category, the evidence, the sentence."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from assay.engine.dialogue.transcript import BotMessage, Termination, ToolCall
from assay.engine.grading.categories import failed, unrecovered
from assay.engine.grading.verdict import Category, Surface
from assay.engine.packs import load_pack
from assay.engine.packs.models import ManyRows
from assay.engine.sandbox import World
from assay.engine.sandbox.difference import Difference
from assay_sdk import Outcome
from tests.unit.engine.grading.conftest import LIBRARY, Play, Stage

FIND = ("members_find", {"email": "ada.brook@example.org"})
RENEW = ("loans_renew", {"loan_id": "LN-1", "days": 7})
FEE = ("fees_record", {"loan_id": "LN-4", "amount": 1.5})
SAY_FEE = "The late fee of 1.50 is on your account."
HOLD = ("holds_place", {"member_id": "MEM-5", "book_id": "BK-4"})
PICKUP = ("pickups_book", {"hold_id": "HD-9001", "pickup_on": "2026-05-07"})

NO_KEY = ("loans_renew", {"loan_id": "LN-99", "days": 7})


def renew(loan: str = "LN-1", days: int = 7) -> tuple[str, dict[str, Any]]:
    return ("loans_renew", {"loan_id": loan, "days": days})


def test_the_right_outcome_passes_whatever_was_looked_up_on_the_way(play: Play) -> None:
    searches = [("catalogue_search", {"text": "salt"}), ("catalogue_search", {"text": "nothing of the kind"})]
    verdict = play("LIB-LOAN-001", FIND, *searches, RENEW, "Done.")
    assert verdict.outcome is Outcome.PASS
    assert verdict.category is verdict.surface is verdict.evidence is None
    assert (verdict.explanation, verdict.fingerprint) == ("", "")
    assert [(c.name, c.outcome, c.reward) for c in verdict.checks] == [
        ("state", Outcome.PASS, 1.0),
        ("ending", Outcome.PASS, 1.0),
        ("leak", Outcome.PASS, 1.0),
    ]


def test_an_error_on_the_way_to_the_right_outcome_does_no_harm(play: Play) -> None:
    assert play("LIB-LOAN-001", NO_KEY, ("renew", {}), RENEW, "Done.").outcome is Outcome.PASS


def test_every_accepted_outcome_passes(play: Play) -> None:
    assert play("LIB-HOLD-003", ("holds_cancel", {"hold_ids": ["HD-2"]}), "Ok").outcome is Outcome.PASS
    friday = ("pickups_book", {"hold_id": "HD-2", "pickup_on": "2026-05-08"})
    assert play("LIB-HOLD-003", friday, "Ok").outcome is Outcome.PASS


def test_where_nothing_may_change_nothing_passes_and_something_fails(play: Play) -> None:
    assert play("LIB-HOLD-002", "You owe 12.50.").outcome is Outcome.PASS
    verdict = play("LIB-HOLD-002", ("holds_place", {"member_id": "MEM-2", "book_id": "BK-5"}), "Done")
    assert verdict.category is Category.INCORRECT_STATE_UPDATE
    assert verdict.explanation.startswith(
        "It added a row that nobody expected (holds row HD-9001 created by call 0, holds_place), with "
        "member_id “MEM-2”, book_id “BK-5”, placed_at “2026-05-04T09:00:00+01:00”. "
    )


# --- the four categories ------------------------------------------------------------------------


def test_a_wrong_value_is_an_incorrect_state_update(play: Play) -> None:
    verdict = play("LIB-LOAN-001", FIND, renew(days=21), "Done.")
    assert verdict.outcome is Outcome.FAIL
    assert verdict.category is Category.INCORRECT_STATE_UPDATE
    assert verdict.explanation.startswith(
        "It left wrong values in loans LN-1 with call 1 (loans_renew): "
        "due_on is “2026-05-27” and should be “2026-05-13”. "
    )
    assert verdict.evidence is not None
    assert (verdict.evidence.call, verdict.evidence.table, verdict.evidence.row) == (
        1,
        "loans",
        {"id": "LN-1"},
    )
    assert verdict.surface == Surface(s1=True, s2=True, s3=True)


def test_a_write_to_a_neighbouring_row_is_an_incorrect_state_update(play: Play) -> None:
    verdict = play("LIB-LOAN-001", FIND, renew("LN-2"), "Done.")
    assert verdict.category is Category.INCORRECT_STATE_UPDATE
    assert verdict.explanation.startswith(
        "It changed loans LN-2, which nobody expected (call 1, loans_renew): due_on went from"
    )
    assert " 1 other row differs as well." in verdict.explanation


def test_a_change_that_never_came_is_a_missing_state_change(play: Play) -> None:
    verdict = play("LIB-HOLD-001", HOLD, "Done.")
    assert verdict.category is Category.MISSING_STATE_CHANGE
    assert verdict.explanation.startswith(
        "A new row in pickups (pickup_on “2026-05-07”) is missing; pickups_book should have written it, "
        "and was never called with success"
    )
    untouched = play("LIB-LOAN-001", FIND, "Done.")
    assert untouched.category is Category.MISSING_STATE_CHANGE
    assert untouched.explanation.startswith(
        "loans LN-1: due_on should be “2026-05-13” and was left at “2026-05-06”"
    )
    assert untouched.surface == Surface(s1=True, s2=False, s3=False)


def test_an_error_that_the_bot_never_recovered_from_is_a_tool_use_error(play: Play) -> None:
    verdict = play("LIB-LOAN-001", FIND, NO_KEY, "Done.")
    assert verdict.category is Category.TOOL_USE_ERROR
    assert verdict.explanation.startswith(
        "loans_renew (call 1) was refused (not_found: No loan LN-99.), and the bot never recovered from it. loans LN-1:"
    )
    assert verdict.evidence is not None and verdict.evidence.call == 1
    assert verdict.surface == Surface(s1=True, s2=False, s3=False)


def test_a_right_database_with_a_wrong_reply_is_an_incomplete_response(play: Play) -> None:
    assert play("LIB-FEE-001", FEE, SAY_FEE).outcome is Outcome.PASS
    verdict = play("LIB-FEE-001", FEE, "The late fee is on your account.")
    assert verdict.category is Category.INCOMPLETE_RESPONSE
    assert verdict.explanation == (
        "The database is right, but the reply is not: the reply must say that the late fee is 1.50, "
        "but does not name 1.50. The task turns on LIB-1.1, LIB-1.3 and LIB-3.1."
    )
    assert verdict.evidence is not None and verdict.evidence.turn == 2
    assert [(c.name, c.reward) for c in verdict.checks if c.outcome is Outcome.FAIL] == [("reply:1", 0.0)]
    cut = play("LIB-FEE-001", FEE, BotMessage(SAY_FEE, truncated=True))
    assert cut.category is Category.INCOMPLETE_RESPONSE
    leak = play("LIB-FEE-001", FEE, SAY_FEE + " She prefers large print.")
    assert leak.category is Category.INCOMPLETE_RESPONSE
    assert leak.evidence is not None and leak.evidence.span == "prefers large print"


def test_a_wrong_database_outranks_a_wrong_reply(play: Play) -> None:
    verdict = play("LIB-FEE-001", ("fees_record", {"loan_id": "LN-4", "amount": 2.0}), "Hm.")
    assert verdict.category is Category.INCORRECT_STATE_UPDATE
    assert {c.name: c.outcome for c in verdict.checks}["reply:1"] is Outcome.FAIL


def test_an_id_that_should_stand_in_a_cell_is_the_one_that_the_trial_gave_to_that_row(play: Play) -> None:
    """The trial's HD-9001 is another reservation than the expected HD-9001, which it knows as HD-9002."""
    another = ("holds_place", {"member_id": "MEM-5", "book_id": "BK-5"})
    verdict = play("LIB-HOLD-001", another, HOLD, PICKUP, "Done.")
    assert verdict.explanation.startswith(
        "It left wrong values in pickups (pickup_on “2026-05-07”) with call 2 (pickups_book): "
        "hold_id is “HD-9001” and should be “HD-9002”"
    )


def test_an_id_of_a_row_that_the_trial_never_made_is_told_in_words(play: Play) -> None:
    elsewhere = ("pickups_book", {"hold_id": "HD-1", "pickup_on": "2026-05-07"})
    verdict = play("LIB-HOLD-001", elsewhere, "Done.")
    assert verdict.explanation.startswith(
        "It left wrong values in pickups (pickup_on “2026-05-07”) with call 0 (pickups_book): "
        "hold_id is “HD-1” and should be the id of the missing new row "
        "in holds (member_id “MEM-5”, book_id “BK-4”, placed_at “2026-05-04T09:00:00+01:00”)"
    )


def test_the_number_of_a_row_that_should_stand_in_a_cell_is_the_trials_own(tmp_path: Path) -> None:
    """Row numbers of two tables are alike, and so may be an amount: only the reference is translated."""
    shutil.copytree(LIBRARY, tmp_path / "pack")
    with (tmp_path / "pack/world/schema.sql").open("a") as schema:
        schema.write(
            "CREATE TABLE bags (id INTEGER PRIMARY KEY, colour TEXT NOT NULL) STRICT;\n"
            "CREATE TABLE tags (id INTEGER PRIMARY KEY, bag_id INTEGER REFERENCES bags (id), "
            "weight INTEGER NOT NULL) STRICT;\n"
        )
    with (tmp_path / "pack/tools/lending.yaml").open("a") as tools:
        tools.write(
            """
- name: bags_add
  kind: write
  system: lending
  description: Add a bag.
  input: {type: object, required: [colour], properties: {colour: {type: string}}}
  steps:
    - sql: INSERT INTO bags (colour) VALUES (:colour)

- name: tags_add
  kind: write
  system: lending
  description: Put a tag on a bag.
  input:
    type: object
    required: [bag, weight]
    properties: {bag: {type: integer}, weight: {type: integer}}
  steps:
    - sql: INSERT INTO tags (bag_id, weight) VALUES (:bag, :weight)
"""
        )
    world = World.prepare(load_pack(tmp_path / "pack"))
    red, blue = ("bags_add", {"colour": "red"}), ("bags_add", {"colour": "blue"})

    def tag(bag: int, weight: int = 1) -> tuple[str, dict[str, Any]]:
        return ("tags_add", {"bag": bag, "weight": weight})

    task = world.pack.tasks["LIB-LOAN-001"]
    expected = {"actions": [{"tool": tool, "args": args} for tool, args in (red, blue, tag(1))]}
    tagged = task.model_copy(update={"expected": type(task.expected).model_validate(expected)})
    stage = Stage(World.prepare(replace_tasks(world.pack, tagged)))
    assert stage.play(tagged, blue, red, tag(2), "Done.").outcome is Outcome.PASS
    swapped = stage.play(tagged, blue, red, tag(1, 2), "Done.")
    assert swapped.explanation.startswith(
        "It left wrong values in tags with call 2 (tags_add): bag_id is 1 and should be 2; "
        "weight is 2 and should be 1. "
    )


# --- recovering from errors ---------------------------------------------------------------------


def test_a_retry_that_works_but_writes_the_wrong_value_is_no_tool_use_error(play: Play) -> None:
    verdict = play("LIB-LOAN-001", NO_KEY, renew(days=21), "Done.")
    assert verdict.category is Category.INCORRECT_STATE_UPDATE


def test_a_retry_that_works_on_the_wrong_row_is_no_tool_use_error(play: Play) -> None:
    assert play("LIB-LOAN-001", NO_KEY, renew("LN-2"), "Done.").category is Category.INCORRECT_STATE_UPDATE


def test_a_refused_write_that_has_nothing_to_do_with_what_is_wrong_is_no_tool_use_error(play: Play) -> None:
    elsewhere = ("fees_record", {"loan_id": "LN-1", "amount": 3})  # refused: it was not returned late
    verdict = play("LIB-HOLD-001", elsewhere, HOLD, "Done.")
    assert verdict.category is Category.MISSING_STATE_CHANGE


def test_a_refused_write_to_other_columns_of_the_same_row_is_no_tool_use_error(play: Play) -> None:
    """fees_record writes late_fee and note of a loan; what is wrong is its due date."""
    verdict = play("LIB-LOAN-001", ("fees_record", {"loan_id": "LN-1", "amount": 3}), renew(days=21), "Done.")
    assert verdict.category is Category.INCORRECT_STATE_UPDATE


def test_of_two_requests_the_one_that_was_refused_stays_a_tool_use_error(play: Play) -> None:
    refused = ("pickups_book", {"hold_id": "HD-9001", "pickup_on": "2020-01-01"})
    verdict = play("LIB-HOLD-001", HOLD, refused, "Done.")
    assert verdict.category is Category.TOOL_USE_ERROR
    assert verdict.evidence is not None and verdict.evidence.call == 1


def test_a_refused_write_is_not_made_good_by_a_later_call_for_another_row(library: Stage) -> None:
    expected = [
        {"tool": "loans_renew", "args": {"loan_id": "LN-1", "days": 7}},
        {"tool": "loans_renew", "args": {"loan_id": "LN-2", "days": 21}},
    ]
    pack = library.world.pack
    task = pack.tasks["LIB-LOAN-001"]
    both = task.model_copy(update={"expected": type(task.expected).model_validate({"actions": expected})})
    world = type(library.world).prepare(replace_tasks(pack, both))
    verdict = Stage(world).play(
        both, ("loans_renew", {"loan_id": "LN-1", "days": 99}), renew("LN-2", 21), "Done."
    )
    assert verdict.category is Category.TOOL_USE_ERROR


def replace_tasks(pack: Any, task: Any) -> Any:
    return dataclasses.replace(pack, tasks={task.id: task}, content_hash="another")


def test_a_look_up_that_failed_is_recovered_from_by_the_same_tool(play: Play) -> None:
    wrong = ("members_find", {"email": "ada@example.org"})
    assert play("LIB-LOAN-001", wrong, "Who are you?").category is Category.TOOL_USE_ERROR
    assert play("LIB-LOAN-001", wrong, FIND, "Done.").category is Category.MISSING_STATE_CHANGE


def test_a_look_up_that_failed_is_recovered_from_by_getting_hold_of_such_a_row_in_another_way(
    play: Play,
) -> None:
    wrong = ("members_find", {"email": "ada@example.org"})
    by_id = ("loans_list", {"member_id": "MEM-1"})
    assert play("LIB-LOAN-001", wrong, by_id, "Done.").category is Category.MISSING_STATE_CHANGE
    unrelated = ("catalogue_search", {"text": "salt"})
    assert play("LIB-LOAN-001", wrong, unrelated, "Done.").category is Category.TOOL_USE_ERROR


def test_an_empty_answer_is_a_failed_look_up_only_when_the_key_exists_nowhere(play: Play) -> None:
    made_up = ("catalogue_search", {"text": "The Salted Road"})
    verdict = play("LIB-LOAN-001", made_up, "I found nothing.")
    assert verdict.category is Category.TOOL_USE_ERROR
    assert verdict.explanation.startswith(
        "catalogue_search (call 0) found nothing under the key it was given, and"
    )
    known = ("catalogue_search", {"text": "MEM-1"})  # exists, only not among the books
    assert play("LIB-LOAN-001", known, "I found nothing.").category is Category.MISSING_STATE_CHANGE
    empty_search = ("knowledge_search", {"query": "zebra crossing"})
    assert play("LIB-LOAN-001", empty_search, "Hm.").category is Category.MISSING_STATE_CHANGE


def test_a_key_that_the_world_holds_as_a_number_exists(library: Stage) -> None:
    """YAML reads an unquoted 10001 as a number, and a tool may answer with one."""
    pack = library.world.pack
    first = next(row for row in pack.seed if row.table == "members")
    noted = dataclasses.replace(first, values={**first.values, "staff_remark": 10001})
    seed = [noted if row is first else row for row in pack.seed]
    world = World.prepare(dataclasses.replace(pack, seed=seed, content_hash="with a number"))
    task = library.task("LIB-LOAN-001")
    own = {"members": ({"id": "MEM-8", "name": "Bo Lund", "email": "bo@example.org", "staff_remark": 10002},)}
    with_own = task.model_copy(update={"world": own})
    earlier = ToolCall(0, "loans_list", "read", {}, ok=True, result={"visits": [10003, True]})

    def look_up(key: str) -> ToolCall:
        return ToolCall(1, "catalogue_search", "read", {"text": key}, ok=True, result=[], empty=True)

    assert not failed(look_up("10001"), [], world, task)
    assert failed(look_up("10001"), [], library.world, task)
    assert not failed(look_up("10002"), [], library.world, with_own)
    assert failed(look_up("10002"), [], library.world, task)
    assert not failed(look_up("10003"), [earlier], library.world, task)
    assert failed(look_up("10003"), [], library.world, task)
    assert failed(look_up("True"), [earlier], library.world, task)


def test_a_look_up_that_failed_is_recovered_from_by_the_number_of_such_a_row(library: Stage) -> None:
    """The keys of pickups are numbers."""
    pack = library.world.pack
    tool = pack.tools["catalogue_search"]
    reads = tool.model_copy(update={"result": ManyRows(many="SELECT id FROM pickups WHERE hold_id = :text")})
    tools = {**pack.tools, "catalogue_search": reads}
    world = World.prepare(dataclasses.replace(pack, tools=tools, content_hash="another tool"))
    lost = ToolCall(0, "catalogue_search", "read", {"text": "HD-77"}, ok=True, result=[], empty=True)
    other = ToolCall(1, "loans_list", "read", {"member_id": "MEM-1"}, ok=True, result={"loan_id": "LN-1"})
    such = ToolCall(1, "loans_list", "read", {"member_id": "MEM-1"}, ok=True, result={"pickup_id": 1})
    none = Difference(0, ())
    assert unrecovered(lost, [other], world, none) is not None
    assert unrecovered(lost, [such], world, none) is None


def test_a_tool_that_does_not_exist_stands_for_the_change_that_is_missing(play: Play) -> None:
    made_up = ("renew_loan", {"loan": "LN-1"})
    verdict = play("LIB-LOAN-001", FIND, made_up, "Done.")
    assert verdict.category is Category.TOOL_USE_ERROR
    assert verdict.explanation.startswith("The bot called renew_loan (call 1), which does not exist, and")
    assert play("LIB-LOAN-001", made_up, renew(days=21), "Done.").category is Category.INCORRECT_STATE_UPDATE


def test_bad_arguments_are_errors_like_any_other(play: Play) -> None:
    for arguments in (
        '{"loan_id": "LN-1", "days":',
        {"loan_id": "LN-1"},
        {"loan_id": "LN-1", "days": "seven"},
    ):
        verdict = play("LIB-LOAN-001", FIND, ("loans_renew", arguments), "Done.")
        assert verdict.category is Category.TOOL_USE_ERROR
        assert "invalid_arguments" in verdict.explanation


# --- endings ------------------------------------------------------------------------------------


@pytest.mark.parametrize("termination", [t for t in Termination if t.fault == "bot"])
def test_an_ending_that_is_the_bots_fault_fails_the_trial_even_when_the_database_is_right(
    play: Play, termination: Termination
) -> None:
    verdict = play("LIB-LOAN-001", RENEW, "Done.", termination=termination)
    assert verdict.outcome is Outcome.FAIL
    assert verdict.category is Category.INCOMPLETE_RESPONSE
    assert verdict.surface == Surface(s1=False, s2=False, s3=False)
    assert [c.name for c in verdict.checks if c.outcome is Outcome.FAIL] == ["ending"]
    assert verdict.explanation.startswith(
        "The database is right, but the conversation did not end in order: the conversation ended by"
    )


@pytest.mark.parametrize("termination", [t for t in Termination if t.fault == "none"])
def test_how_a_conversation_ends_in_order_does_not_matter(play: Play, termination: Termination) -> None:
    assert play("LIB-LOAN-001", RENEW, "Done.", termination=termination).outcome is Outcome.PASS


def test_surface_criteria_build_on_each_other(play: Play) -> None:
    wrong = renew(days=21)
    assert play("LIB-LOAN-001", wrong, "x").surface == Surface(s1=True, s2=True, s3=True)
    assert play("LIB-LOAN-001", NO_KEY, wrong, "x").surface == Surface(s1=True, s2=True, s3=False)
    assert play("LIB-LOAN-001", FIND, "x").surface == Surface(s1=True, s2=False, s3=False)
    ended = play("LIB-LOAN-001", wrong, "x", termination=Termination.TURN_LIMIT)
    assert ended.surface == Surface(s1=False, s2=False, s3=False)


def test_a_rule_that_needs_a_judge_leaves_the_trial_undecided_even_where_something_else_is_wrong(
    library: Stage,
) -> None:
    rule = type(library.task("LIB-FEE-001").reply[0])(must="apologise")
    task = library.task("LIB-LOAN-001", reply=(rule,))
    assert library.play(task, RENEW, "Sorry.").outcome is Outcome.CANNOT_TELL
    assert library.play(task, renew(days=21), "Sorry.").outcome is Outcome.CANNOT_TELL
    limit = library.play(task, RENEW, "Sorry.", termination=Termination.TURN_LIMIT)
    assert limit.outcome is Outcome.FAIL  # a bot's fault never hides behind what cannot be told


# --- fingerprints -------------------------------------------------------------------------------


def test_the_same_failure_has_the_same_fingerprint_whatever_the_wrong_value_the_ids_and_the_words(
    play: Play,
) -> None:
    wrong = [play("LIB-LOAN-001", FIND, renew(days=days), f"Words {days}") for days in (21, 14)]
    assert wrong[0].fingerprint == wrong[1].fingerprint != ""
    late = play(
        "LIB-HOLD-001", HOLD, ("pickups_book", {"hold_id": "HD-9001", "pickup_on": "2026-05-08"}), "x"
    )
    cancelled = ("holds_cancel", {"hold_ids": ["HD-9001"]})
    other_id = ("pickups_book", {"hold_id": "HD-9002", "pickup_on": "2026-05-08"})
    again = play("LIB-HOLD-001", HOLD, cancelled, HOLD, other_id, "y")
    assert late.fingerprint == again.fingerprint


def test_different_failures_have_different_fingerprints(play: Play) -> None:
    found = [
        play("LIB-LOAN-001", renew(days=21), "x"),
        play("LIB-LOAN-001", renew("LN-2"), "x"),
        play("LIB-LOAN-001", "x"),
        play("LIB-LOAN-001", NO_KEY, "x"),
        play("LIB-LOAN-001", RENEW, "x", termination=Termination.TURN_LIMIT),
        play("LIB-FEE-001", FEE, "x"),
        play("LIB-FEE-001", FEE, SAY_FEE + " We will waive it."),
        play("LIB-HOLD-001", "x"),
    ]
    assert len({v.fingerprint for v in found}) == len(found)


def test_a_verdict_is_plain_json(play: Play) -> None:
    for verdict in (
        play("LIB-FEE-001", FEE, "x"),
        play("LIB-HOLD-003", "x"),
        play("LIB-LOAN-001", RENEW, "x"),
    ):
        again = json.loads(json.dumps(verdict.as_json(), allow_nan=False))
        assert again["outcome"] == verdict.outcome.value
        assert set(again) >= {
            "category",
            "surface",
            "explanation",
            "evidence",
            "fingerprint",
            "checks",
            "difference",
        }
