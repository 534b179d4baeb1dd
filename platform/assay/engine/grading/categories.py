"""Why a trial failed: four rules, the first that matches. docs/reference/verdicts.md says them in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Any

from assay.engine.dialogue.transcript import ToolCall, Transcript
from assay.engine.grading.reach import Reach, reach
from assay.engine.grading.verdict import Category
from assay.engine.packs.models import Task, Tool
from assay.engine.sandbox import World
from assay.engine.sandbox.cells import instant
from assay.engine.sandbox.difference import Difference, RowDifference
from assay_sdk import CheckResult, Outcome

_KNOWLEDGE = "knowledge_"


@dataclass(frozen=True, slots=True)
class Cause:
    """`call`: the failed tool call of a tool-use error. `row`: the first row that is not as it should be."""

    category: Category
    call: ToolCall | None = None
    row: RowDifference | None = None
    check: CheckResult | None = None


def find_cause(
    task: Task, world: World, transcript: Transcript, difference: Difference, checks: Sequence[CheckResult]
) -> Cause:
    """The cause of a failure. `checks`: all results of the trial, of which at least one required one failed."""
    calls = [event for event in transcript.events if isinstance(event, ToolCall)]
    for number, call in enumerate(calls):
        if failed(call, calls[:number], world, task):
            cause = unrecovered(call, calls[number + 1 :], world, difference)
            if cause is not None:
                return cause
    if difference.rows and all(row.kind == "missing" for row in difference.rows):
        return Cause(Category.MISSING_STATE_CHANGE, row=difference.rows[0])
    if difference.rows:
        return Cause(Category.INCORRECT_STATE_UPDATE, row=_first(difference))
    broken = [c for c in checks if c.required and c.outcome is Outcome.FAIL]
    return Cause(Category.INCOMPLETE_RESPONSE, check=broken[0])


def failed(call: ToolCall, before: Sequence[ToolCall], world: World, task: Task) -> bool:
    """Whether a call failed: it was answered with an error, or it looked something up by a key that exists nowhere.

    An empty result for a key that exists is an answer (a customer without returns), and so is an empty search. What
    was injected on purpose is no failed call of the bot's.
    """
    if call.spoiled:
        return False
    if not call.ok:
        return True
    if call.kind != "read" or not call.empty or call.tool.startswith(_KNOWLEDGE):
        return False
    tool = world.pack.tools.get(call.tool)
    keys = list(_key_arguments(tool, call.arguments)) if tool else []
    if not keys:
        return False
    seen = {text for earlier in before if earlier.ok for text in _texts(earlier.result)}
    return any(not (key in _values_of(world) or key in _task_values(task) or key in seen) for key in keys)


def unrecovered(
    call: ToolCall, after: Sequence[ToolCall], world: World, difference: Difference
) -> Cause | None:
    """The cause of the failure, when the bot never recovered from this failed call; None when it did."""
    tool = world.pack.tools.get(call.tool)
    if call.kind == "read":
        if _found_another_way(call, after, world, tool):
            return None
        return Cause(Category.TOOL_USE_ERROR, call, _first(difference))
    if tool is not None:
        row = _unrecovered_write(call, after, world, reach(tool), difference)
    else:
        # A tool that does not exist could have stood for anything, so it stands for what is missing.
        row = next((row for row in difference.rows if row.kind == "missing"), None)
    return None if row is None else Cause(Category.TOOL_USE_ERROR, call, row)


def _unrecovered_write(
    call: ToolCall, after: Sequence[ToolCall], world: World, own: Reach, difference: Difference
) -> RowDifference | None:
    """The first row that the refused call could have made good and that nothing wrote afterwards.

    When a later call of the same tool wrote a row nobody expected, the bot did get it to work, on a wrong row.
    """
    writers = {later.call: later for later in after if later.ok or later.wrote}
    wrote = [(row, writers.get(_call_of(row))) for row in difference.rows]
    if any(
        row.kind == "unexpected" and writer is not None and writer.tool == call.tool and own.covers(row)
        for row, writer in wrote
    ):
        return None
    for row, writer in wrote:
        if row.kind == "unexpected" or not own.covers(row):
            continue
        other = world.pack.tools.get(writer.tool) if writer is not None else None
        if other is None or not reach(other).covers(row):
            return row
    return None


def _found_another_way(call: ToolCall, after: Sequence[ToolCall], world: World, tool: Tool | None) -> bool:
    """Whether the bot got hold of what the failed look-up was for.

    The same tool later found something; or a later successful call took or returned the key of a row in the table
    that the failed one had looked in. For articles: a later look-up found one.
    """
    successes = [later for later in after if later.ok and not later.empty]
    if any(later.tool == call.tool for later in successes):
        return True
    if tool is None:
        return any(later.tool.startswith(_KNOWLEDGE) for later in successes)
    keys = _keys_of(world, reach(tool).looks_in or "") - set(_texts(call.arguments))
    if not keys:  # a view, or rows without keys of their own: any later answer may be the one
        return bool(successes)
    for later in successes:
        if not keys.isdisjoint(_texts(later.arguments)) or not keys.isdisjoint(_texts(later.result)):
            return True
    return False


def _first(difference: Difference) -> RowDifference | None:
    """The row that tells most: a wrong cell, then a change nobody expected, then an absent one."""
    order = {"wrong": 0, "unexpected": 1, "missing": 2}
    return min(difference.rows, key=lambda row: order[row.kind], default=None)


def _call_of(row: RowDifference) -> int:
    return row.actual.call if row.actual is not None and row.actual.call is not None else -1


def _key_arguments(tool: Tool, arguments: Any) -> Iterator[str]:
    """Text arguments that say which row is meant: no fixed choices, no dates."""
    if not isinstance(arguments, Mapping):
        return
    properties = tool.input.get("properties", {})
    for name, value in arguments.items():
        schema = properties.get(name, {})
        free = not {"enum", "const", "format"} & set(schema)
        if free and isinstance(value, str) and value.strip() and not _is_time(value):
            yield value.strip().casefold()


def _is_time(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return instant(text) is not None
    return True


def _texts(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, folded, and every whole number as a text.

    A key such as 10001 is a number in YAML or in an INTEGER column, and a text in an argument.
    """
    if isinstance(value, str):
        yield value.strip().casefold()
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _task_values(task: Task) -> frozenset[str]:
    return frozenset(_texts([dict(row) for rows in task.world.values() for row in rows]))


