"""Whether a bot got over the faults that were injected on purpose. For figures and sentences, never for the verdict."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.dialogue.transcript import ToolCall, Transcript
from assay_sdk import FaultKind

_MOST_NAMED = 3
_NAMES = {
    FaultKind.TIMEOUT: "a timeout",
    FaultKind.RATE_LIMIT: "a rate limit",
    FaultKind.SERVER_ERROR: "a server error",
    FaultKind.TRUNCATED: "a list cut short",
    FaultKind.STALE: "an answer out of date",
    FaultKind.RENAMED: "a renamed field",
    FaultKind.SLOW: "a slow answer",
}


@dataclass(frozen=True, slots=True)
class FaultMet:
    """One injected fault: the call, its tool, the kind, and whether the bot recovered from it."""

    call: int
    tool: str
    kind: str
    recovered: bool

    def as_json(self) -> dict[str, object]:
        return {"call": self.call, "tool": self.tool, "kind": self.kind, "recovered": self.recovered}


def faults_met(transcript: Transcript, *, passed: bool) -> tuple[FaultMet, ...]:
    """The faults injected into a trial, in order.

    The bot recovered from one when a later call of the same tool was answered as it should be; when the request had
    been carried out and a later look-up found something; when the value of a renamed field went into a later call;
    when the answer was only slow; or when the trial passed, since then nothing was lost by it.
    """
    calls = [event for event in transcript.events if isinstance(event, ToolCall)]
    return tuple(
        FaultMet(call.call, call.tool, call.injected.kind, passed or _recovered(call, calls[number + 1 :]))
        for number, call in enumerate(calls)
        if call.injected is not None
    )


def faults_sentence(faults: Sequence[FaultMet]) -> str:
    """For the explanation of a failure: the injected faults that the bot did not recover from; "" without any."""
    left = [fault for fault in faults if not fault.recovered]
    if not left:
        return ""
    named = [f"{_named(fault.kind)} in call {fault.call} ({fault.tool})" for fault in left[:_MOST_NAMED]]
    if len(left) > _MOST_NAMED:
        named.append(f"{len(left) - _MOST_NAMED} more")
    said = named[0] if len(named) == 1 else f"{', '.join(named[:-1])} and {named[-1]}"
    return f"Injected on purpose, and nothing done about it: {said}."


def _recovered(call: ToolCall, after: Sequence[ToolCall]) -> bool:
    if not call.spoiled:
        return True
    answered = [later for later in after if later.ok and not later.spoiled]
    if any(later.tool == call.tool for later in answered):
        return True
    values = _under_another_name(call)
    if any(not values.isdisjoint(_texts(later.arguments)) for later in after):
        return True
    carried_out = call.kind == "write" and call.made
    return carried_out and any(later.kind == "read" and not later.empty for later in answered)


def _under_another_name(call: ToolCall) -> set[str]:
    """The values of a renamed field; none for the other kinds."""
    if call.injected is None or call.injected.kind != FaultKind.RENAMED:
        return set()
    true, told = call.truth["result"], call.result
    rows = list(zip(true, told, strict=True)) if isinstance(true, list) else [(true, told)]
    return {text for row, seen in rows for name in row.keys() - seen.keys() for text in _texts(row[name])}


def _texts(value: Any) -> Iterator[str]:
    """Every text and number inside a JSON value, as text."""
    if isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)


def _named(kind: str) -> str:
    try:
        return _NAMES[FaultKind(kind)]
    except ValueError:
        return kind
