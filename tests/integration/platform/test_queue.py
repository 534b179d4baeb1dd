"""Trials as a queue in Postgres: a trial is counted once, whatever happens to workers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from django.db import connections
from django_tenants.utils import schema_context

from assay.runs import queue
from assay.runs.models import Evidence, Run, Trial, TrialAttempt
from assay.runs.queue import Claim, Result

EVIDENCE = {"transcript": {"events": []}, "changes": [], "verdict": None, "notes": {}, "versions": {}}


def result(claim: Claim, status: str = "passed", **fields: Any) -> Result:
    return Result(
        claim=claim, status=status, columns={"seconds": 0.1}, evidence=EVIDENCE, seed=claim.index, **fields
    )


def take(run: Run, limit: int = 10, worker: str = "w1", lease: float = 60) -> list[Claim]:
    return queue.claim(run.pk, worker=worker, limit=limit, lease=lease)


def test_two_workers_that_claim_at_the_same_moment_never_get_the_same_trial(
    bare_run: Callable[..., Run],
) -> None:
    run = bare_run(200)
    got: list[list[int]] = [[], []]
    barrier = threading.Barrier(2, timeout=30)

    def work(n: int) -> None:
        try:
            with schema_context("acme"):
                barrier.wait()
                while claims := take(run, limit=7, worker=f"w{n}"):
                    got[n] += [c.trial for c in claims]
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=[n]) for n in (0, 1)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert sorted(got[0] + got[1]) == sorted(Trial.objects.filter(run=run).values_list("pk", flat=True))


def test_a_result_is_written_with_its_evidence(bare_run: Callable[..., Run]) -> None:
    run = bare_run(1)
    (claim,) = take(run)
    assert queue.write([result(claim)], worker="w1") == (1, 0)
    trial = Trial.objects.get(run=run)
    assert (trial.status, trial.leased_by, trial.lease_token) == ("passed", "w1", None)
    assert trial.evidence.transcript == {"events": []}
    assert trial.evidence.verdict is None


def test_a_late_writer_whose_lease_was_taken_over_writes_nothing(bare_run: Callable[..., Run]) -> None:
    run = bare_run(1)
    (late,) = take(run, lease=-1)
    assert queue.expire(run.pk, most_losses=5) == 1
    (now,) = take(run, worker="w2")
    assert queue.write([result(late, "failed")], worker="w1") == (0, 0)
    assert not Evidence.objects.filter(trial__run=run).exists()
    assert queue.write([result(now)], worker="w2") == (1, 0)
    assert queue.write([result(late, "failed")], worker="w1") == (0, 0)
    assert Trial.objects.get(run=run).status == "passed"
    assert Evidence.objects.filter(trial__run=run).count() == 1


def test_a_lost_worker_is_recorded_as_such_and_does_not_change_the_seed_of_the_trial(
    bare_run: Callable[..., Run],
) -> None:
    run = bare_run(1)
    take(run, worker="gone", lease=-1)
    queue.expire(run.pk, most_losses=5)
    trial = Trial.objects.get(run=run)
    assert (trial.status, trial.attempt, trial.losses) == ("queued", 0, 1)
    attempt = TrialAttempt.objects.get(trial=trial)
    assert (attempt.cause, attempt.worker, attempt.number) == ("worker_lost", "gone", 0)


def test_a_trial_that_outlives_too_many_workers_becomes_void(bare_run: Callable[..., Run]) -> None:
    run = bare_run(1)
    for _ in range(3):
        take(run, lease=-1)
        queue.expire(run.pk, most_losses=3)
    trial = Trial.objects.get(run=run)
    assert (trial.status, trial.void_cause) == ("void", "worker_lost")
    assert take(run) == []
    assert TrialAttempt.objects.filter(trial=trial).count() == 3


def test_a_worker_known_dead_loses_its_trials_before_the_lease_ends(bare_run: Callable[..., Run]) -> None:
    run = bare_run(2)
    take(run, limit=1, worker="dead")
    take(run, limit=1, worker="alive")
    assert queue.expire(run.pk, most_losses=5, dead=["dead"]) == 1
    assert Trial.objects.get(run=run, status="running").leased_by == "alive"


def test_a_void_trial_is_tried_again_and_then_stays_void_with_every_attempt_shown(
    bare_run: Callable[..., Run],
) -> None:
    run = bare_run(1)
    (first,) = take(run)
    assert queue.write([result(first, "void", void_cause="provider_outage", retry_in=0.0)], worker="w1") == (
        0,
        1,
    )
    assert not Evidence.objects.filter(trial__run=run).exists()
    (second,) = take(run)
    assert second.attempt == 1
    assert queue.write([result(second, "void", void_cause="simulator_fault")], worker="w1") == (1, 0)
    trial = Trial.objects.get(run=run)
    assert (trial.status, trial.void_cause) == ("void", "simulator_fault")
    assert list(trial.void_attempts.values_list("number", "cause")) == [
        (0, "provider_outage"),
        (1, "simulator_fault"),
    ]
    assert trial.evidence.transcript == {"events": []}


def test_a_void_trial_waits_before_it_is_tried_again(bare_run: Callable[..., Run]) -> None:
    run = bare_run(1)
    (claim,) = take(run)
    queue.write([result(claim, "void", void_cause="provider_outage", retry_in=3600.0)], worker="w1")
    assert take(run) == []
    wait = queue.next_available_in(run.pk)
    assert wait is not None and wait > 3000


def test_renewing_tells_which_trials_were_taken_over(bare_run: Callable[..., Run]) -> None:
    run = bare_run(2)
    kept, lost = take(run)
    Trial.objects.filter(pk=lost.trial).update(lease_expires_at="2020-01-01T00:00:00Z")
    queue.expire(run.pk, most_losses=5)
    assert queue.renew([kept, lost], lease=60) == {kept.trial}


def test_released_trials_are_as_if_they_had_not_been_claimed(bare_run: Callable[..., Run]) -> None:
    run = bare_run(2)
    queue.release(take(run))
    assert set(Trial.objects.filter(run=run).values_list("status", "attempt", "losses")) == {("queued", 0, 0)}
    assert not TrialAttempt.objects.filter(trial__run=run).exists()
    assert len(take(run)) == 2


def test_trials_of_a_paused_or_cancelled_run_are_not_claimed(bare_run: Callable[..., Run]) -> None:
    for status in ("paused", "cancelled", "finished"):
        assert take(bare_run(1, status=status)) == []


def test_what_a_bot_says_is_stored_even_when_jsonb_could_not_hold_it(bare_run: Callable[..., Run]) -> None:
    run = bare_run(1)
    (claim,) = take(run)
    said = {"events": [{"text": "a\0b\ud800c \U0001f600 \\u0000", "n": float("nan")}]}
    strange = Result(claim=claim, status="passed", columns={}, evidence={**EVIDENCE, "transcript": said})
    assert queue.write([strange], worker="w1") == (1, 0)
    stored = Trial.objects.get(run=run).evidence.transcript["events"][0]
    assert stored == {"text": "a\ufffdb\ufffdc \U0001f600 \\u0000", "n": "nan"}
