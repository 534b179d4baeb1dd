"""Checks that are only reported, and gates on them, as typed; with the plugin that ships beside the platform."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli.main import execute
from assay.plugins.manager import PIN, get_manager

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "tests/support/packs/library"
PARTS = ("promises", "claims", "brevity", "clarity", "repeated-questions", "tone")


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """The plugin as an installation leaves it: importable, with its entry point."""
    info = tmp_path / "site" / "assay_check_communication-0.1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-check-communication\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text(
        "[assay.plugins]\nassay-check-communication = assay_check_communication\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path / "site"))
    monkeypatch.syspath_prepend(str(ROOT / "plugins" / "assay-check-communication"))
    monkeypatch.setenv(PIN, "assay-check-communication")
    get_manager.cache_clear()
    yield
    get_manager.cache_clear()


def run(capsys: pytest.CaptureFixture[str], out: Path, *more: str) -> tuple[int, Any, str]:
    capsys.readouterr()
    command = [
        "run",
        LIBRARY,
        "--bot",
        "reference:faithful",
        "--trials",
        2,
        "--seed",
        4,
        "--out",
        out,
        "--json",
        *more,
    ]
    code = execute([str(part) for part in command])
    said = capsys.readouterr()
    return code, json.loads(said.out) if said.out else None, said.err


def test_every_part_has_its_figures_and_decides_about_no_trial(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, plain, _ = run(capsys, tmp_path / "plain")
    assert code == 0
    code, shown, _ = run(capsys, tmp_path / "a", "--check", "communication")
    assert code == 0
    names = [c["name"] for c in shown["summary"]["checks"]]
    assert [n for n in names if n.startswith("communication")] == [f"communication.{part}" for part in PARTS]
    assert shown["summary"]["overall"] == plain["summary"]["overall"]
    assert shown["manifest"]["plugins"]["assay-check-communication"]["version"] == "0.1.0"
    execute(["report", str(tmp_path / "a")])
    text = capsys.readouterr().out
    assert "Other checks" in text
    assert "communication.brevity" in text


def test_a_gate_looks_at_a_check_only_when_it_names_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    check = ("--check", "communication")
    code, shown, _ = run(
        capsys, tmp_path / "a", *check, "--gate", "pass^2>=0.3 and check:communication.tone>=0.3"
    )
    assert (code, shown["gate"]["met"]) == (0, True)
    assert [g["check"] for g in shown["gate"]["groups"]] == [None, "communication.tone"]
    code, shown, _ = run(
        capsys, tmp_path / "a", *check, "--gate", "pass^2>=0.3 and check:communication.tone>=0.999"
    )
    assert (code, shown["gate"]["met"]) == (1, False)
    code, shown, _ = run(capsys, tmp_path / "a", *check, "--gate", "pass^2>=0.3")
    assert (code, [g["check"] for g in shown["gate"]["groups"]]) == (0, [None])


def test_a_gate_on_a_check_that_is_not_there_is_refused_before_anything_is_tried(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    gate = ("--gate", "pass^2>=0.3 and check:communication.tune>=0.3")
    _, _, said = run(capsys, tmp_path / "a", "--check", "communication", *gate)
    assert "did you mean communication.tone" in said
    _, _, said = run(capsys, tmp_path / "b", "--require-check", "communication", *gate)
    assert "does not report" in said
    assert not (tmp_path / "a").exists()
    assert not (tmp_path / "b").exists()
