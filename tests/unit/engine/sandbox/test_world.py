"""Preparing a world: what is wrong with a pack is said in one go, with file and line."""

from __future__ import annotations

import pytest

from assay.engine.packs import PackError, load_pack_bytes
from assay.engine.sandbox import World, compare
from assay.engine.sandbox.task_checks import check_tasks
from assay_sdk import PackFault

from .conftest import problems_of, small, world_of

TWO = """CREATE TABLE owners (id TEXT NOT NULL PRIMARY KEY, name TEXT NOT NULL, best TEXT REFERENCES things (id)) STRICT;

CREATE TABLE things (
  id TEXT NOT NULL PRIMARY KEY,
  owner TEXT REFERENCES owners (id),
  part_of TEXT REFERENCES things (id),
  qty INTEGER CHECK (qty >= 0),
  price REAL
) STRICT;
"""
OWNER = "owners:\n  - {id: O-1, name: Ada}\n"


def said(**parts: str) -> list[str]:
    return [str(p) for p in problems_of(**parts)]


def of_schema(text: str) -> list[str]:
    return said(
        schema=text,
        seed="items: []",
        tools="- {name: one_tool, kind: read, description: x, result: SELECT 1 AS x}",
    )


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("CREATE TABLE items (x TEXT) STRICT", "Table items has no PRIMARY KEY: changes are told by it; add one."),
        ("CREATE TABLE items (id TEXT PRIMARY KEY)", "Column items.id of the primary key may be NULL, and such rows cannot be told apart: write NOT NULL, or make the table STRICT."),
        ("CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, n AS (1))", "Column items.n is generated: compute it in a view instead."),
        ("CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, o REFERENCES owners)", "items (o) refers to the table owners, which does not exist."),
        ("CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, o REFERENCES items (nr))", "items (o) refers to items.nr, which does not exist."),
        ("CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, n, o REFERENCES items (n))", "items (o) refers to items (n), which is neither its primary key nor UNIQUE."),
        ("CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, o REFERENCES Items)", "items (o) refers to Items: write the table's name as it is declared, items."),
        ("CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, n DEFAULT (random()))", "The function random() is not available in a schema."),
        ("CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY,, n)", 'The statement cannot be run: near ",": syntax error.'),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_used_is_named(statement: str, message: str):
    assert f"world/schema.sql:2: {message}" in of_schema(f"-- items\n{statement};")


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TRIGGER t AFTER INSERT ON items BEGIN SELECT 1; END",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "CREATE TEMP TABLE t (x)",
        "ATTACH ':memory:' AS a",
        "PRAGMA foreign_keys = OFF",
        "INSERT INTO items VALUES ('a')",
        "DROP TABLE items",
        "VACUUM",
        "SELECT load_extension('x')",
    ],
)
def test_a_schema_holds_tables_indexes_and_views_only(statement: str):
    found = of_schema(f"CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY);\n{statement};")
    assert found[0].startswith(
        "world/schema.sql:2: A schema holds CREATE TABLE, CREATE INDEX and CREATE VIEW"
    )


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE copy AS SELECT sql FROM sqlite_schema",
        "create table if not exists main.copy as select 1 AS x",
        'CREATE TABLE "copy" AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n',
    ],
)
def test_a_table_made_by_a_query_is_refused_and_the_query_not_run(statement: str):
    found = of_schema(f"CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY);\n{statement};")
    assert len(found) == 1
    assert found[0].startswith(
        "world/schema.sql:2: A table is made of columns and not of a query (no AS SELECT)"
    )


def test_a_table_may_use_the_word_as_elsewhere():
    assert (
        of_schema(
            'CREATE TABLE "as" (id TEXT NOT NULL PRIMARY KEY, n TEXT CHECK (CAST(n AS INTEGER) > 0)) STRICT;'
            "CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY) STRICT;"
        )
        == []
    )


def test_a_view_that_cannot_be_read_is_named():
    found = of_schema(
        "CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY);\n"
        "CREATE VIEW lost AS SELECT * FROM itemz;\n"
        'CREATE VIEW "odd ""one" AS SELECT nope FROM items;'
    )
    assert found == [
        "world/schema.sql:2: The view lost cannot be read: no such table: main.itemz.",
        'world/schema.sql:3: The view odd "one cannot be read: no such column: nope.',
    ]


def test_views_of_views_that_grow_without_bound_are_refused_before_they_are_compiled():
    views = "".join(f"CREATE VIEW v{n} AS SELECT a.id FROM v{n - 1} a, v{n - 1} b;\n" for n in range(1, 40))
    found = of_schema(
        f"CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY); CREATE VIEW v0 AS SELECT id FROM items;\n{views}"
    )
    assert (
        "world/schema.sql:40: The view v39 comes to more than 500 views when those it is made of are written out: "
        "make it simpler."
    ) in found


