"""Real Celery workers, real brokers: whatever happens to them, every trial is counted once."""

from __future__ import annotations

import os
import signal
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db.models import Sum

from assay.bots.models import BotVersion
from assay.config.processes import Worker
from assay.packs.models import PackVersion
from assay.packs.services import upload_pack
from assay.runs import services, sweeping
from assay.runs.models import Evidence, Run, Trial, TrialAttempt
from assay.tenancy.services import in_tenant
from tests.integration.platform.conftest import BROKERS, Installation, wait_until
from tests.support.site import LIBRARY, reference_bot

TASKS = 6  # of the library
pytestmark = pytest.mark.timeout(300)


def plan(version: PackVersion, trials: int, target: str = "careless", seed: int = 11) -> Run:
    return services.plan_run(version, reference_bot(target), trials=trials, seed=seed)


def statuses(run: Run) -> dict[tuple[str, int], str]:
    return {(t, i): s for t, i, s in Trial.objects.filter(run=run).values_list("task_id", "index", "status")}


def check_counted_once(run: Run) -> None:
    """Every planned trial is there once, finished, with evidence, and the summary adds up to them."""
    run.refresh_from_db()
    assert run.status == "finished" and run.summary is not None
    trials = Trial.objects.filter(run=run)
    assert trials.count() == run.trial_count
    found = Counter(trials.values_list("status", flat=True))
    assert set(found) <= {"passed", "failed", "void"}
    assert Evidence.objects.filter(trial__run=run).count() == run.trial_count
    assert {s: run.summary[s] for s in ("passed", "failed", "void")} == {
        s: found.get(s, 0) for s in ("passed", "failed", "void")
    }
    assert run.summary["trials"] == run.trial_count
    assert not trials.exclude(lease_token=None).exists()


def pool_of(worker: Worker) -> list[int]:
    """The process ids of a worker's pool."""
    children = Path(f"/proc/{worker.pid}/task/{worker.pid}/children")
    return [int(pid) for pid in children.read_text().split()]


@pytest.fixture
def undisturbed(
    installation: Installation, library: PackVersion
) -> Callable[[Run], dict[tuple[str, int], str]]:
    """How the same trials end when nothing happens to the worker."""

    def again(run: Run) -> dict[tuple[str, int], str]:
        worker = installation.start_worker()
        same = plan(run.pack_version, run.trials_per_task, seed=run.seed)
        installation.finished(same)
        worker.stop()
        return statuses(same)

    return again


@pytest.mark.parametrize("broker", BROKERS)
def test_a_run_is_carried_out_over_each_broker(
    broker: str, use_broker: Callable[[str], Installation], library: PackVersion
) -> None:
    installation = use_broker(broker)
    installation.start_worker()
    run = plan(library, trials=10, target="faithful")
    now = installation.finished(run)
    assert (now.passed, now.failed, now.void) == (60, 0, 0), installation.logs()
    check_counted_once(run)


@pytest.mark.parametrize("broker", BROKERS)
def test_a_worker_killed_with_its_pool_in_mid_run_is_replaced_by_another(
    broker: str, use_broker: Callable[[str], Installation], library: PackVersion
) -> None:
    installation = use_broker(broker)
    first = installation.start_worker()
    run = plan(library, trials=150)
    installation.until(run, lambda p: 50 < p.done < p.total / 2 and p.running > 0, "the middle of the run")
    first.kill()
    held = Trial.objects.filter(run=run, status="running").count()
    installation.start_worker()
    installation.finished(run)
    check_counted_once(run)
    assert held > 0
    assert TrialAttempt.objects.filter(trial__run=run, cause="worker_lost").count() == held
    assert not Trial.objects.filter(run=run, status="void").exists()


def test_a_pool_process_killed_in_mid_run_costs_nothing_and_changes_no_result(
    installation: Installation,
    library: PackVersion,
    undisturbed: Callable[[Run], dict[tuple[str, int], str]],
) -> None:
    worker = installation.start_worker()
    run = plan(library, trials=150)
    installation.until(run, lambda p: p.done > 50 and p.running > 0, "the middle of the run")
    victim = wait_until(
        lambda: next(
            (
                pid
                for pid in pool_of(worker)
                if Trial.objects.filter(run=run, status="running", leased_by__endswith=f"/{pid}").exists()
            ),
            None,
        ),
        "a pool process with trials",
    )
    os.kill(victim, signal.SIGKILL)
    installation.finished(run)
    assert worker.ended() is None
    check_counted_once(run)
    assert TrialAttempt.objects.filter(trial__run=run, cause="worker_lost").exists()
    worker.stop()
    assert statuses(run) == undisturbed(run)


def test_a_pool_does_not_outlive_its_worker_and_its_trials_are_given_to_another(
    installation: Installation, library: PackVersion
) -> None:
    worker = installation.start_worker()
    run = plan(library, trials=150)
    installation.until(run, lambda p: p.done > 50 and p.running > 0, "the middle of the run")
    pool = pool_of(worker)
    assert pool
    os.kill(worker.pid, signal.SIGKILL)  # the main process alone
    wait_until(lambda: worker.ended() is not None, "the end of the worker")
    wait_until(lambda: not any(_alive(pid) for pid in pool), "the end of its pool", seconds=30)
    installation.start_worker()
    installation.finished(run)
    check_counted_once(run)
    assert not Trial.objects.filter(run=run, status="void").exists()


