"""The loop that trials run in: it ends."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Coroutine
from typing import Any

import pytest

from assay.engine import looping


async def resists() -> None:
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


async def raises() -> None:
    try:
        await asyncio.Event().wait()
    finally:
        raise OSError("while it was put away")


async def leave(*coroutines: Coroutine[Any, Any, Any]) -> str:
    left = [asyncio.create_task(coroutine) for coroutine in coroutines]
    await asyncio.sleep(0)
    assert not any(task.done() for task in left)
    return "over"


def test_it_gives_what_the_main_part_returns_and_raises() -> None:
    assert looping.run(leave()) == "over"
    with pytest.raises(OSError, match="put away"):
        looping.run(asyncio.wait_for(raises(), 0.01))


def test_a_task_that_ignores_its_cancellation_is_left_behind(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        assert looping.run(leave(resists()), grace=0.05) == "over"
        gc.collect()
    assert any("left behind" in record.message for record in caplog.records)


def test_what_ends_when_it_is_told_to_is_not_spoken_of(caplog: pytest.LogCaptureFixture) -> None:
    assert looping.run(leave(raises(), asyncio.Event().wait())) == "over"
    gc.collect()
    assert not caplog.records