def test_indexes_and_views_are_welcome():
    world = world_of(
        schema="CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, name TEXT, qty INTEGER, price REAL) STRICT;"
        "CREATE UNIQUE INDEX by_name ON items (name); CREATE VIEW dear AS SELECT id FROM items WHERE price > 5;",
        tools="- {name: dear_list, kind: read, description: x, result: {many: SELECT id FROM dear}}",
    )
    assert list(world.tables) == ["items"]
    with world.open() as sandbox:
        assert sandbox.call("dear_list", {}).content == [{"id": "I-1"}]


def test_a_pack_without_tables_is_refused():
    assert "world/schema.sql: The schema makes no table: a world needs at least one." in of_schema(
        "-- nothing"
    )


def test_tables_know_their_keys():
    tables = world_of(
        schema=TWO + "CREATE TABLE log (n INTEGER PRIMARY KEY, t TEXT REFERENCES things) STRICT;",
        seed=OWNER,
        tools="- {name: one_tool, kind: read, description: x, result: SELECT 1 AS x}",
    ).tables
    assert tables["things"].columns == ("id", "owner", "part_of", "qty", "price")
    assert tables["things"].foreign_keys == {"owner": ("owners", "id"), "part_of": ("things", "id")}
    assert (tables["log"].rowid_key, tables["log"].foreign_keys) == (True, {"t": ("things", "id")})
    assert (tables["things"].rowid_key, tables["things"].primary_key) == (False, ("id",))


def of_seed(rows: str) -> list[str]:
    return said(
        schema=TWO, seed=rows, tools="- {name: one_tool, kind: read, description: x, result: SELECT 1 AS x}"
    )


def test_every_seed_row_that_does_not_fit_is_named_with_its_line():
    found = of_seed(
        """owners:
  - {id: O-1, name: Ada}
  - {id: O-1, name: Ben}
  - {id: O-2}
  - {id: O-3, name: Cid, nme: x}
things:
  - {id: T-1, owner: O-9}
  - {id: T-2, qty: -1}
  - {id: T-3, qty: many}
  - {id: T-4, qty: 1.5}
  - {id: T-5, price: dear}
thigns:
  - {id: T-6}
"""
    )
    assert found == [
        "world/seed/rows.yaml:3: There is already a row with this owners.id.",
        "world/seed/rows.yaml:4: owners.name must have a value.",
        "world/seed/rows.yaml:5: The table owners has no column nme. Did you mean name?",
        "world/seed/rows.yaml:7: things row T-1: owner is O-9, but owners has no such row. Add it, or correct the value.",
        "world/seed/rows.yaml:8: A rule of things is broken: qty >= 0.",
        "world/seed/rows.yaml:9: things.qty: 'many' is not a whole number.",
        "world/seed/rows.yaml:10: Cannot store REAL value in INTEGER column things.qty.",
        "world/seed/rows.yaml:11: things.price: 'dear' is not a number.",
        "world/seed/rows.yaml:13: There is no table thigns. Did you mean things?",
    ]


def test_rows_may_come_before_the_rows_they_refer_to_and_refer_to_themselves():
    seed = "things: [{id: T-1, owner: O-1, part_of: T-2}, {id: T-2, part_of: T-2}]\nowners: [{id: O-1, name: Ada}]"
    assert of_seed(seed) == []


def test_rows_that_refer_to_each_other_in_a_circle_are_refused():
    found = of_seed(
        "owners:\n  - {id: O-1, name: Ada, best: T-1}\nthings:\n  - {id: T-1, owner: O-1}\n  - {id: T-2, part_of: T-3}\n  - {id: T-3, part_of: T-2}\n"
    )
    assert len(found) == 2
    assert "Rows refer to each other in a circle: " in found[0]
    assert found[0].endswith("Break it: make one of them NULL.")
    assert {"owners O-1", "things T-1"} <= {
        part for line in found for part in ("owners O-1", "things T-1") if part in line
    }


def test_csv_values_take_the_type_of_their_column():
    schema = "CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, name TEXT, qty INTEGER, price REAL, ok INTEGER, v ANY) STRICT;"
    world = world_of(
        schema=schema,
        seed="items: []",
        world__seed__items_csv="id,name,qty,price,ok,v\n007,12,3,4,true,5\nb,,,1e2,false,\n",
    )
    with world.open() as sandbox:
        rows = sandbox._connection.execute("SELECT * FROM items ORDER BY id").fetchall()
    assert rows == [("007", "12", 3, 4.0, 1, "5"), ("b", None, None, 100.0, 0, None)]
    assert type(rows[0][3]) is float


