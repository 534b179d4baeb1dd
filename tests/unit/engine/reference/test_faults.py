"""The altered lists of actions really run, and really lead where they are said to lead."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from assay.engine.reference import CATEGORIES, FAULTS, answer_key
from assay.engine.reference.faults import (
    IGNORED_TOOL_ERROR,
    MISSING_WRITE,
    MOST_KEPT,
    NEIGHBOUR_ROW,
    WRONG_VALUE,
)
from assay.engine.sandbox import CallOutcome, RowChange, World
from assay.engine.sandbox.replay import resolve

TASKS = ("LIB-LOAN-001", "LIB-HOLD-001", "LIB-HOLD-002", "LIB-FEE-001", "LIB-MEM-001", "LIB-HOLD-003")


def played(
    world: World, task: str, actions: Sequence[Mapping[str, Any]]
) -> tuple[list[CallOutcome], list[RowChange]]:
    results: dict[str, Any] = {}
    outcomes = []
    with world.open(task) as sandbox:
        for action in actions:
            outcomes.append(sandbox.call(action["tool"], resolve(action["args"], results)))
            if action["as"]:
                results[action["as"]] = outcomes[-1].content
        return outcomes, list(sandbox.changes().rows)


def bare(rows: Sequence[RowChange]) -> set[str]:
    return {f"{r.table} {r.key} {r.op} {r.after}" for r in rows}


@pytest.mark.parametrize("task", TASKS)
def test_a_missing_write_leaves_rows_out_and_nothing_else(library: World, task: str):
    for actions in answer_key(library, task).faults.get(MISSING_WRITE, ()):
        outcomes, rows = played(library, task, actions)
        assert all(o.ok for o in outcomes)
        for accepted in library.expected(task):
            assert bare(rows) < bare(accepted.rows)


@pytest.mark.parametrize("task", TASKS)
def test_an_ignored_error_is_one_call_that_fails_and_what_it_should_have_written_stays_away(
    library: World, task: str
):
    for actions in answer_key(library, task).faults.get(IGNORED_TOOL_ERROR, ()):
        outcomes, rows = played(library, task, actions)
        assert [o.ok for o in outcomes].count(False) == 1
        for accepted in library.expected(task):
            assert bare(rows) < bare(accepted.rows)


@pytest.mark.parametrize("fault", [NEIGHBOUR_ROW, WRONG_VALUE])
@pytest.mark.parametrize("task", TASKS)
def test_a_wrong_row_or_value_is_written_without_any_error(library: World, task: str, fault: str):
    for actions in answer_key(library, task).faults.get(fault, ()):
        outcomes, rows = played(library, task, actions)
        assert all(o.ok for o in outcomes)
        for accepted in library.expected(task):
            assert bare(rows) - bare(accepted.rows)


def test_a_neighbouring_row_exists(library: World):
    lists = answer_key(library, "LIB-LOAN-001").faults[NEIGHBOUR_ROW]
    for actions in lists:
        (action,) = actions
        assert action["args"]["loan_id"] != "LN-1"
        with library.open("LIB-LOAN-001") as sandbox:
            assert action["args"]["loan_id"] in sandbox.column("SELECT id FROM loans")


def test_which_faults_apply_depends_on_the_task(library: World):
    faults = {task: set(answer_key(library, task).faults) for task in TASKS}
    assert faults["LIB-LOAN-001"] == {IGNORED_TOOL_ERROR, MISSING_WRITE, NEIGHBOUR_ROW, WRONG_VALUE}
    assert faults["LIB-HOLD-002"] == set()  # nothing is written, so nothing can be written wrongly
    # Ids inside a list are left alone, and there is no number or date.
    assert faults["LIB-HOLD-003"] == {IGNORED_TOOL_ERROR, MISSING_WRITE}
    assert all(
        len(lists) <= MOST_KEPT for task in TASKS for lists in answer_key(library, task).faults.values()
    )


def test_a_list_does_not_use_what_it_never_made(library: World):
    for actions in answer_key(library, "LIB-HOLD-001").faults[MISSING_WRITE]:
        made = {a["as"] for a in actions}
        assert all("$hold" not in str(a["args"]) or "hold" in made for a in actions)


def test_every_fault_has_a_category(library: World):
    assert set(CATEGORIES) == set(FAULTS)


def test_the_key_says_what_the_task_says(library: World):
    key = answer_key(library, "LIB-HOLD-001")
    assert [a["tool"] for a in key.actions] == ["holds_place", "pickups_book"]
    assert key.actions[0] == {
        "tool": "holds_place",
        "args": {"member_id": "MEM-5", "book_id": "BK-4"},
        "as": "hold",
    }
    assert key.facts == [
        {"key": "e-mail address", "value": "ines.vale@example.org"},
        {"key": "pick-up day", "value": "2026-05-07"},
    ]
    assert key.writes == {
        "loans_renew",
        "fees_record",
        "holds_place",
        "pickups_book",
        "holds_cancel",
        "members_update",
    }
    assert answer_key(library, "LIB-HOLD-001") is key
    with pytest.raises(KeyError):
        answer_key(library, "LIB-NONE-001")


def test_look_ups_find_something(library: World):
    for task in TASKS:
        for call in answer_key(library, task).look_ups:
            with library.open(task) as sandbox:
                outcome = sandbox.call(call["tool"], call["args"])
                assert outcome.ok and not outcome.empty
    assert [c["tool"] for c in answer_key(library, "LIB-HOLD-001").look_ups] == ["members_find", "loans_list"]
