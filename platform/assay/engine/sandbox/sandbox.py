"""One trial's private world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import apsw

from assay.engine.sandbox import knowledge
from assay.engine.sandbox.arguments import BadArguments, read_arguments, recordable
from assay.engine.sandbox.changes import ChangeSet
from assay.engine.sandbox.connection import connect
from assay.engine.sandbox.functions import Counters, add_functions
from assay.engine.sandbox.problems import did_you_mean
from assay.engine.sandbox.recording import Recorder
from assay.engine.sandbox.rows import constraint_sentence
from assay.engine.sandbox.running import STRIDE, Budget, Refused, Runner
from assay.engine.sandbox.sqltext import SqlTextError
from assay.engine.sandbox.tools import CompiledTool, Preparer
from assay_sdk import PackFault

if TYPE_CHECKING:
    from assay.engine.sandbox.world import World


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a tool call came to.

    `arguments`: the object that was passed, or the text that was not one. `empty`: ok, but it found
    nothing (null or an empty list). `wrote`: it changed at least one row.
    """

    ok: bool
    content: Any = None
    error: str | None = None
    message: str | None = None
    kind: Literal["read", "write", "unknown"] = "unknown"
    empty: bool = False
    wrote: bool = False
    arguments: Any = None


class Sandbox:
    """A world of its own for one trial: a fresh copy of the prepared image, thrown away at the end.

    Made by `World.open`. Not for use from several threads at once.
    """

    def __init__(self, world: World, image: bytes | bytearray, task_id: str | None) -> None:
        self.world = world
        self.task_id = task_id
        self._calls = 0
        self._closed = False
        self._counters = Counters()
        self._budget = Budget()
        self._connection = connect(world.vfs, image)
        add_functions(self._connection, world.now, world.today, self._counters)
        self._connection.set_progress_handler(self._budget, STRIDE)
        self._runner = Runner(self._connection, self._budget)
        self._recorder = Recorder(self._connection, world.tables)

    def call(self, tool: str, arguments: Mapping[str, Any] | str) -> CallOutcome:
        """Call a tool, as one transaction.

        Never raises for what the bot did wrong: an unknown tool, bad arguments and refusals are
        answered with ok=False. Raises PackFault when the tool exceeds its bounds or its SQL cannot
        run, RuntimeError when the sandbox is closed.
        """
        if self._closed:
            raise RuntimeError("The sandbox is closed.")
        number = self._calls
        self._calls += 1
        compiled = self.world.compiled.get(tool) if isinstance(tool, str) else None
        checker = compiled.arguments if compiled else self.world.checker(tool)
        kind: Literal["read", "write", "unknown"] = compiled.spec.kind if compiled else "read"
        try:
            given = read_arguments(arguments)
        except BadArguments as error:
            recorded = recordable(arguments)
            if checker is None:
                return self._unknown(tool, recorded)
            return CallOutcome(False, None, "invalid_arguments", str(error), kind, arguments=recorded)
        if checker is None:
            return self._unknown(tool, given)
        try:
            values = checker.bind(given)
        except BadArguments as error:
            return CallOutcome(False, None, "invalid_arguments", str(error), kind, arguments=given)
        if compiled is None:
            return self._knowledge(tool, values, given)
        return self._run(number, compiled, values, given)

    def changes(self) -> ChangeSet:
        """Everything changed since the trial began, net."""
        return self._recorder.changes(self._counters.given)

    def column(self, sql: str) -> list[Any]:
        """The first column of a SELECT over this world, read only and within the bounds of a call. Raises PackFault."""
        try:
            statement, _ = Preparer(self._connection, self.world.catalogue).prepare(sql, writes=False)
            if statement.parameters:
                raise PackFault(f"'{sql}' has a parameter; there is nothing to fill it with.")
            self._budget.start()
            return [row[0] for row in self._runner.rows(statement, {})]
        except (SqlTextError, PackFault) as error:
            raise PackFault(f"The query {sql!r} cannot be used: {error}") from error

    def close(self) -> None:
        """Throw the world away. May be called more than once."""
        if not self._closed:
            self._closed = True
            self._recorder.close()
            self._connection.close()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, number: int, tool: CompiledTool, values: dict[str, Any], given: dict[str, Any]) -> CallOutcome:
        writes = tool.spec.kind == "write"
        self._budget.start()
        mark = self._counters.mark() if writes else None
        done = wrote = False
        try:
            if writes:
                self._recorder.start_call()
                self._connection.execute("BEGIN")
            content = self._runner.run(tool, values)
            if writes:
                self._connection.execute("COMMIT")
                wrote = self._recorder.end_call(number)
            done = True
        except Refused as refused:
            return CallOutcome(False, None, refused.error, refused.message, tool.spec.kind, arguments=given)
        except apsw.ConstraintError as error:
            return CallOutcome(False, None, "constraint", constraint_sentence(error), tool.spec.kind, arguments=given)
        except PackFault as fault:
            raise PackFault(f"Tool {tool.spec.name}: {fault}") from fault
        finally:
            if mark is not None and not done:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                self._recorder.drop_call()
                self._counters.back_to(mark)
        empty = content is None or content == []
        return CallOutcome(True, content, None, None, tool.spec.kind, empty, wrote, given)

    def _knowledge(self, tool: str, values: dict[str, Any], given: dict[str, Any]) -> CallOutcome:
        articles = self.world.knowledge
        assert articles is not None
        content: Any
        if tool == knowledge.SEARCH:
            content = articles.search(values["query"], values["limit"])
        else:
            content = articles.read(values["section"])
            if content is None:
                message = f"No section {values['section'][:100]}."
                return CallOutcome(False, None, "not_found", message, "read", arguments=given)
        return CallOutcome(True, content, None, None, "read", not content, False, given)

    def _unknown(self, tool: object, given: Any) -> CallOutcome:
        name = recordable(tool)[:100]
        message = f"There is no tool {name}.{did_you_mean(name, self.world.tool_names)}"
        return CallOutcome(False, None, "unknown_tool", message, "unknown", arguments=given)


