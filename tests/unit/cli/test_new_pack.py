"""`assay pack new` and `assay pack schema`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.cli.main import execute
from assay.engine.packs.json_schema import KINDS, modeline, schema_text
from assay.engine.packs.lint import check
from assay.engine.packs.skeleton import make_pack, prefix_of
from assay.engine.verifier import verify
from assay_sdk import OptionsError

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_new_pack_has_no_problem_and_speaks_of_itself_by_its_name(capsys: Capture) -> None:
    assert execute(["pack", "new", "acme_support"]) == 0
    said = capsys.readouterr().out
    pack = check(Path("acme_support")).pack
    assert (pack.name, pack.manifest.title) == ("acme_support", "Acme Support")
    assert list(pack.tasks) == ["ACME-CANCEL-001", "ACME-CANCEL-002"]
    assert all(clause.startswith("ACME-") for clause in pack.clauses)
    for command in ("lint", "verify", "try"):
        assert f"assay pack {command} acme_support" in said
    text = "".join(p.read_text(encoding="utf-8") for p in Path("acme_support").rglob("*.*") if p.is_file())
    assert "my_pack" not in text and "Your Company" not in text and "MY-" not in text


def test_a_new_pack_shows_what_the_format_has() -> None:
    pack = check(make_pack("acme", Path())).pack
    tasks = list(pack.tasks.values())
    assert {clause for task in tasks for clause in task.clauses} == set(pack.clauses)
    assert all(task.trap and task.hardness for task in tasks)
    assert any(action.derived for task in tasks for action in task.expected.actions)
    assert any(fact.decides for task in tasks for fact in task.user.facts)
    assert any(task.user.reactions for task in tasks) and any(task.reply for task in tasks)
    assert any(task.expected.no_change for task in tasks)
    assert json.loads(Path("acme/.schemas/tasks.json").read_text(encoding="utf-8"))["type"] == "array"
    assert pack.sections and pack.manifest.currency


def test_every_yaml_file_begins_with_the_line_by_which_editors_find_its_schema() -> None:
    folder = make_pack("acme", Path())
    seen = set()
    for kind, what in KINDS.items():
        for path in folder.glob(what.files):
            first = path.read_text(encoding="utf-8").splitlines()[0]
            assert first == modeline(kind)
            schema = path.parent / first.partition("$schema=")[2]
            assert schema.resolve() == (folder / ".schemas" / f"{kind}.json").resolve()
            assert schema.read_text(encoding="utf-8") == schema_text(kind)
            seen.add(path)
    assert seen == set(folder.rglob("*.yaml"))
    assert len(seen) == 4


def test_every_key_of_a_new_task_is_explained_in_a_comment_or_stands_in_the_schema() -> None:
    text = (make_pack("acme", Path()) / "tasks/cancelling.yaml").read_text(encoding="utf-8")
    first_task = text.partition("\n\n")[0]
    for key in (
        "id",
        "title",
        "clauses",
        "trap",
        "hardness",
        "opening",
        "goal",
        "facts",
        "reactions",
        "actions",
        "derived",
    ):
        line = next(x for x in first_task.splitlines() if x.strip().removeprefix("- ").startswith(f"{key}:"))
        assert " # " in line, key


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("Acme", "'acme' would do"),
        ("acme support", "'acme_support' would do"),
        ("acme-support", "'acme_support' would do"),
        ("../acme", "'acme' would do"),
        ("9", "begins with a letter."),
        ("a", "2 to 40"),
        ("", "2 to 40"),
        ("a" * 41, "2 to 40"),
        ("acme\n", "'acme' would do"),
    ],
)
def test_a_name_that_no_pack_can_have_is_refused_and_nothing_is_made(
    name: str, says: str, capsys: Capture
) -> None:
    assert execute(["pack", "new", "--", name]) == 2
    assert says in capsys.readouterr().err
    assert list(Path().iterdir()) == []


def test_what_is_there_is_left_alone(capsys: Capture) -> None:
    Path("acme").mkdir()
    assert execute(["pack", "new", "acme"]) == 2
    assert "acme is there already; choose another name" in capsys.readouterr().err
    Path("taken").write_text("x", encoding="utf-8")
    assert execute(["pack", "new", "taken"]) == 2
    assert execute(["pack", "new", "other", "--into", "taken"]) == 2
    assert "taken is a file" in capsys.readouterr().err
    assert sorted(p.name for p in Path().iterdir()) == ["acme", "taken"]
    assert list(Path("acme").iterdir()) == []


def test_nothing_is_left_of_a_pack_that_could_not_be_laid_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(kind: str) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("assay.engine.packs.skeleton.schema_text", full)
    with pytest.raises(OSError):
        make_pack("acme", Path("packs"))
    assert list(Path("packs").iterdir()) == []


def test_a_pack_is_made_where_it_is_wanted() -> None:
    assert execute(["pack", "new", "acme", "--into", "packs/mine"]) == 0
    assert check(Path("packs/mine/acme")).pack.name == "acme"
    with pytest.raises(OptionsError):
        make_pack("acme", Path("packs/mine"))


@pytest.mark.parametrize(
    ("name", "prefix"),
    [("acme", "ACME"), ("acme_support", "ACME"), ("longestofall", "LONGESTO"), ("b2b", "B2B")],
)
def test_ids_begin_with_the_first_word_of_the_name(name: str, prefix: str) -> None:
    assert prefix_of(name) == prefix
    assert check(make_pack(name, Path())).pack.name == name


def test_schemas_are_printed_listed_and_written(capsys: Capture) -> None:
    assert execute(["pack", "schema", "tasks"]) == 0
    assert capsys.readouterr().out == schema_text("tasks")
    assert execute(["pack", "schema"]) == 0
    assert modeline("tools") in capsys.readouterr().out
    assert execute(["pack", "schema", "--out", "mine"]) == 0
    assert {p.name for p in Path("mine").iterdir()} == {f"{kind}.json" for kind in KINDS}
    assert execute(["pack", "schema", "seed", "--out", "one"]) == 0
    assert [p.name for p in Path("one").iterdir()] == ["seed.json"]
    assert execute(["pack", "schema", "policy"]) == 2
    assert "'tasks'" in capsys.readouterr().err


def test_the_command_knows_every_kind(capsys: Capture) -> None:
    for kind in KINDS:
        assert execute(["pack", "schema", kind]) == 0
    capsys.readouterr()


def test_a_new_pack_verifies_without_a_finding() -> None:
    found = verify(check(make_pack("acme", Path())))
    assert found.problems == ()
    assert found.mutation is not None and found.mutation.as_json()["mutants"] > 10
