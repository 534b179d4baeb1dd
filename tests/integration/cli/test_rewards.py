"""`assay export rewards`, as typed."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.cli.exporting import rewards
from assay.cli.main import execute
from assay.engine.results import TRIALS
from assay.engine.rewards import LINE_SCHEMA
from tests.support.chat import check_chat

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "tests/support/packs/library"


def typed(*arguments: object) -> int:
    return execute([str(argument) for argument in arguments])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a careless bot with faults on purpose."""
    out = tmp_path_factory.mktemp("runs") / "a"
    options = ("--trials", 2, "--seed", 5, "--faults", "harsh", "--out", out)
    assert typed("run", LIBRARY, "--bot", "reference:careless", *options) == 0
    return out


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_every_line_fits_its_schema_and_its_conversation_a_chat_interface(
    folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "rewards.jsonl"
    assert typed("export", "rewards", folder, "--out", out) == 0
    head, *trials = read(out)
    kept = [json.loads(line) for line in (folder / TRIALS).read_text(encoding="utf-8").splitlines()]
    valid = {(t["task"], t["index"]): t for t in kept if t["status"] != "void"}
    assert len(trials) == len(valid)
    for line in (head, *trials):
        jsonschema.validate(line, LINE_SCHEMA)
    assert any(line["faults"] for line in trials)
    for line in trials:
        check_chat(line["messages"])
        record = valid[line["task"], line["index"]]
        assert line["seed"] == record["seed"]
        assert line["reward"] == float(record["status"] == "passed")
        assert {c["name"]: c["outcome"] for c in line["checks"]} == {
            c["name"]: c["outcome"] for c in record["verdict"]["checks"]
        }
        said = [e["text"] for e in record["transcript"]["events"] if e["type"] == "bot" and e["text"].strip()]
        assert [m["content"] for m in line["messages"] if m["role"] == "assistant" and m["content"]] == said


def test_without_a_file_the_lines_stand_on_standard_output_and_nothing_else(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert typed("export", "rewards", folder, "--tools") == 0
    printed = capsys.readouterr()
    lines = [json.loads(line) for line in printed.out.splitlines()]
    assert [line["kind"] for line in lines[:2]] == ["run", "trial"]
    assert all(line["tools"] for line in lines)
    assert "trials" in printed.err


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert typed("export", "rewards", "--schema") == 0
    assert json.loads(capsys.readouterr().out) == LINE_SCHEMA


def test_what_cannot_be_exported_is_refused_with_a_sentence(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed("export", "rewards") == 2
    assert typed("export", "rewards", tmp_path) == 1
    assert "holds no results" in capsys.readouterr().err
    bare = tmp_path / "bare"
    bare.mkdir()
    (bare / "manifest.json").write_bytes((folder / "manifest.json").read_bytes())
    assert typed("export", "rewards", bare) == 1
    assert "there is no given.json" in capsys.readouterr().err
    (bare / "given.json").write_text("[]")
    assert typed("export", "rewards", bare) == 1
    assert "given.json is damaged" in capsys.readouterr().err


def test_a_judged_again_run_keeps_what_the_bot_was_given(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    assert typed("regrade", folder, "--pack", LIBRARY, "--out", again) == 0
    assert typed("export", "rewards", again, "--out", tmp_path / "lines") == 0
    assert read(tmp_path / "lines")[0]["tools"]


def test_void_trials_come_only_when_asked_for_and_memory_does_not_grow_with_the_run(
    folder: Path, tmp_path: Path
) -> None:
    large = tmp_path / "large"
    large.mkdir()
    for name in ("manifest.json", "given.json"):
        (large / name).write_bytes((folder / name).read_bytes())
    record = json.loads((folder / TRIALS).read_text(encoding="utf-8").splitlines()[0])
    record["transcript"]["events"].append(
        {"type": "bot", "text": "word " * 20_000, "truncated": False, "ends": None}
    )
    with (large / TRIALS).open("w", encoding="utf-8") as file:
        for index in range(1000):
            status = "void" if index % 10 == 0 else "passed"
            file.write(json.dumps({**record, "index": index, "status": status}) + "\n")
    out = tmp_path / "out"
    tracemalloc.start()
    try:
        assert rewards(large, out, void=False, tools=False) == 0
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert out.stat().st_size > 90_000_000
    assert peak < 10_000_000
    with out.open(encoding="utf-8") as file:
        assert sum(1 for _ in file) == 901
    assert rewards(large, out, void=True, tools=False) == 0
    with out.open(encoding="utf-8") as file:
        assert sum('"status":"void"' in line for line in file) == 100
