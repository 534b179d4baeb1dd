"""What an uploaded pack cannot do, and how much of it."""

from __future__ import annotations

from collections.abc import Callable

import apsw
import pytest

from assay.engine.sandbox import CallOutcome, World
from assay.engine.sandbox.authorizer import FUNCTIONS, Authorizer
from assay_sdk import PackFault

from .conftest import problems_of, world_of
from .test_steps import read, write

Tool = Callable[..., CallOutcome]


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("ATTACH ':memory:' AS other", "ATTACH is refused"),
        ("DETACH main", "DETACH is refused"),
        ("PRAGMA writable_schema = 1", "PRAGMA is refused"),
        ("CREATE TABLE t (x)", "CREATE is refused"),
        ("CREATE TEMP TABLE t (x)", "CREATE is refused"),
        ("DROP TABLE items", "is refused"),
        ("ALTER TABLE items ADD COLUMN x", "is refused"),
        ("CREATE TRIGGER t AFTER INSERT ON items BEGIN SELECT 1; END", "A step holds one statement"),
        ("REINDEX", "is refused"),
        ("ANALYZE", "is refused"),
        ("VACUUM", "is refused"),
        ("BEGIN", "BEGIN is refused"),
        ("COMMIT", "COMMIT is refused"),
        ("SAVEPOINT x", "SAVEPOINT is refused"),
        ("EXPLAIN DELETE FROM items", "EXPLAIN is refused"),
        ("UPDATE sqlite_schema SET sql = ''", "may not be modified"),
        ("INSERT INTO items (id) VALUES (random())", "The function random() is not available"),
        ("INSERT INTO items (id) VALUES (hex(randomblob(9)))", "The function randomblob() is not available"),
        ("UPDATE items SET name = load_extension('x')", "The function load_extension() is not available"),
        ("UPDATE items SET qty = last_insert_rowid()", "The function last_insert_rowid() is not available"),
        ("UPDATE items SET qty = changes()", "The function changes() is not available"),
        ("UPDATE items SET name = zeroblob(5)", "The function zeroblob() is not available"),
        ("UPDATE items SET name = sqlite_version()", "The function sqlite_version() is not available"),
        ("UPDATE items SET name = (SELECT sql FROM sqlite_schema)", "The table sqlite_master cannot be read"),
        ("UPDATE items SET qty = (SELECT count(*) FROM sqlite_schema)", "The table sqlite_schema cannot be read"),
        ("UPDATE items SET name = (SELECT name FROM pragma_table_info('items'))", "The table pragma_table_info cannot be read"),
        ("UPDATE items SET name = (SELECT name FROM dbstat)", "The table dbstat cannot be read"),
        ("UPDATE items SET name = fts5_source_id()", "is not available"),
        ("UPDATE items SET colour = 1", "no such column: colour"),
        ("SELECT 1", "A step with only 'sql' writes"),
    ],
)  # fmt: skip
def test_a_tools_sql_can_only_read_and_write_rows(sql: str, says: str):
    (problem, *_) = problems_of(tools=write(f'- sql: "{sql}"'))
    assert says in problem.message
    assert problem.message.startswith("Tool try_it, steps 1")
    assert (problem.path, problem.line) == ("tools/tools.yaml", 6)


@pytest.mark.parametrize(
    "sql",
    [
        "ATTACH ':memory:' AS other", "DETACH other", "PRAGMA user_version", "PRAGMA user_version = 3", "CREATE TABLE t (x)",
        "CREATE TEMP TABLE t (x)", "CREATE VIEW v AS SELECT 1", "CREATE VIRTUAL TABLE f USING fts5(x)", "DROP TABLE items",
        "ALTER TABLE items RENAME TO things", "BEGIN", "COMMIT", "SAVEPOINT s", "REINDEX", "ANALYZE",
        "CREATE TRIGGER t AFTER DELETE ON items BEGIN SELECT 1; END", "SELECT * FROM sqlite_master", "SELECT random()",
    ],
)  # fmt: skip
def test_the_authorizer_alone_refuses_them_too(sql: str):
    authorizer = Authorizer({"items"}, writes=True)
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE TABLE items (id TEXT PRIMARY KEY)")
    connection.set_authorizer(authorizer)
    with pytest.raises((apsw.AuthError, apsw.SQLError)):
        connection.execute(sql)
    connection.close()
    assert authorizer.refused is not None


