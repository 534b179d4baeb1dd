"""The trials that one worker process holds: claimed, renewed, written, put back."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections
from django.utils import timezone
from django_tenants.utils import schema_context

from assay.runs import queue, results, workers
from assay.runs.models import Run, RunStatus
from assay.runs.queue import Claim, Result

log = logging.getLogger(__name__)

_AGAIN = (1.0, 2.0, 4.0, 8.0)  # seconds before the database is tried again: results may have cost real money


class Holding:
    """What this process holds of one run. May be called from any thread; each has its own connection."""

    def __init__(self, run: Run, schema: str) -> None:
        self._run = run
        self._schema = schema
        self._me = workers.name()
        self._lease = float(settings.ASSAY_LEASE_SECONDS)
        self._held: dict[Claim, float] = {}  # claimed and not yet written, since when
        self.lost: set[Claim] = set()  # taken over by another worker
        self.written = 0

    def claim(self, limit: int) -> list[Claim]:
        claims: list[Claim] = self._inside(
            lambda: queue.claim(self._run.pk, worker=self._me, limit=limit, lease=self._lease)
        )
        self._held.update(dict.fromkeys(claims, time.monotonic()))
        return claims

    def mark_started(self) -> None:
        planned = Run.objects.filter(pk=self._run.pk, status=RunStatus.PLANNED)
        self._inside(lambda: planned.update(status=RunStatus.RUNNING, started_at=timezone.now()))

    def write(self, finished: list[Result]) -> None:
        """Write results in one statement. When one of them cannot be stored, the others are, and that one's trial
        becomes void. Raises what the database raised when it is away, or refuses even that."""
        try:
            self._write(finished)
        except Exception as error:
            if _away(error):
                raise
            log.exception("%d results of run %s could not be stored", len(finished), self._run.pk)
            if len(finished) == 1:
                self._write([self._unstorable(finished[0], error)])
                return
            for result in finished:
                self.write([result])

    def _unstorable(self, result: Result, error: Exception) -> Result:
        said = f"The result of this trial could not be stored: {type(error).__name__}: {error}"
        return results.void(self._run, result.claim, "internal_error", said)

    def _write(self, finished: list[Result]) -> None:
        over, again = self._inside(lambda: queue.write(finished, worker=self._me))
        self.written += over
        self._forget(r.claim for r in finished)
        if over + again < len(finished):
            late = len(finished) - over - again
            log.warning("%d results of run %s came after their lease and were dropped", late, self._run.pk)

    def release(self, claims: list[Claim]) -> None:
        self._inside(lambda: queue.release(claims))
        self._forget(claims)

    @contextmanager
    def renewing(self, longest: float) -> Iterator[None]:
        """Renew the leases for the time of the block, in a thread, of each trial for at most `longest` seconds:
        what hangs beyond every limit of its own is given to another worker."""
        done = threading.Event()
        thread = threading.Thread(target=self._renew_until, args=(done, longest), name="leases", daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join(timeout=30)

    def _renew_until(self, done: threading.Event, longest: float) -> None:
        try:
            while not done.wait(self._lease / 4):
                try:
                    self._renew(longest)
                except Exception:
                    log.warning("leases of run %s could not be renewed", self._run.pk, exc_info=True)
        finally:
            connections.close_all()

    def _renew(self, longest: float) -> None:
        since = time.monotonic() - longest
        held = [claim for claim, claimed in list(self._held.items()) if claimed > since]
        if held:
            kept = self._inside(lambda: queue.renew(held, lease=self._lease))
            # What was written in the meantime is no longer held; only what still is can have been lost.
            lost = {c for c in held if c.trial not in kept and c in self._held}
            self.lost |= lost
            self._forget(lost)

    def _forget(self, claims: Iterable[Claim]) -> None:
        for claim in claims:
            self._held.pop(claim, None)

    def _inside(self, work: Callable[[], Any]) -> Any:
        """Do it in the tenant's schema, again when the connection breaks. A statement that did arrive the first time
        changes nothing the second time, because it names tokens that are no longer there; trials of a claim whose
        answer was lost wait for their lease to end."""
        for pause in (*_AGAIN, None):
            try:
                with schema_context(self._schema):
                    return work()
            except (OperationalError, InterfaceError) as error:
                if not _away(error):
                    raise
                connections.close_all()
                if pause is None:
                    raise
                log.warning("the database did not answer for run %s, trying again: %s", self._run.pk, error)
                time.sleep(pause)
        raise AssertionError("the last round returns or raises")


def _away(error: Exception) -> bool:
    """Whether the database may take the same later. Postgres counts a value beyond its limits (class 54) among the
    operational errors too, but that one stays too large."""
    state = getattr(error.__cause__, "sqlstate", None) or ""
    return isinstance(error, OperationalError | InterfaceError) and not state.startswith("54")
