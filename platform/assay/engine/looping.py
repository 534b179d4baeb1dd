"""An event loop for trials that ends, whatever the code of plugins left in it does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

log = logging.getLogger(__name__)
T = TypeVar("T")

GRACE = 5.0  # seconds that what is left has to end, before it is left behind


def run(main: Coroutine[Any, Any, T], grace: float | None = None) -> T:
    """What `main` returns or raises, in a loop of its own. As asyncio.run, which waits for ever for a task that
    ignores its cancellation: here such a task is left behind after `grace` seconds (GRACE), and does not run again."""
    with asyncio.Runner() as runner:
        try:
            return runner.run(main)
        finally:
            runner.run(_let_go(GRACE if grace is None else grace))


async def _let_go(grace: float) -> None:
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    try:
        if left:
            await asyncio.wait(left, timeout=grace)
    finally:
        for task in left:
            if not task.done():
                log.warning(
                    "left behind: %s did not end within %.0f s of its cancellation", repr(task), grace
                )
                # So that closing the loop does not wait for it. No private name: asyncio documents it for this.
                asyncio._unregister_task(task)  # noqa: SLF001
                # Said above; asyncio would say it again when the task is collected, in the midst of whatever runs then.
                task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001
            elif not task.cancelled():
                task.exception()  # looked at, so that asyncio does not report it as never retrieved
