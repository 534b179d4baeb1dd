"""Time travel: the database as it was after every call of a trial. No copies are kept; the calls are made again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.engine.dialogue.transcript import Transcript
from assay.engine.replaying.replaying import Replay, UnlikeCall
from assay.engine.sandbox import ChangeSet, World
from assay_sdk import AssayError

#: Rows of a table that are read back at once.
MOST_ROWS = 500


class NoSuchMoment(AssayError):
    """There is no such call, table or row; the message says what there is."""


@dataclass(frozen=True, slots=True)
class State:
    """The world after one call. `call`: its number, -1 before the first. `changes`: all rows changed by then, net.

    `unlike`: the first call so far that now comes to something else than was recorded (another version of the pack,
    for example); None means that this is the world the bot saw. `table` and `rows`: what was asked for, if anything.
    """

    call: int
    changes: ChangeSet
    unlike: UnlikeCall | None = None
    table: str | None = None
    rows: tuple[Mapping[str, Any], ...] = ()


def history(world: World, task_id: str, transcript: Transcript) -> Iterator[State]:
    """The world before the first call, then after each, from one walk through the calls. Raises PackFault."""
    with Replay(world, task_id, transcript) as replay:
        yield State(-1, replay.sandbox.changes())
        found: UnlikeCall | None = None
        for step in replay.steps():
            found = found or step.unlike
            yield State(step.call.call, replay.sandbox.changes(), found)


def state_at(
    world: World,
    task_id: str,
    transcript: Transcript,
    call: int,
    *,
    table: str | None = None,
    key: Mapping[str, Any] | None = None,
) -> State:
    """The world after call number `call` (-1: before the first), with the rows of `table` as they were then.

    `key`: column -> value, to read only the rows that hold these values; at most MOST_ROWS rows are given, in the
    order of the primary key. Raises NoSuchMoment, PackFault.
    """
    if task_id not in world.pack.tasks:
        raise NoSuchMoment(f"The pack has no task {task_id}.")
    with Replay(world, task_id, transcript) as replay:
        numbers = [c.call for c in replay.calls]
        if call != -1 and call not in numbers:
            there = f"calls 0 to {numbers[-1]}" if numbers else "no calls"
            raise NoSuchMoment(f"There is no call {call}: the trial made {there} (-1 is before the first).")
        unlike = replay.go_to(call)
        rows: tuple[Mapping[str, Any], ...] = ()
        if table is not None:
            info = world.tables.get(table)
            if info is None:
                raise NoSuchMoment(f"There is no table {table}; there are {', '.join(sorted(world.tables))}.")
            strange = sorted(set(key or {}) - set(info.columns))
            if strange:
                raise NoSuchMoment(f"{table} has no column {strange[0]}; it has {', '.join(info.columns)}.")
            rows = tuple(replay.sandbox.rows_of(table, key or {}, MOST_ROWS))
        return State(call, replay.sandbox.changes(), unlike, table, rows)
