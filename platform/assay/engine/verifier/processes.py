"""Divide a part of the verification among processes, by tasks.

The processes are forked, so that nothing is loaded or played a second time: worlds are databases in memory, and a
copy of one is as good as the first. Where forking is not safe (other systems than Linux, other threads at work), one
process does it all.
"""

from __future__ import annotations

import multiprocessing
import signal
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

from assay.engine.sandbox.replay import OutOfTime
from assay.engine.verifier.subject import Subject
from assay_sdk import AssayError

Report = TypeVar("Report")

#: Fewer tasks are not worth a process.
LEAST_TASKS = 8
#: Seconds that a process may be late: it looks at the clock between two plays.
GRACE = 30.0


def usable(jobs: int, tasks: int) -> int:
    """How many processes to use for so many tasks, `jobs` at most."""
    if not sys.platform.startswith("linux") or threading.active_count() > 1:
        return 1
    return max(1, min(jobs, tasks // LEAST_TASKS))


def divided(subject: Subject, jobs: int, examine: Callable[[Subject], Report]) -> list[Report]:
    """What `examine` reports of the chosen tasks, as one report of each process. Raises OutOfTime, AssayError."""
    if jobs == 1:
        return [examine(subject)]
    context = multiprocessing.get_context("fork")
    processes: list[tuple[Any, Connection]] = []
    try:
        for number in range(jobs):
            here, there = context.Pipe(duplex=False)
            share = subject.only(subject.tasks[number::jobs])
            process = context.Process(target=_work, args=(there, examine, share), daemon=True)
            process.start()
            there.close()  # so that the end of the process ends the pipe
            processes.append((process, here))
        return [_received(process, here, subject.until) for process, here in processes]
    finally:
        for process, here in processes:
            here.close()
            process.terminate()  # without effect on those that ended
            process.join(10)


def in_order(items: Sequence[Report], tasks: Sequence[str], task_of: Callable[[Report], str]) -> list[Report]:
    """Items of several processes as one process would have found them: by the order of the tasks."""
    place = {task: number for number, task in enumerate(tasks)}
    return sorted(items, key=lambda item: place[task_of(item)])


def _received(process: Any, here: Connection, until: float) -> Any:
    if not here.poll(max(0.0, until - time.monotonic()) + GRACE):
        raise OutOfTime
    try:
        kind, content = here.recv()
    except EOFError:
        process.join(10)
        raise AssayError(
            f"A process of the verification ended unexpectedly (exit code {process.exitcode}). Try again with --jobs 1."
        ) from None
    if kind == "out of time":
        raise OutOfTime
    if kind == "error":
        raise AssayError(f"A process of the verification broke: {content}. Try again with --jobs 1.")
    return content


def _work(pipe: Connection, examine: Callable[[Subject], Any], share: Subject) -> None:
    """The work of one process; runs in it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches every process; the first one decides
    try:
        pipe.send(("report", examine(share)))
    except OutOfTime:
        pipe.send(("out of time", None))
    except BrokenPipeError:
        return  # the first process is gone, nobody waits for the rest
    except Exception as error:  # noqa: BLE001 - it is raised again in the process that waits for it
        pipe.send(("error", f"{type(error).__name__}: {error}"))
    finally:
        pipe.close()