def test_lists_and_booleans_of_yaml_are_stored_as_json_and_numbers():
    world = world_of(seed="items: [{id: I-1, name: '[1, 2]', qty: true, price: 3}]")
    with world.open() as sandbox:
        assert sandbox._connection.execute("SELECT * FROM items").fetchall() == [("I-1", "[1, 2]", 1, 3.0)]


WRITER = """
- name: items_make
  kind: write
  description: Make an item.
  steps:
    - sql: INSERT INTO items (id) VALUES (next_id('N'))
"""


def test_seed_rows_cannot_take_the_numbers_of_generated_ids():
    seed = "items:\n  - {id: N-9000}\n  - {id: N-9001}\n  - {id: M-9001}\n  - {id: I-1, name: N-10000}\n"
    found = said(seed=seed, tools=WRITER)
    assert [f.split(" are made by")[0] for f in found] == [
        "world/seed/rows.yaml:3: items.id is N-9001, but ids N-9001 and up",
        "world/seed/rows.yaml:5: items.name is N-10000, but ids N-9001 and up",
    ]


def test_what_is_wrong_with_tools_rows_and_comparison_is_said_in_one_go():
    found = said(
        seed="items:\n  - {id: I-1, size: 3}\n",
        tools="- name: one_tool\n  kind: read\n  description: x\n  result: SELECT :colour AS x, :item.id AS y\n- name: two_tool\n  kind: read\n  description: x\n  result: SELECT size FROM items\n",
        comparison_yaml="ignore_tables: [itms]\ntables:\n  items:\n    key: [id, colour]\n    columns:\n      name: text\n      weight: ignore\n  parts:\n    key: [id]\n",
    )
    assert found == [
        "comparison.yaml:1: 'ignore_tables' names itms, which does not exist. Did you mean items?",
        "comparison.yaml:4: The table items has no column colour. There are: id, name, price, qty.",
        "comparison.yaml:7: The table items has no column weight. There are: id, name, price, qty.",
        "comparison.yaml:8: There is no table parts. There are: items.",
        "tools/tools.yaml:4: Tool one_tool, result: :colour is not known here: it is no parameter of 'input' and no step before binds it.",
        "tools/tools.yaml:4: Tool one_tool, result: :item.id is not known here: it is no parameter of 'input' and no step before binds it.",
        "tools/tools.yaml:8: Tool two_tool, result: The SQL does not prepare: no such column: size.",
        "world/seed/rows.yaml:2: The table items has no column size. There are: id, name, price, qty.",
    ]


@pytest.mark.parametrize(
    ("steps", "result", "message"),
    [
        ("[{one: a, sql: SELECT id FROM items}]", "SELECT 1 AS x", "'one' with a SELECT needs 'otherwise"),
        (
            "[{maybe: a, sql: SELECT id FROM items}, {maybe: a, sql: SELECT id FROM items}]",
            "SELECT 1 AS x",
            "The name a is already taken",
        ),
        (
            "[{many: item_id, sql: SELECT id FROM items}]",
            "SELECT 1 AS x",
            "The name item_id is already taken",
        ),
        (
            "[{require: SELECT 1, otherwise: {error: no, message: 'No {what}.'}}]",
            "SELECT 1 AS x",
            "{what} in the message is not known here",
        ),
        ("[{maybe: a, sql: SELECT id FROM items}]", "SELECT :a.name AS x", ":a.name is not known here"),
        ("[]", "SELECT 1 AS x, 2 AS x", "Two columns are named x"),
        ("[]", "'SELECT 1 AS x, 2 AS x_json'", "Two columns have the same name once '_json' is dropped"),
        ("[]", "SELECT id FROM itms", "no such table: itms"),
        ("[]", "SELECT soundex(id) AS x FROM items", "no such function: soundex"),
    ],
)
def test_a_tool_that_does_not_hold_together_is_named(steps: str, result: str, message: str):
    tool = f"- name: one_tool\n  kind: read\n  description: x\n  input: {{type: object, properties: {{item_id: {{type: string}}}}}}\n  steps: {steps}\n  result: {result}\n"
    assert any(message in line for line in said(tools=tool)), said(tools=tool)


def test_the_names_of_a_result_are_those_of_the_last_step_that_binds_them():
    with pytest.raises(PackError):
        World.prepare(
            load_pack_bytes(
                small(tools="- {name: one_tool, kind: read, description: x, result: SELECT :x.y AS z}")
            )
        )


# --- tasks -------------------------------------------------------------------------------------------

