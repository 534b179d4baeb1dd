"""One worker process at work on one run: claims trials, tries many at once, writes the results in batches.

The trials run in one asyncio loop. Everything that talks to Postgres runs in one other thread with its own
connection, so that waiting for the database never holds up a conversation, and leases are renewed in a third,
so that a trial that keeps the loop busy does not lose them.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import connections
from django.utils import timezone
from django_tenants.utils import schema_context

from assay.engine.trial import Lab, TrialRecord, run_trial, seed_for
from assay.runs import laboratory, queue, workers
from assay.runs.models import Run, RunStatus
from assay.runs.queue import Claim, Result
from assay_sdk import AssayError, PlatformFault

log = logging.getLogger(__name__)

_FLUSH_AT = 32  # results
_FLUSH_AFTER = 0.3  # seconds
_GRACE = 120.0  # beyond the conversation's own limit, before a trial is given up as stuck

TryTask = Callable[[Lab, str, int, int, int], Awaitable[TrialRecord]]


@dataclass(frozen=True, slots=True)
class Drained:
    """What one slice of work did. `more`: there is more to claim, or will be soon."""

    written: int
    more: bool


class Executor:
    """Works on one run for one slice. Make it inside the tenant's schema; use it once."""

    def __init__(self, run: Run, *, schema: str, try_task: TryTask = run_trial) -> None:
        self._run = run
        self._schema = schema
        self._try = try_task
        self._me = workers.name()
        self._watch = workers.Watch()
        self._lease = float(settings.ASSAY_LEASE_SECONDS)
        self._held: dict[int, Claim] = {}  # claimed and not yet written; shared with the renewing thread
        self._lost: set[int] = set()  # taken over by another worker; dropped as soon as seen
        self._written = 0
        self._versions: dict[str, Any] = {}

    def drain(self) -> Drained:
        """Claim and try trials until nothing is left, the slice is over, or the worker is asked to stop."""
        first = self._claim(self._run.trials_at_once)
        if not first:
            return Drained(0, more=False)
        self._mark_started()
        try:
            lab = laboratory.build(self._run)
        except (AssayError, ValueError, TypeError) as error:
            # The bot, persona or pack cannot be set up: the platform's or the configuration's fault, never the bot's.
            log.error("run %s cannot be set up: %s", self._run.pk, error)
            cause = error.cause if isinstance(error, PlatformFault) else "setup_failed"
            self._write([self._void(c, cause, str(error)) for c in first])
            return Drained(self._written, more=True)
        self._versions = laboratory.versions(self._run, lab)
        done = threading.Event()
        renewing = threading.Thread(target=self._renew_until, args=(done,), name="leases", daemon=True)
        renewing.start()
        database = ThreadPoolExecutor(1, thread_name_prefix="results")
        try:
            more = asyncio.run(self._work(lab, first, database))
        finally:
            done.set()
            database.submit(connections.close_all).result(timeout=30)
            database.shutdown()
            renewing.join(timeout=30)
        return Drained(self._written, more)

    async def _work(self, lab: Lab, first: list[Claim], database: ThreadPoolExecutor) -> bool:
        loop = asyncio.get_running_loop()

        def in_database(work: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
            return loop.run_in_executor(database, self._inside, work, *args)

        end = time.monotonic() + settings.ASSAY_SLICE_SECONDS
        at_once = self._run.trials_at_once
        running: dict[asyncio.Task[Result], Claim] = {}
        finished: list[Result] = []
        oldest = 0.0
        flush: asyncio.Future[Any] | None = None
        empty = False  # the last claim found nothing
        more = True

        def start(claims: Iterable[Claim]) -> None:
            for c in claims:
                running[asyncio.create_task(self._one(lab, c))] = c

        start(first)
        try:
            while True:
                stopping = self._watch.should_stop()
                if stopping:
                    break
                over = time.monotonic() >= end
                room = at_once - len(running)
                if not over and not empty and room >= max(1, at_once // 4):
                    claims = await in_database(self._claim, room)
                    empty = not claims
                    start(claims)
                if not running:
                    break
                done, _ = await asyncio.wait(running, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    if not finished:
                        oldest = time.monotonic()
                    finished.append(task.result())
                    del running[task]
                for task, held in list(running.items()):
                    if held.trial in self._lost:
                        task.cancel()
                        del running[task]
                if flush is not None and flush.done():
                    written, flush = flush, None
                    written.result()  # raises what the write raised
                due = len(finished) >= _FLUSH_AT or (finished and time.monotonic() - oldest >= _FLUSH_AFTER)
                if due and flush is None:
                    flush = in_database(self._write, finished)
                    finished = []
            more = not empty
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            if flush is not None:
                await flush
            if finished:
                await in_database(self._write, finished)
            if running:
                await in_database(queue.release, list(running.values()))
                for held in running.values():
                    self._held.pop(held.trial, None)
            try:
                await asyncio.wait_for(lab.connector.aclose(), timeout=30)
            except Exception:
                log.warning("the connector of run %s did not close in order", self._run.pk, exc_info=True)
        return more

    async def _one(self, lab: Lab, claim: Claim) -> Result:
        try:
            async with asyncio.timeout(lab.limits.seconds + _GRACE):
                record = await self._try(lab, claim.task_id, claim.index, self._run.seed, claim.attempt)
        except TimeoutError:
            return self._void(claim, "internal_error", "The trial did not end within its limit and was given up.")
        except Exception as error:  # run_trial promises not to raise; whatever it is, it is not the bot's fault
            log.exception("trial %s of run %s", claim.trial, self._run.pk)
            return self._void(claim, "internal_error", f"{type(error).__name__}: {error}")
        return self._result(claim, record)

    def _result(self, claim: Claim, record: TrialRecord) -> Result:
        outcome = record.outcome()
        void = record.status == "void"
        transcript = record.transcript
        return Result(
            claim=claim,
            status=record.status,
            columns={
                "termination": transcript.get("termination", ""),
                "category": outcome.category or "",
                "s1": outcome.s1,
                "s2": outcome.s2,
                "s3": outcome.s3,
                "fingerprint": outcome.fingerprint or "",
                "explanation": outcome.explanation or "",
                "turns": transcript.get("turns", 0),
                "tool_calls": transcript.get("tool_calls", 0),
                "seconds": record.seconds,
                "started_at": record.started_at,
            },
            evidence={
                "transcript": transcript,
                "changes": record.changes,
                "verdict": record.verdict,
                "notes": record.notes,
                "versions": self._versions,
            },
            void_cause=(record.void_cause or "internal_error") if void else "",
            detail=str(transcript.get("detail", "")) if void else "",
            seed=record.seed,
            retry_in=self._retry_in(claim) if void else None,
        )

    def _void(self, claim: Claim, cause: str, detail: str) -> Result:
        return Result(
            claim=claim,
            status="void",
            columns={},
            evidence=None,
            void_cause=cause,
            detail=detail[:2000],
            seed=seed_for(self._run.seed, claim.task_id, claim.index, claim.attempt),
            retry_in=self._retry_in(claim),
        )

    def _retry_in(self, claim: Claim) -> float | None:
        if claim.attempt + 1 >= self._run.max_attempts:
            return None
        return float(min(60.0, settings.ASSAY_RETRY_SECONDS * 2**claim.attempt))

    # --- on the database's thread ---------------------------------------------------------------

    def _inside(self, work: Callable[..., Any], *args: Any) -> Any:
        with schema_context(self._schema):
            return work(*args)

    def _claim(self, limit: int) -> list[Claim]:
        claims = queue.claim(self._run.pk, worker=self._me, limit=limit, lease=self._lease)
        for c in claims:
            self._held[c.trial] = c
        return claims

    def _write(self, results: list[Result]) -> None:
        over, again = queue.write(results, worker=self._me)
        self._written += over
        for r in results:
            self._held.pop(r.claim.trial, None)
        if over + again < len(results):
            log.warning("%d results came after their lease and were dropped", len(results) - over - again)

    def _mark_started(self) -> None:
        Run.objects.filter(pk=self._run.pk, status=RunStatus.PLANNED).update(
            status=RunStatus.RUNNING, started_at=timezone.now()
        )

    # --- on the renewing thread -----------------------------------------------------------------

    def _renew_until(self, done: threading.Event) -> None:
        try:
            while not done.wait(self._lease / 4):
                held = list(self._held.values())
                if not held:
                    continue
                try:
                    kept = self._inside(lambda claims: queue.renew(claims, lease=self._lease), held)
                except Exception:
                    log.warning("leases of run %s could not be renewed; trying again", self._run.pk, exc_info=True)
                    connections.close_all()
                    continue
                # What was written in the meantime is no longer held; only what still is can have been lost.
                self._lost |= {c.trial for c in held if c.trial not in kept and self._held.get(c.trial) is c}
        finally:
            connections.close_all()
