"""One worker process at work on one run, without Celery: what it does with results, faults, pauses and lost leases."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import OperationalError, connection, connections, transaction

from assay.engine.trial import Lab, TrialRecord, seed_for
from assay.packs.models import PackVersion
from assay.packs.services import set_enabled
from assay.reports.services import render_report
from assay.runs import finishing, queue, services, sweeping
from assay.runs.executor import Drained, Executor, TryTask
from assay.runs.models import Evidence, Run, RunStatus, Trial, TrialAttempt
from assay.tenancy.services import in_tenant
from assay_sdk import OptionsError, PlatformFault, PluginFault
from tests.support.site import reference_bot

pytestmark = pytest.mark.usefixtures("quiet_broker")


@pytest.fixture
def quiet_broker(use_broker: Callable[[str], Any]) -> None:
    """Messages of these tests go to a queue that nobody listens on."""
    use_broker("embedded")


@pytest.fixture
def plan(library: PackVersion) -> Callable[..., Run]:
    def make(trials: int = 2, tasks: Any = ("LIB-LOAN-001",), **fields: Any) -> Run:
        return services.plan_run(
            library, reference_bot("faithful"), trials=trials, tasks=tasks, seed=5, **fields
        )

    return make


def record(
    task: str, index: int, seed: int, attempt: int, status: str = "passed", **fields: Any
) -> TrialRecord:
    made = {
        "void_cause": "provider_outage" if status == "void" else None,
        "transcript": {
            "termination": "user_done",
            "turns": 2,
            "tool_calls": 1,
            "events": [],
            "detail": "said so",
        },
        "changes": [],
        "verdict": None,
        "notes": {},
        "seconds": 0.01,
        "started_at": datetime.now(UTC).isoformat(),
        **fields,
    }
    return TrialRecord(
        task=task,
        group="loan",
        index=index,
        attempt=attempt,
        seed=seed_for(seed, task, index, attempt),
        status=status,
        **made,
    )


def trying(do: Callable[[str, int, int], Any]) -> TryTask:
    """A way to try a task: `do` gets task, index and attempt and gives a status, or raises."""

    async def try_task(lab: Lab, task: str, index: int, seed: int, attempt: int) -> TrialRecord:
        status = do(task, index, attempt)
        if isinstance(status, Awaitable):
            status = await status
        return record(task, index, seed, attempt, status)

    return try_task


def work(run: Run, try_task: TryTask | None = None) -> Drained:
    """One slice of work and the end of the run if it was the last."""
    run.refresh_from_db()
    executor = (
        Executor(run, schema="acme") if try_task is None else Executor(run, schema="acme", try_task=try_task)
    )
    drained = executor.drain()
    finishing.finish_if_done(run.pk)
    run.refresh_from_db()
    return drained


def test_a_run_is_tried_written_and_finished_in_one_slice(plan: Callable[..., Run]) -> None:
    run = plan(trials=3, tasks=None)
    drained = work(run)
    assert drained == Drained(written=18, more=False)
    assert run.status == RunStatus.FINISHED and run.started_at is not None and run.finished_at is not None
    assert run.summary is not None
    assert (run.summary["passed"], run.summary["trials"], run.summary["tasks"]) == (18, 18, 6)
    evidence = Evidence.objects.filter(trial__run=run).first()
    assert evidence is not None
    assert evidence.events and evidence.verdict["outcome"] == "pass"
    assert evidence.versions["pack"]["content_hash"] == run.pack_version.content_hash
    assert evidence.versions["run_seed"] == "5"


def test_the_manifest_says_everything_that_went_in(plan: Callable[..., Run]) -> None:
    run = plan(trials=1, gate={"at_least": 0.5})
    work(run)
    manifest = run.manifest
    assert manifest["format"] == 1 and manifest["seed"] == "5" and manifest["trials"] == 1
    assert manifest["pack"]["content_hash"] == run.pack_version.content_hash
    assert manifest["bot"]["spec"] == "reference:faithful" and manifest["bot"]["synthetic"] is True
    assert [t["id"] for t in manifest["tasks"]] == ["LIB-LOAN-001"]
    assert manifest["limits"]["turns"] > 0
    assert manifest["plugins"]["assay"]["parts"] == ["connector reference"]
    assert manifest["started_at"] <= manifest["finished_at"]


def test_the_gate_is_answered_when_the_run_finishes(plan: Callable[..., Run]) -> None:
    run = plan(trials=20, tasks=None, gate={"at_least": 0.5, "k": 5})
    work(run)
    assert run.gate_answer is not None and run.gate_answer["met"] is True
    failing = plan(trials=20, tasks=None, gate={"at_least": 0.5})
    work(failing, trying(lambda *_: "failed"))
    assert failing.gate_answer is not None and failing.gate_answer["met"] is False


def test_what_failed_trials_cost_is_summed_from_their_verdicts(plan: Callable[..., Run]) -> None:
    def cost(over: float) -> dict[str, Any]:
        return {"what": "refunded", "paid_by": "company", "currency": "USD", "over": over, "under": 0.0}

    async def tried(lab: Lab, task: str, index: int, seed: int, attempt: int) -> TrialRecord:
        costs = {0: [cost(400.0)], 1: [cost(12.0)], 2: None}.get(index)
        status = "passed" if index == 3 else "failed"
        return record(task, index, seed, attempt, status, verdict={"outcome": "fail", "costs": costs})

    run = plan(trials=4)
    work(run, tried)
    assert run.summary is not None
    assert run.summary["costs"] == {
        "currency": "USD", "trials": 2, "of": 4, "company": 412.0, "customers": 0.0,
        "by": [{"what": "refunded", "paid_by": "company", "over": 412.0, "under": 0.0}],
    }  # fmt: skip
    assert "This bot over-refunded 412.00\u00a0USD in 4 trials" in render_report(run)
    without = plan(trials=1)
    work(without, trying(lambda *_: "failed"))
    assert without.summary is not None and without.summary["costs"] is None


def test_the_figures_of_reported_only_checks_stand_in_the_summary_and_the_report(
    plan: Callable[..., Run],
) -> None:
    def check(name: str, outcome: str, *, required: bool = False) -> dict[str, Any]:
        reward = 1.0 if outcome == "pass" else 0.5
        evidence = [{"message": "as it was"}]
        return {
            "name": name,
            "outcome": outcome,
            "required": required,
            "reward": reward,
            "evidence": evidence,
        }

    async def tried(lab: Lab, task: str, index: int, seed: int, attempt: int) -> TrialRecord:
        said = check("manners.tone", "pass" if index else "fail")
        verdict = {"outcome": "pass", "costs": None, "checks": [check("state", "pass", required=True), said]}
        return record(task, index, seed, attempt, verdict=verdict)

    run = plan(trials=4)
    work(run, tried)
    assert run.summary is not None
    (tone,) = run.summary["checks"]
    assert (tone["name"], tone["passed"], tone["failed"], tone["cannot_tell"]) == ("manners.tone", 3, 1, 0)
    assert tone["reward"]["value"] == pytest.approx(3.5 / 4)
    assert run.summary["overall"]["pass_at"]["1"]["value"] == 1.0
    assert "manners.tone" in render_report(run)


def test_a_void_trial_is_tried_again_with_another_seed_until_it_says_something(
    plan: Callable[..., Run],
) -> None:
    run = plan(trials=1)
    work(run, trying(lambda task, index, attempt: "void" if attempt == 0 else "passed"))
    Trial.objects.filter(run=run).update(available_at=None)  # its pause is over
    assert run.status == RunStatus.RUNNING
    work(run, trying(lambda task, index, attempt: "void" if attempt == 0 else "passed"))
    trial = Trial.objects.get(run=run)
    assert (trial.status, trial.attempt) == ("passed", 1)
    assert trial.seed == seed_for(5, "LIB-LOAN-001", 0, 1) != seed_for(5, "LIB-LOAN-001", 0, 0)
    attempt = TrialAttempt.objects.get(trial=trial)
    assert (attempt.cause, attempt.detail) == ("provider_outage", "said so")
    assert run.summary is not None and run.summary["void"] == 0


def test_a_trial_that_stays_void_is_shown_by_cause_and_does_not_count_against_the_bot(
    plan: Callable[..., Run],
) -> None:
    run = plan(trials=2, max_attempts=1)
    work(run, trying(lambda task, index, attempt: "void" if index == 0 else "passed"))
    assert run.summary is not None
    assert (run.summary["valid"], run.summary["void"], run.summary["failed"]) == (1, 1, 0)
    assert run.summary["voids"] == {"provider_outage": 1}
    assert run.summary["worst_case"]["failed"] == 1


def test_whatever_the_trial_raises_is_the_platforms_fault(plan: Callable[..., Run]) -> None:
    def burst(*_: Any) -> str:
        raise ZeroDivisionError("a defect of ours")

    run = plan(trials=1, max_attempts=1)
    work(run, trying(burst))
    trial = Trial.objects.get(run=run)
    assert (trial.status, trial.void_cause) == ("void", "internal_error")
    assert "a defect of ours" in TrialAttempt.objects.get(trial=trial).detail


@pytest.mark.parametrize(
    ("error", "cause", "said"),
    [
        (OptionsError("There is no secret named 'key'; store it first."), "setup_failed", "no secret named"),
        (PluginFault("The connector 'x' could not be built."), "plugin_fault", "could not be built"),
        (ZeroDivisionError("a plugin's defect"), "setup_failed", "ZeroDivisionError: a plugin's defect"),
    ],
)
def test_a_bot_that_cannot_be_set_up_makes_the_trials_void_and_says_why(
    plan: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, error: Exception, cause: str, said: str
) -> None:
    run = plan(trials=2, max_attempts=1)

    def refuse(*_: Any) -> Any:
        raise error

    monkeypatch.setattr("assay.runs.laboratory.connect", refuse)
    work(run)
    assert set(Trial.objects.filter(run=run).values_list("status", "void_cause")) == {("void", cause)}
    assert said in TrialAttempt.objects.filter(trial__run=run).first().detail
    assert run.status == RunStatus.FINISHED


def test_a_database_that_is_away_while_a_bot_is_set_up_makes_nothing_void(
    plan: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = plan(trials=2)

    def away(*_: Any) -> Any:
        raise OperationalError("server closed the connection unexpectedly")

    with monkeypatch.context() as patch:
        patch.setattr("assay.runs.laboratory.connect", away)
        with pytest.raises(OperationalError):
            work(run)
    assert set(Trial.objects.filter(run=run).values_list("status", "losses")) == {("queued", 0)}
    work(run)
    assert run.status == RunStatus.FINISHED


def test_a_run_paused_while_its_last_trials_are_in_progress_ends_when_it_is_resumed(
    plan: Callable[..., Run],
) -> None:
    run = plan(trials=2)
    paused = []

    def pause_first(*_: Any) -> Any:
        if not paused:
            paused.append(True)
            return _in_thread(lambda: services.pause_run(run))
        return "passed"

    work(run, trying(pause_first))
    assert run.status == RunStatus.PAUSED
    assert not Trial.objects.filter(run=run).exclude(status="passed").exists()
    assert run.summary is None
    services.resume_run(run)
    work(run)
    assert run.status == RunStatus.FINISHED and run.summary is not None


def test_a_run_cancelled_in_mid_slice_keeps_what_was_tried_and_gets_no_summary(
    plan: Callable[..., Run],
) -> None:
    run = plan(trials=40, trials_at_once=2)

    cancelled = threading.Event()

    def cancel() -> None:
        services.cancel_run(run)
        cancelled.set()

    async def after_it() -> str:
        assert await asyncio.to_thread(cancelled.wait, 60)
        return "passed"

    def cancel_at(task: str, index: int, attempt: int) -> Any:
        if index == 3:
            return _in_thread(cancel)
        return after_it() if index > 3 else "passed"

    work(run, trying(cancel_at))
    assert run.status == RunStatus.CANCELLED and run.summary is None
    done = Trial.objects.filter(run=run, status="passed").count()
    assert 4 <= done <= 6  # those that were in progress when it was cancelled were let end
    assert Trial.objects.filter(run=run, status="queued").count() == 40 - done


def test_trials_in_progress_of_a_cancelled_run_are_freed_when_their_worker_is_lost(
    plan: Callable[..., Run],
) -> None:
    run = plan(trials=2)
    queue.claim(run.pk, worker="gone", limit=1, lease=-1)
    services.cancel_run(run)
    sweeping.sweep()
    assert set(Trial.objects.filter(run=run).values_list("status", flat=True)) == {"queued"}
    run.refresh_from_db()
    assert run.status == RunStatus.CANCELLED


def broken_sweep(schema: str) -> None:
    """For ASSAY_SWEEPS."""
    raise RuntimeError(f"nothing can be swept in {schema}")


def lost_connection_sweep(schema: str) -> None:
    """For ASSAY_SWEEPS: Postgres ends the connection that the sweep works on."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")


