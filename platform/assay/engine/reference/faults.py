"""The mistakes that the careless bot makes, as lists of actions that are known to lead to a known failure.

A list is used only when playing it on a fresh sandbox shows that it runs, that it surely leaves other rows than
every accepted outcome, and that the category of the failure is certain by the rules of the design. In doubt a
fault does not apply.
"""

from __future__ import annotations

import re
import weakref
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from itertools import islice
from typing import Any

from assay.engine.grading.verdict import Category
from assay.engine.reference.plain import Kind, kind_of_outcome
from assay.engine.sandbox import CallOutcome, World
from assay.engine.sandbox.replay import references, resolve
from assay_sdk import PackFault

IGNORED_TOOL_ERROR = "ignored_tool_error"  # a call really fails, and the bot goes on as if it had worked
MISSING_WRITE = "missing_write"  # a write is never made
NEIGHBOUR_ROW = "neighbour_row"  # a write goes to another row that exists
WRONG_VALUE = "wrong_value"  # a wrong amount, number or date
CUT_REPLY = "cut_reply"  # the last reply breaks off
CONTRADICTION = "contradiction"  # the last reply says a thing and its opposite

FAULTS = (IGNORED_TOOL_ERROR, MISSING_WRITE, NEIGHBOUR_ROW, WRONG_VALUE, CUT_REPLY, CONTRADICTION)

#: The category that the rules of the design give each of them.
CATEGORIES: Mapping[str, Category] = {
    IGNORED_TOOL_ERROR: Category.TOOL_USE_ERROR,
    MISSING_WRITE: Category.MISSING_STATE_CHANGE,
    NEIGHBOUR_ROW: Category.INCORRECT_STATE_UPDATE,
    WRONG_VALUE: Category.INCORRECT_STATE_UPDATE,
    CUT_REPLY: Category.INCOMPLETE_RESPONSE,
    CONTRADICTION: Category.INCOMPLETE_RESPONSE,
}

#: Lists kept for each fault, and tried for each before giving up.
MOST_KEPT = 3
MOST_TRIED = 24


@dataclass(frozen=True)
class Call:
    """One action: a tool, its arguments (which may refer to earlier results), the name of its own result."""

    tool: str
    args: Mapping[str, Any]
    name: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {"tool": self.tool, "args": dict(self.args), "as": self.name}


Calls = tuple[Call, ...]


def altered(world: World, task_id: str, calls: Calls) -> dict[str, list[Calls]]:
    """For each fault that alters the actions and applies to the task: lists of calls that commit it."""
    writes = frozenset(s.name for s in world.specs if s.kind == "write")
    calls = _looked_up(world, task_id, calls)
    player = _Player(world, task_id)
    neighbours = _Neighbours(world, task_id)
    fewer = list(_without_one(calls, writes))
    makers: dict[str, tuple[Iterator[tuple[Calls, int | None]], Kind]] = {
        IGNORED_TOOL_ERROR: (_with_error(fewer), "missing"),
        MISSING_WRITE: (((rest, None) for rest, _, _ in fewer), "missing"),
        NEIGHBOUR_ROW: (((c, None) for c in _beside(calls, writes, neighbours)), "incorrect"),
        WRONG_VALUE: (((c, None) for c in _miscounted(calls, writes)), "incorrect"),
    }
    found: dict[str, list[Calls]] = {}
    for fault, (candidates, kind) in makers.items():
        good = (c for c, fails in islice(candidates, MOST_TRIED) if player.leads_to(c, kind, fails=fails))
        if lists := list(islice(good, MOST_KEPT)):
            found[fault] = lists
    return found


def _looked_up(world: World, task_id: str, calls: Calls) -> Calls:
    """The calls with what look-ups return written out, so that it can be mistaken, and without look-ups that find
    nothing, which could be taken for a failed call. As they are when they do not run."""
    reads = frozenset(s.name for s in world.specs if s.kind == "read")
    results: dict[str, Any] = {}
    seen: dict[str, Any] = {}
    found: list[Call] = []
    with world.open(task_id) as sandbox:
        for call in calls:
            try:
                outcome = sandbox.call(call.tool, resolve(call.args, results))
                args = {name: _filled(value, seen) for name, value in call.args.items()}
            except (LookupError, PackFault):
                return calls
            if not outcome.ok:
                return calls
            if call.name is not None:
                results[call.name] = outcome.content
                if call.tool in reads:
                    seen[call.name] = outcome.content
            if not _found_nothing(outcome):
                found.append(replace(call, args=args))
    return tuple(found)


def _filled(value: Any, seen: Mapping[str, Any]) -> Any:
    """A value with the references into `seen` filled in; a text that begins with `$` is written as one, `$$...`."""
    if isinstance(value, Mapping):
        return {name: _filled(inner, seen) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(inner, seen) for inner in value]
    if references(value) & seen.keys():
        found = resolve(value, seen)
        return f"${found}" if isinstance(found, str) and found.startswith("$") else found
    return value


class _Player:
    """Plays lists of calls on fresh sandboxes of one task."""

    def __init__(self, world: World, task_id: str) -> None:
        self._world = world
        self._task_id = task_id

    def leads_to(self, calls: Calls, kind: Kind, *, fails: int | None) -> bool:
        """Whether every call but number `fails` succeeds, that one does not, and the outcome is of this kind."""
        world = self._world
        results: dict[str, Any] = {}
        with world.open(self._task_id) as sandbox:
            for number, call in enumerate(calls):
                try:
                    outcome = sandbox.call(call.tool, resolve(call.args, results))
                except (LookupError, PackFault):
                    return False
                if outcome.ok is (number == fails) or _found_nothing(outcome):
                    return False
                if call.name is not None:
                    results[call.name] = outcome.content
            changes = sandbox.changes()
        accepted = world.expected(self._task_id)
        return kind_of_outcome(world.tables, world.pack.comparison, accepted, changes) == kind


