"""Look-ups that would have returned a value which no action looked up: what to write to make it known."""

from __future__ import annotations

import itertools
import json
import re
import time
from collections.abc import Iterator, Mapping
from typing import Any

from assay.engine.sandbox import Sandbox
from assay.engine.sandbox.replay import ReplayError, replay
from assay.engine.verifier.knowing import leaves, plain
from assay.engine.verifier.subject import Subject
from assay_sdk import PackFault, ToolSpec

#: Seconds for all hints of a verification, and calls for one of them: a hint is help, not a finding.
LONGEST = 4.0
MOST_CALLS = 300
_LONGEST_KEY = 60


class Hints:
    """Finds look-ups by trying them, as long as there is time."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._left = LONGEST

    def look_up(self, task_id: str, before: int, value: Any) -> str | None:
        """The call of a read tool, made with what is known before action `before` (from 0), that returns `value`."""
        if self._left <= 0:
            return None
        begun = time.monotonic()
        try:
            with self._subject.world.open(task_id) as sandbox:
                replay(sandbox, self._subject.gold(task_id).actions[:before])
                return self._search(sandbox, task_id, before, value, begun + self._left)
        except (ReplayError, PackFault):
            return None
        finally:
            self._left -= time.monotonic() - begun

    def _search(self, sandbox: Sandbox, task_id: str, before: int, value: Any, until: float) -> str | None:
        gold = self._subject.gold(task_id)
        keys: Keys = {f.value: {_letters(f.key)} for f in gold.task.user.facts}
        for outcome in gold.outcomes[:before]:
            _add_keys(keys, outcome.content)
        tools = [
            s for s in self._subject.world.specs if s.kind == "read" and not s.name.startswith("knowledge_")
        ]
        tried: set[str] = set()
        for _ in range(2):  # what a first look-up returns may be the key of a second one
            found: Keys = {}
            calls = [call for tool in tools for call in itertools.islice(_calls(tool, keys), MOST_CALLS)]
            for _, name, arguments in sorted(calls, key=lambda call: call[0]):
                text = name + json.dumps(arguments, sort_keys=True)
                if text in tried:
                    continue
                if len(tried) >= MOST_CALLS or time.monotonic() > until:
                    return None
                tried.add(text)
                outcome = sandbox.call(name, arguments)
                if not outcome.ok or outcome.empty:
                    continue
                for path, leaf in leaves(outcome.content):
                    if _is(leaf, value):
                        given = ", ".join(f"{k}: {v}" for k, v in arguments.items())
                        return f"{name} {{{given}}} returns it as {path or 'its result'}"
                _add_keys(found, outcome.content)
            keys = found
        return None


#: Values that a look-up may go by, with the names under which they were met.
Keys = dict[Any, set[str]]


def _calls(tool: ToolSpec, keys: Keys) -> Iterator[tuple[int, str, Mapping[str, Any]]]:
    """(rank, tool, arguments) for every way to fill the required arguments; those whose names fit have a low rank."""
    required = list(tool.input_schema.get("required", ()))
    properties = tool.input_schema.get("properties", {})
    if len(required) > 2:
        return
    choices: list[list[tuple[Any, bool]]] = []
    for name in required:
        schema = properties.get(name, {})
        fits = _letters(name)
        if "enum" in schema:
            choices.append([(value, True) for value in schema["enum"]])
            continue
        kinds = (int, float) if schema.get("type") in ("integer", "number") else (str,)
        values = [
            (value, any(fits in n or n in fits for n in names))
            for value, names in keys.items()
            if isinstance(value, kinds) and not isinstance(value, bool)
        ]
        choices.append(sorted(values, key=lambda pair: not pair[1]))
    for chosen in itertools.product(*choices):
        misfits = sum(not fitting for _, fitting in chosen)
        arguments = dict(zip(required, (value for value, _ in chosen), strict=True))
        yield 10 * misfits + len(required), tool.name, arguments


def _add_keys(keys: Keys, content: Any) -> None:
    for path, leaf in leaves(content):
        if isinstance(leaf, str) and 0 < len(leaf) <= _LONGEST_KEY:
            keys.setdefault(leaf, set()).add(_letters(path.rsplit(".", 1)[-1]))


def _letters(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())


def _is(leaf: Any, value: Any) -> bool:
    if isinstance(leaf, str) and isinstance(value, str):
        return plain(leaf) == plain(value)
    return type(leaf) is not bool and isinstance(leaf, int | float) and leaf == value
