"""Planning runs, watching them, and bringing them to an end."""

from __future__ import annotations

import fnmatch
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

import assay
from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django.utils.module_loading import import_string

from assay.accounts.audit import record
from assay.accounts.models import User
from assay.bots.models import BotVersion
from assay.engine.statistics.summary import TrialOutcome, summarise
from assay.engine.trial import seed_for
from assay.packs.models import PackVersion
from assay.plugins.manager import get_manager
from assay.runs import gates, laboratory, queue, waking, workers
from assay.runs.models import ACTIVE, OPEN, Run, RunStatus, Trial, TrialAttempt, TrialStatus
from assay_sdk import AssayError

MOST_TRIALS_OF_A_TASK = 1_000
MOST_TRIALS = 1_000_000


class RunError(AssayError):
    """A run that cannot be planned or changed; the message says why and what to do."""


def plan_run(
    pack_version: PackVersion,
    bot_version: BotVersion,
    *,
    trials: int = 20,
    tasks: Sequence[str] | str | None = None,
    seed: int | None = None,
    gate: Mapping[str, Any] | None = None,
    limits: Mapping[str, Any] | None = None,
    persona: str = "",
    persona_options: Mapping[str, Any] | None = None,
    checkers: Sequence[Mapping[str, Any]] = (),
    max_attempts: int = 3,
    trials_at_once: int | None = None,
    by: User | None = None,
) -> Run:
    """Plan `trials` of each task as rows, and wake workers once that is committed.

    `tasks`: task ids, or a pattern such as "RET-RMA-*"; None takes every enabled task. `seed`: the same seed, pack
    and reference bot give the same trials; None draws one. Raises RunError or OptionsError, and plans nothing then.
    """
    if not 1 <= trials <= MOST_TRIALS_OF_A_TASK:
        raise RunError(f"The number of trials must be from 1 to {MOST_TRIALS_OF_A_TASK}, not {trials}.")
    if not 1 <= max_attempts <= 10:
        raise RunError(f"The number of attempts at a trial must be from 1 to 10, not {max_attempts}.")
    at_once = settings.ASSAY_TRIALS_AT_ONCE if trials_at_once is None else trials_at_once
    if not 1 <= at_once <= 500:
        raise RunError(f"The number of trials at once must be from 1 to 500, not {at_once}.")
    seed = secrets.randbits(63) if seed is None else seed
    if not 0 <= seed < 2**63:
        raise RunError("The seed must be from 0 to 2^63 - 1.")
    laboratory.limits_of(limits or {})
    laboratory.persona_of(persona, persona_options or {})
    laboratory.checkers_of(checkers)
    answer = gates.parse(gate, trials=trials)
    chosen = _tasks(pack_version, tasks)
    total = len(chosen) * trials
    if total > MOST_TRIALS:
        raise RunError(f"{total} trials are too many for one run; the most is {MOST_TRIALS}.")
    with transaction.atomic():
        run = Run.objects.create(
            pack_version=pack_version,
            bot_version=bot_version,
            task_ids=[t for t, _, _ in chosen],
            trials_per_task=trials,
            trial_count=total,
            seed=seed,
            max_attempts=max_attempts,
            trials_at_once=at_once,
            limits=dict(limits or {}),
            persona=persona,
            persona_options=dict(persona_options or {}),
            checkers=[dict(c) for c in checkers],
            gate=answer,
            manifest={
                "assay": assay.__version__,
                "pack": {
                    "name": pack_version.pack.name,
                    "version": pack_version.version,
                    "content_hash": pack_version.content_hash,
                },
                "bot": {"name": bot_version.bot.name, "number": bot_version.number, "spec": bot_version.spec},
                "plugins": get_manager().versions(),
                "seed": str(seed),  # as text: JavaScript cannot hold it
            },
            created_by=by,
        )
        with connection.cursor() as cursor, cursor.copy(
            'COPY runs_trial (run_id, task_id, title, "group", "index", attempt, losses, seed, status, leased_by, '
            "void_cause, termination, category, fingerprint, explanation, turns, tool_calls) FROM STDIN"
        ) as copy:
            # Trial by trial over all tasks, not task by task, so that a run stopped early has seen every task.
            for index in range(trials):
                for task_id, title, group in chosen:
                    copy.write_row(
                        (run.pk, task_id, title, group, index, 0, 0, seed_for(seed, task_id, index, 0), "queued")
                        + ("", "", "", "", "", "", 0, 0)
                    )
        record(
            "run.planned",
            actor=by,
            target=run,
            data={"pack": str(pack_version), "bot": str(bot_version), "trials": total, "seed": str(seed)},
        )
        waking.wake_on_commit(run, wakes=settings.ASSAY_WAKES)
    return run