def test_a_worker_that_hangs_beyond_its_lease_loses_its_trials_and_what_it_writes_later_is_dropped(
    installation: Installation, library: PackVersion
) -> None:
    first = installation.start_worker(processes=1)
    run = plan(library, trials=150)
    installation.until(run, lambda p: p.done > 50 and p.running > 0, "the middle of the run")
    (process,) = pool_of(first)
    os.kill(process, signal.SIGSTOP)
    held = Trial.objects.filter(run=run, status="running", leased_by__endswith=f"/{process}").count()
    assert held > 0
    installation.start_worker()
    wait_until(
        lambda: TrialAttempt.objects.filter(trial__run=run, cause="worker_lost").count() >= held,
        "the end of the lease",
    )
    os.kill(process, signal.SIGCONT)
    installation.finished(run)
    check_counted_once(run)


@pytest.mark.parametrize("broker", BROKERS)
def test_a_run_whose_wake_messages_were_lost_is_found_by_the_sweep(
    broker: str, use_broker: Callable[[str], Installation], library: PackVersion
) -> None:
    installation = use_broker(broker)
    run = plan(library, trials=5)
    assert installation.purge() > 0
    assert installation.purge() == 0
    installation.start_worker()
    installation.finished(run)
    check_counted_once(run)


def test_wake_messages_that_arrive_many_times_change_nothing(
    installation: Installation, library: PackVersion
) -> None:
    from assay.runs.waking import wake

    run = plan(library, trials=20)
    wake("acme", run.pk, wakes=30)
    installation.start_worker()
    installation.finished(run)
    wake("acme", run.pk, wakes=10)
    check_counted_once(run)
    summary = run.summary
    wait_until(lambda: installation.purge() == 0, "an empty queue")
    run.refresh_from_db()
    assert run.summary == summary
    assert Trial.objects.filter(run=run).exclude(losses=0, attempt=0).count() == 0


def test_a_worker_asked_to_stop_puts_its_trials_back_at_once(
    installation: Installation, library: PackVersion
) -> None:
    worker = installation.start_worker()
    run = plan(library, trials=150)
    installation.until(run, lambda p: p.done > 20, "the first results")
    worker.stop(timeout=20)
    assert worker.ended() == 0, installation.logs()
    now = services.progress(run)
    assert now.running == 0 and now.queued > 0
    assert not TrialAttempt.objects.filter(trial__run=run).exists()
    installation.start_worker()
    installation.finished(run)
    check_counted_once(run)


def test_a_paused_run_rests_and_goes_on_where_it_was(
    installation: Installation, library: PackVersion
) -> None:
    installation.start_worker()
    run = plan(library, trials=200)
    installation.until(run, lambda p: p.done > 20, "the first results")
    services.pause_run(run)
    rested = installation.until(run, lambda p: p.running == 0, "rest")
    assert rested.status == "paused" and rested.queued > 0
    sweeping.sweep()
    assert services.progress(run).queued == rested.queued
    services.resume_run(run)
    installation.finished(run)
    check_counted_once(run)


def test_a_cancelled_run_stops_and_its_untried_trials_stay_untried(
    installation: Installation, library: PackVersion
) -> None:
    installation.start_worker()
    run = plan(library, trials=150)
    installation.until(run, lambda p: p.done > 20, "the first results")
    services.cancel_run(run)
    now = installation.until(run, lambda p: p.running == 0, "rest")
    assert now.status == "cancelled" and now.queued > 0
    run.refresh_from_db()
    assert run.summary is None and run.finished_at is not None
    with pytest.raises(services.RunError, match="cancelled"):
        services.resume_run(run)


def test_runs_of_two_companies_at_once_stay_in_their_schemas(
    installation: Installation, library: PackVersion, tmp_path: Path
) -> None:
    with in_tenant("globex"):
        theirs = upload_pack(LIBRARY)
        other = plan(theirs, trials=40, target="faithful", seed=3)
    run = plan(library, trials=40)
    installation.start_worker()
    installation.finished(run)
    check_counted_once(run)
    with in_tenant("globex"):
        installation.finished(other)
        check_counted_once(other)
        assert not Trial.objects.filter(run=other).exclude(status="passed").exists()
        assert not BotVersion.objects.filter(spec="reference:careless").exists()
        assert Trial.objects.count() == Run.objects.aggregate(n=Sum("trial_count"))["n"]


def test_a_message_works_for_the_company_that_its_arguments_name_whatever_its_header_says(
    installation: Installation, library: PackVersion
) -> None:
    from assay.runs.tasks import execute

    run = plan(library, trials=5)
    installation.purge()
    with in_tenant("globex"):
        before = Trial.objects.count()
        execute.apply_async(args=["acme", run.pk])  # its header says globex
    execute.apply_async(args=["gone", run.pk], headers={"_schema_name": "gone"})
    execute.apply_async(args=["public", run.pk], headers={"_schema_name": "public"})
    worker = installation.start_worker()
    installation.finished(run)
    check_counted_once(run)
    wait_until(lambda: installation.purge() == 0, "an empty queue")
    assert worker.ended() is None
    with in_tenant("globex"):
        assert Trial.objects.count() == before


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
