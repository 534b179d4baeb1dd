"""Waiting for code that is not ours: always bounded, whatever it does with exceptions and cancellation."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from assay_sdk import PluginFault

log = logging.getLogger(__name__)
T = TypeVar("T")

GRACE = 5.0  # seconds that cancelled code has to clean up before it is left behind


class Interrupted(Exception):
    """`stop` was done before the awaited code was."""


class Late(Exception):
    """The time was used up before the awaited code was done. Not TimeoutError, which the code may raise itself."""


async def bounded(
    call: Callable[[], Awaitable[T]],
    remaining: Callable[[], float],
    stop: asyncio.Future[None] | None = None,
    grace: float = GRACE,
) -> T:
    """What `await call()` returns, run as a task of its own.

    `remaining()` gives the seconds it still has and is asked again each time they have passed. Raises
    Late when they are used up, Interrupted when `stop` is done first, PluginFault when the code
    cancelled itself, tried to leave the process or raised what is no Exception, and any Exception that
    it raises. The code no longer runs after that, unless it resists cancellation for `grace` seconds:
    then it is left behind.
    """
    # A task of its own tells a cancellation of the caller, which passes through, from one the code made up.
    task = asyncio.ensure_future(_guarded(call))
    try:
        waiting_for: set[asyncio.Future[Any]] = {task} if stop is None else {task, stop}
        while True:
            left = remaining()
            if left <= 0:
                raise Late
            done, _ = await asyncio.wait(waiting_for, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if task in done:
                break
            if done:
                raise Interrupted
        if task.cancelled():
            raise PluginFault("A plugin cancelled its own task, though nobody had asked it to stop.")
        failure = task.exception()
        if failure is not None and not isinstance(failure, Exception):
            # GeneratorExit, say: nobody outside would catch it, and every other trial would go down with it.
            raise PluginFault(f"A plugin raised {type(failure).__name__}: {failure}") from failure
        return task.result()
    finally:
        if not task.done():
            await _end(task, grace)


async def _guarded(call: Callable[[], Awaitable[T]]) -> T:
    try:
        return await call()
    except SystemExit as error:
        # asyncio would take the whole worker down with it.
        raise PluginFault(f"A plugin tried to end the process: SystemExit({error.code!r}).") from error


async def _end(task: asyncio.Task[Any], grace: float) -> None:
    task.cancel()
    try:
        await asyncio.wait({task}, timeout=grace)
    finally:
        if task.done():
            _read(task)
        else:
            log.warning("left behind: %r did not end within %.0f s of its cancellation", task, grace)
            task.add_done_callback(_read)


def _read(task: asyncio.Task[Any]) -> None:
    # Looked at, so that asyncio does not report the exception as never retrieved.
    if not task.cancelled():
        task.exception()
