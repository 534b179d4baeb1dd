"""Code of plugins that is called and not awaited: bounded in time, and its faults under the name of the part."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from queue import SimpleQueue
from typing import Any, TypeVar

from assay_sdk import PluginFault

T = TypeVar("T")

#: Seconds that one call may take. Everything else that the process does waits meanwhile.
CALL_SECONDS = 10.0
#: Calls of one part that may hang before it is no longer called in this process.
MOST_HANGING = 3

_hanging: Counter[str] = Counter()
_mine = threading.local()


@contextmanager
def blamed(part: str) -> Iterator[None]:
    """Plugin faults raised inside are those of `part` ("persona terse"), unless they name another."""
    try:
        yield
    except PluginFault as fault:
        fault.part = fault.part or part
        raise


def in_time(part: str, call: Callable[[], T], seconds: float | None = None) -> T:
    """What `call()` returns or raises. Raises PluginFault when it takes longer, or raises what is no Exception.

    It runs in another thread, which is left behind when it hangs: nothing can stop it.
    """
    if _hanging[part] >= MOST_HANGING:
        raise PluginFault(
            f"The {part} did not come back {MOST_HANGING} times and is called no more.", part=part
        )
    seconds = CALL_SECONDS if seconds is None else seconds
    helper = getattr(_mine, "helper", None)
    if helper is None:
        helper = _mine.helper = _Helper()
    future = helper.submit(call)
    if not wait([future], seconds).done:
        _mine.helper = None
        _hanging[part] += 1
        raise PluginFault(f"The {part} did not come back within {seconds:g} s.", part=part)
    error = future.exception()
    if error is not None and not isinstance(error, Exception):
        raise PluginFault(f"The {part} raised {type(error).__name__}: {error}", part=part) from error
    result: T = future.result()
    return result


class _Helper:
    """A thread that makes the calls of one other thread, so that none has to be started for each."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        threading.Thread(target=_serve, args=(self._calls,), name="calls of plugins", daemon=True).start()

    def submit(self, call: Callable[[], Any]) -> Future[Any]:
        future: Future[Any] = Future()
        self._calls.put((call, future))
        return future

    def __del__(self) -> None:
        self._calls.put(None)  # the thread that called is gone, or has given this one up


def _serve(calls: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None]) -> None:
    while (item := calls.get()) is not None:
        call, future = item
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything; it is told to the caller
            future.set_exception(error)
        del call, future, item
