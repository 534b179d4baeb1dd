"""Code of plugins that is called and not awaited: bounded in time, and its faults under the name of the part."""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, wait
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from assay_sdk import PluginFault

T = TypeVar("T")

#: Seconds that one call may take. Everything else that the process does waits meanwhile.
CALL_SECONDS = 10.0
#: Seconds that building a part may take, the import of what it needs included.
BUILD_SECONDS = 60.0
#: Calls of one part that may hang within FORGIVEN_AFTER seconds before this process calls it no more for that long.
MOST_HANGING = 3
FORGIVEN_AFTER = 600.0

_hanging: defaultdict[str, deque[float]] = defaultdict(lambda: deque(maxlen=MOST_HANGING))
_mine = threading.local()


def hung(part: str) -> None:
    """Note that a call of the part did not come back."""
    _hanging[part].append(time.monotonic())


def given_up(part: str) -> bool:
    """Whether the part hung so often of late that this process does not call it."""
    recent = [at for at in _hanging.get(part, ()) if at > time.monotonic() - FORGIVEN_AFTER]
    return len(recent) >= MOST_HANGING


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
    if given_up(part):
        raise PluginFault(
            f"The {part} did not come back {MOST_HANGING} times and is not called for a while.", part=part
        )
    seconds = CALL_SECONDS if seconds is None else seconds
    helper = getattr(_mine, "helper", None)
    if helper is None:
        helper = _mine.helper = _Helper()
    future = helper.submit(call)
    if not wait([future], seconds).done:
        _mine.helper = None
        hung(part)
        raise PluginFault(f"The {part} did not come back within {seconds:g} s.", part=part)
    error = future.exception()
    if error is not None and not isinstance(error, Exception):
        raise PluginFault(f"The {part} raised {type(error).__name__}: {error}", part=part) from error
    result: T = future.result()
    return result


def built_in_time(
    part: str,
    build: Callable[[Callable[[str], str]], T],
    secret: Callable[[str], str],
    seconds: float | None = None,
) -> T:
    """What `build(secret)` returns or raises, as in_time does. Secrets are resolved here, in the caller's thread, where
    it is known whose they are."""
    asked: SimpleQueue[tuple[str, Future[str]] | None] = SimpleQueue()

    def ask(reference: str) -> str:
        answer: Future[str] = Future()
        asked.put((reference, answer))
        return answer.result(timeout=seconds)

    def call() -> T:
        try:
            return build(ask)
        finally:
            asked.put(None)

    seconds = BUILD_SECONDS if seconds is None else seconds
    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything; it is told below
            future.set_exception(error)

    threading.Thread(target=run, name=f"building {part}", daemon=True).start()
    end = time.monotonic() + seconds
    try:
        while (question := asked.get(timeout=max(0.0, end - time.monotonic()))) is not None:
            _answer(*question, secret)
    except Empty:
        raise PluginFault(f"The {part} was not built within {seconds:g} s.", part=part) from None
    error = future.exception(timeout=seconds)
    if error is not None and not isinstance(error, Exception):
        raise PluginFault(
            f"The {part} could not be built: {type(error).__name__}: {error}", part=part
        ) from error
    return future.result()


def _answer(reference: str, answer: Future[str], secret: Callable[[str], str]) -> None:
    try:
        answer.set_result(secret(reference))
    except Exception as error:  # noqa: BLE001 - raised where it was asked
        answer.set_exception(error)


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
