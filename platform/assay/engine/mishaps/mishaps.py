"""The faults of one conversation: asks the profile, does to the call what was chosen, keeps to the contract.

The contract, whatever a profile chooses:

- A fault changes nothing in the world and keeps no write from being made: what was carried out is the bot's own call.
- A call is disturbed at most IN_A_ROW times without a proper answer, a conversation at most MOST times.
- A write whose answer was lost is not made twice: the same call made again is given the answer of the first.
- What the bot did wrong is never hidden: a tool that does not exist is passed through, and so is what a system
  refuses, unless it never got there, in which case the next attempt is refused.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.engine.blame import in_time
from assay.engine.mishaps.altering import renamed, truncated
from assay.engine.mishaps.older import older_answer
from assay.engine.sandbox import CallOutcome, Sandbox
from assay.engine.sandbox.arguments import BadArguments, read_arguments
from assay_sdk import CallAhead, FaultKind, FaultProfile, PluginFault

#: Faults in one conversation, and of one and the same call without a proper answer: what no profile can exceed.
MOST = 50
IN_A_ROW = 3
#: Seconds for which a slow answer really is held back, so that others can overtake it. Not counted as the bot's time.
PAUSE = 0.02
#: Seconds after which a caller is said to have stopped waiting.
TIMED_OUT = 30.0

REPEATED = "This is the answer to the earlier call {call}; nothing was done again."
STALE = (
    "This answer comes from a copy that lags behind and may lack recent changes. "
    "Repeat the call for the current state."
)
_LATE = "The system did not answer in time. Nothing was changed; the call can be repeated."
_LATE_UNDONE = (
    "The system did not answer in time, and the request was not carried out. The call can be repeated."
)
_LATE_DONE = (
    "The system did not answer in time, but the request was carried out. Repeat the same call to be given its "
    "result; it is not carried out twice."
)
_TOO_MANY = "Too many requests (429). Nothing was done; repeat the call in a moment."
_BROKEN = "Internal error (500). Nothing was done; the call can be repeated."


@dataclass(frozen=True, slots=True)
class Answer:
    """What the bot is told. `fault`: the kind that was injected. `reached`: the call was made in the sandbox; `truth`
    then is what came of it, when the bot is told something else. `repeats`: number of the call whose lost answer
    this is. `latency`: seconds it is said to have taken; `pause`: seconds to hold it back really."""

    outcome: CallOutcome
    fault: FaultKind | None = None
    reached: bool = True
    truth: CallOutcome | None = None
    repeats: int | None = None
    notice: str | None = None
    latency: float = 0.0
    pause: float = 0.0


@dataclass(frozen=True, slots=True)
class Earlier:
    """A call of a conversation that is taken up again. `fault`: what was injected into it, `spoiled`: so that the bot was
    told something else than came of it. `lost`: of a write that was carried out, the answer that the bot never got."""

    number: int
    tool: str
    arguments: Any
    fault: FaultKind | None = None
    spoiled: bool = False
    lost: CallOutcome | None = None
    wrote: bool = False


class Mishaps:
    """The faults of one conversation in one sandbox. `seed`: of the trial. `part`: under which name the profile's own
    faults are reported."""

    def __init__(
        self, profile: FaultProfile, sandbox: Sandbox, seed: int, part: str = "fault profile"
    ) -> None:
        self._profile, self._sandbox, self._seed, self._part = profile, sandbox, seed, part
        self._kinds = {spec.name: spec.kind for spec in sandbox.world.specs}
        self._faults = 0
        self._in_a_row: dict[str, int] = {}
        self._owed: dict[str, tuple[int, CallOutcome]] = {}  # carried out, and the answer never given
        self._wrote = False

    def call(self, number: int, tool: str, arguments: Mapping[str, Any] | str) -> Answer:
        """Make call `number`, or let it go wrong. Raises what Sandbox.call raises; PluginFault when the profile
        breaks."""
        kind = self._kinds.get(tool) if isinstance(tool, str) else None
        try:
            given = read_arguments(arguments)
        except BadArguments:
            kind = None
        if kind is None:
            return Answer(self._sandbox.call(tool, arguments))
        same = _same(tool, given)
        if same in self._owed:
            first, outcome = self._owed.pop(same)
            self._in_a_row.pop(same, None)
            self._sandbox.skip_call()
            return Answer(
                replace(outcome, wrote=False),
                reached=False,
                repeats=first,
                notice=REPEATED.format(call=first),
            )
        ahead = CallAhead(number, tool, kind == "write", given, self._faults, self._in_a_row.get(same, 0))
        answer = self._disturbed(ahead, same)
        self._faults += answer.fault is not None
        if answer.fault is None or answer.fault is FaultKind.SLOW:  # late is a proper answer all the same
            self._in_a_row.pop(same, None)
        else:
            self._in_a_row[same] = ahead.in_a_row + 1
        return answer

    def resume(self, calls: Iterable[Earlier]) -> None:
        """Go on where these calls of the same conversation ended: what was injected counts, and the answer to a write
        that was lost is still owed."""
        for call in calls:
            same = _same(call.tool, call.arguments)
            self._wrote = self._wrote or call.wrote
            self._faults += call.fault is not None
            self._owed.pop(same, None)
            if call.lost is not None:
                self._owed[same] = (call.number, call.lost)
            self._in_a_row[same] = self._in_a_row.get(same, 0) + 1 if call.spoiled else 0

    def _disturbed(self, ahead: CallAhead, same: str) -> Answer:
        made = _Made(self, ahead)
        if ahead.faults < MOST and ahead.in_a_row < IN_A_ROW:
            for kind in self._chosen(ahead):
                answer = self._tried(kind, ahead, made, same)
                if answer is not None:
                    return answer
        return Answer(made.outcome)

    def _chosen(self, ahead: CallAhead) -> Sequence[FaultKind]:
        shown = replace(ahead, arguments=json.loads(json.dumps(ahead.arguments)))  # its own copy to spoil
        try:
            chosen = in_time(self._part, lambda: list(self._profile.choose(shown)))
        except PluginFault as fault:
            fault.part = self._part
            raise
        except Exception as error:
            raise PluginFault(
                f"The {self._part} raised {type(error).__name__}: {error}", part=self._part
            ) from error
        if not all(isinstance(kind, FaultKind) for kind in chosen):
            raise PluginFault(f"The {self._part} chose something that is no FaultKind.", part=self._part)
        return chosen

    def _tried(self, kind: FaultKind, ahead: CallAhead, made: _Made, same: str) -> Answer | None:
        """The call with this fault, or None when it does not apply to it."""
        if kind is FaultKind.TIMEOUT and ahead.writes and self._dice(ahead, "carried out").random() < 0.5:
            outcome = made.outcome
            if not outcome.ok:
                return None
            self._owed[same] = (ahead.number, outcome)
            told = replace(outcome, ok=False, content=None, error="timeout", message=_LATE_DONE, empty=False)
            return Answer(told, kind, truth=outcome, latency=TIMED_OUT)
        refusal = _REFUSALS.get(kind)
        if refusal is not None:
            if made.known and ahead.writes:
                return None
            error, message = refusal
            if kind is FaultKind.TIMEOUT and ahead.writes:
                message = _LATE_UNDONE
            told = made.never(error, message)
            return Answer(told, kind, reached=False, latency=TIMED_OUT if kind is FaultKind.TIMEOUT else 0.0)
        if kind is FaultKind.SLOW:
            latency = round(self._dice(ahead, kind).uniform(5, 60), 1)
            return Answer(made.outcome, kind, latency=latency, pause=PAUSE)
        return None if ahead.writes else self._altered(kind, ahead, made.outcome)

    def _altered(self, kind: FaultKind, ahead: CallAhead, truth: CallOutcome) -> Answer | None:
        """A look-up that was made, answered otherwise."""
        if not truth.ok:
            return None
        if kind is FaultKind.STALE:
            older = older_answer(self._sandbox, ahead.tool, ahead.arguments, truth, wrote=self._wrote)
            return None if older is None else Answer(older, kind, truth=truth, notice=STALE)
        if kind is FaultKind.TRUNCATED:
            cut = truncated(truth.content)
            if cut is None:
                return None
            return Answer(replace(truth, content=cut[0]), kind, truth=truth, notice=cut[1])
        content = renamed(truth.content, self._dice(ahead, kind))
        return None if content is None else Answer(replace(truth, content=content), kind, truth=truth)

    def _dice(self, ahead: CallAhead, what: str) -> random.Random:
        digest = hashlib.sha256(f"{what}/{self._seed}/{ahead.number}".encode()).digest()
        return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 - to be repeated, nothing secret

    def run(self, ahead: CallAhead) -> CallOutcome:
        outcome = self._sandbox.call(ahead.tool, ahead.arguments)
        self._wrote = self._wrote or outcome.wrote
        return outcome

    def skip(self) -> None:
        self._sandbox.skip_call()


class _Made:
    """The call in the sandbox, made when the first asks for its outcome, and once."""

    def __init__(self, mishaps: Mishaps, ahead: CallAhead) -> None:
        self._mishaps, self._ahead = mishaps, ahead
        self._outcome: CallOutcome | None = None

    @property
    def known(self) -> bool:
        return self._outcome is not None

    @property
    def outcome(self) -> CallOutcome:
        if self._outcome is None:
            self._outcome = self._mishaps.run(self._ahead)
        return self._outcome

    def never(self, error: str, message: str) -> CallOutcome:
        """The outcome of a call that did not get there. A look-up that was made already leaves no trace."""
        if self._outcome is None:
            self._mishaps.skip()
        kind: Literal["read", "write"] = "write" if self._ahead.writes else "read"
        return CallOutcome(False, None, error, message, kind, arguments=dict(self._ahead.arguments))


def _same(tool: str, arguments: Any) -> str:
    """The same text for the same call, in whatever order its arguments come."""
    return json.dumps([tool, arguments], sort_keys=True)


_REFUSALS = {
    FaultKind.TIMEOUT: ("timeout", _LATE),
    FaultKind.RATE_LIMIT: ("rate_limited", _TOO_MANY),
    FaultKind.SERVER_ERROR: ("server_error", _BROKEN),
}
