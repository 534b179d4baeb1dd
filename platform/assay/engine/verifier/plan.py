"""The calls that make a task's outcome, ready to be altered and played again.

Look-ups leave no trace, so only the writes are kept, with what look-ups returned filled in. A look-up stays when a
later call needs an id from it that was generated in the trial, since another play may generate another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.engine.sandbox import ChangeSet, World
from assay.engine.sandbox.replay import references, resolve
from assay.engine.verifier.arguments import with_value as put
from assay.engine.verifier.subject import Gold

#: Keys and list positions that lead to a value inside arguments.
Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """One call. `place`: the number of the expected action it stands for, from 1; 0 for one that is none.

    `args` may hold references to results of earlier steps, `open` says whether; `given` are the arguments as they
    were in the gold, with every reference filled in.
    """

    place: int
    tool: str
    args: Mapping[str, Any]
    given: Mapping[str, Any]
    name: str | None = None
    open: bool = False
    writes: bool = True


@dataclass(frozen=True, slots=True)
class Plan:
    """The steps of a task's gold, and the ids that they generated."""

    steps: tuple[Step, ...]
    generated: frozenset[Any]

    def writes(self) -> list[tuple[int, Step]]:
        """(position, step) of every write."""
        return [(n, s) for n, s in enumerate(self.steps) if s.writes]


@dataclass(frozen=True, slots=True)
class Played:
    """What playing steps came to. `refused`: position -> error code of the calls that a tool refused."""

    changes: ChangeSet
    refused: Mapping[int, str]
    wrote: frozenset[int]


def plan_of(gold: Gold) -> Plan:
    """The plan of a task's expected actions."""
    names = {action.as_: number for number, action in enumerate(gold.actions) if action.as_ is not None}
    writes = [outcome.kind == "write" for outcome in gold.outcomes]
    generated = gold.changes.generated
    needed = {n for n, is_write in enumerate(writes) if is_write}
    steps: list[Step] = []
    for number in reversed(range(len(gold.actions))):
        if number not in needed:
            continue
        action = gold.actions[number]
        kept: set[int] = set()

        def keep(source: int, value: Any, kept: set[int] = kept) -> bool:
            if not writes[source] and not (isinstance(value, str | int) and value in generated):
                return False
            kept.add(source)
            return True

        args = {k: _filled(v, gold.arguments[number][k], names, keep) for k, v in action.args.items()}
        needed |= kept
        steps.append(
            Step(
                number + 1, action.tool, args, gold.arguments[number], action.as_, bool(kept), writes[number]
            )
        )
    return Plan(tuple(reversed(steps)), generated)


def _filled(value: Any, given: Any, names: Mapping[str, int], keep: Any) -> Any:
    """`value` with references replaced by what they gave, except those that `keep` wants kept."""
    if isinstance(value, Mapping):
        return {k: _filled(v, given[k], names, keep) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_filled(v, g, names, keep) for v, g in zip(value, given, strict=True)]
    if isinstance(value, str) and value.startswith("$") and not value.startswith("$$"):
        return value if keep(names[value[1:].split(".")[0]], given) else escaped(given)
    return value


def escaped(value: Any) -> Any:
    """A value as arguments write it: a text that begins with `$` is no reference."""
    if isinstance(value, str) and value.startswith("$"):
        return "$" + value
    if isinstance(value, Mapping):
        return {k: escaped(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [escaped(v) for v in value]
    return value


def with_value(step: Step, path: Path, value: Any) -> Step:
    """The step with another value at a path of its arguments."""
    args = put(step.args, path, escaped(value))
    return replace(step, args=args, given=put(step.given, path, value))


def with_more(step: Step, name: str, value: Any) -> Step:
    """The step with one argument more."""
    return replace(step, args={**step.args, name: escaped(value)}, given={**step.given, name: value})


def without(step: Step, path: Path) -> Step:
    """The step with the argument, or the element of a list, left out."""
    return replace(step, args=_removed(step.args, path), given=_removed(step.given, path))


def without_step(steps: Sequence[Step], position: int) -> tuple[Step, ...]:
    """The steps without one and without those that need its result."""
    gone, names = {position}, {steps[position].name} - {None}
    for later in range(position + 1, len(steps)):
        if steps[later].open and names & references(steps[later].args):
            gone.add(later)
            names |= {steps[later].name} - {None}
    return tuple(s for n, s in enumerate(steps) if n not in gone)


def perform(world: World, task_id: str, steps: Sequence[Step], stop_at: int | None = None) -> Played | None:
    """Play steps on a fresh sandbox, as a bot would that goes on after a refusal.

    A step whose reference cannot be filled is left out. None when the step at position `stop_at` is refused.
    Raises PackFault when a tool exceeds its bounds.
    """
    results: dict[str, Any] = {}
    refused: dict[int, str] = {}
    wrote: set[int] = set()
    with world.open(task_id) as sandbox:
        for number, step in enumerate(steps):
            try:
                arguments = resolve(step.args, results)
            except LookupError:
                refused[number] = "unknown_reference"
                if number == stop_at:
                    return None
                continue
            outcome = sandbox.call(step.tool, arguments)
            if not outcome.ok:
                refused[number] = outcome.error or ""
                if number == stop_at:
                    return None
            else:
                if step.name is not None:
                    results[step.name] = outcome.content
                if outcome.wrote:
                    wrote.add(number)
        return Played(sandbox.changes(), refused, frozenset(wrote))


def _removed(value: Any, path: Path) -> Any:
    if isinstance(value, Mapping):
        if len(path) == 1:
            return {k: v for k, v in value.items() if k != path[0]}
        return {k: _removed(v, path[1:]) if k == path[0] else v for k, v in value.items()}
    if len(path) == 1:
        return [v for n, v in enumerate(value) if n != path[0]]
    return [_removed(v, path[1:]) if n == path[0] else v for n, v in enumerate(value)]
