"""Verification of pack versions by workers: queued with the upload, claimed under a token, tried again when lost.

One at a time for each company, so that uploads take no more than one process away from runs. A message of the broker
only makes it quicker: `sweep` finds what is to be done without one.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.utils import timezone

from assay.accounts.audit import record
from assay.accounts.models import User
from assay.engine.packs import PackError
from assay.engine.packs.lint import check
from assay.engine.packs.zips import read_zip
from assay.engine.verifier import verify
from assay.packs.models import PackVersion, Verification, VerificationStatus

log = logging.getLogger(__name__)

#: Seconds that the verifier is given; a pack that needs more gets a finding that says so.
SECONDS = 600.0
#: After which a worker that began and did not finish counts as lost. Longer than tasks.SECONDS.
LEASE = timedelta(seconds=900)
#: After which a message that nobody took is sent again.
_MESSAGE = timedelta(seconds=60)
MOST_ATTEMPTS = 3


def queue(version: PackVersion) -> Verification:
    """Write that a new version is to be verified, and ask a worker once that is committed."""
    made = Verification.objects.create(pack_version=version, due_at=timezone.now() + _MESSAGE)
    _ask_on_commit(version.pk)
    return made


def verify_again(version: PackVersion, *, by: User | None) -> Verification:
    """Forget what was found and verify once more, with the verifier of today. One that is pending stays as it is."""
    with transaction.atomic():
        found, made = Verification.objects.select_for_update().get_or_create(
            pack_version=version, defaults={"due_at": timezone.now() + _MESSAGE}
        )
        if found.pending and not made:
            return found
        found.status, found.report, found.problem_count = VerificationStatus.WAITING, None, 0
        found.note, found.attempts, found.token, found.finished_at = "", 0, None, None
        found.due_at = timezone.now() + _MESSAGE
        found.save()
        record("pack.verify_again", actor=by, target=version, data={"pack_version": str(version)})
        _ask_on_commit(version.pk)
    return found


@dataclass(frozen=True, slots=True)
class Claimed:
    version_id: int
    token: UUID


def claim(version_id: int, now: datetime | None = None) -> Claimed | None:
    """Take a verification unless it is done or a worker is at it, or at another one of this company; one lost too
    often fails instead."""
    now = now or timezone.now()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(hashtext(current_schema() || '.verifying'))")
        running = Verification.objects.filter(status=VerificationStatus.RUNNING, due_at__gt=now)
        if running.exists():
            return None
        found = (
            Verification.objects.select_for_update(skip_locked=True)
            .filter(pack_version_id=version_id)
            .defer("report")
            .first()
        )
        if found is None or not found.pending:
            return None
        if found.status == VerificationStatus.RUNNING and found.attempts >= MOST_ATTEMPTS:
            _write(
                found,
                VerificationStatus.FAILED,
                note=f"The workers that began it did not finish, {found.attempts} times.",
            )
            return None
        found.status, found.token = VerificationStatus.RUNNING, uuid4()
        found.attempts += 1
        found.due_at = now + LEASE
        found.save(update_fields=["status", "token", "attempts", "due_at"])
        return Claimed(version_id, found.token)


def run(version_id: int) -> None:
    """Verify a version, if that is still to be done, store what was found, and ask for the next that waits."""
    claimed = claim(version_id)
    if claimed is None:
        return
    _verify(claimed)
    waiting = Verification.objects.filter(status=VerificationStatus.WAITING).order_by("id")
    following = waiting.values_list("pack_version_id", flat=True).first()
    if following is not None:
        ask(str(connection.schema_name), following)


def _verify(claimed: Claimed) -> None:
    version_id = claimed.version_id
    version = PackVersion.objects.get(pk=version_id)
    try:
        found = verify(check(read_zip(bytes(version.bundle))), seconds=SECONDS)
    except PackError as error:  # it was sound when it was uploaded; the rules have become stricter since
        _finish(claimed, VerificationStatus.FAILED, note="\n".join(str(p) for p in error.problems[:20]))
    except Exception as error:  # the verifier's own mistake must not leave the version waiting for ever
        log.exception("verification of pack version %s", version_id)
        _finish(
            claimed,
            VerificationStatus.FAILED,
            note=f"The verifier itself failed ({type(error).__name__}: {error}). This is not the pack's fault; "
            "tell whoever operates Assay.",
        )
    else:
        status = VerificationStatus.SOUND if found.sound else VerificationStatus.UNSOUND
        _finish(claimed, status, report=found.as_json(), problems=len(found.problems))


def sweep(schema: str) -> int:
    """Ask a worker for what is due, one at a time (settings.ASSAY_SWEEPS). Gives the number of messages sent."""
    now = timezone.now()
    if Verification.objects.filter(status=VerificationStatus.RUNNING, due_at__gt=now).exists():
        return 0
    pending = [VerificationStatus.WAITING, VerificationStatus.RUNNING]
    due = (
        Verification.objects.filter(status__in=pending, due_at__lte=now)
        .order_by("id")
        .defer("report")
        .first()
    )
    if due is None:
        return 0
    waiting = Verification.objects.filter(pk=due.pk, status=VerificationStatus.WAITING)
    waiting.update(due_at=now + _MESSAGE)
    ask(schema, due.pack_version_id)
    return 1


def ask(schema: str, version_id: int) -> None:
    """Send a message; when the broker does not answer, say so in the log and leave it to the sweep."""
    from assay.packs.tasks import verify_version

    try:
        verify_version.apply_async(
            args=[schema, version_id], retry=False, expires=2 * _MESSAGE.total_seconds()
        )
    except Exception as error:  # noqa: BLE001 (whatever a broker's client raises, the sweep goes on)
        log.warning("the broker took no message for pack version %s of %s: %s", version_id, schema, error)


def _ask_on_commit(version_id: int) -> None:
    transaction.on_commit(partial(ask, str(connection.schema_name), version_id))


def _finish(
    claimed: Claimed, status: VerificationStatus, *, note: str = "", report: Any = None, problems: int = 0
) -> None:
    """Store the end, unless the verification was claimed again or begun anew in the meantime."""
    with transaction.atomic():
        found = (
            Verification.objects.select_for_update()
            .filter(pack_version_id=claimed.version_id, token=claimed.token)
            .first()
        )
        if found is not None:
            _write(found, status, note=note, report=report, problems=problems)


def _write(
    found: Verification, status: VerificationStatus, *, note: str = "", report: Any = None, problems: int = 0
) -> None:
    found.status, found.note, found.report, found.problem_count = status, note[:5_000], report, problems
    found.token, found.finished_at = None, timezone.now()
    found.save()
