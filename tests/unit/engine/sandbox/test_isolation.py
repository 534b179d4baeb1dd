"""Each trial has a world of its own, and the same calls give the same bytes."""

from __future__ import annotations

import gc
import json
import threading
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.sandbox import World
from assay.engine.sandbox.stage import MOST_IDLE

from .conftest import world_of
from .test_steps import read, write

CALLS: list[tuple[str, Any]] = [
    ("members_find", {"email": "ada.brook@example.org"}),
    ("loans_list", {"member_id": "MEM-1"}),
    ("loans_renew", {"loan_id": "LN-2", "days": 21}),
    ("loans_renew", {"loan_id": "LN-9", "days": 21}),
    ("holds_place", {"member_id": "MEM-1", "book_id": "BK-4"}),
    ("holds_place", {"member_id": "MEM-1", "book_id": "BK-4"}),  # UNIQUE
    ("holds_place", {"member_id": "MEM-2", "book_id": "BK-4"}),
    ("pickups_book", {"hold_id": "HD-9001", "pickup_on": "2026-05-08"}),
    ("holds_cancel", {"hold_ids": ["HD-9002", "HD-2"]}),
    ("members_update", {"member_id": "MEM-1", "interests": ["maps"]}),
    ("catalogue_search", {"text": "a"}),
    ("knowledge_search", {"query": "opening hours"}),
    ("no_such_tool", {}),
    ("loans_renew", "{"),
]


def played(world: World, calls: list[tuple[str, Any]], task: str | None = None) -> str:
    """Everything that comes out of a sandbox, as text."""
    with world.open(task) as sandbox:
        outcomes = [sandbox.call(*call) for call in calls]
        changes = sandbox.changes()
        dump = dump_of(world, sandbox._connection)
    return json.dumps(
        [[str(o) for o in outcomes], str(changes.rows), sorted(map(str, changes.generated)), dump]
    )


def dump_of(world: World, connection: apsw.Connection) -> dict[str, list[Any]]:
    # without ORDER BY: the order in which rows lie must be the same too
    return {
        t: [str(row) for row in connection.execute(f"SELECT rowid, * FROM {t}")] for t in sorted(world.tables)
    }


@given(st.lists(st.sampled_from(CALLS), max_size=8), st.lists(st.sampled_from(CALLS), max_size=8))
@settings(deadline=None, max_examples=30)
def test_what_one_trial_does_is_never_seen_by_the_next(
    library: World, before: list[tuple[str, Any]], calls: list[tuple[str, Any]]
):
    fresh = played(World.prepare(library.pack), calls)
    played(library, before, "LIB-HOLD-001")
    assert played(library, calls) == fresh


def test_two_sandboxes_open_at_once_do_not_see_each_other(library: World):
    with library.open() as one, library.open() as other, library.open("LIB-HOLD-001") as third:
        assert (
            one.call("holds_place", {"member_id": "MEM-1", "book_id": "BK-4"}).content["hold_id"] == "HD-9001"
        )
        assert (
            other.call("holds_place", {"member_id": "MEM-1", "book_id": "BK-4"}).content["hold_id"]
            == "HD-9001"
        )
        assert third.call("loans_renew", {"loan_id": "LN-2", "days": 21}).ok
        assert len(one.changes().rows) == len(other.changes().rows) == len(third.changes().rows) == 1
        assert one.column("SELECT due_on FROM loans WHERE id = 'LN-2'") != third.column(
            "SELECT due_on FROM loans WHERE id = 'LN-2'"
        )
        assert len({id(s._connection) for s in (one, other, third)}) == 3


def test_the_rows_of_a_task_are_there_for_its_trials_only(library: World):
    for _ in range(2):
        with library.open("LIB-HOLD-001") as sandbox:
            assert sandbox.column("SELECT id FROM members WHERE id = 'MEM-5'") == ["MEM-5"]
            assert not sandbox.changes()  # the rows of the task are not the bot's doing
        with library.open() as sandbox:
            assert sandbox.column("SELECT id FROM members WHERE id = 'MEM-5'") == []


def test_a_connection_whose_image_was_written_is_not_used_again(library: World):
    sandbox = World.prepare(library.pack).open()
    stages = sandbox.world.stages
    sandbox._connection.execute("UPDATE members SET name = 'Nobody'")
    sandbox._connection.execute("COMMIT")  # what no tool can do
    sandbox.close()
    with sandbox.world.open() as after:
        assert after._connection is not sandbox._connection
        assert "Nobody" not in after.column("SELECT name FROM members")
    assert len(stages._idle) == 1


def test_a_trial_that_outgrows_the_page_cache_leaves_nothing_behind():
    rows = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)"
    world = world_of(
        tools=write(
            f"- sql: \"INSERT INTO items (id, name) {rows} SELECT 'N-' || i, printf('%.*c', 400, 'x') FROM n\""
        )
    )
    with world.open() as sandbox:
        assert sandbox.call("try_it", {}).ok
        assert len(sandbox.changes().rows) == 20_000
        used = sandbox._connection
    with world.open() as after:
        assert after._connection is not used
        assert after.column("SELECT id FROM items ORDER BY id") == ["I-1", "I-2"]


