"""Finished runs judged again under another version of their pack, by workers and without the bot.

Queued as a row, claimed under a token, done in slices of which each is committed, so that a lost worker costs one
slice. A message of the broker only makes it quicker: `sweep` finds what is to be done without one.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from assay.accounts.audit import record
from assay.accounts.models import User
from assay.engine.packs import PackError
from assay.engine.regrading import Regraded, Tally, regrade
from assay.engine.sandbox import World
from assay.engine.trial import TrialRecord
from assay.packs.models import PackVersion
from assay.packs.services import load_world
from assay.runs import laboratory
from assay.runs.models import (
    Evidence,
    Regrade,
    RegradedTrial,
    RegradeStatus,
    Run,
    RunStatus,
    Trial,
    TrialStatus,
)
from assay_sdk import AssayError, Checker

log = logging.getLogger(__name__)

#: Seconds of work for one message, after which another one is sent, so that runs are not held up.
SLICE = 60.0
#: Trials judged and committed at once.
BATCH = 50
#: After which a worker that began and did not go on counts as lost.
LEASE = timedelta(seconds=300)
#: After which a message that nobody took is sent again.
_MESSAGE = timedelta(seconds=60)
MOST_ATTEMPTS = 3
_OVER = (TrialStatus.PASSED, TrialStatus.FAILED, TrialStatus.VOID)

Checkers = tuple[tuple[str, Checker, bool], ...]


class RegradeError(AssayError):
    """A run that cannot be judged again; the message says why."""


def plan_regrade(run: Run, pack_version: PackVersion, *, by: User | None = None) -> Regrade:
    """Queue a run to be judged again by another version of its pack. One that is pending already is given back.

    Raises RegradeError.
    """
    if run.status not in (RunStatus.FINISHED, RunStatus.CANCELLED):
        raise RegradeError(
            f"Run {run.pk} is {run.get_status_display().lower()}; it can be judged again when it is over."
        )
    if pack_version.pack_id != run.pack_version.pack_id:
        raise RegradeError(
            f"Run {run.pk} was made on {run.pack_version.pack.name}; choose a version of that pack, not {pack_version}."
        )
    with transaction.atomic():
        Run.objects.select_for_update().only("pk").get(pk=run.pk)  # two requests at once make one regrade
        pending = Regrade.objects.filter(
            run=run,
            pack_version=pack_version,
            status__in=[RegradeStatus.WAITING, RegradeStatus.RUNNING],
        ).first()
        if pending is not None:
            return pending
        made = Regrade.objects.create(
            run=run, pack_version=pack_version, due_at=timezone.now() + _MESSAGE, created_by=by
        )
        record(
            "run.regrade",
            actor=by,
            target=run,
            data={"regrade": made.pk, "from": str(run.pack_version), "to": str(pack_version)},
        )
        transaction.on_commit(partial(ask, str(connection.schema_name), made.pk))
    return made


def work(regrade_id: int, *, seconds: float = SLICE) -> bool:
    """Judge trials for one slice, if that is to be done and nobody else is at it. Whether there is more to do."""
    token = _claim(regrade_id)
    if token is None:
        return False
    found = Regrade.objects.select_related("run__pack_version__pack", "pack_version__pack").get(pk=regrade_id)
    try:
        new, old = load_world(found.pack_version), _old_world(found)
        checkers = laboratory.checkers_of(found.run.checkers)
        until = time.monotonic() + seconds
        for batch in _batches(found):
            if not _keep(found, token, [(trial, _judged(trial, new, old, checkers)) for trial in batch]):
                return False  # another worker has taken over
            if time.monotonic() > until:
                return _give_back(found, token)
    except Exception as error:
        log.exception("regrade %s", regrade_id)
        said = str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
        _finish(found, token, RegradeStatus.FAILED, note=said)
    else:
        _finish(found, token, RegradeStatus.DONE)
    return False


def sweep(schema: str) -> int:
    """Ask workers for what is due (settings.ASSAY_SWEEPS). Gives the number of messages sent."""
    now = timezone.now()
    pending = [RegradeStatus.WAITING, RegradeStatus.RUNNING]
    due = Regrade.objects.filter(status__in=pending, due_at__lte=now).order_by("id")
    ids = list(due.values_list("pk", flat=True)[:100])
    Regrade.objects.filter(pk__in=ids, status=RegradeStatus.WAITING).update(due_at=now + _MESSAGE)
    for regrade_id in ids:
        ask(schema, regrade_id)
    return len(ids)


def ask(schema: str, regrade_id: int) -> None:
    """Send a message; when the broker does not answer, say so in the log and leave it to the sweep."""
    from assay.runs.tasks import regrade_run

    try:
        regrade_run.apply_async(args=[schema, regrade_id], retry=False, expires=2 * _MESSAGE.total_seconds())
    except Exception as error:  # noqa: BLE001 (whatever a broker's client raises, the sweep goes on)
        log.warning("the broker took no message for regrade %s of %s: %s", regrade_id, schema, error)


# --- one slice ------------------------------------------------------------------------------------


def _claim(regrade_id: int) -> UUID | None:
    now = timezone.now()
    with transaction.atomic():
        found = Regrade.objects.select_for_update(skip_locked=True).filter(pk=regrade_id).first()
        if found is None or not found.pending:
            return None
        if found.status == RegradeStatus.RUNNING and found.due_at > now:
            return None
        if found.attempts >= MOST_ATTEMPTS:
            _end(
                found,
                RegradeStatus.FAILED,
                f"The workers that began it did not get on, {found.attempts} times.",
            )
            return None
        token = uuid4()
        found.status, found.token, found.due_at = RegradeStatus.RUNNING, token, now + LEASE
        found.attempts += 1
        found.save(update_fields=["status", "token", "due_at", "attempts"])
        return token


def _old_world(found: Regrade) -> World | None:
    """None when the old version can no longer be read, because the rules have become stricter since."""
    try:
        return load_world(found.run.pack_version)
    except PackError:
        return None


def _batches(found: Regrade) -> Iterator[list[Trial]]:
    """The trials that are still to be judged, oldest first."""
    last = RegradedTrial.objects.filter(regrade=found).aggregate(last=Max("trial_id"))["last"] or 0
    while True:
        trials = Trial.objects.filter(run=found.run_id, status__in=_OVER, pk__gt=last)
        batch = list(trials.select_related("evidence").order_by("pk")[:BATCH])
        if not batch:
            return
        yield batch
        last = batch[-1].pk


def _judged(trial: Trial, new: World, old: World, checkers: Checkers) -> Regraded:
    return regrade(record_of(trial), new, checkers, old)


def record_of(trial: Trial) -> TrialRecord:
    """The engine's record of a trial that is over."""
    evidence: Evidence | None = getattr(trial, "evidence", None)
    return TrialRecord(
        task=trial.task_id,
        group=trial.group,
        index=trial.index,
        attempt=trial.attempt,
        seed=trial.seed,
        status=trial.status,
        void_cause=trial.void_cause or None,
        transcript=evidence.transcript if evidence else {},
        changes=evidence.changes if evidence else [],
        verdict=evidence.verdict if evidence else None,
        notes=evidence.notes if evidence else {},
        seconds=trial.seconds or 0.0,
        started_at=trial.started_at.isoformat() if trial.started_at else "",
    )