ACT = """
- name: items_set
  kind: write
  description: Set the quantity of an item.
  input: {type: object, required: [id, qty], properties: {id: {type: string}, qty: {type: integer}}}
  steps:
    - one: item
      sql: SELECT * FROM items WHERE id = :id
      otherwise: {error: not_found, message: "No item {id}."}
    - sql: UPDATE items SET qty = :qty WHERE id = :id
  result: SELECT :id AS item_id, :qty AS qty, json_array(:id) AS ids_json
- name: items_heavy
  kind: write
  description: Never ends.
  steps:
    - sql: UPDATE items SET qty = (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n)
"""


def task(expected: str, more: str = "") -> str:
    return f"- id: TIN-ONE-001\n  title: One\n  user: {{opening: Hello., goal: Nothing.}}\n{more}  expected:\n{expected}"


def of_task(expected: str, more: str = "", **parts: str) -> list[str]:
    return said(tools=ACT, tasks=task(expected, more), **parts)


def test_actions_are_replayed_and_refer_to_each_others_results():
    actions = (
        "    actions:\n      - {tool: items_set, as: a, args: {id: I-1, qty: 4}}\n"
        "      - {tool: items_set, as: b, args: {id: $a.ids.0, qty: 5}}\n      - {tool: items_set, args: {id: I-2, qty: $b.qty}}\n"
    )
    world = world_of(tools=ACT, tasks=task(actions))
    assert world.check_tasks() == []
    (outcome,) = world.expected("TIN-ONE-001")
    assert [(r.key, r.after and r.after["qty"], r.call) for r in outcome.rows] == [
        (("I-1",), 5, 1),
        (("I-2",), 5, 2),
    ]
    assert world.expected("TIN-ONE-001")[0] is outcome


def test_every_accepted_outcome_is_replayed(library: World):
    first, second = library.expected("LIB-HOLD-003")
    assert [r.op for r in first.rows] == ["delete", "delete"]
    assert [r.op for r in second.rows] == ["insert"]
    assert compare(library.tables, library.pack.comparison, [first, second], second).equal
    with pytest.raises(KeyError):
        library.expected("LIB-NONE-001")


@pytest.mark.parametrize(
    ("expected", "line", "message"),
    [
        ("    actions:\n      - {tool: items_set, args: {id: I-1, qty: 4}}\n      - {tool: items_set, args: {id: I-9, qty: 4}}\n", 7, "Task TIN-ONE-001: action 2 (items_set) is refused with not_found: No item I-9. Correct its arguments, or make the call before that it needs."),
        ("    actions:\n      - {tool: items_set, as: a, args: {id: I-1, qty: 4}}\n      - {tool: items_set, args: {id: $a.nr, qty: 4}}\n", 7, "Task TIN-ONE-001: action 2 (items_set): $a.nr: the result of a has no nr; it has: item_id, qty, ids."),
        ("    actions:\n      - {tool: items_set, as: a, args: {id: I-1, qty: 4}}\n      - {tool: items_set, args: {id: $a.ids.9, qty: 4}}\n", 7, "action 2 (items_set): $a.ids.9: a.ids is a list of 1 (0 alone), so it has no 9."),
        ("    actions:\n      - {tool: items_set, as: a, args: {id: I-1, qty: 4}}\n      - {tool: items_set, args: {id: $a.qty.x, qty: 4}}\n", 7, "action 2 (items_set): $a.qty.x: a.qty is 4, which has no fields: end the path there."),
        ("    actions:\n      - {tool: items_set, args: {id: I-1, qty: 3}}\n", 5, "Task TIN-ONE-001: The actions change nothing that is compared, so a bot that does nothing would pass: correct them, or say 'no_change: true'."),
        ("    no_change: true\n    actions:\n      - {tool: items_set, args: {id: I-1, qty: 4}}\n", 6, "Task TIN-ONE-001: The actions change something, but the task says 'no_change: true'."),
    ],
)  # fmt: skip
def test_a_task_whose_actions_prove_nothing_is_refused(expected: str, line: int, message: str):
    found = of_task(expected)
    assert len(found) == 1
    assert found[0].endswith(message)
    assert int(found[0].split(":")[1]) in (line, line + 1)


def test_a_tool_over_its_bounds_is_named_where_it_is_written():
    (found,) = of_task("    actions:\n      - {tool: items_heavy}\n")
    line = next(n for n, text in enumerate(ACT.splitlines(), 1) if "items_heavy" in text)
    assert found == (
        f"tools/tools.yaml:{line}: Task TIN-ONE-001: Tool items_heavy: it needs more than 2,000,000 steps: "
        "make the query simpler."
    )