def test_only_a_few_connections_are_kept(library: World):
    world = World.prepare(library.pack)
    sandboxes = [world.open() for _ in range(MOST_IDLE + 5)]
    for sandbox in sandboxes:
        sandbox.close()
        sandbox.close()
    assert len(world.stages._idle) == MOST_IDLE


def test_a_closed_sandbox_cannot_be_called(library: World):
    sandbox = library.open()
    sandbox.close()
    for use in (lambda: sandbox.call("loans_list", {}), sandbox.changes, lambda: sandbox.column("SELECT 1")):
        with pytest.raises(RuntimeError):
            use()


def test_a_failed_call_leaves_nothing_behind_not_even_a_number():
    steps = """
- one: made
  sql: INSERT INTO items (id, qty) VALUES (next_id('N'), :qty) RETURNING *
- require: SELECT :qty > 0
  otherwise: {error: invalid_amount, message: "{made.id} would have no quantity."}
"""
    world = world_of(tools=write(steps, "SELECT :made.id AS id", "qty: {type: integer}"))
    with world.open() as sandbox:
        refused = sandbox.call("try_it", {"qty": 0})
        assert (refused.error, refused.message, refused.wrote) == (
            "invalid_amount",
            "N-9001 would have no quantity.",
            False,
        )
        assert not sandbox.changes()
        assert sandbox.changes().generated == frozenset()
        assert sandbox.call("try_it", {"qty": 1}).content == {"id": "N-9001"}
        assert sandbox.changes().generated == {"N-9001"}


def test_changes_name_the_call_that_wrote_last(library: World):
    with library.open() as sandbox:
        sandbox.call("members_find", {"email": "nobody"})
        sandbox.call("loans_renew", {"loan_id": "LN-2", "days": 7})
        sandbox.call("nothing", {})
        sandbox.call("loans_renew", {"loan_id": "LN-2", "days": 7})
        sandbox.call("holds_place", {"member_id": "MEM-1", "book_id": "BK-4"})
        sandbox.call("holds_place", {"member_id": "MEM-1", "book_id": "BK-4"})
        assert [(r.table, r.op, r.call) for r in sandbox.changes().rows] == [
            ("holds", "insert", 4),
            ("loans", "update", 3),
        ]


def test_what_is_undone_is_no_change(library: World):
    with library.open() as sandbox:
        placed = sandbox.call("holds_place", {"member_id": "MEM-1", "book_id": "BK-4"})
        assert sandbox.changes()
        cancelled = sandbox.call("holds_cancel", {"hold_ids": [placed.content["hold_id"]]})
        assert cancelled.wrote
        assert not sandbox.changes()


def test_rows_deleted_along_with_their_parent_are_changes_too(library: World):
    with library.open() as sandbox:
        sandbox.call("holds_cancel", {"hold_ids": ["HD-2"]})
        assert [(r.table, r.op, r.after) for r in sandbox.changes().rows] == [
            ("holds", "delete", None),
            ("pickups", "delete", None),
        ]


def test_trials_in_several_threads_share_a_world(library: World):
    expected = played(library, CALLS)
    results: list[str] = []
    threads = [
        threading.Thread(target=lambda: results.extend(played(library, CALLS) for _ in range(20)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == [expected] * 80


def test_memory_stays_flat_over_thousands_of_trials(library: World):
    def trials(count: int) -> None:
        for number in range(count):
            with library.open("LIB-HOLD-001" if number % 2 else None) as sandbox:
                for call in CALLS[:6]:
                    sandbox.call(*call)
                sandbox.changes()

    trials(200)
    gc.collect()
    before = apsw.memory_used(), len(gc.get_objects())
    trials(1_000)
    gc.collect()
    after = apsw.memory_used(), len(gc.get_objects())
    assert after[0] - before[0] < 100_000
    assert after[1] - before[1] < 500


def test_ids_of_each_prefix_count_on_their_own():
    steps = "- many: made\n  sql: INSERT INTO items (id) VALUES (next_id('A')), (next_id('B')), (next_id('A')) RETURNING id"
    world = world_of(tools=write(steps, "SELECT :made AS ids_json"))
    with world.open() as sandbox:
        assert sandbox.call("try_it", {}).content == {
            "ids": [{"id": "A-9001"}, {"id": "B-9001"}, {"id": "A-9002"}]
        }
        assert sandbox.changes().generated == {"A-9001", "A-9002", "B-9001"}


def test_a_world_without_readers_is_given_up():
    world = world_of(tools=read("", "SELECT 1 AS x"))
    world.open().close()
    stage = world.stages._idle[0]
    closed = stage.connection
    del world, stage
    gc.collect()
    assert not [
        o
        for o in gc.get_objects()
        if type(o) is World and o.stages._idle and o.stages._idle[0].connection is closed
    ]