def _found_nothing(outcome: CallOutcome) -> bool:
    """An empty look-up could be taken for a failed one."""
    return outcome.ok and outcome.kind == "read" and outcome.empty


# --- alterations -------------------------------------------------------------------------------------


def _without_one(calls: Calls, writes: frozenset[str]) -> Iterator[tuple[Calls, Call, int]]:
    """(calls without one write and without what needs its result, that write, its place), the last write first."""
    for number in reversed(range(len(calls))):
        if calls[number].tool in writes:
            gone = {number}
            names: set[str | None] = {calls[number].name}
            for later in range(number + 1, len(calls)):
                if names & references(calls[later].args):
                    gone.add(later)
                    names.add(calls[later].name)
            yield tuple(c for n, c in enumerate(calls) if n not in gone), calls[number], number


def _with_error(fewer: Sequence[tuple[Calls, Call, int]]) -> Iterator[tuple[Calls, int | None]]:
    """The write is tried in a way that fails: with a mistyped id, else with an argument left out."""
    for mistake in (_mistyped, _incomplete):
        for rest, write, place in fewer:
            for wrong in mistake(write):
                yield (*rest[:place], wrong, *rest[place:]), place


def _mistyped(call: Call) -> Iterator[Call]:
    for name, value in call.args.items():
        if _is_id(value):
            for typo in (value[:-2] + value[-1] + value[-2], value + "0", value[:-1]):
                if typo != value:
                    yield replace(call, args={**call.args, name: typo}, name=None)


def _incomplete(call: Call) -> Iterator[Call]:
    for name in call.args:
        yield replace(call, args={n: v for n, v in call.args.items() if n != name}, name=None)


def _beside(calls: Calls, writes: frozenset[str], neighbours: _Neighbours) -> Iterator[Calls]:
    """An id in a write is that of a row beside it: in this write alone, then in all calls that name it."""
    found = [
        (number, name, value, other)
        for number, call in enumerate(calls)
        if call.tool in writes
        for name, value in call.args.items()
        if _is_id(value)
        for other in neighbours.of(value)
    ]
    for number, name, _, other in found:
        yield _with_argument(calls, number, name, other)
    for _, _, value, other in found:
        yield tuple(
            replace(c, args={n: other if v == value else v for n, v in c.args.items()})
            if c.tool in writes
            else c
            for c in calls
        )


def _miscounted(calls: Calls, writes: frozenset[str]) -> Iterator[Calls]:
    """A number or a date in a write is not the right one."""
    for number, call in enumerate(calls):
        if call.tool in writes:
            for name, value in call.args.items():
                for wrong in _wrong_values(value):
                    yield _with_argument(calls, number, name, wrong)


def _wrong_values(value: Any) -> Iterator[Any]:
    if isinstance(value, bool):
        return
    if isinstance(value, int):
        yield from (value + 1, value - 1, value * 2)
    elif isinstance(value, float):
        yield from (round(value * 1.1, 2), round(value * 0.9, 2), round(value + 5, 2), round(value / 2, 2))
    elif isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value):
        try:
            day = date.fromisoformat(value)
        except ValueError:
            return
        for days in (1, -1, 7):
            yield (day + timedelta(days=days)).isoformat()


def _with_argument(calls: Calls, number: int, name: str, value: Any) -> Calls:
    changed = replace(calls[number], args={**calls[number].args, name: value})
    return (*calls[:number], changed, *calls[number + 1 :])


class _Neighbours:
    """Ids of rows that stand beside a row in its table, from the seed and the task's own rows."""

    def __init__(self, world: World, task_id: str) -> None:
        self._keys = dict(_keys_of_seed(world))
        own = world.pack.tasks[task_id].world
        for table, found in _ids(world, ((t, values) for t, rows in own.items() for values in rows)).items():
            self._keys[table] = sorted(found.union(self._keys.get(table, ())))

    def of(self, value: str) -> list[str]:
        """Up to six, the nearest first."""
        for keys in self._keys.values():
            at = bisect_left(keys, value)
            if at < len(keys) and keys[at] == value:
                places = sorted(
                    range(max(0, at - 3), min(len(keys), at + 4)), key=lambda place: abs(place - at)
                )
                return [keys[place] for place in places[1:]]
        return []


_seeds: weakref.WeakKeyDictionary[World, dict[str, list[str]]] = weakref.WeakKeyDictionary()


def _keys_of_seed(world: World) -> dict[str, list[str]]:
    """The ids of the seed's rows, sorted, by table; found once for each world."""
    known = _seeds.get(world)
    if known is None:
        found = _ids(world, ((row.table, row.values) for row in world.pack.seed))
        known = _seeds[world] = {table: sorted(ids) for table, ids in found.items()}
    return known


def _ids(world: World, rows: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for table, values in rows:
        key = world.tables[table].primary_key
        value = values.get(key[0]) if len(key) == 1 else None
        if isinstance(value, str) and _is_id(value):
            found.setdefault(table, set()).add(value)
    return found


def _is_id(value: Any) -> bool:
    """Something like ORD-1007: text with a digit in it that is no date and no reference to a result."""
    return (
        isinstance(value, str)
        and re.fullmatch(r"(?!\d{4}-\d{2}-\d{2})[A-Za-z0-9][A-Za-z0-9_.#-]{2,39}", value) is not None
        and any(c.isdigit() for c in value)
    )
