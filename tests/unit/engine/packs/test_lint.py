"""`check`: files, world, tools and tasks, every problem of each stage that could be reached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from assay.engine.packs import PackError, bundle
from assay.engine.packs.lint import check

Files = dict[str, bytes]
Edit = Callable[[str, str, str], Files]


def found(files: Files) -> list[tuple[str, int, str]]:
    with pytest.raises(PackError) as caught:
        check(files)
    return [(p.path, p.line, p.code) for p in caught.value.problems]


def test_the_library_can_be_run(library_folder: Path, tmp_path: Path) -> None:
    checked = check(library_folder)
    assert set(checked.world.pack.tasks) == set(checked.pack.tasks)
    assert len(checked.world.expected("LIB-HOLD-003")) == 2
    (tmp_path / "library.zip").write_bytes(bundle(checked.pack))
    assert check(tmp_path / "library.zip").pack.content_hash == checked.pack.content_hash


def test_a_seed_row_of_an_unknown_table_is_named(library: Files, edited: Edit) -> None:
    files = edited("world/seed/lending.yaml", "holds:\n", "hold:\n")
    with pytest.raises(PackError) as caught:
        check(files)
    first = min(caught.value.problems, key=lambda p: (p.code != "unknown_table", p.line))
    assert (first.path, first.line, first.code) == ("world/seed/lending.yaml", 7, "unknown_table")
    assert "holds" in first.message


def test_seed_rows_that_refer_to_each_other_in_a_cycle_are_refused(library: Files) -> None:
    schema = (
        b"CREATE TABLE staff (id TEXT PRIMARY KEY, boss TEXT REFERENCES staff (id)) STRICT;\n"
        b"CREATE TABLE rooms (id TEXT PRIMARY KEY, keeper TEXT REFERENCES keepers (id)) STRICT;\n"
        b"CREATE TABLE keepers (id TEXT PRIMARY KEY, room TEXT REFERENCES rooms (id)) STRICT;\n"
    )
    sound = {
        **library,
        "world/schema.sql": library["world/schema.sql"] + schema,
        "world/seed/staff.csv": b"id,boss\nS-1,\nS-2,S-1\nS-3,S-3\n",
    }
    check({**sound, "world/seed/staff.csv": b"id,boss\nS-1,\nS-2,S-1\n"})
    cycle = {
        **sound,
        "world/seed/rooms.yaml": b"rooms: [{id: R-1, keeper: K-1}]\nkeepers:\n  - {id: K-1, room: R-1}\n",
    }
    found_in = {(path, code) for path, _, code in found(cycle)}
    assert any(path == "world/seed/rooms.yaml" for path, _ in found_in)


def test_a_seed_id_that_appears_twice_is_refused(library: Files) -> None:
    files = {
        **library,
        "world/seed/books.csv": library["world/seed/books.csv"] + b"BK-1,Again,A. Gain,general,1\n",
    }
    assert [(path, line) for path, line, _ in found(files)] == [("world/seed/books.csv", 7)]


def test_a_tool_whose_sql_does_not_prepare_is_refused(edited: Edit) -> None:
    files = edited(
        "tools/lending.yaml",
        "SELECT * FROM books WHERE id = :book_id",
        "SELECT * FROM boks WHERE id = :book_id",
    )
    line = (
        files["tools/lending.yaml"]
        .decode()
        .split("\n")
        .index("      sql: SELECT * FROM boks WHERE id = :book_id")
        + 1
    )
    assert found(files)[0] == ("tools/lending.yaml", line, "bad_sql")


def test_a_column_that_does_not_exist_in_a_task_is_refused(edited: Edit) -> None:
    (problem,) = found(edited("tasks/lending.yaml", "name: Ines Vale,", "nome: Ines Vale,"))
    assert problem[0] == "tasks/lending.yaml"


def test_an_action_that_the_world_refuses_is_named(edited: Edit) -> None:
    (problem,) = found(edited("tasks/lending.yaml", "{loan_id: LN-1, days: 7}", "{loan_id: LN-3, days: 7}"))
    assert problem[0] == "tasks/lending.yaml"
    assert problem[2] == "action_fails"


def test_a_broken_task_does_not_hide_a_tool_that_does_not_prepare(library: Files, edited: Edit) -> None:
    files = edited("tasks/lending.yaml", "title: Late fee for six days", "titel: Late fee for six days")
    files["tools/lending.yaml"] = files["tools/lending.yaml"].replace(
        b"FROM books WHERE id", b"FROM boks WHERE id"
    )
    assert {(path, code) for path, _, code in found(files)} >= {
        ("tasks/lending.yaml", "unknown_key"),
        ("tasks/lending.yaml", "missing_key"),
        ("tools/lending.yaml", "bad_sql"),
    }


def test_a_broken_tool_is_one_problem_and_not_one_of_each_task_that_uses_it(edited: Edit) -> None:
    files = edited("tools/lending.yaml", "  description: Reserve a book for a member.\n", "")
    assert found(files) == [("tools/lending.yaml", 88, "missing_key")]


def test_a_broken_task_does_not_hide_another_that_cannot_be_played(edited: Edit) -> None:
    files = edited("tasks/lending.yaml", "title: Late fee for six days", "titel: Late fee for six days")
    tasks = files["tasks/lending.yaml"].replace(b"{loan_id: LN-1, days: 7}", b"{loan_id: LN-3, days: 7}")
    codes = [code for _, _, code in found({**files, "tasks/lending.yaml": tasks})]
    assert sorted(codes) == ["action_fails", "missing_key", "unknown_key"]


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("world/seed/books.csv", b"id,title\nBK-1\n", 2),
        ("world/seed/lending.yaml", b"loans: [{id: 1}\n", 1),
        ("world/seed/books.csv", b"id\n\xff\n", 2),
        ("comparison.yaml", b"tables: {loans: {columns: {note: words}}}\n", 1),
    ],
)
def test_a_part_of_the_world_that_cannot_be_read_is_one_problem(
    library: Files, path: str, text: bytes, line: int
) -> None:
    assert [(p, n) for p, n, _ in found({**library, path: text})] == [(path, line)]
