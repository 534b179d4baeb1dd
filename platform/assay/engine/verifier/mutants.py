"""Mutants of a task's expected calls: lists of calls that a bot could have made and that must not pass."""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from assay.engine.packs.models import Task
from assay.engine.sandbox import World
from assay.engine.verifier.alterations import MOST_CHOICES, altered, leaves, mistyped
from assay.engine.verifier.arguments import value_at
from assay.engine.verifier.content import Content
from assay.engine.verifier.customers import for_others
from assay.engine.verifier.plan import Path, Plan, Step, with_more, with_value, without, without_step
from assay.engine.verifier.subject import Gold

#: Kinds of mutants in the order in which they are shown, and what each is.
KINDS: Mapping[str, str] = {
    "drop": "a write is never made (nor what needs its result)",
    "double": "a write is made twice",
    "row": "an argument names a neighbouring row",
    "foreign_key": "a row made or changed refers to a neighbouring row",
    "amount_cent": "an amount is one cent off",
    "amount_tenth": "an amount is 10 % off",
    "amount_sign": "an amount has the other sign",
    "integer": "a count is one off",
    "date": "a date is one day off",
    "time": "a time of day is one hour off",
    "enum": "another of the values that the tool allows",
    "boolean": "yes for no",
    "text": "a known text (an address, a code, a name) is mistyped or is another row's",
    "element": "an element of a list is left out",
    "omit": "an optional argument is left out",
    "extra": "an optional argument is given that is none of this case's",
    "unrelated": "all is right, and a write of another task is made as well",
    "customer": "all is done for the wrong customer",
}

#: Mutants of one task; what is beyond is not tried, and a finding says so.
MOST = 1_500
#: Writes of other tasks that are tried, and kept, for each task.
MOST_UNRELATED_TRIED = 16
MOST_UNRELATED = 2
#: Values of other tasks that are tried for an argument that a task leaves out.
MOST_LENT = 2
#: A longer text is told in words, not by a code or an address.
LONGEST_TEXT = 80


@dataclass(frozen=True, slots=True)
class Pool:
    """What the tasks of a pack lend each other. `writes`: those that need no result of another call, each once.
    `values`: what the tasks give as (tool, argument), in their order.
    """

    writes: tuple[Step, ...]
    values: Mapping[tuple[str, str], tuple[Any, ...]]

    @classmethod
    def of(cls, plans: Mapping[str, Plan]) -> Pool:
        writes: dict[str, Step] = {}
        values: dict[tuple[str, str], dict[str, Any]] = {}
        for plan in plans.values():
            for _, step in plan.writes():
                if not step.open and not _holds(step.given, plan.generated):
                    writes.setdefault(f"{step.tool} {step.args!r}", Step(0, step.tool, step.args, step.given))
                for name, value in step.given.items():
                    if value is not None and not _holds(value, plan.generated):
                        values.setdefault((step.tool, name), {}).setdefault(repr(value), value)
        return cls(tuple(writes.values()), {key: tuple(found.values()) for key, found in values.items()})


@dataclass(frozen=True, slots=True)
class Mutant:
    """`key`: how the report and `expected.equivalents` name it. `place`: the action it alters, 0 for none.

    `at`: position of the altered call among `steps`, when a refusal of that call settles the matter.
    """

    kind: str
    key: str
    place: int
    steps: tuple[Step, ...]
    at: int | None = None


def mutants(world: World, gold: Gold, plan: Plan, content: Content, pool: Pool) -> Iterator[Mutant]:
    """The mutants of a task, the same ones in the same order every time."""
    for number, step in plan.writes():
        yield Mutant("drop", _key("drop", step), step.place, without_step(plan.steps, number))
        yield Mutant("double", _key("double", step), step.place, _doubled(plan.steps, number), number + 1)
        wrongs = chain(_wrong_steps(world, gold, step, content), _with_more(world, step, pool))
        for kind, path, wrong in wrongs:
            value = None if kind in ("element", "omit") else value_at(wrong.given, path)
            steps = (*plan.steps[:number], wrong, *plan.steps[number + 1 :])
            yield Mutant(kind, _key(kind, step, path, value), step.place, steps, number)
    place = len(gold.actions) + 1
    for number, step in enumerate(_unrelated(plan, pool.writes, gold.task)):
        key = f"unrelated:{place}.{step.tool}={number + 1}"
        yield Mutant("unrelated", key, 0, (*plan.steps, step), len(plan.steps))
    for other, steps in for_others(world, gold.task, plan, content):
        yield Mutant("customer", f"customer:0={_said(other)}", 0, steps)


