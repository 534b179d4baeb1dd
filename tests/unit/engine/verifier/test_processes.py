"""What several processes find is what one finds; one that is lost, late or broken is told."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import pytest

from assay.engine.sandbox.replay import OutOfTime
from assay.engine.verifier import equivalents, mutation, processes
from assay.engine.verifier.loading import load
from assay.engine.verifier.processes import divided, usable
from assay.engine.verifier.subject import Subject
from assay_sdk import AssayError
from tests.unit.engine.verifier.workshop import workshop

WEAK = (
    "comparison.yaml",
    "columns: {note: text, parts: set}",
    "columns: {note: text, parts: set, price: ignore}",
)


def subject(seconds: float = 100) -> Subject:
    checked, _ = load(workshop(WEAK))
    assert checked is not None
    return Subject.of(checked.world, None, seconds)


def test_two_processes_find_what_one_finds_in_the_same_order() -> None:
    one = mutation.examine_mutants(subject())
    two = divided(subject(), 2, mutation.examine_mutants)
    assert len(two) == 2 and all(sum(map(len, report.kinds.values())) for report in two)
    assert mutation.merged(two, subject().tasks) == one and one.problems and len(one.survivors) == 5

    shares = divided(subject(), 3, equivalents.examine_equivalents)
    alone = equivalents.examine_equivalents(subject())
    assert equivalents.merged(shares, subject().tasks).as_json() == alone.as_json()
    assert alone.as_json()["look_ups"]["passed"] > 0


def gone(share: Subject) -> None:
    os._exit(3)


def broken(share: Subject) -> None:
    raise ValueError("no such thing")


def late(share: Subject) -> None:
    raise OutOfTime


@pytest.mark.parametrize(
    ("examine", "error", "says"),
    [
        (gone, AssayError, r"ended unexpectedly \(exit code 3\). Try again with --jobs 1"),
        (broken, AssayError, "ValueError: no such thing"),
        (late, OutOfTime, "^$"),
    ],
)
def test_a_process_that_comes_to_nothing(
    examine: Callable[[Subject], None], error: type[Exception], says: str
) -> None:
    with pytest.raises(error, match=says):
        divided(subject(), 2, examine)


def test_nobody_waits_for_a_process_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes, "GRACE", 0.2)
    begun = time.monotonic()
    with pytest.raises(OutOfTime):
        divided(subject(seconds=0.1), 2, lambda share: time.sleep(60))
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    ("jobs", "tasks", "used"), [(1, 500, 1), (2, 100, 2), (8, 20, 2), (8, 7, 1), (8, 0, 1), (64, 100, 12)]
)
def test_few_tasks_are_not_worth_a_process(
    jobs: int, tasks: int, used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes.threading, "active_count", lambda: 1)
    monkeypatch.setattr(processes.sys, "platform", "linux")
    assert usable(jobs, tasks) == used
    monkeypatch.setattr(processes.threading, "active_count", lambda: 2)
    assert usable(jobs, tasks) == 1


def test_one_process_where_forking_is_not_safe(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processes.sys, "platform", "darwin")
    assert usable(8, 1000) == 1
