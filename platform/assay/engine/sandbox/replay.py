"""Run the expected actions of a task on a sandbox."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

from assay.engine.packs.findings import shown
from assay.engine.packs.models import Action
from assay.engine.sandbox.sandbox import CallOutcome, Sandbox


class ReplayError(Exception):
    """An action cannot be run. `index` counts actions from 0."""

    def __init__(self, index: int, message: str) -> None:
        super().__init__(message)
        self.index = index


class OutOfTime(Exception):
    """The clock passed the time given."""


def replay(sandbox: Sandbox, actions: Sequence[Action], until: float = math.inf) -> list[CallOutcome]:
    """Call every action in order, following `$name.field`. Raises ReplayError at the first that does not succeed,
    OutOfTime when time.monotonic() has passed `until`."""
    results: dict[str, Any] = {}
    outcomes: list[CallOutcome] = []
    for index, action in enumerate(actions):
        if time.monotonic() > until:
            raise OutOfTime
        where = f"action {index + 1} ({action.tool})"
        try:
            arguments = resolve(action.args, results)
        except LookupError as error:
            raise ReplayError(index, f"{where}: {error.args[0]}") from error
        outcome = sandbox.call(action.tool, arguments)
        if not outcome.ok:
            raise ReplayError(
                index,
                f"{where} is refused with {outcome.error}: {outcome.message} "
                "Correct its arguments, or make the call before that it needs.",
            )
        if action.as_ is not None:
            results[action.as_] = outcome.content
        outcomes.append(outcome)
    return outcomes


def resolve(value: Any, results: Mapping[str, Any]) -> Any:
    """`$name.field` replaced by what an earlier action returned, at any depth; `$$` stands for `$`.

    Raises LookupError with a sentence.
    """
    if isinstance(value, Mapping):
        return {k: resolve(v, results) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [resolve(v, results) for v in value]
    if not isinstance(value, str) or not value.startswith("$"):
        return value
    if value.startswith("$$"):
        return value[1:]
    name, *path = value[1:].split(".")
    if name not in results:
        raise LookupError(f"{value} refers to no earlier action with 'as: {name}' (write $$ for a plain $).")
    found = results[name]
    walked = [name]
    for part in path:
        if isinstance(found, Mapping) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdigit() and int(part) < len(found):
            found = found[int(part)]
        else:
            raise LookupError(f"{value}: {_missing('.'.join(walked), part, found)}")
        walked.append(part)
    return found


def references(value: Any) -> set[str]:
    """Names of earlier results that arguments refer to."""
    if isinstance(value, Mapping):
        return {name for inner in value.values() for name in references(inner)}
    if isinstance(value, list | tuple):
        return {name for inner in value for name in references(inner)}
    if isinstance(value, str) and value.startswith("$") and not value.startswith("$$"):
        return {value[1:].split(".")[0]}
    return set()


def _missing(walked: str, part: str, found: Any) -> str:
    """That a path ends, where, and what there is instead."""
    if isinstance(found, Mapping):
        fields = f"it has: {', '.join(found)}" if found else "it is empty"
        what = walked if "." in walked else f"the result of {walked}"
        return f"{what} has no {part}; {fields}."
    if not isinstance(found, list):
        return f"{walked} is {shown(found)}, which has no fields: end the path there."
    if not found:
        return f"{walked} is an empty list, so it has no {part}."
    places = "0 alone" if len(found) == 1 else f"0 to {len(found) - 1}"
    return f"{walked} is a list of {len(found)} ({places}), so it has no {part}."