@pytest.mark.parametrize(
    ("steps", "result"),
    [
        ("- one: x\n  sql: INSERT INTO items (id) VALUES ('a') RETURNING id", "SELECT 1 AS x"),
        ("- many: x\n  sql: DELETE FROM items RETURNING id", "SELECT 1 AS x"),
        ("- maybe: x\n  sql: UPDATE items SET qty = 1 RETURNING id", "SELECT 1 AS x"),
        (
            "- one: x\n  sql: SELECT next_id('I') AS id\n  otherwise: {error: no, message: No.}",
            "SELECT 1 AS x",
        ),
        ("", "SELECT next_id('I') AS id"),
        ("", "{many: DELETE FROM items RETURNING id}"),
    ],
)
def test_a_read_tool_cannot_write(steps: str, result: str):
    messages = [p.message for p in problems_of(tools=read(steps, result))]
    assert any(
        "is refused here: make the tool 'kind: write'" in m or "next_id() makes something new" in m
        for m in messages
    )


def test_a_result_and_a_condition_cannot_write_even_in_a_write_tool():
    found = problems_of(
        tools=write("- sql: UPDATE items SET qty = 1", "{many: DELETE FROM items RETURNING id}")
    )
    assert "DELETE on items is refused here" in found[0].message


def test_every_function_that_is_allowed_exists_and_the_dangerous_ones_are_not_among_them(library: World):
    with library.open() as sandbox:
        known = set(sandbox._connection.execute("SELECT lower(name) FROM pragma_function_list").get)
    table_valued = {"json_each", "json_tree"}
    assert FUNCTIONS - table_valued <= known
    for name in (
        "random",
        "randomblob",
        "load_extension",
        "changes",
        "total_changes",
        "last_insert_rowid",
        "zeroblob",
    ):
        assert name in known
        assert name not in FUNCTIONS


def test_sqlites_own_clock_is_the_frozen_one(tool: Tool):
    result = (
        "SELECT date('now') AS a, current_timestamp AS b, datetime() AS c, unixepoch('now') AS d, now() AS e, today() AS f, "
        "date(:day) AS g"
    )
    outcome = tool(read("", result, "day: {type: string}"), {"day": "now"})
    assert outcome.content == {
        "a": "2026-03-02", "b": "2026-03-02 15:00:00", "c": "2026-03-02 15:00:00", "d": 1772463600,
        "e": "2026-03-02T10:00:00-05:00", "f": "2026-03-02", "g": "2026-03-02",
    }  # fmt: skip


def test_a_default_of_the_schema_is_the_frozen_clock_too(tool: Tool):
    schema = "CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, name TEXT DEFAULT (now()), qty INTEGER, price REAL, at TEXT DEFAULT CURRENT_TIMESTAMP) STRICT;"
    steps = "- one: made\n  sql: INSERT INTO items (id) VALUES ('I-3') RETURNING *"
    outcome = tool(write(steps, "SELECT :made.name AS a, :made.at AS b"), schema=schema)
    assert outcome.content == {"a": "2026-03-02T10:00:00-05:00", "b": "2026-03-02 15:00:00"}


NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"


def test_a_query_that_never_ends_is_stopped(tool: Tool):
    with pytest.raises(PackFault) as caught:
        tool(read("", f"{NUMBERS} SELECT count(*) AS n FROM n"))
    assert str(caught.value).startswith("Tool try_it: it needs more than 2,000,000 steps")


def test_a_list_of_more_than_a_thousand_rows_is_stopped(tool: Tool):
    exactly = (
        "{many: 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT %d) SELECT i FROM n'}"
    )
    assert len(tool(read("", exactly % 1000)).content) == 1000
    with pytest.raises(PackFault) as caught:
        tool(read("", exactly % 1001))
    assert "more than 1,000 rows" in str(caught.value)


def test_a_result_of_more_than_256_kilobytes_is_stopped(tool: Tool):
    with pytest.raises(PackFault) as caught:
        tool(
            read(
                "",
                "{many: \"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 300) SELECT printf('%.*c', 900, 'x') AS t FROM n\"}",
            )
        )
    assert "larger than 256,000 bytes" in str(caught.value)


def test_a_text_that_grows_without_bound_is_stopped(tool: Tool):
    with pytest.raises(PackFault) as caught:
        tool(read("", "SELECT printf('%.*c', 900000000, 'x') AS t"))
    assert "string or blob too big" in str(caught.value)


