"""A pack's world, prepared once and opened for every trial."""

from __future__ import annotations

import threading
from collections.abc import Mapping

import apsw

from assay.engine.packs.models import Pack, SeedRow
from assay.engine.packs.problems import PackError, Problem
from assay.engine.sandbox.arguments import ArgumentChecker
from assay.engine.sandbox.changes import ChangeSet
from assay.engine.sandbox.checks_file import check_checks
from assay.engine.sandbox.connection import connect, frozen_vfs
from assay.engine.sandbox.functions import Counters, add_functions, now_text, today_text
from assay.engine.sandbox.image import load_seed, open_empty, run_schema
from assay.engine.sandbox.inspection import Catalogue
from assay.engine.sandbox.knowledge import Knowledge
from assay.engine.sandbox.problems import (
    Findings,
    comparison_source,
    did_you_mean,
    ignored_source,
    task_source,
)
from assay.engine.sandbox.replay import ReplayError, replay
from assay.engine.sandbox.rows import RowWriter, check_reserved
from assay.engine.sandbox.sandbox import Sandbox
from assay.engine.sandbox.schema import TableInfo
from assay.engine.sandbox.sqltext import SqlTextError
from assay.engine.sandbox.stage import Laid, Stages
from assay.engine.sandbox.tools import CompiledTool, Preparer, Statement, compile_tool
from assay_sdk import PackFault, ToolSpec