def _values_of(world: World) -> frozenset[str]:
    return _seed_values(_Seed(world))


def _keys_of(world: World, table: str) -> set[str]:
    return set(_seed_keys(_Seed(world)).get(table, frozenset()))


@dataclass(frozen=True, eq=False)
class _Seed:
    """A world as the key of a cache: by the content of its pack."""

    world: World

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Seed) and self.world.pack.content_hash == other.world.pack.content_hash

    def __hash__(self) -> int:
        return hash(self.world.pack.content_hash)


@lru_cache(maxsize=8)
def _seed_values(seed: _Seed) -> frozenset[str]:
    return frozenset(text for row in seed.world.pack.seed for text in _texts(dict(row.values)))


@lru_cache(maxsize=8)
def _seed_keys(seed: _Seed) -> dict[str, frozenset[str]]:
    """Table in lower case -> the primary keys, of the seed and of every task's rows."""
    keys: dict[str, set[str]] = {}
    pack = seed.world.pack
    rows = [(row.table, row.values) for row in pack.seed]
    rows += [
        (table, row) for task in pack.tasks.values() for table, given in task.world.items() for row in given
    ]
    for table, values in rows:
        info = seed.world.tables.get(table)
        for column in info.primary_key if info else ():
            keys.setdefault(table.lower(), set()).update(_texts(values.get(column)))
    return {table: frozenset(found) for table, found in keys.items()}
