"""The tutorial does what it says: its files and its commands are taken from the page and tried."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def files() -> dict[str, str]:
    """Every fenced block that follows a line with nothing but a file name in backticks."""
    return dict(re.findall(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))


def commands() -> list[str]:
    (block,) = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return block.strip().splitlines()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("tutorial")
    for name, text in files().items():
        path = place / "beanline" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return place


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    assert words[0] == "assay"
    return subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *words[1:]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "platform")},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def statuses(out: Path) -> list[str]:
    lines = (out / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["status"] for line in lines]


def test_the_page_has_the_files_it_speaks_of() -> None:
    assert set(files()) == {
        "pack.yaml",
        "policy.md",
        "world/schema.sql",
        "world/seed/rows.yaml",
        "tools/subscriptions.yaml",
        "comparison.yaml",
        "tasks/pauses.yaml",
    }


def test_each_command_of_the_page_works_in_order(folder: Path) -> None:
    for command in commands():
        done = run(folder, command)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert statuses(folder / "out" / "faithful") == ["passed"] * 10
    assert set(statuses(folder / "out" / "careless")) == {"passed", "failed"}


def test_the_linter_says_where_a_changed_name_is_wrong(folder: Path) -> None:
    path = folder / "beanline" / "tasks" / "pauses.yaml"
    good = path.read_text(encoding="utf-8")
    line = next(n for n, text in enumerate(good.splitlines(), 1) if "subscription_pause," in text)
    try:
        path.write_text(
            good.replace("tool: subscription_pause,", "tool: subscription_pawse,"), encoding="utf-8"
        )
        done = run(folder, "assay pack lint beanline")
    finally:
        path.write_text(good, encoding="utf-8")
    assert done.returncode == 1
    assert f"tasks/pauses.yaml:{line}:" in done.stdout + done.stderr