def test_actions_that_change_only_what_is_not_compared_change_nothing():
    found = of_task(
        "    actions:\n      - {tool: items_set, args: {id: I-1, qty: 4}}\n",
        comparison_yaml="tables: {items: {columns: {qty: ignore}}}\n",
    )
    assert "The actions change nothing that is compared" in found[0]


def test_rows_of_a_task_that_do_not_fit_are_named_with_their_line():
    rows = "  world:\n    items:\n      - {id: I-1, qty: lots}\n      - {name: no key}\n      - {id: I-7, nmae: x}\n      - {id: I-1, name: fine}\n    itms:\n      - {id: I-1}\n"
    found = of_task("    no_change: true\n", rows)
    assert found == [
        "tasks/tasks.yaml:6: items.qty: 'lots' is not a whole number.",
        "tasks/tasks.yaml:7: Give items.id: rows of a task are laid over the seed by primary key.",
        "tasks/tasks.yaml:8: The table items has no column nmae. Did you mean name?",
        "tasks/tasks.yaml:11: There is no table itms. Did you mean items?",
    ]
    world = World.prepare(load_pack_bytes(small(tools=ACT, tasks=task("    no_change: true\n", rows))))
    with pytest.raises(PackFault):
        world.open("TIN-ONE-001")
    with world.open() as sandbox:
        assert sandbox.column("SELECT id FROM items ORDER BY id") == ["I-1", "I-2"]


def test_rows_of_a_task_are_new_or_update_what_is_there():
    rows = "  world:\n    items: [{id: I-1, name: renamed}, {id: I-3, name: new}]\n"
    world = world_of(tools=ACT, tasks=task("    no_change: true\n", rows))
    assert world.check_tasks() == []
    with world.open("TIN-ONE-001") as sandbox:
        assert sandbox._connection.execute("SELECT id, name, qty FROM items ORDER BY id").fetchall() == [
            ("I-1", "renamed", 3), ("I-2", "brush", 0), ("I-3", "new", None),
        ]  # fmt: skip


def test_rows_of_a_task_must_keep_references_whole():
    rows = "  world:\n    things: [{id: T-1, owner: O-7}]\n    owners: [{id: O-8, name: Eve}]\n"
    found = said(
        schema=TWO, seed=OWNER, tasks=task("    no_change: true\n", rows),
        tools="- {name: one_tool, kind: read, description: x, result: SELECT 1 AS x}",
    )  # fmt: skip
    assert found == [
        "tasks/tasks.yaml:5: things row T-1: owner is O-7, but owners has no such row. Add it, or correct the value."
    ]


def test_rows_of_a_task_that_set_off_what_the_schema_forbids_are_a_fault_of_the_pack():
    schema = (
        "CREATE TABLE codes (id TEXT NOT NULL PRIMARY KEY, code TEXT UNIQUE) STRICT;"
        "CREATE TABLE uses (id TEXT NOT NULL PRIMARY KEY, code TEXT NOT NULL REFERENCES codes (code) ON UPDATE SET NULL) STRICT;"
    )
    rows = "  world:\n    codes: [{id: C-1, code: new}]\n    uses: [{id: U-1, code: new}]\n"
    found = said(
        schema=schema, seed="codes: [{id: C-1, code: old}]\nuses: [{id: U-1, code: old}]", tasks=task("    no_change: true\n", rows),
        tools="- {name: one_tool, kind: read, description: x, result: SELECT 1 AS x}",
    )  # fmt: skip
    assert len(found) == 1
    assert "cannot be laid over the world" in found[0]


def test_a_query_of_a_reply_rule_is_checked():
    rule = "  reply:\n    - {must_not_contain_from: SELECT secret FROM items}\n"
    found = of_task("    no_change: true\n", rule)
    assert found[0].startswith(
        "tasks/tasks.yaml:5: Task TIN-ONE-001: The query 'SELECT secret FROM items' cannot be used"
    )


def test_an_unknown_task_cannot_be_opened(library: World):
    with pytest.raises(KeyError):
        library.open("LIB-NONE-001")


def test_now_is_the_frozen_instant_of_the_pack(library: World):
    assert (library.now, library.today) == ("2026-05-04T09:00:00+01:00", "2026-05-04")


def test_checking_the_tasks_ends_when_its_time_is_over(library: World):
    problems = check_tasks(library, seconds=0)
    first = library.pack.sources["task:" + next(iter(library.pack.tasks))]
    assert [(p.path, p.line, p.code) for p in problems] == [(first.path, first.line, "check_too_long")]
    assert "make the tools cheaper or the tasks fewer" in problems[0].message