swept: list[tuple[str, bool]] = []


def noting_sweep(schema: str) -> None:
    """For ASSAY_SWEEPS: note the schema, and whether its runs can be read."""
    swept.append((schema, Run.objects.exists()))


def test_a_run_that_cannot_be_swept_holds_up_no_other_run_and_nothing_else_of_its_company(
    plan: Callable[..., Run], settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    broken, fine = plan(trials=1), plan(trials=1)
    for run in (broken, fine):
        Trial.objects.filter(run=run).update(status="passed", seconds=0.1)
    Run.objects.filter(pk=broken.pk).update(
        gate={"at_least": "much"}
    )  # a row as no release of ours writes it
    here = f"{__name__}."
    settings.ASSAY_SWEEPS = [here + "broken_sweep", here + "lost_connection_sweep", here + "noting_sweep"]
    swept.clear()
    sweeping.sweep()
    connection.set_schema("acme")
    broken.refresh_from_db()
    fine.refresh_from_db()
    assert (broken.status, fine.status) == (RunStatus.PLANNED, RunStatus.FINISHED)
    assert ("acme", True) in swept and "globex" in dict(swept)
    assert {f"sweep of acme: run {broken.pk}", f"sweep of acme: {here}broken_sweep"} <= set(caplog.messages)
    services.cancel_run(broken)


def test_a_trial_taken_over_by_another_worker_is_dropped_here(
    plan: Callable[..., Run], settings: Any
) -> None:
    settings.ASSAY_LEASE_SECONDS = 0.4
    run = plan(trials=1)
    other: list[list[queue.Claim]] = []

    async def lose_it(*_: Any) -> str:
        def take_over() -> None:
            with transaction.atomic():  # or the lease may be renewed in between
                Trial.objects.filter(run=run).update(lease_expires_at="2020-01-01T00:00:00Z")
                queue.expire(run.pk, most_losses=5)
                other.append(queue.claim(run.pk, worker="other", limit=1, lease=600))

        await _in_thread(take_over)
        await asyncio.sleep(30)  # until it is cancelled, which the renewing thread brings about
        return "failed"

    drained = work(run, trying(lose_it))
    assert drained.written == 0
    trial = Trial.objects.get(run=run)
    assert (trial.status, trial.leased_by) == ("running", "other")
    over, _ = queue.write([_result(other[0][0])], worker="other")
    assert over == 1


def test_a_trial_that_does_not_even_end_when_it_is_cancelled_is_left_behind_as_void(
    plan: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.runs.executor.patience", lambda limits: 0.6)
    monkeypatch.setattr("assay.runs.executor._STUBBORN", 0.2)
    run = plan(trials=3, max_attempts=1, limits={"seconds": 0.5})

    async def hold_on() -> str:
        while True:
            try:
                await asyncio.sleep(3600)
            except asyncio.CancelledError:
                continue

    drained = work(run, trying(lambda task, index, attempt: hold_on() if index == 1 else "passed"))
    assert drained.written == 3
    found = Trial.objects.filter(run=run).order_by("index").values_list("status", "void_cause")
    assert list(found) == [("passed", ""), ("void", "internal_error"), ("passed", "")]
    assert run.status == RunStatus.FINISHED


def test_the_slice_ends_in_time_and_says_that_there_is_more(plan: Callable[..., Run], settings: Any) -> None:
    settings.ASSAY_SLICE_SECONDS = 0.0
    run = plan(trials=50, trials_at_once=4)
    drained = work(run, trying(lambda *_: "passed"))
    assert drained.more and drained.written == 4
    assert run.status == RunStatus.RUNNING


def test_results_survive_a_database_that_is_away_for_a_moment(
    plan: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = plan(trials=2)
    real = queue.write
    calls = []

    def away_once(*args: Any, **options: Any) -> Any:
        calls.append(args)
        if len(calls) == 1:
            raise OperationalError("server closed the connection unexpectedly")
        return real(*args, **options)

    monkeypatch.setattr(queue, "write", away_once)
    drained = work(run, trying(lambda *_: "passed"))
    assert drained.written == 2 and run.status == RunStatus.FINISHED


def nested(depth: int) -> list[Any]:
    made: list[Any] = []
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("turns", 2**40, "DataError"),  # more than the column holds
        ("events", nested(100_000), "RecursionError"),  # deeper than JSON can be written
    ],
)
def test_one_result_that_cannot_be_stored_makes_only_its_own_trial_void(
    plan: Callable[..., Run], name: str, value: Any, error: str
) -> None:
    async def tried(lab: Lab, task: str, index: int, seed: int, attempt: int) -> TrialRecord:
        made = record(task, index, seed, attempt)
        if index == 1:
            made.transcript[name] = value
        return made

    run = plan(trials=4, max_attempts=1)
    assert work(run, tried).written == 4
    assert run.status == RunStatus.FINISHED
    status = dict(Trial.objects.filter(run=run).values_list("index", "status"))
    assert status == {0: "passed", 1: "void", 2: "passed", 3: "passed"}
    (noted,) = TrialAttempt.objects.filter(trial__run=run)
    assert (noted.trial.index, noted.cause) == (1, "internal_error")
    assert f"could not be stored: {error}" in noted.detail


@pytest.mark.parametrize("cause", ["c" * 41, "Their outage", "outage\n", ""])
def test_a_cause_that_is_no_short_word_is_counted_as_the_plugins_fault(
    plan: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, cause: str
) -> None:
    async def tried(lab: Lab, task: str, index: int, seed: int, attempt: int) -> TrialRecord:
        return record(task, index, seed, attempt, "void", void_cause=cause)

    def refuse(*_: Any) -> Any:
        raise PlatformFault("It cannot be reached.", cause=cause)

    run = plan(trials=1, max_attempts=1)
    work(run, tried)
    assert Trial.objects.get(run=run).void_cause == ("plugin_fault" if cause else "internal_error")
    not_set_up = plan(trials=1, max_attempts=1)
    monkeypatch.setattr("assay.runs.laboratory.connect", refuse)
    work(not_set_up)
    noted = TrialAttempt.objects.get(trial__run=not_set_up)
    assert (noted.cause, noted.detail) == ("plugin_fault", "It cannot be reached.")


def test_a_finished_run_is_told_once_even_when_two_workers_finish_it_at_the_same_moment(
    plan: Callable[..., Run], settings: Any
) -> None:
    settings.ASSAY_RUN_FINISHED = [f"{__name__}.hear"]
    heard.clear()
    run = plan(trials=2)
    Executor(run, schema="acme", try_task=trying(lambda *_: "passed")).drain()
    barrier = threading.Barrier(4, timeout=30)
    said: list[bool] = []

    def finish() -> None:
        try:
            with in_tenant("acme"):
                barrier.wait()
                said.append(finishing.finish_if_done(run.pk))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=finish) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(60)
    assert sorted(said) == [False, False, False, True]
    assert heard == [run.pk]


