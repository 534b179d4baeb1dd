"""One worker process at work on one run: claims trials, tries many at once, writes the results in batches.

The trials run in one asyncio loop. Everything that talks to Postgres runs in one other thread with its own
connection, so that waiting for the database never holds up a conversation, and leases are renewed in a third,
so that a trial that keeps the loop busy does not lose them.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError, connections

from assay.engine import looping
from assay.engine.run import patience
from assay.engine.trial import Lab, TrialRecord, run_trial
from assay.runs import laboratory, results, workers
from assay.runs.holding import Holding
from assay.runs.models import Run
from assay.runs.queue import Claim, Result
from assay_sdk import AssayError, PlatformFault, PluginFault

log = logging.getLogger(__name__)

_FLUSH_AT = 32  # results
_FLUSH_AFTER = 0.3  # seconds
_STUBBORN = 30.0  # seconds for a cancelled trial to end, before it is left behind
_LATE = "The trial did not end within its limit and was given up."

TryTask = Callable[[Lab, str, int, int, int], Awaitable[TrialRecord]]


@dataclass(frozen=True, slots=True)
class Drained:
    """What one slice of work did. `more`: there may be more to claim."""

    written: int
    more: bool


class Executor:
    """Works on one run for one slice. Make it inside the tenant's schema; use it once."""

    def __init__(self, run: Run, *, schema: str, try_task: TryTask = run_trial) -> None:
        self._run = run
        self._try = try_task
        self._holding = Holding(run, schema)
        self._watch = workers.Watch()

    def drain(self) -> Drained:
        """Claim and try trials until nothing is left, the slice is over, or the worker is asked to stop."""
        first = self._holding.claim(self._run.trials_at_once)
        if not first:
            return Drained(0, more=False)
        self._holding.mark_started()
        try:
            lab = laboratory.build(self._run)
            versions = laboratory.versions(self._run, lab)
        except (OperationalError, InterfaceError):
            self._holding.release(first)
            raise
        except Exception as error:
            # The platform's or the configuration's fault, never the bot's.
            log.exception("run %s cannot be set up", self._run.pk)
            cause = error.cause if isinstance(error, PlatformFault) else "setup_failed"
            said = str(error) if isinstance(error, AssayError) else f"{type(error).__name__}: {error}"
            part = error.part if isinstance(error, PluginFault) else ""
            self._holding.write([results.void(self._run, c, cause, said, part) for c in first])
            return Drained(self._holding.written, more=True)
        with self._holding.renewing(patience(lab) + 2 * _STUBBORN):
            database = ThreadPoolExecutor(1, thread_name_prefix="results")
            try:
                slice_ = _Slice(self._run, lab, versions, self._holding, database, self._watch, self._try)
                more = looping.run(slice_.work(first))
            finally:
                database.submit(connections.close_all).result(timeout=30)
                database.shutdown()
        return Drained(self._holding.written, more)


class _Slice:
    """The asyncio side: which trials are in progress, and which results wait to be written."""

    def __init__(
        self,
        run: Run,
        lab: Lab,
        versions: Mapping[str, Any],
        holding: Holding,
        database: ThreadPoolExecutor,
        watch: workers.Watch,
        try_task: TryTask,
    ) -> None:
        self._run = run
        self._lab = lab
        self._holding = holding
        self._database = database
        self._watch = watch
        self._try = try_task
        self._versions = versions
        self._running: dict[asyncio.Task[Result], Claim] = {}
        self._since: dict[asyncio.Task[Result], float] = {}
        self._finished: list[Result] = []
        self._oldest = 0.0  # when the first of `_finished` was put there
        self._writing: asyncio.Future[Any] | None = None
        self._empty = False  # the last claim found nothing

    async def work(self, first: list[Claim]) -> bool:
        """Whether there may be more to claim afterwards."""
        end = time.monotonic() + settings.ASSAY_SLICE_SECONDS
        self._start(first)
        try:
            while not self._watch.should_stop():
                if time.monotonic() < end:
                    await self._claim_more()
                if not self._running:
                    break
                await self._collect()
                self._drop_lost()
                self._leave_stubborn()
                self._write_if_due()
        finally:
            await self._end()
        return not self._empty

    def _start(self, claims: Iterable[Claim]) -> None:
        for claim in claims:
            task = asyncio.create_task(self._one(claim))
            self._running[task], self._since[task] = claim, time.monotonic()

    async def _claim_more(self) -> None:
        at_once = self._run.trials_at_once
        room = at_once - len(self._running)
        if not self._empty and room >= max(1, at_once // 4):
            claims = await self._in_database(self._holding.claim, room)
            self._empty = not claims
            self._start(claims)

    async def _collect(self) -> None:
        done, _ = await asyncio.wait(self._running, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            self._finish(task.result())
            self._forget(task)

    def _drop_lost(self) -> None:
        if self._holding.lost:
            for task, claim in list(self._running.items()):
                if claim in self._holding.lost:
                    task.cancel()
                    self._forget(task)

    def _leave_stubborn(self) -> None:
        """Give up trials that did not even end when they were cancelled: a plugin holds on to them."""
        latest = time.monotonic() - patience(self._lab) - _STUBBORN
        for task, claim in list(self._running.items()):
            if self._since[task] < latest:
                self._forget(task)
                self._finish(results.void(self._run, claim, "internal_error", _LATE))

    def _finish(self, result: Result) -> None:
        if not self._finished:
            self._oldest = time.monotonic()
        self._finished.append(result)

    def _forget(self, task: asyncio.Task[Result]) -> None:
        del self._running[task], self._since[task]

    def _write_if_due(self) -> None:
        if self._writing is not None and self._writing.done():
            written, self._writing = self._writing, None
            written.result()  # raises what the write raised
        late = self._finished and time.monotonic() - self._oldest >= _FLUSH_AFTER
        if self._writing is None and (late or len(self._finished) >= _FLUSH_AT):
            self._writing = self._in_database(self._holding.write, self._finished)
            self._finished = []

    async def _end(self) -> None:
        """Stop what is in progress, write what is finished, put the rest back, close the way to the bot."""
        for task in self._running:
            task.cancel()
        if self._running:
            await asyncio.wait(self._running, timeout=_STUBBORN)
        try:
            if self._writing is not None:
                await self._writing
            if self._finished:
                await self._in_database(self._holding.write, self._finished)
            if self._running:
                await self._in_database(self._holding.release, list(self._running.values()))
        finally:
            await self._close_connector()

    async def _close_connector(self) -> None:
        try:
            await asyncio.wait_for(self._lab.aclose(), timeout=30)
        except Exception:
            log.warning("the connector of run %s did not close in order", self._run.pk, exc_info=True)

    async def _one(self, claim: Claim) -> Result:
        lab = self._lab
        try:
            async with asyncio.timeout(patience(lab)):
                record = await self._try(lab, claim.task_id, claim.index, self._run.seed, claim.attempt)
            return results.from_record(self._run, claim, record, self._versions)
        except TimeoutError:
            return results.void(self._run, claim, "internal_error", _LATE)
        except Exception as error:
            log.exception("trial %s of run %s", claim.trial, self._run.pk)
            return results.void(self._run, claim, "internal_error", f"{type(error).__name__}: {error}")

    def _in_database(self, work: Callable[..., Any], *args: Any) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(self._database, work, *args)
