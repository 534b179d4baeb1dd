"""The folder of results: what is kept, what is refused, how an interrupted run goes on."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from assay.engine.results import TRIALS, ResultsError, ResultsFolder, read_manifest, read_results
from assay.engine.trial import TrialRecord, run_trial
from tests.unit.engine.actors import down, lab_of, right, wrong

TASK = "LIB-LOAN-001"
MANIFEST: dict[str, Any] = {
    "format": 1,
    "assay": "0.1.0",
    "pack": {"name": "library", "version": "1.0.0", "content_hash": "ab"},
    "bot": {"spec": "actor:right", "synthetic": False},
    "plugins": {},
    "seed": "5",
    "trials": 3,
    "max_attempts": 3,
    "limits": {},
    "persona": None,
    "checkers": [],
    "tasks": [{"id": TASK, "title": "Renewal", "group": "loan"}],
    "started_at": "2026-12-01T10:00:00+00:00",
    "finished_at": None,
}


def record(index: int, doing: Any = right, attempt: int = 0) -> TrialRecord:
    return asyncio.run(run_trial(lab_of(doing), TASK, index, 5, attempt))


def test_what_was_written_is_read_back(tmp_path: Path) -> None:
    records = [record(1, wrong), record(0), record(2, down, 2)]
    with ResultsFolder(tmp_path / "out", MANIFEST) as folder:
        for item in records:
            folder.add(item)
        folder.add_void_attempt(record(2, down, 1))
        folder.note("finished_at", "2026-12-01T10:05:00+00:00")
    results = read_results(tmp_path / "out")
    assert list(results.trials) == [records[1], records[0], records[2]]  # in the order of tasks and trials
    assert results.manifest == {**MANIFEST, "finished_at": "2026-12-01T10:05:00+00:00"}
    assert (results.planned, results.missing) == (3, 0)
    assert results.void_causes() == {"provider_outage": 2}
    lines = (tmp_path / "out" / TRIALS).read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["index"] for line in lines] == [1, 0, 2]


def test_an_interrupted_run_goes_on_where_it_stopped(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, MANIFEST) as folder:
        folder.add(record(0))
    with (tmp_path / TRIALS).open("a", encoding="utf-8") as file:
        file.write('{"task": "LIB-LO')  # killed while writing
    assert len(read_results(tmp_path).trials) == 1  # readers do not mind
    with ResultsFolder(tmp_path, {**MANIFEST, "started_at": "later"}) as folder:
        assert [(t.task, t.index) for t in folder.done.trials] == [(TASK, 0)]
        assert folder.manifest["started_at"] == MANIFEST["started_at"]
        folder.add(record(1))
    assert [t.index for t in read_results(tmp_path).trials] == [0, 1]
    assert read_results(tmp_path).missing == 1


@pytest.mark.parametrize("key", ["pack", "bot", "seed", "trials", "tasks", "limits", "assay"])
def test_a_folder_with_another_run_is_refused_and_left_alone(tmp_path: Path, key: str) -> None:
    with ResultsFolder(tmp_path, MANIFEST) as folder:
        folder.add(record(0))
    before = {p.name: p.read_bytes() for p in tmp_path.iterdir()}
    with pytest.raises(ResultsError, match=f"holds another run: {key} differs"):
        ResultsFolder(tmp_path, {**MANIFEST, key: "other"})
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == before


def test_two_runs_cannot_write_to_one_folder(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, MANIFEST), pytest.raises(ResultsError, match="Another run is writing"):
        ResultsFolder(tmp_path, MANIFEST)
    ResultsFolder(tmp_path, MANIFEST).close()


def test_what_a_run_is_cannot_be_changed_afterwards(tmp_path: Path) -> None:
    with (
        ResultsFolder(tmp_path, MANIFEST) as folder,
        pytest.raises(ValueError, match="seed is part of what the run is"),
    ):
        folder.note("seed", "6")
    assert read_manifest(tmp_path) == MANIFEST


def test_a_damaged_line_is_named_and_never_skipped(tmp_path: Path) -> None:
    with ResultsFolder(tmp_path, MANIFEST) as folder:
        folder.add(record(0))
        folder.add(record(1))
    path = tmp_path / TRIALS
    first, second = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for damaged, says in [
        (first[:50] + "\n", "is damaged"),
        ("[1]\n", "a trial needs"),
        (first.replace('"passed"', '"fine"', 1), "passed, failed or void"),
        (second, "stands there twice"),
        (first.replace(f'"{TASK}"', '"LIB-X-1"'), "is not in manifest.json"),
    ]:
        path.write_text(damaged + second, encoding="utf-8")
        with pytest.raises(ResultsError) as error:
            read_results(tmp_path)
        assert f"{path}:" in str(error.value) and says in str(error.value)


def test_a_folder_without_results_and_a_damaged_manifest_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ResultsError, match="holds no results"):
        read_results(tmp_path)
    for text, says in [
        ("{", "is damaged"),
        ("[]", "not a manifest of format 1"),
        ('{"format": 2}', "not a manifest of format 1"),
        (json.dumps({**MANIFEST, "tasks": ["x"]}), "'tasks' is not a list of tasks"),
        (json.dumps({**MANIFEST, "trials": "many"}), "'trials' is not a number"),
        (json.dumps({**MANIFEST, "bot": None}), "'bot' is missing"),
    ]:
        (tmp_path / "manifest.json").write_text(text, encoding="utf-8")
        with pytest.raises(ResultsError, match=says):
            read_manifest(tmp_path)


def test_trials_without_a_manifest_are_not_taken_over(tmp_path: Path) -> None:
    (tmp_path / TRIALS).write_text("", encoding="utf-8")
    with pytest.raises(ResultsError, match=r"trials without a manifest\.json"):
        ResultsFolder(tmp_path, MANIFEST)


def test_a_place_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(ResultsError, match="cannot be written"):
        ResultsFolder(tmp_path / "file", MANIFEST)


def test_any_text_of_a_bot_can_be_kept(tmp_path: Path) -> None:
    import dataclasses

    odd = dataclasses.replace(record(0), transcript={"detail": "\ud800 \u2028 \n \x00 é"})
    with ResultsFolder(tmp_path, MANIFEST) as folder:
        folder.add(odd)
    assert read_results(tmp_path).trials[0] == odd
