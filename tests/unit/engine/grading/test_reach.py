"""What a tool can change, read from its SQL."""

from __future__ import annotations

import sqlite3

import pytest

from assay.engine.grading.reach import Reach, reach
from assay.engine.packs.models import Tool


def of(*statements: str) -> Reach:
    """The reach of a tool with these statements, each of which SQLite itself understands."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT, total REAL, note TEXT)")
    database.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, order_id TEXT, body TEXT)")
    for sql in statements:
        database.execute("EXPLAIN " + sql)
    database.close()
    steps = [{"sql": sql} for sql in statements]
    given = {
        "name": "a_tool",
        "kind": "write",
        "system": "shop",
        "description": "For a test.",
        "steps": steps,
    }
    return reach(Tool.model_validate({**given, "input": {"type": "object", "properties": {}}}))


STATE_AND_TOTAL = frozenset({("orders", "state"), ("orders", "total")})


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE orders SET state = 'paid', total = (SELECT max(total) FROM orders) WHERE note = 'x'",
        "UPDATE OR IGNORE Orders SET \"state\" = 'paid', [total] = 1 WHERE id = 'a'",
        "UPDATE orders SET (state, total) = ('paid', 1) WHERE (note, id) = ('x', 'a')",
        'UPDATE orders SET state = (id), ("total") = (SELECT 1)',
        "UPDATE main.orders SET state = lower(note), total = coalesce(total, 1)",
        "WITH n (i) AS (SELECT 1), m AS (SELECT i FROM n) UPDATE orders SET (state, total) = (SELECT i, i FROM m)",
    ],
)
def test_the_columns_that_an_update_assigns(sql: str) -> None:
    found = of(sql)
    assert found.updates == STATE_AND_TOTAL
    assert (found.inserts, found.deletes) == (frozenset(), frozenset())


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO notes (order_id, body) SELECT id, note FROM orders",
        "INSERT INTO main.notes (body) VALUES ('x')",
        "WITH o AS (SELECT id FROM orders) INSERT INTO notes (order_id) SELECT id FROM o",
        'with o as (select id from orders) insert into "main"."notes" (order_id) select id from o',
    ],
)
def test_the_table_that_an_insert_fills(sql: str) -> None:
    found = of(sql)
    assert (found.inserts, found.deletes, found.updates) == ({"notes"}, set(), set())


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM notes WHERE order_id IN (SELECT id FROM orders)",
        "DELETE FROM main.notes",
        "WITH o AS (SELECT id FROM orders) DELETE FROM notes WHERE order_id IN (SELECT id FROM o)",
    ],
)
def test_the_table_that_a_delete_empties(sql: str) -> None:
    found = of(sql)
    assert (found.inserts, found.deletes, found.updates) == (set(), {"notes"}, set())


def test_an_upsert_inserts_and_updates_and_a_replace_inserts_and_deletes() -> None:
    upsert = of(
        "INSERT INTO orders (id) VALUES ('a') ON CONFLICT (id) DO UPDATE SET (state, total) = ('paid', 1)"
    )
    assert (upsert.inserts, upsert.updates) == ({"orders"}, STATE_AND_TOTAL)
    replace = of("WITH o AS (SELECT 'a' AS id) REPLACE INTO orders (id) SELECT id FROM o")
    assert (replace.inserts, replace.deletes) == ({"orders"}, {"orders"})


def test_reading_reaches_nothing_and_looks_first_where_it_reads_first() -> None:
    found = of("WITH o AS (SELECT id FROM main.orders) SELECT body FROM notes JOIN o ON o.id = order_id")
    assert found == Reach(frozenset(), frozenset(), frozenset(), "orders")
