"""`assay pack verify` in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.unit.engine.verifier.workshop import workshop

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "tests/support/packs/library"
WEAK = ("comparison.yaml", "parts: set", "parts: ignore")


def laid_out(folder: Path, *edits: tuple[str, str, str]) -> Path:
    for path, data in workshop(*edits).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(data)
    return folder


def verify(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay.cli.main", "pack", "verify", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "platform"), "COLUMNS": "100"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def document(*arguments: object) -> Any:
    return json.loads(verify(*arguments, "--json").stdout)


def test_a_sound_pack(tmp_path: Path) -> None:
    done = verify(laid_out(tmp_path))
    assert done.returncode == 0 and done.stderr == ""
    lines = done.stdout.splitlines()
    assert lines[-1].startswith("workshop 1.0.0: no finding in 3 tasks, ")
    for heading in (
        "Gold",
        "Provenance",
        "Mutants, which must fail",
        "Equivalents, which must pass",
        "Money",
    ):
        assert heading in lines
    assert "Mutants that pass" not in lines
    assert "jobs.price     charged for repairs  customer      1" in lines


def test_findings_come_first_with_file_line_and_task(tmp_path: Path) -> None:
    done = verify(laid_out(tmp_path, WEAK))
    assert done.returncode == 1 and done.stderr == ""
    lines = done.stdout.splitlines()
    first = "tasks/tasks.yaml:17: Task WRK-JOB-001: 2 mutants, element:3.jobs_open.parts.0 "
    assert lines[0].startswith(first) and "jobs.parts: ignore" in lines[0] and lines[1] == ""
    assert lines[-1].startswith("workshop 1.0.0: 1 finding in 3 tasks, ")
    table = lines[lines.index("Mutants that pass") + 1 :]
    assert table[0].split() == ["task", "mutant", "let", "through", "by", "declared"]
    assert table[1].split() == ["WRK-JOB-001", "element:3.jobs_open.parts.0", "jobs.parts:", "ignore", "no"]


def test_the_json_is_one_document_and_the_tasks_can_be_chosen(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, WEAK)
    every = document(folder)
    assert every["sound"] is False and [p["code"] for p in every["problems"]] == ["mutant_survives"]
    some = document(folder, "--task", "*-002", "--task", "*-003")
    assert some["sound"] is True and (every["whole"], some["whole"]) == (True, False)
    assert some["tasks"] == ["WRK-JOB-002", "WRK-JOB-003"]
    assert some["parts"]["mutation"]["mutants"] < every["parts"]["mutation"]["mutants"]


def test_what_the_loader_finds_is_among_the_findings(tmp_path: Path) -> None:
    stop = "{tool: machines_stop, args: {machine_id: MAC-3}}"
    folder = laid_out(tmp_path, ("tasks/tasks.yaml", stop, stop.replace("machines_stop", "machines_halt")))
    done = verify(folder)
    assert done.returncode == 1
    assert done.stdout.splitlines()[0].endswith(
        "There is no tool 'machines_halt'; did you mean 'machines_stop'?"
    )
    assert document(folder)["problems"][0]["code"] == "unknown_tool"
    assert verify(folder, "--task", "*-001").returncode == 0


def test_a_pack_that_cannot_be_verified_is_an_error(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, ("world/schema.sql", "note TEXT,", "note,"))
    done = verify(folder)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.splitlines()[0].startswith("world/schema.sql")
    assert document(folder)["problems"]


def test_the_number_of_processes_changes_nothing_that_is_found(tmp_path: Path) -> None:
    folder = laid_out(tmp_path, WEAK)
    tasks = (folder / "tasks/tasks.yaml").read_text(encoding="utf-8")
    for number in range(4, 20):
        (folder / f"tasks/more_{number}.yaml").write_text(
            tasks[: tasks.index("- id: WRK-JOB-002")].replace("WRK-JOB-001", f"WRK-JOB-{number:03}"),
            encoding="utf-8",
        )
    one, two = (document(folder, "--jobs", jobs) for jobs in ("1", "2"))
    assert one.pop("seconds") > 0 and two.pop("seconds") > 0
    assert one == two and len(one["tasks"]) == 19
    assert [p["code"] for p in one["problems"]].count("mutant_survives") == 17


def test_chosen_tasks_say_what_of_the_report_is_about_the_whole_pack(tmp_path: Path) -> None:
    whole, some, one = "*", "*-00[12]", "*-002"
    folder = laid_out(tmp_path)
    said = {glob: verify(folder, "--task", glob).stdout.splitlines()[-2:] for glob in (whole, some, one)}
    for line, _ in said.values():
        assert line.startswith("Clauses, traps, hardness and likeness are of the whole pack")
    assert said[whole][0].endswith("findings about the pack as a whole are listed, too.")
    assert said[some][0].endswith("findings about them are not listed, since only some tasks were chosen.")
    assert "no finding in 2 tasks, " in said[some][1] and "no finding in 1 task, " in said[one][1]
    assert "of the whole pack" not in verify(folder).stdout


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--task", "NO-*"), "No task of library matches NO-*"),
        (("--seconds", "0"), "0.0 is not in the range"),
    ],
)
def test_wrong_usage(arguments: tuple[str, ...], says: str) -> None:
    done = verify(LIBRARY, *arguments)
    assert done.returncode == 2 and says in done.stderr and done.stdout == ""


def test_time_that_is_over_is_a_finding(tmp_path: Path) -> None:
    update = "    - sql: UPDATE machines SET status"
    heavy = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) SELECT max(i) FROM n"
    )
    slow = ("tools/tools.yaml", update, f"    - many: slow\n      sql: {heavy}\n{update}")
    folder = laid_out(tmp_path, slow)
    done = verify(folder, "--seconds", "1", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert [p["code"] for p in found["problems"]] == ["verification_too_long"]
    assert found["seconds"] < 60 and None in found["parts"].values()
