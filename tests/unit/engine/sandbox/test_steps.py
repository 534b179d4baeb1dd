"""Every shape of step and result, as the format describes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from assay.engine.sandbox import CallOutcome
from assay_sdk import PackFault

from .conftest import world_of

Tool = Callable[..., CallOutcome]

GET = """
- name: items_get
  kind: read
  description: One item.
  input: {type: object, required: [id], properties: {id: {type: string}}}
  steps:
    - one: item
      sql: SELECT * FROM items WHERE id = :id
      otherwise: {error: not_found, message: "No item {id}."}
  result: SELECT :item.id AS id, :item.name AS name, :item.qty AS qty
"""


def read(steps: str, result: str, properties: str = "") -> str:
    steps = "\n".join("    " + line for line in steps.strip("\n").splitlines())
    return (
        f"- name: try_it\n  kind: read\n  description: A tool.\n  input: {{type: object, properties: {{{properties}}}}}\n"
        f"  steps:\n{steps}\n  result: {result}\n"
        if steps.strip()
        else f"- name: try_it\n  kind: read\n  description: A tool.\n  input: {{type: object, properties: {{{properties}}}}}\n  result: {result}\n"
    )


def write(steps: str, result: str | None = None, properties: str = "") -> str:
    text = read(steps, result or "SELECT 1").replace("kind: read", "kind: write")
    text = text.replace("properties: {}", f"properties: {{{properties}}}")
    return text if result else text.replace("  result: SELECT 1\n", "")


def test_one_binds_exactly_one_row(tool: Tool):
    outcome = tool(GET, {"id": "I-1"})
    assert (outcome.ok, outcome.content) == (True, {"id": "I-1", "name": "anvil", "qty": 3})
    assert (outcome.kind, outcome.empty, outcome.wrote) == ("read", False, False)


def test_one_answers_with_its_error_when_there_is_no_row(tool: Tool):
    outcome = tool(GET, {"id": "I-9"})
    assert (outcome.ok, outcome.error, outcome.message) == (False, "not_found", "No item I-9.")
    assert outcome.arguments == {"id": "I-9"}


def test_one_answers_with_its_error_when_there_are_two_rows(tool: Tool):
    steps = "- one: item\n  sql: SELECT * FROM items\n  otherwise: {error: ambiguous, message: Which one?}"
    assert tool(read(steps, "SELECT 1 AS x")).error == "ambiguous"


def test_values_in_a_message_are_not_filled_in_a_second_time(tool: Tool):
    assert tool(GET, {"id": "{id} {item.name}"}).message == "No item {id} {item.name}."


def test_maybe_binds_null_when_there_is_no_row_and_the_first_of_several(tool: Tool):
    steps = "- maybe: item\n  sql: SELECT name FROM items WHERE qty >= :least ORDER BY id"
    definition = read(steps, "SELECT :item.name AS name", "least: {type: integer}")
    assert tool(definition, {"least": 100}).content == {"name": None}
    assert tool(definition, {"least": 0}).content == {"name": "anvil"}


def test_many_binds_a_json_array(tool: Tool):
    steps = "- many: found\n  sql: SELECT id, qty FROM items ORDER BY id"
    result = "SELECT json_array_length(:found) AS n, (SELECT group_concat(value ->> 'id') FROM json_each(:found)) AS ids"
    assert tool(read(steps, result)).content == {"n": 2, "ids": "I-1,I-2"}


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("SELECT 1", True),
        ("SELECT 0", False),
        ("SELECT NULL", False),
        ("SELECT 0.0", False),
        ("SELECT 0.5", True),
        ("SELECT 'yes'", False),
        ("SELECT '1 of them'", True),
        ("SELECT 1 WHERE 0", False),
        ("SELECT 0 UNION ALL SELECT 1", False),
    ],
)
def test_require_looks_at_the_first_column_of_the_first_row_as_sqlite_would(
    tool: Tool, condition: str, holds: bool
):
    steps = f'- require: "{condition}"\n  otherwise: {{error: no, message: No.}}'
    outcome = tool(read(steps, "SELECT 1 AS x"))
    assert (outcome.ok, outcome.error) == (holds, None if holds else "no")


def test_a_write_step_writes_and_a_tool_without_result_says_ok(tool: Tool):
    outcome = tool(write("- sql: UPDATE items SET qty = qty + 1"))
    assert (outcome.content, outcome.wrote, outcome.kind) == ({"ok": True}, True, "write")


def test_insert_returning_may_be_bound_without_otherwise(tool: Tool):
    steps = "- one: made\n  sql: INSERT INTO items (id, name) VALUES (next_id('I'), :name) RETURNING *"
    outcome = tool(
        write(steps, "SELECT :made.id AS id, :made.qty AS qty", "name: {type: string}"), {"name": "chisel"}
    )
    assert outcome.content == {"id": "I-9001", "qty": None}


def test_a_write_that_changes_nothing_wrote_nothing(tool: Tool):
    assert tool(write("- sql: UPDATE items SET qty = qty")).wrote is False
    assert tool(write("- sql: DELETE FROM items WHERE id = 'I-9'")).wrote is False


def test_a_result_without_a_row_is_null_and_empty(tool: Tool):
    outcome = tool(read("", "SELECT id FROM items WHERE id = 'I-9'"))
    assert (outcome.ok, outcome.content, outcome.empty) == (True, None, True)


def test_a_list_without_rows_is_empty(tool: Tool):
    outcome = tool(read("", "{many: SELECT id FROM items WHERE qty > 100}"))
    assert (outcome.content, outcome.empty) == ([], True)


def test_a_result_takes_the_first_row(tool: Tool):
    assert tool(read("", "SELECT id FROM items ORDER BY id")).content == {"id": "I-1"}


def test_fields_make_an_object_of_results(tool: Tool):
    result = "{fields: {first: SELECT id FROM items ORDER BY id, all: {many: SELECT id FROM items ORDER BY id}, none: SELECT id FROM items WHERE 0}}"
    outcome = tool(read("", result))
    assert outcome.content == {"first": {"id": "I-1"}, "all": [{"id": "I-1"}, {"id": "I-2"}], "none": None}
    assert outcome.empty is False


def test_json_columns_are_parsed_and_lose_their_ending(tool: Tool):
    outcome = tool(read("", "SELECT json_array(1, 'a') AS tags_json, NULL AS more_json, 'x' AS plain"))
    assert outcome.content == {"tags": [1, "a"], "more": None, "plain": "x"}


def test_a_json_column_that_is_not_json_is_the_fault_of_the_pack(tool: Tool):
    with pytest.raises(PackFault) as caught:
        tool(read("", "SELECT name AS name_json FROM items"))
    assert "Tool try_it: the column name_json of its result is not JSON" in str(caught.value)


def test_half_a_character_and_numbers_that_are_none_do_not_get_out_of_a_json_column(tool: Tool):
    half = tool(read("", "SELECT :t AS t_json", "t: {type: string}"), {"t": '"a\\ud800b"'})
    assert half.content == {"t": "a?b"}
    with pytest.raises(PackFault) as caught:
        tool(read("", "SELECT '[NaN]' AS t_json"))
    assert "NaN is not JSON" in str(caught.value)


def test_booleans_arrays_and_objects_are_bound_as_sql_knows_them(tool: Tool):
    properties = "yes: {type: boolean}, list: {type: array}, thing: {type: object}, whole: {type: integer}, absent: {type: string}"
    result = "SELECT :yes AS yes, :list AS list, :thing AS thing, typeof(:whole) AS whole, :absent AS absent"
    outcome = tool(
        read("", result, properties), {"yes": True, "list": [1, "é"], "thing": {"a": None}, "whole": 3.0}
    )
    assert outcome.content == {
        "yes": 1,
        "list": '[1,"é"]',
        "thing": '{"a":null}',
        "whole": "integer",
        "absent": None,
    }


def test_an_absent_argument_takes_its_default(tool: Tool):
    definition = read(
        "",
        "SELECT :n AS n, :on AS on_it",
        "n: {type: integer, default: 5}, on: {type: boolean, default: true}",
    )
    assert tool(definition).content == {"n": 5, "on_it": 1}
    assert tool(definition, {"n": 7, "on": False}).content == {"n": 7, "on_it": 0}


def test_a_bindings_columns_are_used_by_later_steps(tool: Tool):
    steps = """
