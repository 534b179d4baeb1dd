"""Many trials: tasks times trials, several at once, void ones again, over one process or several."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import signal
from collections.abc import Callable, Container, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

from assay.engine import looping
from assay.engine.dialogue.conversation import longest
from assay.engine.trial import CANNOT_TELL, Lab, TrialRecord, run_trial, seed_for, void_record
from assay_sdk import AssayError

#: Trials of one process that go on at the same time; mostly they wait for models.
AT_ONCE = 8
#: Seconds to wait before a void trial is tried again, doubled for each further attempt.
RETRY_AFTER = 1.0
#: Seconds beyond the longest possible conversation after which a trial is given up as stuck.
_GRACE = 120.0

Report = Callable[[TrialRecord], None]
Place = tuple[str, int]  # task id, index of the trial


class WorkerLost(AssayError):
    """A process of the run ended unexpectedly. What was reported before is not lost."""


def plan(tasks: Sequence[str], trials: int, done: Container[Place] = ()) -> list[Place]:
    """What is to be tried: trial by trial over all tasks, so that a run that ends early has seen every task."""
    return [(task, index) for index in range(trials) for task in tasks if (task, index) not in done]


def run_pack(
    lab: Lab | Callable[[], Lab],
    tasks: Sequence[str],
    trials: int,
    seed: int,
    jobs: int = 1,
    max_attempts: int = 3,
    on_record: Report = lambda record: None,
    *,
    on_void_attempt: Report = lambda record: None,
    done: Container[Place] = (),
    at_once: int = AT_ONCE,
    retry_after: float = RETRY_AFTER,
) -> None:
    """Try every task `trials` times and hand each trial that is over to `on_record`, in the order they end.

    A void attempt is tried again with a new seed, `max_attempts` times in all, and handed to `on_void_attempt`; the
    last one counts as the trial. `done`: trials to leave out. With `jobs` above 1 `lab` must be a function that can
    be pickled and makes the Lab, once in each process. Blocks until all is done. Raises WorkerLost when a process
    dies; KeyboardInterrupt, and what `on_record` raises, end the run at once.
    """
    places = plan(tasks, trials, done)
    if not places:
        return
    settings = (seed, max_attempts, at_once, retry_after)
    if jobs <= 1 or len(places) == 1:
        looping.run(_run_here(lab, places, *settings, on_record, on_void_attempt))
    elif isinstance(lab, Lab):
        raise ValueError("several processes need a function that makes the Lab in each of them")
    else:
        _run_in_processes(lab, places, min(jobs, len(places)), settings, on_record, on_void_attempt)


def patience(lab: Lab) -> float:
    """Seconds after which a trial of `lab` is given up as stuck; no conversation in order takes so long."""
    return longest(lab.limits, lab.user_seconds) + _GRACE


async def try_until_valid(
    lab: Lab, place: Place, seed: int, max_attempts: int, retry_after: float, on_void_attempt: Report
) -> TrialRecord:
    """One trial: attempts until one is valid or all are used up."""
    task, index = place
    for attempt in range(max_attempts):
        record = await try_bounded(lab, task, index, seed, attempt)
        # What cannot be told now cannot be told of another attempt either.
        if record.status != "void" or record.void_cause == CANNOT_TELL or attempt + 1 == max_attempts:
            return record
        on_void_attempt(record)
        await asyncio.sleep(retry_after * 2**attempt)
    raise ValueError("a trial needs at least one attempt")


async def try_bounded(lab: Lab, task: str, index: int, seed: int, attempt: int) -> TrialRecord:
    """run_trial, given up as void when it is stuck: every wait inside has its own bound, this one is the last."""
    try:
        async with asyncio.timeout(patience(lab)):
            return await run_trial(lab, task, index, seed, attempt)
    except TimeoutError:
        says = "The trial did not end within its limits and was given up."
        return void_record(
            lab, task, index, attempt, seed_for(seed, task, index, attempt), "internal_error", says
        )


async def _run_here(
    lab: Lab | Callable[[], Lab],
    places: Sequence[Place],
    seed: int,
    max_attempts: int,
    at_once: int,
    retry_after: float,
    on_record: Report,
    on_void_attempt: Report,
) -> None:
    built = lab if isinstance(lab, Lab) else lab()
    left = iter(places)

    async def work() -> None:
        for place in left:  # shared by all: each takes the next place
            on_record(await try_until_valid(built, place, seed, max_attempts, retry_after, on_void_attempt))

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(at_once, len(places))):
                group.create_task(work())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    finally:
        if built is not lab:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(built.aclose(), timeout=30)


def _run_in_processes(
    make: Callable[[], Lab],
    places: Sequence[Place],
    jobs: int,
    settings: tuple[int, int, int, float],
    on_record: Report,
    on_void_attempt: Report,
) -> None:
    # Spawned and not forked: a copied event loop, connection pool or lock would be shared by accident.
    context = multiprocessing.get_context("spawn")
    processes: dict[Connection, Any] = {}
    going: set[Connection] = set()
    try:
        for number in range(jobs):
            here, there = context.Pipe(duplex=False)
            process = context.Process(
                target=_process, args=(there, make, places[number::jobs], settings), daemon=True
            )
            process.start()
            there.close()  # so that the end of the process ends the pipe
            processes[here] = process
        going = set(processes)
        while going:
            for ready in wait(list(going)):
                assert isinstance(ready, Connection)
                try:
                    kind, data = ready.recv()
                except EOFError:
                    processes[ready].join(10)
                    raise WorkerLost(
                        f"A process of the run ended unexpectedly (exit code {processes[ready].exitcode}). "
                        "What was done until then is kept; repeat the command to continue."
                    ) from None
                if kind == "over":
                    going.discard(ready)
                elif kind == "error":
                    raise AssayError(data)
                else:
                    (on_record if kind == "trial" else on_void_attempt)(TrialRecord.from_json(data))
    finally:
        for process in processes.values():
            if process.is_alive():
                process.join(0 if going else 10)
            if process.is_alive():
                process.terminate()
        for connection, process in processes.items():
            process.join(10)
            if process.is_alive():
                process.kill()
            connection.close()


def _process(
    pipe: Connection, make: Callable[[], Lab], places: Sequence[Place], settings: tuple[int, int, int, float]
) -> None:
    """The work of one process; runs in it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one decides
    try:
        looping.run(
            _run_here(
                make,
                places,
                *settings,
                lambda record: pipe.send(("trial", record.as_json())),
                lambda record: pipe.send(("void_attempt", record.as_json())),
            )
        )
        pipe.send(("over", None))
    except BrokenPipeError:
        return  # the first process is gone, nobody waits for the rest
    except AssayError as error:
        pipe.send(("error", str(error)))
    except Exception as error:  # noqa: BLE001 - it is raised again in the process that waits for it
        pipe.send(("error", f"A process of the run broke: {type(error).__name__}: {error}"))
    finally:
        pipe.close()
