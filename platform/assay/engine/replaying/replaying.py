"""The recorded calls of a trial, made again on a fresh sandbox.

A sandbox is deterministic: the same calls in the same order leave the same rows and the same ids. So nothing but the
transcript has to be kept to have the database back as it was after any of them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from assay.engine.dialogue.past import CannotResume
from assay.engine.dialogue.recording import plain
from assay.engine.dialogue.transcript import ToolCall, Transcript
from assay.engine.sandbox import CallOutcome, Sandbox, World


@dataclass(frozen=True, slots=True)
class UnlikeCall:
    """A call that came to something else than was recorded. `what`: ok, error, message, result or wrote."""

    call: int
    tool: str
    what: str
    recorded: Any
    now: Any

    def as_json(self) -> dict[str, Any]:
        return {
            "call": self.call,
            "tool": self.tool,
            "what": self.what,
            "recorded": self.recorded,
            "now": self.now,
        }

    def sentence(self) -> str:
        """For people."""
        of = {"ok": "whether it succeeds", "wrote": "whether it changes data"}.get(
            self.what, f"its {self.what}"
        )
        path, recorded, now = _first_unlike(self.recorded, self.now)
        at = f" at {'.'.join(path)}" if path else ""
        return (
            f"Call {self.call} ({self.tool}) now behaves differently: {of}{at} was {_short(recorded)} "
            f"and is {_short(now)}."
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One call made again. `unlike`: how its outcome differs from the recorded one, None when it does not."""

    call: ToolCall
    outcome: CallOutcome
    unlike: UnlikeCall | None


class Replay:
    """A sandbox in which the calls of `transcript` are made again, as far as one asks. Use as a context manager.

    Raises what World.open and Sandbox.call raise (PackFault).
    """

    def __init__(self, world: World, task_id: str, transcript: Transcript) -> None:
        self.calls: Sequence[ToolCall] = calls_of(transcript)
        self.sandbox: Sandbox = world.open(task_id)
        self.done = 0  # calls made again so far

    def steps(self, until: int | None = None) -> Iterator[Step]:
        """Make the calls that are left, those with a number of at most `until` (all, when None), one by one."""
        while self.done < len(self.calls):
            call = self.calls[self.done]
            if until is not None and call.call > until:
                return
            self.done += 1
            if not call.made:
                self.sandbox.skip_call()
                yield Step(call, _as_recorded(call), None)
                continue
            outcome = self.sandbox.call(call.tool, call.arguments)
            yield Step(call, outcome, unlike(call, outcome))

    def go_to(self, call: int) -> UnlikeCall | None:
        """Make the calls up to number `call`; -1 makes none. Gives the first that came to something else."""
        found: UnlikeCall | None = None
        for step in self.steps(call):
            found = found or step.unlike
        return found

    def close(self) -> None:
        self.sandbox.close()

    def __enter__(self) -> Replay:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def restore(sandbox: Sandbox, transcript: Transcript) -> None:
    """Bring a fresh sandbox to where the transcript's calls left the trial's. Raises CannotResume when a call comes to
    something else than was recorded, PackFault."""
    for call in calls_of(transcript):
        if not call.made:
            sandbox.skip_call()
            continue
        found = unlike(call, sandbox.call(call.tool, call.arguments))
        if found is not None:
            raise CannotResume(f"The world cannot be brought to that moment. {found.sentence()}")


def calls_of(transcript: Transcript) -> list[ToolCall]:
    return [event for event in transcript.events if isinstance(event, ToolCall)]


def unlike(call: ToolCall, outcome: CallOutcome) -> UnlikeCall | None:
    """How the outcome differs from the recorded one, as far as the bot or the verdict could notice. Of a call whose
    answer was altered on purpose, from what the sandbox had answered."""
    truth = call.truth
    pairs = (
        ("ok", truth["ok"], outcome.ok),
        ("error", truth["error"], outcome.error),
        ("message", truth["message"], outcome.message),
        ("result", truth["result"], plain(outcome.content)),
        ("wrote", call.wrote, outcome.wrote),
    )
    for what, recorded, now in pairs:
        if recorded != now and _text(recorded) != _text(now):
            return UnlikeCall(call.call, call.tool, what, recorded, now)
    return None


def _as_recorded(call: ToolCall) -> CallOutcome:
    """Of a call that a fault on purpose kept from the sandbox: there is nothing to make again."""
    return CallOutcome(
        call.ok, call.result, call.error, call.message, call.kind, call.empty, arguments=call.arguments
    )


def _text(value: Any) -> str:
    """1.0 read back from a store may be 1, and keys may come in another order."""
    return json.dumps(_numbers(value), sort_keys=True, ensure_ascii=False)


def _numbers(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {key: _numbers(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_numbers(inner) for inner in value]
    return value


def _first_unlike(recorded: Any, now: Any, path: tuple[str, ...] = ()) -> tuple[tuple[str, ...], Any, Any]:
    """Where two JSON values first differ: (path, value, value)."""
    if isinstance(recorded, dict) and isinstance(now, dict) and recorded.keys() == now.keys():
        for key in sorted(recorded):
            if _text(recorded[key]) != _text(now[key]):
                return _first_unlike(recorded[key], now[key], (*path, key))
    if isinstance(recorded, list) and isinstance(now, list) and len(recorded) == len(now):
        for number, (one, other) in enumerate(zip(recorded, now, strict=True)):
            if _text(one) != _text(other):
                return _first_unlike(one, other, (*path, str(number)))
    return path, recorded, now


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:79] + "…"
