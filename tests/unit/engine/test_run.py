"""Many trials: order, retries, several processes, interruption."""

from __future__ import annotations

import asyncio
import contextlib
import gc
from collections import Counter
from typing import Any

import pytest

from assay.engine import looping
from assay.engine.run import WorkerLost, plan, run_pack
from assay.engine.trial import Lab, TrialRecord, seed_for
from assay_sdk import AssayError, BotContext
from tests.unit.engine.actors import (
    Actor,
    down,
    lab_of,
    library,
    make_deadly_lab,
    make_lab,
    make_no_lab,
    right,
    sometimes,
)

TASKS = ["LIB-LOAN-001", "LIB-HOLD-001"]


def run(lab: Any, **more: Any) -> tuple[list[TrialRecord], list[TrialRecord]]:
    done: list[TrialRecord] = []
    again: list[TrialRecord] = []
    given = {"tasks": TASKS, "trials": 3, "seed": 5, "retry_after": 0.0, **more}
    run_pack(lab, on_record=done.append, on_void_attempt=again.append, **given)
    return done, again


def test_every_task_is_tried_as_often_as_planned_and_each_trial_counts_once() -> None:
    done, again = run(lab_of(right))
    assert Counter((t.task, t.index) for t in done) == Counter((t, i) for t in TASKS for i in range(3))
    assert {t.status for t in done if t.task == "LIB-LOAN-001"} == {"passed"}
    assert {t.status for t in done if t.task == "LIB-HOLD-001"} == {"failed"}
    assert again == []


def test_trials_go_round_all_tasks_before_any_task_is_tried_again() -> None:
    assert plan(["A", "B"], 2) == [("A", 0), ("B", 0), ("A", 1), ("B", 1)]
    assert plan(["A", "B"], 2, done={("B", 0)}) == [("A", 0), ("A", 1), ("B", 1)]


def test_what_is_done_already_is_left_out() -> None:
    done, _ = run(lab_of(right), done={(TASKS[0], 0), (TASKS[1], 2)})
    assert len(done) == 4
    assert run(lab_of(right), done={(t, i) for t in TASKS for i in range(3)}) == ([], [])


def test_a_void_attempt_is_tried_again_with_a_new_seed() -> None:
    class DownAtFirst(Actor):
        """Out of order for the first attempt at each trial."""

        async def open(self, context: BotContext) -> Any:
            if context.trial_id.endswith("/0"):
                down(context)
            return await super().open(context)

    done, again = run(Lab(lab_of(right).world, DownAtFirst(right)), tasks=TASKS[:1])
    assert [t.status for t in done] == ["passed"] * 3
    assert {(t.attempt, t.seed) for t in done} == {(1, seed_for(5, TASKS[0], i, 1)) for i in range(3)}
    assert [(t.status, t.void_cause, t.attempt) for t in again] == [("void", "provider_outage", 0)] * 3


def test_a_trial_stays_void_when_its_attempts_are_used_up() -> None:
    done, again = run(lab_of(down), tasks=TASKS[:1], trials=2, max_attempts=3)
    assert [(t.status, t.attempt) for t in done] == [("void", 2)] * 2
    assert len(again) == 4


def test_the_same_seed_gives_the_same_trials_however_many_run_at_once() -> None:
    def told(records: list[TrialRecord]) -> dict[Any, Any]:
        return {(t.task, t.index): (t.status, t.attempt, t.seed, t.transcript["events"]) for t in records}

    one, _ = run(lab_of(sometimes), trials=10, at_once=1)
    many, _ = run(lab_of(sometimes), trials=10, at_once=7)
    other, _ = run(lab_of(sometimes), trials=10, seed=6)
    assert told(one) == told(many) != told(other)


def test_trials_run_at_the_same_time_but_never_more_than_allowed() -> None:
    going = most = 0

    class Slow(Actor):
        async def open(self, context: BotContext) -> Any:
            nonlocal going, most
            going += 1
            most = max(most, going)
            for _ in range(20):
                await asyncio.sleep(0)
            going -= 1
            return await super().open(context)

    run(Lab(lab_of(right).world, Slow(right)), trials=10, at_once=4)
    assert most == 4


def test_several_processes_give_the_same_trials_as_one() -> None:
    def told(records: list[TrialRecord]) -> set[Any]:
        return {(t.task, t.index, t.attempt, t.status, t.seed) for t in records}

    here, again_here = run(lab_of(sometimes), trials=6)
    there, again_there = run(make_lab, trials=6, jobs=2)
    assert told(here) == told(there) and len(there) == 12
    assert told(again_here) == told(again_there)


def test_a_process_that_dies_is_noticed_at_once() -> None:
    with pytest.raises(WorkerLost) as lost:
        run(make_deadly_lab, jobs=2)
    assert "ended unexpectedly (exit code 9)" in str(lost.value)


def test_what_breaks_in_another_process_is_told_here() -> None:
    with pytest.raises(AssayError) as broke:
        run(make_no_lab, jobs=2)
    assert str(broke.value) == "A process of the run broke: ValueError: no lab today"


def test_several_processes_need_a_function_that_makes_the_lab() -> None:
    with pytest.raises(ValueError, match="function that makes the Lab"):
        run(lab_of(right), jobs=2)


def test_what_cannot_be_kept_ends_the_run() -> None:
    def full(record: TrialRecord) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError):
        run_pack(lab_of(right), TASKS, 3, 5, on_record=full)


def test_a_lab_made_for_the_run_is_closed_with_it_and_one_that_was_given_is_not() -> None:
    made: list[Lab] = []

    def make() -> Lab:
        made.append(lab_of(right))
        return made[0]

    run(make)
    given = lab_of(right)
    run(given)
    assert isinstance(made[0].connector, Actor) and made[0].connector.closed == 1
    assert isinstance(given.connector, Actor) and given.connector.closed == 0


class _Deaf(Actor):
    """Leaves something running that does not end when it is told to."""

    async def open(self, context: BotContext) -> Any:
        self.left = asyncio.create_task(self._resist())
        return await super().open(context)

    async def _resist(self) -> None:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()


def test_a_run_ends_though_a_bot_left_something_that_does_not(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(looping, "GRACE", 0.05)
    done, _ = run(Lab(library(), _Deaf(right)), tasks=["LIB-LOAN-001"], trials=2)
    assert [record.status for record in done] == ["passed", "passed"]
    gc.collect()  # a task that is left behind is told once, and not again whenever it is collected
    said = [record.getMessage() for record in caplog.records]
    assert sum("left behind" in message for message in said) == 2
    assert not any("destroyed" in message for message in said)