heard: list[int] = []


def hear(run: Run) -> None:
    heard.append(run.pk)


def test_a_listener_that_breaks_does_not_undo_the_end_of_the_run(
    plan: Callable[..., Run], settings: Any
) -> None:
    settings.ASSAY_RUN_FINISHED = [f"{__name__}.burst", f"{__name__}.hear"]
    heard.clear()
    run = plan(trials=1)
    work(run, trying(lambda *_: "passed"))
    assert run.status == RunStatus.FINISHED
    assert heard == [run.pk]


def burst(run: Run) -> None:
    raise RuntimeError("the listener is broken")


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"trials": 0}, "from 1 to 1000"),
        ({"trials": 1001}, "from 1 to 1000"),
        ({"max_attempts": 0}, "attempts"),
        ({"trials_at_once": 501}, "at once"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
        ({"tasks": "NO-*"}, "matches 'NO-\\*'"),
        ({"tasks": ["NO-1"]}, "has no task NO-1"),
        ({"tasks": []}, "No task was chosen"),
        ({"limits": {"turns": 0}}, "limits"),
        ({"limits": {"wishes": 3}}, "limits"),
        ({"persona": "nobody"}, "nobody"),
        ({"faults": "hursh"}, "did you mean harsh"),
        ({"faults": "harsh", "fault_options": {"rate": 7}}, "'rate'"),
        ({"fault_options": {"rate": 0.5}}, "name the profile"),
        ({"checkers": [{"name": "nothing"}]}, "nothing"),
        ({"gate": {"at_least": 2}}, "gate"),
    ],
)
def test_a_run_that_cannot_be_carried_out_is_refused_and_leaves_nothing(
    library: PackVersion, asked: dict[str, Any], said: str
) -> None:
    before = (Run.objects.count(), Trial.objects.count())
    with pytest.raises((services.RunError, OptionsError), match=said):
        services.plan_run(library, reference_bot("faithful"), **asked)
    assert (Run.objects.count(), Trial.objects.count()) == before


