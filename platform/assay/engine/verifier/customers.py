"""The expected calls made for another customer: every row of the right one replaced by a row of a neighbour."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.engine.packs.models import Task
from assay.engine.sandbox import World
from assay.engine.verifier.alterations import leaves
from assay.engine.verifier.content import Content, Place
from assay.engine.verifier.plan import Plan, Step, with_value

#: Neighbours that are looked at, and lists of calls made.
MOST_TRIED = 40
MOST_MADE = 2
#: A shorter cell says too little to be taken for the customer's own.
SHORTEST = 4


def for_others(
    world: World, task: Task, plan: Plan, content: Content
) -> Iterator[tuple[Any, tuple[Step, ...]]]:
    """(key of another customer, the calls made for them), the most alike first."""
    used = _used(plan, content)
    root = customer_of(world, task, used, content)
    if root is None:
        return
    belonging = [place for place in used if root in content.above(place)]
    made = 0
    for key in content.nearest(root)[:MOST_TRIED]:
        values = _exchanged(root, (root[0], key), belonging, content)
        if values is None:
            continue
        steps = tuple(_with_values(step, values) if step.writes else step for step in plan.steps)
        if steps != plan.steps:
            yield key[0], steps
            made += 1
            if made == MOST_MADE:
                return


def customer_of(world: World, task: Task, used: Mapping[Place, Any], content: Content) -> Place | None:
    """The row that a task is about: of those that its rows belong to, the one that the facts tell most about; then
    the one that most of the rows belong to; then one of the table that most tables refer to."""
    told = {fact.value.strip().casefold() for fact in task.user.facts}
    inbound = dict.fromkeys(world.tables, 0)
    for info in world.tables.values():
        for parent in {p for p, _ in info.foreign_keys.values()}:
            inbound[parent] += 1
    reached: dict[Place, int] = {}
    for place in used:
        for above in content.above(place):
            reached[above] = reached.get(above, 0) + 1

    def weight(place: Place) -> tuple[int, int, int]:
        cells = [v for v in content.row(place).values() if isinstance(v, str) and len(v) >= SHORTEST]
        return sum(v.strip().casefold() in told for v in cells), reached[place], inbound[place[0]]

    candidates = [p for p in reached if len(p[1]) == 1 and len(content.rows[p[0]]) > 1]
    return max(candidates, key=weight, default=None)


def _used(plan: Plan, content: Content) -> dict[Place, Any]:
    """The rows of before the trial that the writes name."""
    found: dict[Place, Any] = {}
    for _, step in plan.writes():
        for _, value, _ in leaves(step.given, None):
            if isinstance(value, str) and value not in plan.generated:
                for place, _ in content.named(value)[:1]:
                    found.setdefault(place, value)
    return found


def _exchanged(root: Place, other: Place, belonging: list[Place], content: Content) -> dict[str, Any] | None:
    """Values of the one customer's rows and what stands in the other's for them; None when one is missing."""
    pairs: list[tuple[Place, Place]] = [(root, other)]
    for place in belonging:
        if place == root:
            continue
        theirs = content.below(place[0], other)
        key = next((k for k in content.nearest(place) if k in theirs), None)
        if key is None:
            return None
        pairs.append((place, (place[0], key)))
    values: dict[str, Any] = {}
    for one, another in pairs:
        first, second = content.row(one), content.row(another)
        for column, value in first.items():
            if isinstance(value, str) and len(value) >= SHORTEST and isinstance(second[column], str):
                values.setdefault(value.casefold(), second[column])
    return values


def _with_values(step: Step, values: Mapping[str, Any]) -> Step:
    for path, value, _ in leaves(step.given, None):
        if isinstance(value, str) and value.casefold() in values:
            step = with_value(step, path, values[value.casefold()])
    return step