def pause_run(run: Run, *, by: User | None = None) -> Run:
    """Claim no more trials; those in progress end in order. Raises RunError when the run is over."""
    return _move(run, RunStatus.PAUSED, ACTIVE, "run.paused", by)


def resume_run(run: Run, *, by: User | None = None) -> Run:
    """Go on with a paused run."""
    with transaction.atomic():
        run = _move(run, RunStatus.RUNNING, (RunStatus.PAUSED,), "run.resumed", by)
        if run.started_at is None:
            run.started_at = timezone.now()
            run.save(update_fields=["started_at"])
        waking.wake_on_commit(run, wakes=settings.ASSAY_WAKES)
    return run


def cancel_run(run: Run, *, by: User | None = None) -> Run:
    """End the run without a summary. Trials that were not tried stay queued, so nobody takes them for tried."""
    with transaction.atomic():
        run = _move(run, RunStatus.CANCELLED, (*ACTIVE, RunStatus.PAUSED), "run.cancelled", by)
        run.finished_at = timezone.now()
        run.save(update_fields=["finished_at"])
    return run


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a run stands. `done` = passed + failed + void; `void_attempts` by cause, those tried again included.

    `seconds_left` is None while it cannot be told.
    """

    status: str
    total: int
    queued: int
    running: int
    passed: int
    failed: int
    void: int
    void_attempts: Mapping[str, int]
    per_second: float
    seconds_left: float | None

    @property
    def done(self) -> int:
        return self.passed + self.failed + self.void

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "done": self.done}


_RECENT = 15.0  # seconds over which the speed is taken


def progress(run: Run) -> Progress:
    """Where the run stands now."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT status, count(*), count(*) FILTER (WHERE finished_at > now() - make_interval(secs => %s)),
                   extract(epoch FROM now() - min(finished_at))
            FROM runs_trial WHERE run_id = %s GROUP BY status
            """,
            [_RECENT, run.pk],
        )
        rows = {status: (count, recent, since) for status, count, recent, since in cursor.fetchall()}
        cursor.execute(
            """
            SELECT a.cause, count(*) FROM runs_trialattempt a JOIN runs_trial t ON t.id = a.trial_id
            WHERE t.run_id = %s GROUP BY a.cause ORDER BY a.cause
            """,
            [run.pk],
        )
        void_attempts = dict(cursor.fetchall())
        cursor.execute("SELECT status FROM runs_run WHERE id = %s", [run.pk])
        (status,) = cursor.fetchone()
    count = {s: rows.get(s, (0, 0, None))[0] for s in TrialStatus.values}
    over = [rows[s] for s in (TrialStatus.PASSED, TrialStatus.FAILED, TrialStatus.VOID) if s in rows]
    recent = sum(r[1] for r in over)
    since = max((float(r[2]) for r in over if r[2] is not None), default=0.0)
    speed = recent / max(1.0, min(_RECENT, since)) if recent else 0.0
    left = count[TrialStatus.QUEUED] + count[TrialStatus.RUNNING]
    if status not in ACTIVE or not left:
        seconds_left = 0.0 if not left else None
    else:
        seconds_left = left / speed if speed else None
    return Progress(
        status=status,
        total=run.trial_count,
        queued=count[TrialStatus.QUEUED],
        running=count[TrialStatus.RUNNING],
        passed=count[TrialStatus.PASSED],
        failed=count[TrialStatus.FAILED],
        void=count[TrialStatus.VOID],
        void_attempts=void_attempts,
        per_second=round(speed, 2),
        seconds_left=seconds_left,
    )


def void_causes(run: Run) -> dict[str, int]:
    """How many trials of the run ended void, by cause."""
    causes: dict[str, int] = {}
    for cause in Trial.objects.filter(run=run, status=TrialStatus.VOID).values_list("void_cause", flat=True):
        causes[cause] = causes.get(cause, 0) + 1
    return causes


def finish_if_done(run_id: int) -> bool:
    """Bring a run to its end when no trial is open: summary, gate, audit, then whoever listens, once each.

    True for the one caller that did it. Those who listen (settings.ASSAY_RUN_FINISHED) are called after the commit.
    """
    if Trial.objects.filter(run_id=run_id, status__in=OPEN).exists():
        return False
    with transaction.atomic():
        run = Run.objects.select_for_update().filter(pk=run_id, status__in=ACTIVE).first()
        if run is None or Trial.objects.filter(run=run, status__in=OPEN).exists():
            return False
        summary = summarise(outcomes(run)).as_json()
        run.summary = summary
        run.gate_answer = gates.answer(run.gate, summary)
        run.status = RunStatus.FINISHED
        run.finished_at = timezone.now()
        run.started_at = run.started_at or run.finished_at
        run.save(update_fields=["summary", "gate_answer", "status", "finished_at", "started_at"])
        record("run.finished", target=run, data={"gate": run.gate_answer})
        for path in settings.ASSAY_RUN_FINISHED:
            transaction.on_commit(_listener(path, run), robust=True)
    return True


def outcomes(run: Run) -> list[TrialOutcome]:
    """The finished trials as statistics take them, in the order of the tasks."""
    rows = Trial.objects.filter(run=run).exclude(status__in=OPEN).order_by("task_id", "index")
    return [
        TrialOutcome(
            task=t.task_id,
            group=t.group,
            status=t.status,
            category=t.category or None,
            s1=t.s1,
            s2=t.s2,
            s3=t.s3,
            void_cause=t.void_cause or None,
            fingerprint=t.fingerprint or None,
            explanation=t.explanation,
        )
        for t in rows.iterator(chunk_size=5_000)
    ]


def revive(run: Run) -> bool:
    """For the sweep: give back what lost workers hold, end the run if nothing is open, and say whether it
    needs a wake message (something may be claimed now)."""
    names = (
        Trial.objects.filter(run=run, status=TrialStatus.RUNNING).values_list("leased_by", flat=True).distinct()
    )
    queue.expire(run.pk, most_losses=settings.ASSAY_MAX_WORKER_LOSSES, dead=workers.dead(names))
    if finish_if_done(run.pk):
        return False
    return queue.next_available_in(run.pk) == 0.0


def active_runs() -> list[Run]:
    return list(Run.objects.filter(status__in=ACTIVE).order_by("id"))


def lost_attempts(run: Run) -> int:
    return TrialAttempt.objects.filter(trial__run=run, cause="worker_lost").count()


def _tasks(version: PackVersion, tasks: Sequence[str] | str | None) -> list[tuple[str, str, str]]:
    """(id, title, group) of the chosen tasks, in the order of the pack."""
    known = {
        e.task_id: e for e in version.tasks.only("task_id", "title", "group", "enabled").order_by("pk")
    }
    enabled = [t for t, e in known.items() if e.enabled]
    if tasks is None:
        chosen = enabled
        if not chosen:
            raise RunError(f"No task of {version} is enabled; enable at least one.")
    elif isinstance(tasks, str):
        chosen = [t for t in enabled if fnmatch.fnmatchcase(t, tasks)]
        if not chosen:
            raise RunError(f"No enabled task of {version} matches {tasks!r}.")
    else:
        unknown = sorted(set(tasks) - set(known))
        if unknown:
            raise RunError(f"{version} has no task {', '.join(unknown)}.")
        off = sorted(set(tasks) - set(enabled))
        if off:
            raise RunError(f"Switched off: {', '.join(off)}. Enable them or leave them out.")
        wanted = set(tasks)
        chosen = [t for t in known if t in wanted]
        if not chosen:
            raise RunError("No task was chosen; choose at least one.")
    return [(t, known[t].title, known[t].group) for t in chosen]


def _move(run: Run, to: str, allowed: Sequence[str], action: str, by: User | None) -> Run:
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=run.pk)
        if run.status not in allowed:
            raise RunError(f"The run is {run.get_status_display().lower()}; that cannot be done now.")
        run.status = to
        run.save(update_fields=["status"])
        record(action, actor=by, target=run)
    return run


def _listener(path: str, run: Run) -> Any:
    def call() -> None:
        import_string(path)(run)

    return call


def duration(run: Run) -> float | None:
    """Seconds from the first claim to the end."""
    end: datetime | None = run.finished_at
    return (end - run.started_at).total_seconds() if end and run.started_at else None
