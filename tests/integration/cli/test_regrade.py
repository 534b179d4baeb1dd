"""`assay regrade` in a process of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.integration.cli.test_commands import LIBRARY, Shell, shell

__all__ = ["shell"]

OLD, NEW = "args: {loan_id: LN-1, days: 7}", "args: {loan_id: LN-1, days: 21}"


@pytest.fixture
def corrected(tmp_path: Path) -> Path:
    """The library as version 1.1.0, in which one task expects another number of days."""
    folder = tmp_path / "corrected"
    shutil.copytree(LIBRARY, folder)
    manifest = folder / "pack.yaml"
    manifest.write_text(manifest.read_text(encoding="utf-8").replace("1.0.0", "1.1.0"), encoding="utf-8")
    path = next(p for p in folder.rglob("tasks/*.yaml") if OLD in p.read_text(encoding="utf-8"))
    path.write_text(path.read_text(encoding="utf-8").replace(OLD, NEW), encoding="utf-8")
    return folder


def test_old_and_new_verdicts_stand_side_by_side(shell: Shell, corrected: Path) -> None:
    shell.document("run", LIBRARY, "--bot", "reference:faithful", "--trials", 2, "--seed", 7, "--out", "out")
    shown = shell.document("regrade", "out", "--pack", corrected, "--old-pack", LIBRARY, "--out", "again")
    assert (shown["trials"], shown["changed"], shown["not_comparable"]) == (12, 2, 0)
    assert (shown["old_pack"]["version"], shown["new_pack"]["version"]) == ("1.0.0", "1.1.0")
    assert {"old": "passed", "new": "failed", "trials": 2} in shown["moves"]
    assert shown["pass_rate"]["old"]["value"] == 1.0
    assert shown["pass_rate"]["new"]["value"] == pytest.approx(10 / 12)
    changed = [one for one in shown["regraded"] if one["changed"]]
    assert {one["task"] for one in changed} == {"LIB-LOAN-001"}
    assert all("The check state was a pass and is a failure." in one["why"][0] for one in changed)
    report = shell.document("report", "again")
    assert report["manifest"]["regraded_from"]["version"] == "1.0.0"
    assert report["summary"]["passed"] == 10
    text = shell.assay("regrade", "out", "--pack", corrected)
    assert text.returncode == 0
    assert "12 trials, 2 judged otherwise, 0 not comparable." in text.stdout
    assert "LIB-LOAN-001/0: passed -> failed" in text.stdout


def test_another_pack_or_a_folder_that_is_in_use_is_refused_with_a_sentence(
    shell: Shell, corrected: Path
) -> None:
    shell.document("run", LIBRARY, "--bot", "reference:faithful", "--trials", 1, "--seed", 7, "--out", "out")
    (shell.folder / "none").mkdir()
    for arguments, code, says in (
        (("none", "--pack", LIBRARY), 1, "holds no results"),
        (
            ("out", "--pack", LIBRARY, "--old-pack", corrected),
            2,
            "is not the version that the run was made on",
        ),
        (("out", "--pack", LIBRARY, "--out", "out"), 2, "holds results already"),
    ):
        done = shell.assay("regrade", *arguments)
        assert (done.returncode, says in done.stderr) == (code, True), done.stderr