- one: item
  sql: SELECT * FROM items WHERE id = 'I-1'
  otherwise: {error: not_found, message: No.}
- maybe: other
  sql: SELECT id FROM items WHERE qty < :item.qty
- require: SELECT :other.id IS NOT NULL
  otherwise: {error: none_cheaper, message: "Nothing below {item.qty}."}
"""
    assert tool(read(steps, "SELECT :other.id AS id")).content == {"id": "I-2"}


@pytest.mark.parametrize(
    ("statement", "sentence"),
    [
        ("INSERT INTO items (id) VALUES ('I-1')", "There is already a row with this items.id."),
        (
            "INSERT INTO items (id, qty) VALUES ('I-3', 'many')",
            "Cannot store TEXT value in INTEGER column items.qty.",
        ),
        (
            "INSERT INTO parts (id, item_id) VALUES (1, 'I-9')",
            "It refers to something that does not exist, or something else still refers to it.",
        ),
        ("INSERT INTO parts (id, item_id) VALUES (1, NULL)", "parts.item_id must have a value."),
        ("INSERT INTO parts (id, item_id, n) VALUES (1, 'I-1', -1)", "A rule is broken: n >= 0."),
    ],
)
def test_a_broken_constraint_is_answered_as_the_companys_system_would(
    tool: Tool, statement: str, sentence: str
):
    schema = (
        "CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, name TEXT, qty INTEGER, price REAL) STRICT;"
        "CREATE TABLE parts (id INTEGER PRIMARY KEY, item_id TEXT NOT NULL REFERENCES items (id), n INTEGER CHECK (n >= 0)) STRICT;"
    )
    outcome = tool(write(f'- sql: "{statement}"'), schema=schema)
    assert (outcome.ok, outcome.error, outcome.message) == (False, "constraint", sentence)


def test_deferred_foreign_keys_are_due_at_the_end_of_the_call(tool: Tool):
    schema = (
        "CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, name TEXT, qty INTEGER, price REAL) STRICT;"
        "CREATE TABLE parts (id INTEGER PRIMARY KEY, item_id TEXT REFERENCES items (id) DEFERRABLE INITIALLY DEFERRED) STRICT;"
    )
    alone = "- sql: INSERT INTO parts (id, item_id) VALUES (1, 'I-9')"
    assert tool(write(alone), schema=schema).error == "constraint"
    both = alone + "\n- sql: INSERT INTO items (id) VALUES ('I-9')"
    assert tool(write(both), schema=schema).ok


def test_a_read_tool_needs_no_transaction_and_leaves_no_change():
    world = world_of(tools=GET)
    with world.open() as sandbox:
        sandbox.call("items_get", {"id": "I-1"})
        assert not sandbox.changes()
