"""The call after which the right end state could no longer be reached.

Found by trying: the calls that wrote are made again, and after each one the remaining expected calls are tried, in
every choice of those already done. While some choice leads to an accepted outcome, it could still be reached: that is
a proof. Once none does, whether it is lost for certain is asked of the tools' SQL (undoing.py). Both only ever go one
way, since what can be reached later could be reached before; where they leave a gap the answer is "cannot tell".
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from assay.engine.dialogue.transcript import BotMessage, ToolCall, Transcript
from assay.engine.grading.undoing import undoing
from assay.engine.packs.models import Action, Task
from assay.engine.sandbox import Sandbox, World, compare
from assay.engine.sandbox.replay import resolve
from assay_sdk import PlatformFault

#: Calls tried for one trial; what is not known by then is not told. A number and no time, so that a verdict comes out
#: the same on every machine; a call takes about 0.1 ms.
MOST_TRIED = 500
#: Expected writes of which every choice is tried (2^n); of longer lists only those that leave out the first ones.
_ALL_CHOICES = 5


@dataclass(frozen=True, slots=True)
class NoReturn:
    """`status`: lost (for certain, by call `call`), reachable (to the end), or cannot_tell.

    `call`: number of the call after which it was lost, or, for cannot_tell, the first after which no way was found.
    `turn`: the bot's reply in which that call was made, from 1. `event`: its place in the transcript's events.
    """

    status: Literal["lost", "reachable", "cannot_tell"]
    call: int | None = None
    turn: int | None = None
    event: int | None = None
    tool: str | None = None
    sentence: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def no_return(task: Task, world: World, transcript: Transcript, *, most: int = MOST_TRIED) -> NoReturn:
    """For a trial whose final database is wrong. Raises nothing: what breaks on the way cannot be told."""
    try:
        return _search(task, world, transcript, _Budget(most))
    except (_Spent, PlatformFault, RuntimeError):
        return NoReturn("cannot_tell", sentence="Whether it could still have been put right cannot be told.")


class _Spent(Exception):
    pass


class _Budget:
    def __init__(self, left: int) -> None:
        self._left = left

    def take(self, calls: int) -> None:
        self._left -= calls
        if self._left < 0:
            raise _Spent


def _search(task: Task, world: World, transcript: Transcript, budget: _Budget) -> NoReturn:
    accepted = world.expected(task.id)
    calls = [event for event in transcript.events if isinstance(event, ToolCall)]
    first: ToolCall | None = None  # after which no way was found
    with world.open(task.id) as sandbox:
        for number, call in enumerate(calls):
            if not call.wrote:
                continue  # it left everything as it was
            sandbox.call(call.tool, call.arguments)
            if first is None:
                attempt = _Attempt(task, world, sandbox, calls[: number + 1], budget)
                if attempt.finds_a_way():
                    continue
                first = call
            if undoing(world).lost(accepted, sandbox.changes()):
                return _told(transcript, call, first)
            budget.take(1)
    if first is None:
        return NoReturn("reachable", sentence="To the end, it could still have been put right.")
    return _told(transcript, None, first)


def _told(transcript: Transcript, lost: ToolCall | None, first: ToolCall) -> NoReturn:
    turn, event = _place(transcript, first)
    if lost is first:
        says = f"After call {first.call} (turn {turn}) the right end state could no longer be reached."
        return NoReturn("lost", first.call, turn, event, first.tool, says)
    says = f"Whether the right end state could still be reached after call {first.call} (turn {turn}) cannot be told"
    if lost is not None:
        later, _ = _place(transcript, lost)
        says += f"; after call {lost.call} (turn {later}) it could not"
    return NoReturn("cannot_tell", first.call, turn, event, first.tool, f"{says}.")


def _place(transcript: Transcript, call: ToolCall) -> tuple[int, int]:
    """The bot's reply, from 1, that the call was made for, and the place of the call among the events."""
    turn = 1
    for number, event in enumerate(transcript.events):
        if event is call:
            return turn, number
        turn += isinstance(event, BotMessage)
    raise ValueError(f"call {call.call} is not in the transcript")


class _Attempt:
    """Whether expected calls still lead from the sandbox's present state to an accepted outcome."""

    def __init__(
        self, task: Task, world: World, sandbox: Sandbox, made: Sequence[ToolCall], budget: _Budget
    ) -> None:
        self._task, self._world, self._sandbox, self._made = task, world, sandbox, made
        self._budget = budget

    def finds_a_way(self) -> bool:
        if self._right():
            return True
        expected = self._task.expected
        for number, actions in enumerate([expected.actions, *(o.actions for o in expected.also_accept)]):
            for left_out in self._choices(number, actions):
                self._budget.take(len(actions) - len(left_out) + 1)
                with self._sandbox.undone():
                    if self._run(actions, left_out) and self._right():
                        return True
        return False

    def _choices(self, outcome: int, actions: Sequence[Action]) -> Iterator[frozenset[int]]:
        """Writes to leave out, because the bot has made them: the likeliest first, each once."""
        tools = self._world.pack.tools
        writes = [n for n, a in enumerate(actions) if a.tool in tools and tools[a.tool].kind == "write"]
        done = {call.tool for call in self._made if call.wrote}
        made = [n for n in writes if actions[n].tool in done]  # the others can only be left out in vain
        seen: set[frozenset[int]] = set()

        def choices() -> Iterator[frozenset[int]]:
            yield frozenset(writes) - self._wrong(outcome)
            for count in range(len(made) + 1):
                if len(made) <= _ALL_CHOICES:
                    yield from map(frozenset, itertools.combinations(made, count))
                else:
                    yield frozenset(made[:count])

        for choice in choices():
            if choice not in seen:
                seen.add(choice)
                yield choice

    def _wrong(self, outcome: int) -> frozenset[int]:
        """The expected actions whose rows are not there as they should be."""
        difference = compare(
            self._world.tables,
            self._world.pack.comparison,
            [self._world.expected(self._task.id)[outcome]],
            self._sandbox.changes(),
        )
        calls = (row.expected.call for row in difference.rows if row.expected is not None)
        return frozenset(call for call in calls if call is not None)

    def _run(self, actions: Sequence[Action], left_out: frozenset[int]) -> bool:
        """Make the actions but those left out, whose results are taken from what the bot was answered."""
        results: dict[str, Any] = {}
        for number, action in enumerate(actions):
            try:
                arguments = resolve(action.args, results)
            except LookupError:
                return False
            if number in left_out:
                found = self._answer(action.tool, arguments)
            else:
                outcome = self._sandbox.call(action.tool, arguments)
                if not outcome.ok:
                    return False
                found = outcome.content
            if action.as_ is not None:
                results[action.as_] = found
        return True

    def _answer(self, tool: str, arguments: Mapping[str, Any]) -> Any:
        """What the bot's own call of the tool gave: the one with these arguments, else its last."""
        calls = [c for c in self._made if c.tool == tool and c.truth["ok"]]
        same = [c for c in calls if c.arguments == arguments]
        return (same or calls)[-1].truth["result"] if calls else None

    def _right(self) -> bool:
        world = self._world
        accepted = world.expected(self._task.id)
        return compare(world.tables, world.pack.comparison, accepted, self._sandbox.changes()).equal
