"""One trial's private world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal

import apsw

from assay.engine.sandbox import knowledge
from assay.engine.sandbox.arguments import BadArguments, read_arguments, recordable, written
from assay.engine.sandbox.changes import ChangeSet
from assay.engine.sandbox.inspection import quoted
from assay.engine.sandbox.problems import ToolFault, did_you_mean
from assay.engine.sandbox.recording import Recorder
from assay.engine.sandbox.rows import constraint_sentence
from assay.engine.sandbox.running import Refused, Runner
from assay.engine.sandbox.sqltext import SqlTextError
from assay.engine.sandbox.stage import Laid
from assay.engine.sandbox.tools import CompiledTool
from assay_sdk import PackFault

if TYPE_CHECKING:
    from assay.engine.sandbox.world import World


#: Bytes that a bot may write into a world, arguments of all calls together. A bot that floods the rows would
#: otherwise drive the pack's tools over their bounds, and its failure would look like a fault of the pack.
MOST_WRITTEN = 100_000


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
    """A world of its own for one trial, thrown away at the end (see stage.py for how).

    Made by `World.open`, which says what this raises. Not for use from several threads at once.
    """

    def __init__(self, world: World, overlay: Sequence[Laid], task_id: str | None) -> None:
        self.world = world
        self.task_id = task_id
        self._calls = 0
        self._written = 0
        self._closed = False
        self._stage = world.stages.take()
        try:
            self._stage.begin(overlay)
        except apsw.Error as error:
            self._stage.close()
            raise PackFault(f"The rows of task {task_id} cannot be laid over the world: {error}.") from error
        self._counters = self._stage.counters
        self._budget = self._stage.budget
        self._connection = self._stage.connection
        self._runner = Runner(self._connection, self._budget)
        self._recorder = Recorder(self._connection, world.tables)

    def call(self, tool: str, arguments: Mapping[str, Any] | str) -> CallOutcome:
        """Call a tool, as one transaction.

        Never raises for what the bot did wrong: an unknown tool, bad arguments and refusals are
        answered with ok=False. Raises PackFault when the tool exceeds its bounds or its SQL cannot
        run, RuntimeError when the sandbox is closed.
        """
        self._check_usable()
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
        if kind == "read":
            return self._run(number, compiled, values, given)
        size = written(given)
        if self._written + size > MOST_WRITTEN:
            says = (
                f"The calls that write may be given {MOST_WRITTEN:,} bytes in one conversation; this is more."
            )
            return CallOutcome(False, None, "invalid_arguments", says, kind, arguments=given)
        outcome = self._run(number, compiled, values, given)
        if outcome.wrote:
            self._written += size
        return outcome

    def skip_call(self) -> None:
        """A call that never arrived here still has a number: the next call gets the one after it."""
        self._check_usable()
        self._calls += 1

    def changes(self) -> ChangeSet:
        """Everything changed since the trial began, net. Raises RuntimeError, PackFault (as `call`)."""
        self._check_usable()
        return self._recorder.changes(self._counters.given)

    def column(self, sql: str) -> list[Any]:
        """The first column of a SELECT over this world, read only and within the bounds of a call. Raises PackFault."""
        self._check_usable()
        try:
            statement = self.world.column_statement(sql)
            self._budget.start()
            return [row[0] for row in self._runner.rows(statement, {})]
        except (SqlTextError, PackFault) as error:
            raise PackFault(f"The query {sql!r} cannot be used: {error}") from error

    @contextmanager
    def undone(self) -> Iterator[None]:
        """What is done inside is taken back at the end, as if it had never been: for trying what would happen.

        Raises RuntimeError and PackFault as `call`; PackFault at the end when a tool exceeded its bounds meanwhile.
        """
        self._check_usable()
        counted, calls, size = self._counters.mark(), self._calls, self._written
        writers = self._recorder.mark()
        self._connection.execute("SAVEPOINT undone")
        try:
            yield
        finally:
            self._check_usable()
            self._connection.execute("ROLLBACK TO undone")
            self._connection.execute("RELEASE undone")
            self._counters.back_to(counted)
            self._calls, self._written = calls, size
            self._recorder.back_to(writers)

    def rows_of(self, table: str, key: Mapping[str, Any], most: int) -> list[dict[str, Any]]:
        """Rows of a table as they are now, those whose columns hold `key`, by primary key, at most `most` of them.

        Raises KeyError for a table or column that does not exist, RuntimeError and PackFault as `call`.
        """
        self._check_usable()
        info = self.world.tables[table]
        if strange := set(key) - set(info.columns):
            raise KeyError(min(strange))
        names = ", ".join(map(quoted, info.columns))
        where = " AND ".join(f"{quoted(column)} IS ?" for column in key) or "1"
        order = ", ".join(map(quoted, info.primary_key))
        sql = f"SELECT {names} FROM {quoted(table)} WHERE {where} ORDER BY {order} LIMIT ?"  # noqa: S608 - names of the schema, quoted; values are bound
        self._budget.start()
        try:
            found = self._connection.execute(sql, (*key.values(), most)).fetchall()
        except apsw.Error as error:
            raise PackFault(f"The rows of {table} cannot be read: {error}.") from error
        return [dict(zip(info.columns, row, strict=True)) for row in found]

    def forget(self, table: str, key: Any) -> bool:
        """Take out the row with this primary key (of one column) and what hangs on it, in a world that is thrown away
        afterwards: other rows may go on referring to it. Whether there was such a row.

        Raises KeyError for a table that does not exist, PackFault when the row cannot be taken out.
        """
        self._check_usable()
        info = self.world.tables[table]
        if len(info.primary_key) != 1:
            return False
        self._budget.start()
        try:
            self._connection.execute("PRAGMA defer_foreign_keys = ON")
            self._connection.execute(
                f"DELETE FROM {quoted(table)} WHERE {quoted(info.primary_key[0])} = ?",  # noqa: S608 - names of the schema, quoted
                (key,),
            )
            return self._connection.changes() > 0
        except apsw.Error as error:
            raise PackFault(f"A row of {table} cannot be taken out: {error}.") from error

    def close(self) -> None:
        """Throw the world away. May be called more than once."""
        if not self._closed:
            self._closed = True
            self._recorder.close()
            self.world.stages.give_back(self._stage)

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _check_usable(self) -> None:
        if self._closed:
            raise RuntimeError("The sandbox is closed.")
        if not self._connection.in_transaction:
            # SQLite gives up the whole transaction when it interrupts a write or has no room left.
            raise PackFault("The sandbox was given up when a tool exceeded its bounds.")

    def _run(
        self, number: int, tool: CompiledTool, values: dict[str, Any], given: dict[str, Any]
    ) -> CallOutcome:
        writes = tool.spec.kind == "write"
        self._budget.start()
        mark = self._counters.mark() if writes else None
        done = wrote = False
        try:
            if writes:
                self._recorder.start_call()
                self._connection.execute("SAVEPOINT call")
            content = self._runner.run(tool, values)
            if writes:
                self._check_deferred()
                self._connection.execute("RELEASE call")
                wrote = self._recorder.end_call(number)
            done = True
        except Refused as refused:
            return CallOutcome(False, None, refused.error, refused.message, tool.spec.kind, arguments=given)
        except apsw.ConstraintError as error:
            return CallOutcome(
                False, None, "constraint", constraint_sentence(error), tool.spec.kind, arguments=given
            )
        except PackFault as fault:
            raise ToolFault(tool.spec.name, str(fault)) from fault
        finally:
            if mark is not None and not done:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK TO call")
                    self._connection.execute("RELEASE call")
                self._recorder.drop_call()
                self._counters.back_to(mark)
        empty = content is None or content == []
        return CallOutcome(True, content, None, None, tool.spec.kind, empty, wrote, given)

    def _check_deferred(self) -> None:
        """Deferred foreign keys are due at the end of a call, not of the trial."""
        if self._connection.status(apsw.SQLITE_DBSTATUS_DEFERRED_FKS)[0]:
            raise apsw.ConstraintError("FOREIGN KEY constraint failed")

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
