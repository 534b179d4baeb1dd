"""What a task expects, as the reference bots are given it."""

from __future__ import annotations

import re
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.engine.packs.checks import ReplyRule
from assay.engine.packs.models import Task
from assay.engine.reference.faults import Call, Calls, altered
from assay.engine.sandbox import World
from assay.engine.sandbox.replay import ReplayError, replay
from assay_sdk import AnswerKey, PackFault, PlatformFault

_keys: weakref.WeakKeyDictionary[World, dict[str, AnswerKey]] = weakref.WeakKeyDictionary()
_lock = threading.Lock()


def answer_key(world: World, task_id: str) -> AnswerKey:
    """The answer key of a task, made once for each world. Raises KeyError for an unknown task, PackFault."""
    with _lock:
        known = _keys.setdefault(world, {})
    if task_id not in known:
        known[task_id] = _made(world, task_id)
    return known[task_id]


def _made(world: World, task_id: str) -> AnswerKey:
    task = world.pack.tasks[task_id]
    calls = tuple(Call(a.tool, a.args, a.as_) for a in task.expected.actions)
    writes = frozenset(s.name for s in world.specs if s.kind == "write")
    looks_up = any(call.tool not in writes for call in calls)  # then nothing has to be guessed
    return AnswerKey(
        actions=[c.as_json() for c in calls],
        facts=[{"key": f.key, "value": f.value} for f in task.user.facts],
        reply=[_with_numbers(world, task, rule) for rule in task.reply],
        writes=writes,
        faults=_Faults(world, task_id, calls),
        look_ups=[] if looks_up else [c.as_json() for c in _look_ups(world, task, calls)],
    )


def _with_numbers(world: World, task: Task, rule: ReplyRule) -> dict[str, Any]:
    """A reply rule with the numbers that its query finds after the expected actions."""
    given = rule.model_dump()
    if rule.numbers_from is not None:
        with world.open(task.id) as sandbox:
            try:
                replay(sandbox, task.expected.actions)
            except ReplayError as error:
                raise PackFault(f"Task {task.id}: {error}") from error
            found = sandbox.column(rule.numbers_from)
        given["numbers"] = [*rule.numbers, *(float(v) for v in found if isinstance(v, int | float))]
    return given


class _Faults(Mapping[str, Sequence[Sequence[Mapping[str, Any]]]]):
    """Found when somebody asks: the faithful bot never does, and finding them takes many replays."""

    def __init__(self, world: World, task_id: str, calls: Calls) -> None:
        self._world = weakref.ref(world)  # the key is kept beside the world and must not keep it alive
        self._task_id = task_id
        self._calls = calls
        self._found: dict[str, list[list[dict[str, Any]]]] | None = None

    def _all(self) -> dict[str, list[list[dict[str, Any]]]]:
        if self._found is None:
            world = self._world()
            if world is None:
                raise PlatformFault("The world of this answer key is gone.")
            self._found = {
                fault: [[c.as_json() for c in calls] for calls in lists]
                for fault, lists in altered(world, self._task_id, self._calls).items()
            }
        return self._found

    def __getitem__(self, fault: str) -> list[list[dict[str, Any]]]:
        return self._all()[fault]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def _look_ups(world: World, task: Task, calls: Calls) -> list[Call]:
    """Read calls that a support bot would make first and that are known to find something: one by what the
    customer tells, one by what the actions are about."""
    told = [(_letters(f.key), f.value) for f in task.user.facts]
    acted = [(_letters(name), value) for call in calls for name, value in call.args.items()]
    found: list[Call] = []
    with world.open(task.id) as sandbox:
        for values in (told, acted):
            for call in _possible(world, values):
                try:
                    outcome = sandbox.call(call.tool, call.args)
                except PackFault:
                    return found  # the sandbox may be given up; what was found so far still holds
                if outcome.ok and not outcome.empty and call not in found:
                    found.append(call)
                    break
    return found


def _possible(world: World, values: Sequence[tuple[str, Any]]) -> Iterator[Call]:
    """Calls of read tools by one argument whose name is in the name of a value."""
    for spec in world.specs:
        if spec.kind != "read" or spec.name.startswith("knowledge_"):
            continue
        required = list(spec.input_schema.get("required", ()))
        if len(required) > 1:
            continue
        for argument in required or spec.input_schema.get("properties", {}):
            value = next((v for name, v in values if _letters(argument) in name), None)
            if isinstance(value, str) and not value.startswith("$"):
                yield Call(spec.name, {argument: value})
                break


def _letters(text: str) -> str:
    """ "e-mail address" and "email_address" are the same name."""
    return re.sub(r"[^a-z0-9]", "", text.lower())