def test_a_world_cannot_grow_without_bound():
    steps = f"- sql: \"INSERT INTO items (id, name) {NUMBERS} SELECT 'N-' || i, printf('%.*c', 290000, 'x') FROM n LIMIT 500\""
    world = world_of(tools=write(steps))
    with world.open() as sandbox, pytest.raises(PackFault) as caught:
        sandbox.call("try_it", {})
    assert "database or disk is full" in str(caught.value)
    with world.open() as after:
        assert after.column("SELECT count(*) FROM items") == [2]


def test_after_an_interrupted_write_the_sandbox_says_that_it_is_given_up():
    steps = f"- sql: \"INSERT INTO items (id) {NUMBERS} SELECT 'N-' || i FROM n\""
    world = world_of(tools=write(steps))
    with world.open() as sandbox:
        with pytest.raises(PackFault):
            sandbox.call("try_it", {})
        with pytest.raises(PackFault) as caught:
            sandbox.changes()
    assert "given up" in str(caught.value)
    with world.open() as after:
        assert after.column("SELECT count(*) FROM items") == [2]


def test_a_query_that_is_too_heavy_leaves_the_sandbox_usable(tool: Tool):
    world = world_of(tools=read("", f"{NUMBERS} SELECT count(*) AS n FROM n"))
    with world.open() as sandbox:
        for _ in range(2):
            with pytest.raises(PackFault):
                sandbox.call("try_it", {})
        assert sandbox.column("SELECT id FROM items ORDER BY id") == ["I-1", "I-2"]


@pytest.mark.parametrize(
    ("result", "arguments"),
    [
        ("SELECT abs(:n) AS n", {"n": -(2**63)}),
        ("SELECT json_extract(:t, '$.a') AS n", {"t": "{"}),
        ("SELECT name AS n FROM items WHERE name LIKE :t", {"t": "é" * 30_000}),
        ("SELECT printf('%.*c', :n, 'x') AS n", {"n": 10**9}),
        ("{many: SELECT id FROM items LIMIT :t}", {"t": "three"}),
    ],
)  # fmt: skip
def test_sql_that_fails_on_a_bots_values_is_answered_to_the_bot(
    tool: Tool, result: str, arguments: dict[str, object]
):
    outcome = tool(read("", result, "n: {type: integer}, t: {type: string}"), arguments)
    assert (outcome.ok, outcome.error) == (False, "invalid_arguments")
    assert outcome.message.startswith("The arguments cannot be processed: ")


def test_sql_that_fails_without_any_value_of_the_bot_is_the_fault_of_the_pack(tool: Tool):
    with pytest.raises(PackFault) as caught:
        tool(read("", "SELECT json_extract(name, '$.a') AS n FROM items"))
    assert "Tool try_it: its SQL failed: malformed JSON" in str(caught.value)


def test_numbers_beyond_all_bounds_are_null_in_a_result(tool: Tool):
    outcome = tool(read("", "SELECT 1e308 * :n AS n, 9e999 AS m", "n: {type: number}"), {"n": 1e300})
    assert outcome.content == {"n": None, "m": None}


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("DELETE FROM items", "is refused here"),
        ("SELECT random()", "random() is not available"),
        ("SELECT :a", ":a is a parameter"),
        ("SELECT 1; SELECT 2", "one statement"),
        ("SELECT colour", "no such column"),
        (f"{NUMBERS} SELECT i FROM n", "more than 1,000 rows"),
        (f"{NUMBERS} SELECT count(*) FROM n", "more than 2,000,000 steps"),
        ("PRAGMA table_info(items)", "PRAGMA is refused"),
    ],
)
def test_column_is_read_only_and_bounded(sql: str, says: str):
    with world_of().open() as sandbox:
        with pytest.raises(PackFault) as caught:
            sandbox.column(sql)
        assert says in str(caught.value)
        assert sandbox.column("SELECT id, name FROM items ORDER BY id") == ["I-1", "I-2"]


def test_a_bot_that_floods_the_rows_is_answered_before_the_tools_of_the_pack_exceed_their_bounds(
    library: World,
):
    much = ["é" * 40_000]
    with library.open() as sandbox:
        assert sandbox.call("members_update", {"member_id": "MEM-9", "interests": much}).error == "not_found"
        assert sandbox.call("members_update", {"member_id": "MEM-1", "interests": much}).ok
        outcome = sandbox.call("members_update", {"member_id": "MEM-1", "interests": much})
        assert (outcome.ok, outcome.kind, outcome.error) == (False, "write", "invalid_arguments")
        assert "100,000 bytes in one conversation" in str(outcome.message)
        assert sandbox.call("members_find", {"email": "ada.brook@example.org"}).ok
        assert sandbox.call("loans_renew", {"loan_id": "LN-1", "days": 7}).ok