def _keep(found: Regrade, token: UUID, judged: Sequence[tuple[Trial, Regraded]]) -> bool:
    """Write what was judged, unless another worker has taken over."""
    with transaction.atomic():
        mine = Regrade.objects.select_for_update().filter(pk=found.pk, token=token).first()
        if mine is None:
            return False
        RegradedTrial.objects.bulk_create(
            [
                RegradedTrial(
                    regrade=found,
                    trial=trial,
                    status=one.status,
                    category=one.category or "",
                    explanation=one.explanation,
                    changed=one.changed,
                    why=list(one.why),
                    verdict=one.record.verdict if one.record else None,
                )
                for trial, one in judged
            ]
        )
        mine.attempts, mine.due_at = 0, timezone.now() + LEASE  # it gets on
        mine.save(update_fields=["attempts", "due_at"])
    return True


def _give_back(found: Regrade, token: UUID) -> bool:
    mine = Regrade.objects.filter(pk=found.pk, token=token)
    return bool(mine.update(status=RegradeStatus.WAITING, token=None, due_at=timezone.now() + _MESSAGE))


def _finish(found: Regrade, token: UUID, status: RegradeStatus, note: str = "") -> None:
    with transaction.atomic():
        mine = Regrade.objects.select_for_update().filter(pk=found.pk, token=token).first()
        if mine is not None:
            _end(mine, status, note)


def _end(found: Regrade, status: RegradeStatus, note: str) -> None:
    found.status, found.note, found.token = status, note[:5_000], None
    found.finished_at = timezone.now()
    if status == RegradeStatus.DONE:
        found.tally = _tally(found)
    found.save()
    record(
        "run.regraded",
        target=found.run,
        data={"regrade": found.pk, "status": str(status), "tally": found.tally, "note": found.note},
    )


def _tally(found: Regrade) -> dict[str, object]:
    rows = RegradedTrial.objects.filter(regrade=found).order_by()
    counted = rows.values_list("trial__status", "status").annotate(
        n=Count("pk"), changed=Count("pk", filter=Q(changed=True))
    )
    tally = Tally(Counter())
    for old, new, count, changed in counted:
        tally.moves[old, new] = count
        tally.changed += changed
    return tally.as_json()