def _wrong_steps(world: World, gold: Gold, step: Step, content: Content) -> Iterator[tuple[str, Path, Step]]:
    spec = world.compiled[step.tool].spec.input_schema
    cells = _reference_cells(world, gold, step)
    seen: set[str] = set()
    for path, value, schema in leaves(step.given, spec):
        if isinstance(value, str) and _is_known_text(gold, step, value, schema, content):
            yield "text", path, with_value(step, path, mistyped(value))
        for kind, wrong in altered(path, value, schema, content):
            told = f"{path} {wrong!r}"
            if told not in seen and not (type(wrong) is type(value) and wrong == value):
                seen.add(told)
                stored = kind == "row" and value in cells
                yield "foreign_key" if stored else kind, path, with_value(step, path, wrong)
    for path, length in _lists(step.given):
        if length > 1:
            for number in range(min(length, MOST_CHOICES)):
                yield "element", (*path, number), without(step, (*path, number))
    required = spec.get("required", ())
    for name, value in step.given.items():
        default = spec.get("properties", {}).get(name, {}).get("default")
        if name not in required and value is not None and value != default:
            yield "omit", (name,), without(step, (name,))


def _with_more(world: World, step: Step, pool: Pool) -> Iterator[tuple[str, Path, Step]]:
    """The step with an optional argument that it leaves out: each value of an enum, yes for no, else what other tasks
    give there."""
    spec = world.compiled[step.tool].spec.input_schema
    required = spec.get("required", ())
    for name, schema in spec.get("properties", {}).items():
        if name in required or name in step.given:
            continue
        for value in _choices(schema, pool.values.get((step.tool, name), ())):
            if value is not None and value != schema.get("default"):
                yield "extra", (name,), with_more(step, name, value)


def _choices(schema: Mapping[str, Any], lent: Sequence[Any]) -> Sequence[Any]:
    if isinstance(schema.get("enum"), list):
        return list(schema["enum"][:MOST_CHOICES])
    if schema.get("type") == "boolean":
        return [not schema.get("default", False)]
    return lent[:MOST_LENT]


def _reference_cells(world: World, gold: Gold, step: Step) -> set[Any]:
    """Values that a step put into foreign keys of rows that it made or changed."""
    found: set[Any] = set()
    for row in gold.changes.rows:
        if row.call != step.place - 1:
            continue
        for column in world.tables[row.table].foreign_keys:
            value = (row.after or {}).get(column)
            if value is not None and (row.before is None or row.before[column] != value):
                found.add(value)
    return found


def _is_known_text(gold: Gold, step: Step, value: str, schema: Mapping[str, Any], content: Content) -> bool:
    """Whether a text is one that the customer tells or a look-up returned, and neither an id nor free wording."""
    if "enum" in schema or not 3 <= len(value) <= LONGEST_TEXT or content.named(value):
        return False
    if next(altered((), value, schema, content), None) is not None:
        return False  # a date or a time, altered as such
    folded = value.strip().casefold()
    if any(fact.value.strip().casefold() == folded for fact in gold.task.user.facts):
        return True
    earlier = gold.outcomes[: step.place - 1]
    return any(o.kind == "read" and _holds(o.content, frozenset((value,))) for o in earlier)


def _unrelated(plan: Plan, pool: Sequence[Step], task: Task) -> list[Step]:
    """Writes of other tasks, another choice for each task; none that the task makes itself."""
    own = {f"{s.tool} {s.given!r}" for s in plan.steps}
    others = [s for s in pool if f"{s.tool} {s.given!r}" not in own]
    start = zlib.crc32(task.id.encode()) % max(1, len(others))
    return [*others[start:], *others[:start]][:MOST_UNRELATED_TRIED]


def _doubled(steps: Sequence[Step], number: int) -> tuple[Step, ...]:
    again = Step(steps[number].place, steps[number].tool, steps[number].args, steps[number].given,
                 None, steps[number].open)  # fmt: skip
    return (*steps[: number + 1], again, *steps[number + 1 :])


def _lists(value: Any, path: Path = ()) -> Iterator[tuple[Path, int]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _lists(inner, (*path, key))
    elif isinstance(value, list | tuple):
        yield path, len(value)
        for number, inner in enumerate(value):
            yield from _lists(inner, (*path, number))


def _holds(value: Any, wanted: frozenset[Any]) -> bool:
    """Whether one of the wanted values stands somewhere in a value."""
    if isinstance(value, Mapping):
        return any(_holds(inner, wanted) for inner in value.values())
    if isinstance(value, list | tuple):
        return any(_holds(inner, wanted) for inner in value)
    return isinstance(value, str) and value in wanted


def _key(kind: str, step: Step, path: Path = (), value: Any = None) -> str:
    where = ".".join([f"{step.place}", step.tool, *map(str, path)])
    return f"{kind}:{where}" if value is None else f"{kind}:{where}={_said(value)}"


def _said(value: Any) -> str:
    """A value in a key: booleans as YAML writes them, texts on one line and not too long."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
