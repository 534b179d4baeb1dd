"""What the conformance suites raise, and how."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


class NotConforming(AssertionError):
    """What does not fit the contract."""


def need(holds: bool, sentence: str) -> None:
    if not holds:
        raise NotConforming(f"{sentence}.")


def options_for(kind: Any, options: Mapping[str, Any] | None) -> BaseModel:
    made: BaseModel = kind.options.model_validate(dict(options or {}))
    return made


def within(seconds: float, what: str, call: Callable[[], T]) -> T:
    """What `call` returns or raises; NotConforming when it takes longer. The thread of a call that hangs is left."""
    returned: list[T] = []
    raised: list[BaseException] = []

    def work() -> None:
        try:
            returned.append(call())
        except BaseException as error:  # noqa: BLE001 - raised again below
            raised.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    need(not thread.is_alive(), f"{what} takes more than {seconds:g} s")
    if raised:
        raise raised[0]
    return returned[0]