def test_a_task_that_is_switched_off_is_left_out_of_new_runs_only(library: PackVersion) -> None:
    planned = services.plan_run(library, reference_bot("faithful"), trials=1)
    entry = library.tasks.get(task_id="LIB-FEE-001")
    try:
        set_enabled(entry, False)
        later = services.plan_run(library, reference_bot("faithful"), trials=1)
        assert "LIB-FEE-001" in planned.task_ids and "LIB-FEE-001" not in later.task_ids
        assert Trial.objects.filter(run=planned, task_id="LIB-FEE-001").exists()
        with pytest.raises(services.RunError, match="Switched off: LIB-FEE-001"):
            services.plan_run(library, reference_bot("faithful"), tasks=["LIB-FEE-001"])
    finally:
        set_enabled(entry, True)


def test_every_task_has_been_seen_before_any_is_tried_again(library: PackVersion) -> None:
    run = services.plan_run(library, reference_bot("faithful"), trials=3)
    first = Trial.objects.filter(run=run).order_by("id").values_list("task_id", "index")[:6]
    assert list(first) == [(t, 0) for t in run.task_ids]


def test_the_same_seed_gives_the_same_trials(library: PackVersion) -> None:
    def outcome() -> list[tuple[Any, ...]]:
        run = services.plan_run(library, reference_bot("careless"), trials=8, seed=123)
        work(run)
        found = Trial.objects.filter(run=run).order_by("task_id", "index")
        return list(found.values_list("task_id", "index", "seed", "status", "category", "fingerprint"))

    first = outcome()
    assert first == outcome()
    assert {s for _, _, _, s, _, _ in first} == {"passed", "failed"}


def _result(claim: queue.Claim) -> queue.Result:
    evidence = {"transcript": {}, "changes": [], "verdict": None, "notes": {}, "versions": {}}
    return queue.Result(claim=claim, status="passed", columns={"seconds": 0.1}, evidence=evidence, seed=1)


async def _in_thread(work: Callable[[], Any]) -> str:
    """Something in the database, from inside a trial."""

    def inside() -> None:
        try:
            with in_tenant("acme"):
                work()
        finally:
            connections.close_all()

    await asyncio.to_thread(inside)
    return "passed"