class World:
    """The business database of a pack version, with its tools. Immutable; may be shared between threads.

    `now` is the frozen instant as now() gives it. Everything that trials share is read only.
    """

    def __init__(
        self,
        pack: Pack,
        image: bytes,
        catalogue: Catalogue,
        compiled: Mapping[str, CompiledTool],
        prefixes: frozenset[str],
        knowledge: Knowledge | None,
    ) -> None:
        """Use World.prepare."""
        self.pack = pack
        self.image = image
        self.catalogue = catalogue
        self.tables: Mapping[str, TableInfo] = catalogue.tables
        self.compiled = compiled
        self.prefixes = prefixes
        self.knowledge = knowledge
        self.now = now_text(pack.clock)
        self.today = today_text(pack.clock)
        self.vfs = frozen_vfs(pack.clock)
        articles = knowledge.specs if knowledge else ()
        self.specs: tuple[ToolSpec, ...] = (*(t.spec for t in compiled.values()), *articles)
        self.tool_names = frozenset(s.name for s in self.specs)
        self._lock = threading.RLock()
        self.stages = Stages(self.vfs, image, self.now, self.today)
        self._overlays: dict[str, tuple[Laid, ...]] = {}
        self._columns: dict[str, Statement] = {}
        self._expected: dict[str, tuple[ChangeSet, ...]] = {}

    @classmethod
    def prepare(cls, pack: Pack) -> World:
        """Build the world of a pack: schema, seed rows, tools, comparison rules, articles.

        Raises PackError with every problem found, each with file and line.
        """
        findings = Findings()
        connection = open_empty(frozen_vfs(pack.clock), now_text(pack.clock), today_text(pack.clock))
        try:
            found = run_schema(connection, pack, findings)
            findings.raise_if_any()  # everything below would only repeat what is wrong with the schema
            load_seed(connection, found, pack, findings)
            preparer = Preparer(connection, found)
            compiled: dict[str, CompiledTool] = {}
            prefixes: set[str] = set()
            for tool in pack.tools.values():
                done, made = compile_tool(pack, tool, preparer, findings)
                prefixes |= made
                if done is not None:
                    compiled[tool.name] = done
            check_reserved(pack.seed, frozenset(prefixes), findings)
            _check_comparison(pack, found, findings)
            check_checks(pack, found, findings)
            knowledge = Knowledge(pack.sections) if pack.sections else None
            findings.raise_if_any()
            image = connection.serialize("main")
        finally:
            connection.close()
        return cls(pack, image, found, compiled, frozenset(prefixes), knowledge)

    def open(self, task_id: str | None = None) -> Sandbox:
        """A private world for one trial of a task (or, without a task, the seed alone).

        Raises KeyError for an unknown task, PackFault when the task's rows do not fit.
        """
        return Sandbox(self, () if task_id is None else self._overlay(task_id), task_id)

    def expected(self, task_id: str) -> tuple[ChangeSet, ...]:
        """The accepted outcomes of a task, [actions, also_accept...], replayed once. Raises KeyError, PackFault."""
        with self._lock:
            known = self._expected.get(task_id)
            if known is None:
                task = self.pack.tasks[task_id]
                lists = [task.expected.actions, *(a.actions for a in task.expected.also_accept)]
                outcomes = []
                for actions in lists:
                    with self.open(task_id) as sandbox:
                        try:
                            replay(sandbox, actions)
                        except ReplayError as error:
                            raise PackFault(f"Task {task_id}: {error}") from error
                        outcomes.append(sandbox.changes())
                known = self._expected[task_id] = tuple(outcomes)
            return known

    def check_tasks(self) -> list[Problem]:
        """What is wrong with the tasks: rows that do not fit, actions that do not run, outcomes that prove nothing."""
        from assay.engine.sandbox.task_checks import check_tasks

        return check_tasks(self)

    def checker(self, tool: object) -> ArgumentChecker | None:
        """The argument checker of a tool, built-in ones included; None for an unknown tool."""
        if not isinstance(tool, str):
            return None
        if tool in self.compiled:
            return self.compiled[tool].arguments
        return self.knowledge.checkers.get(tool) if self.knowledge else None

    def column_statement(self, sql: str) -> Statement:
        """A SELECT for Sandbox.column, checked once. Raises SqlTextError."""
        with self._lock:
            known = self._columns.get(sql)
            if known is None:
                connection = connect(self.vfs, self.image)
                try:
                    add_functions(connection, self.now, self.today, Counters())
                    known, _ = Preparer(connection, self.catalogue).prepare(sql, writes=False)
                finally:
                    connection.close()
                if known.parameters:
                    raise SqlTextError(
                        f":{known.parameters[0]} is a parameter; there is nothing to fill it with."
                    )
                if not known.columns:
                    raise SqlTextError("It returns no column.")
                self._columns[sql] = known
            return known

    def lay_over(self, task_id: str, findings: Findings) -> tuple[Laid, ...]:
        """The statements that lay a task's rows over the seed; problems go into `findings`."""
        task = self.pack.tasks[task_id]
        rows = [
            SeedRow(table, values, task_source(self.pack, task_id, "world", table, number))
            for table, listed in task.world.items()
            for number, values in enumerate(listed)
        ]
        if not rows:
            return ()
        connection = connect(self.vfs, self.image)
        try:
            connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 0)  # rows come in any order
            add_functions(connection, self.now, self.today, Counters())
            check_reserved(rows, self.prefixes, findings, task_id)
            writer = RowWriter(connection, self.catalogue, findings, task_id)
            connection.execute("BEGIN")
            writer.lay_over(rows)
            connection.execute("COMMIT")
            writer.check_references()
            return tuple(writer.laid)
        finally:
            connection.close()

    def _overlay(self, task_id: str) -> tuple[Laid, ...]:
        with self._lock:
            known = self._overlays.get(task_id)
            if known is None:
                findings = Findings()
                known = self.lay_over(task_id, findings)
                if findings.problems:
                    raise PackFault(str(PackError(findings.problems)))
                self._overlays[task_id] = known
            return known


def _check_comparison(pack: Pack, found: Catalogue, findings: Findings) -> None:
    for table in pack.comparison.ignore_tables:
        if table not in found.tables:
            message = (
                f"'ignore_tables' names {table}, which does not exist.{did_you_mean(table, found.tables)}"
            )
            findings.add(ignored_source(pack, table), message, "unknown_table")
    for table, rules in pack.comparison.tables.items():
        if table not in found.tables:
            message = f"There is no table {table}.{did_you_mean(table, found.tables)}"
            findings.add(comparison_source(pack, table), message, "unknown_table")
            continue
        columns = found.tables[table].columns
        places: list[tuple[str, str | int, str]] = [
            ("key", number, name) for number, name in enumerate(rules.key)
        ]
        places += [
            (part, name, name)
            for part, names in (("columns", rules.columns), ("cost", rules.cost))
            for name in names
        ]
        for part, key, column in places:
            if column not in columns:
                message = f"The table {table} has no column {column}.{did_you_mean(column, columns)}"
                findings.add(comparison_source(pack, table, part, key), message, "unknown_column")
