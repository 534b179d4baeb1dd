"""Look-ups that would have returned a value which no action looked up: what to write to make it known."""

from __future__ import annotations

import itertools
import json
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
                return self._search(sandbox, task_id, before, value)
        except (ReplayError, PackFault):
            return None
        finally:
            self._left -= time.monotonic() - begun

    def _search(self, sandbox: Sandbox, task_id: str, before: int, value: Any) -> str | None:
        gold = self._subject.gold(task_id)
        keys: dict[Any, None] = {f.value: None for f in gold.task.user.facts}
        for outcome in gold.outcomes[:before]:
            keys |= dict.fromkeys(_keys(outcome.content))
        tools = [
            s for s in self._subject.world.specs if s.kind == "read" and not s.name.startswith("knowledge_")
        ]
        tried: set[str] = set()
        for _ in range(2):  # what a first look-up returns may be the key of a second one
            found: dict[Any, None] = {}
            for call in (c for tool in tools for c in _calls(tool, list(keys))):
                text = json.dumps(call, sort_keys=True)
                if text in tried:
                    continue
                if len(tried) >= MOST_CALLS:
                    return None
                tried.add(text)
                outcome = sandbox.call(call[0], call[1])
                if not outcome.ok or outcome.empty:
                    continue
                for path, leaf in leaves(outcome.content):
                    if _is(leaf, value):
                        given = ", ".join(f"{k}: {v}" for k, v in call[1].items())
                        return f"{call[0]} {{{given}}} returns it as {path or 'its result'}"
                found |= dict.fromkeys(_keys(outcome.content))
            keys = found
        return None


def _calls(tool: ToolSpec, keys: list[Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    required = list(tool.input_schema.get("required", ()))
    properties = tool.input_schema.get("properties", {})
    if len(required) > 2:
        return
    choices = []
    for name in required:
        schema = properties.get(name, {})
        if "enum" in schema:
            choices.append(list(schema["enum"]))
        elif schema.get("type") in ("integer", "number"):
            choices.append([k for k in keys if isinstance(k, int | float)])
        else:
            choices.append([k for k in keys if isinstance(k, str)])
    for values in itertools.product(*choices):
        yield tool.name, dict(zip(required, values, strict=True))


def _keys(content: Any) -> Iterator[Any]:
    for _, leaf in leaves(content):
        if isinstance(leaf, str) and 0 < len(leaf) <= _LONGEST_KEY:
            yield leaf


def _is(leaf: Any, value: Any) -> bool:
    if isinstance(leaf, str) and isinstance(value, str):
        return plain(leaf) == plain(value)
    return type(leaf) is not bool and isinstance(leaf, int | float) and leaf == value
