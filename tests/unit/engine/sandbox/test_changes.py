"""The change set of any writes is what a plain comparison of two full dumps shows."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.sandbox import ChangeSet, World

from .conftest import world_of

SCHEMA = """
CREATE TABLE people (id TEXT NOT NULL PRIMARY KEY, name TEXT, points INTEGER, weight REAL) STRICT;
CREATE TABLE notes (n INTEGER PRIMARY KEY, person TEXT REFERENCES people (id) ON DELETE CASCADE ON UPDATE CASCADE, body TEXT) STRICT;
CREATE TABLE pairs (a TEXT NOT NULL, b INTEGER NOT NULL, v ANY, PRIMARY KEY (a, b)) STRICT, WITHOUT ROWID;
"""
SEED = """
people: [{id: P-1, name: Ada, points: 3, weight: 1.5}, {id: P-2, name: Ben}, {id: P-3, points: 0}]
notes: [{n: 1, person: P-1, body: one}, {n: 2, person: P-1}, {n: 5, person: P-3, body: three}]
pairs: [{a: x, b: 1, v: 1}, {a: x, b: 2, v: two}, {a: y, b: 1}]
"""
_ARGUMENTS = "id: {type: string}, new: {type: string}, text: {type: [string, 'null']}, n: {type: integer}, v: {type: [number, string, 'null']}"
_STATEMENTS = {
    "insert_person": "INSERT INTO people (id, name, points) VALUES (:id, :text, :n)",
    "replace_person": "INSERT OR REPLACE INTO people (id, name, points) VALUES (:id, :text, :n)",
    "upsert_person": "INSERT INTO people (id, points) VALUES (:id, :n) ON CONFLICT (id) DO UPDATE SET points = points + excluded.points",
    "update_person": "UPDATE people SET name = :text, weight = :n / 2.0 WHERE id = :id",
    "rename_person": "UPDATE people SET id = :new WHERE id = :id",
    "delete_person": "DELETE FROM people WHERE id = :id",
    "delete_all": "DELETE FROM people",
    "insert_note": "INSERT INTO notes (person, body) VALUES (:id, :text)",
    "number_note": "INSERT INTO notes (n, person, body) VALUES (:n, :id, :text)",
    "move_note": "UPDATE notes SET n = :n WHERE n = 1",
    "delete_notes": "DELETE FROM notes WHERE n >= :n",
    "insert_pair": "INSERT OR IGNORE INTO pairs (a, b, v) VALUES (:id, :n, :v)",
    "update_pairs": "UPDATE pairs SET v = :v WHERE b = :n",
    "swap_pairs": "UPDATE pairs SET a = a || :id",
    "delete_pairs": "DELETE FROM pairs WHERE a = :id OR b = :n",
}
_TOOLS = "".join(
    f"- name: {name}\n  kind: write\n  description: x\n  input: {{type: object, properties: {{{_ARGUMENTS}}}}}\n"
    f'  steps: [{{sql: "{sql}"}}]\n'
    for name, sql in _STATEMENTS.items()
)
_ids = st.sampled_from(["P-1", "P-2", "P-3", "P-4", "x", "y"])
_calls = st.lists(
    st.tuples(
        st.sampled_from(sorted(_STATEMENTS)),
        st.fixed_dictionaries(
            {},
            optional={
                "id": _ids,
                "new": _ids,
                "text": st.one_of(st.none(), st.sampled_from(["", "a", "ü", "O'Neil"])),
                "n": st.integers(0, 6),
                "v": st.one_of(st.none(), st.integers(0, 3), st.floats(0, 3), st.just("two")),
            },
        ),
    ),
    max_size=10,
)
_world: list[World] = []


def world() -> World:
    if not _world:
        _world.append(world_of(schema=SCHEMA, seed=SEED, tools=_TOOLS))
    return _world[0]


def rows_of(sandbox: Any) -> dict[tuple[str, tuple[Any, ...]], dict[str, Any]]:
    found = {}
    for table, info in sandbox.world.tables.items():
        for row in sandbox._connection.execute(f"SELECT {', '.join(info.columns)} FROM {table}"):
            values = dict(zip(info.columns, row, strict=True))
            found[(table, tuple(values[c] for c in info.primary_key))] = values
    return found


def same(one: Any, other: Any) -> bool:
    return {k: (type(v), v) for k, v in one.items()} == {k: (type(v), v) for k, v in other.items()}


def naive(before: dict[Any, Any], after: dict[Any, Any]) -> list[tuple[Any, ...]]:
    rows = []
    for place in before.keys() | after.keys():
        old, new = before.get(place), after.get(place)
        if old is None or new is None or not same(old, new):
            op = "insert" if old is None else "delete" if new is None else "update"
            rows.append((*place, op, old, new))
    return sorted(rows, key=str)


def shown(changes: ChangeSet) -> list[tuple[Any, ...]]:
    return sorted(((r.table, r.key, r.op, r.before, r.after) for r in changes.rows), key=str)


@given(_calls)
@settings(deadline=None, max_examples=300)
def test_a_change_set_is_the_difference_of_two_dumps(calls: list[tuple[str, dict[str, Any]]]):
    with world().open() as sandbox:
        start = rows_of(sandbox)
        for name, arguments in calls:
            before = rows_of(sandbox)
            outcome = sandbox.call(name, arguments)
            after = rows_of(sandbox)
            assert outcome.wrote == (naive(before, after) != [])
            if not outcome.ok:
                assert outcome.error in ("constraint", "invalid_arguments")
        changes = sandbox.changes()
        assert shown(changes) == naive(start, rows_of(sandbox))
        assert [(r.table, r.op) for r in changes.rows] == [
            (r.table, r.op) for r in sorted(changes.rows, key=lambda r: (r.table, r.key))
        ]
        assert all(r.call is not None for r in changes.rows)


@given(_calls)
@settings(deadline=None, max_examples=100)
def test_rolled_back_writes_leave_no_change_set(calls: list[tuple[str, dict[str, Any]]]):
    with world().open() as sandbox:
        connection = sandbox._connection
        start = rows_of(sandbox)
        connection.execute("SAVEPOINT outer_one")
        for name, arguments in calls:
            sandbox.call(name, arguments)
        connection.execute("ROLLBACK TO outer_one")
        sandbox._recorder._known = None
        assert not sandbox.changes()
        assert rows_of(sandbox) == start


def test_keys_of_several_kinds_are_sorted():
    with world().open() as sandbox:
        sandbox.call("delete_all", {})
        sandbox.call("insert_pair", {"id": "a", "n": 6, "v": 1.5})
        rows = sandbox.changes().rows
        assert [(r.table, r.key) for r in rows] == [
            ("notes", (1,)), ("notes", (2,)), ("notes", (5,)), ("pairs", ("a", 6)),
            ("people", ("P-1",)), ("people", ("P-2",)), ("people", ("P-3",)),
        ]  # fmt: skip


def test_numbers_made_by_sqlite_are_among_the_generated_ids():
    with world().open() as sandbox:
        sandbox.call("insert_note", {"id": "P-1", "text": "new"})
        changes = sandbox.changes()
        assert changes.rows[0].after == {"n": 6, "person": "P-1", "body": "new"}
        assert changes.generated == {6}
