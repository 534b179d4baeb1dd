"""The page on writing a pack does what it says: its files, commands and conversation are taken from it and tried."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "writing-a-pack.md").read_text(encoding="utf-8")
FILES = dict(re.findall(r"^`([\w./]+)`\n\n```\w+\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
BEGIN, PROVE = (
    block.strip().splitlines() for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
)
(TYPED,) = re.findall(r"^```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def run(folder: Path, command: str, typed: str = "") -> subprocess.CompletedProcess[str]:
    words = shlex.split(command)
    assert words[0] == "assay"
    return subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *words[1:]],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "platform")},
        input=typed,
        capture_output=True,
        text=True,
        timeout=170,
        check=False,
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the page has been followed to the end of step 4."""
    place = tmp_path_factory.mktemp("writing")
    for command in BEGIN:
        done = run(place, command)
        assert done.returncode == 0, done.stderr
    pack = place / "pondlark"
    (listed,) = re.findall(r"delete the folders (.*?), and write", PAGE)
    for name in re.findall(r"`([\w/]+)`", listed):
        shutil.rmtree(pack / name)
    for name, text in FILES.items():
        (pack / name).parent.mkdir(parents=True, exist_ok=True)
        (pack / name).write_text(text, encoding="utf-8")
    return place


def statuses(out: Path) -> list[str]:
    lines = (out / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line)["status"] for line in lines]


def test_the_page_has_the_files_of_a_pack() -> None:
    assert set(FILES) == {
        "pack.yaml",
        "policy.md",
        "world/schema.sql",
        "world/seed/rows.yaml",
        "tools/school.yaml",
        "comparison.yaml",
        "tasks/cases.yaml",
    }


def test_each_command_of_the_page_works_in_order(folder: Path) -> None:
    for command in PROVE:
        done = run(folder, command)
        assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    assert statuses(folder / "out" / "faithful") == ["passed"] * 15
    assert statuses(folder / "out" / "careless") == ["failed"] * 50


def test_the_pack_verifies_and_has_the_mutants_that_the_page_speaks_of(folder: Path) -> None:
    done = run(folder, "assay pack verify pondlark --json")
    found = json.loads(done.stdout)
    assert (found["sound"], found["problems"], len(found["tasks"])) == (True, [], 5)
    (said,) = re.findall(r"(\d+) of them for these five tasks", PAGE)
    assert found["parts"]["mutation"]["mutants"] == int(said)


def test_the_conversation_of_the_page_passes(folder: Path) -> None:
    (command,) = re.findall(r"^\$ (assay pack try .*)$", PAGE, re.MULTILINE)
    done = run(folder, command, TYPED)
    assert done.returncode == 0
    assert "refused, course_full" in done.stdout and "Day: only Saturdays" in done.stdout
    assert "PASSED" in done.stdout


def test_the_lines_that_the_page_counts_are_there() -> None:
    (said,) = re.findall(
        r"(\d+) lines of policy, (\d+) of schema, (\d+) of rows, (\d+) of tools, (\d+) of tasks", PAGE
    )
    names = ("policy.md", "world/schema.sql", "world/seed/rows.yaml", "tools/school.yaml", "tasks/cases.yaml")
    assert [int(n) for n in said] == [len(FILES[name].splitlines()) for name in names]


@pytest.mark.parametrize(
    ("file", "good", "weak", "code"),
    [
        ("tasks/cases.yaml", "refund: 85.04", "refund: 85.05", "wrong_derivation"),
        ("tasks/cases.yaml", "course_id: $groups.2.id", "course_id: $groups.1.id", "action_fails"),
        ("tasks/cases.yaml", "    no_change: true\n", "", "changes_nothing"),
        ("tasks/cases.yaml", ", POND-2.4]", "]", "clause_without_task"),
        (
            "tasks/cases.yaml",
            "enrolments.1.fee - 15.00",
            "enrolments.1.fee - 16.00 + 1.00",
            "ungrounded_constant",
        ),
        ("comparison.yaml", "    cost:", "    columns: {refund: ignore}\n    cost:", "mutant_survives"),
        ("comparison.yaml", "about: text", "about: exact", "wording_counts"),
        ("comparison.yaml", "      refund: {what: refunded, paid_by: company}", "      {}", "no_cost_rule"),
        ("world/seed/rows.yaml", "name: Asha", "name: Asha (refund 65.40)", "leak"),
        (
            "tasks/cases.yaml",
            "    no_change: true\n",
            "    no_change: true\n    also_accept: [{why: none, actions: [{tool: families_find, args: {email: nobody}}]}]\n",
            "action_fails",
        ),
    ],
    ids=lambda v: str(v)[:30],
)
def test_a_weaker_pack_gets_the_finding_that_the_page_explains(
    folder: Path, tmp_path: Path, file: str, good: str, weak: str, code: str
) -> None:
    shutil.copytree(folder / "pondlark", tmp_path / "pondlark")
    path = tmp_path / "pondlark" / file
    text = path.read_text(encoding="utf-8")
    assert text.count(good) == 1
    path.write_text(text.replace(good, weak), encoding="utf-8")
    done = run(tmp_path, "assay pack verify pondlark --json")
    assert done.returncode == 1
    assert code in {problem["code"] for problem in json.loads(done.stdout)["problems"]}
