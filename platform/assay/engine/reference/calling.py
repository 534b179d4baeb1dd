"""How the reference bots call tools: what went wrong and can be repeated is repeated, as a careful bot does."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from assay.engine.sandbox.replay import resolve
from assay_sdk import ToolDoor, ToolResult

#: Error codes after which a call can be made again as it is. docs/reference/faults.md says what each means.
TRANSIENT = frozenset({"timeout", "rate_limited", "server_error"})
#: Calls of one action. No fault profile disturbs a call more often in a row than this allows for.
MOST_TRIES = 5


class Caller:
    """Makes calls through a door. `recovers`: how often it tries again where that would help, from 0 (takes every
    answer as it comes) to 1 (always). The same seed and answers give the same calls."""

    def __init__(self, tools: ToolDoor, writes: frozenset[str], seed: int, recovers: float = 1.0) -> None:
        self._tools, self._writes, self._recovers = tools, writes, recovers
        self._dice = random.Random(seed ^ 0x5EED)  # noqa: S311 - a draw that can be repeated, nothing secret
        self._results: dict[str, Any] = {}
        self._made: dict[str, tuple[str, Mapping[str, Any], ToolResult]] = {}
        self.left_wrong: list[int] = []

    async def act(self, action: Mapping[str, Any]) -> None:
        """Make one action of the pack format, following `$name.field`. Raises LookupError when what it refers to is
        not there although every answer was as it should be."""
        tool, name = str(action["tool"]), action.get("as")
        try:
            arguments = await self._resolved(action["args"])
        except LookupError:
            if self.left_wrong:
                return  # it was never told what it needs, and goes on as if it had done this
            raise
        result = await self.call(tool, arguments)
        if name is not None:
            self._results[str(name)] = result.content
            self._made[str(name)] = (tool, arguments, result)

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ToolResult:
        """The answer, after as many tries as it takes; the last one when it gives up."""
        for _ in range(MOST_TRIES - 1):
            result = await self._tools.call(tool, arguments)
            # A notice on a write says that nothing was done again; another try would do it again.
            wanting = result.error in TRANSIENT or (result.notice is not None and tool not in self._writes)
            if not wanting or not self._tries_again(result):
                return result
        return await self._tools.call(tool, arguments)

    async def _resolved(self, arguments: Any) -> Any:
        """Arguments with the references filled in. A look-up whose answer lacks the field is made again, since the
        field may have come under another name."""
        for reference in _references(arguments):
            made = self._made.get(reference[1:].split(".")[0])
            if made is None or made[0] in self._writes:
                continue
            tool, given, result = made
            for _ in range(MOST_TRIES):
                if _leads_somewhere(reference, self._results) or not self._tries_again(result):
                    break
                result = await self.call(tool, given)
                self._results[reference[1:].split(".")[0]] = result.content
        return resolve(arguments, self._results)

    def _tries_again(self, result: ToolResult) -> bool:
        if self._recovers >= 1 or self._dice.random() < self._recovers:
            return True
        self.left_wrong.append(result.call)
        return False


def _leads_somewhere(reference: str, results: Mapping[str, Any]) -> bool:
    try:
        resolve(reference, results)
    except LookupError:
        return False
    return True


def _references(value: Any) -> list[str]:
    """The texts inside arguments that refer to earlier results, in order."""
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in _references(inner)]
    if isinstance(value, list | tuple):
        return [text for inner in value for text in _references(inner)]
    refers = isinstance(value, str) and value.startswith("$") and not value.startswith("$$")
    return [value] if refers else []
