"""Tools of a pack, compiled: every statement read, checked and prepared once for all trials."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import apsw

from assay.engine.packs.models import Fields, ManyRows, Pack, Step, Tool
from assay.engine.sandbox.arguments import ArgumentChecker, BadSchema
from assay.engine.sandbox.authorizer import Authorizer
from assay.engine.sandbox.inspection import Catalogue
from assay.engine.sandbox.problems import Findings, did_you_mean, tool_source
from assay.engine.sandbox.sqltext import Rewritten, SqlTextError, keywords, rewrite
from assay_sdk import ToolSpec

_PLACE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)\}")


_VERBS = {"SELECT", "VALUES", "WITH", "INSERT", "REPLACE", "UPDATE", "DELETE"}

#: Where something stands inside a tool: keys as in its file.
Where = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """SQL ready to run: `parameters` name the values of ?1, ?2, ...; `columns` what it returns."""

    sql: str
    parameters: tuple[str, ...]
    columns: tuple[str, ...]
    readonly: bool


@dataclass(frozen=True, slots=True)
class CompiledStep:
    shape: Literal["one", "maybe", "many", "write", "require"]
    statement: Statement
    binding: str | None = None
    targets: tuple[str, ...] = ()  # names under which the columns of one/maybe are bound
    error: str | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class CompiledField:
    """One part of a result. `name` is None when it is the whole result; `json`: positions of `_json` columns."""

    name: str | None
    many: bool
    statement: Statement
    names: tuple[str, ...]
    json: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CompiledTool:
    spec: ToolSpec
    arguments: ArgumentChecker
    steps: tuple[CompiledStep, ...]
    result: tuple[CompiledField, ...]  # empty: {"ok": true}


class Preparer:
    """Prepares SQL against the world's schema without running it."""

    def __init__(self, connection: apsw.Connection, catalogue: Catalogue) -> None:
        self._connection = connection
        self._names = catalogue.names

    def prepare(self, sql: str, *, writes: bool) -> tuple[Statement, Rewritten]:
        """Raises SqlTextError with a sentence."""
        rewritten = rewrite(sql)
        verb = next(iter(keywords(rewritten.sql, 1)), "")
        if verb not in _VERBS:  # VACUUM and the like never ask the authorizer
            raise SqlTextError(f"{verb or 'This'} is refused: tools read and write rows, and nothing else.")
        authorizer = Authorizer(self._names, writes=writes)
        seen: list[tuple[tuple[str, ...], bool]] = []

        def stop(cursor: apsw.Cursor, statement: str, bindings: object) -> bool:
            seen.append((tuple(d[0] for d in cursor.get_description()), cursor.is_readonly))
            return False  # aborts before the first row

        cursor = self._connection.cursor()
        cursor.exec_trace = stop
        self._connection.set_authorizer(authorizer)
        try:
            cursor.execute(rewritten.sql, (None,) * len(rewritten.parameters))
        except apsw.ExecTraceAbort:
            pass
        except apsw.Error as error:
            raise SqlTextError(authorizer.refused or f"The SQL does not prepare: {error}.") from error
        finally:
            self._connection.set_authorizer(None)
            cursor.close()
        if not seen:
            raise SqlTextError("There is no statement.")
        columns, readonly = seen[0]
        twice = sorted({c for c in columns if columns.count(c) > 1})
        if twice:
            raise SqlTextError(f"Two columns are named {twice[0]}: give one of them another name with AS.")
        return Statement(rewritten.sql, rewritten.parameters, columns, readonly), rewritten


class _Compiler:
    def __init__(self, pack: Pack, tool: Tool, preparer: Preparer, findings: Findings) -> None:
        self._pack = pack
        self._tool = tool
        self._preparer = preparer
        self._findings = findings
        self.known: set[str] = set()
        self.prefixes: set[str] = set()

    def add(self, where: Where, message: str, code: str) -> None:
        words = " ".join(str(part + 1) if isinstance(part, int) else part for part in where)
        source = tool_source(self._pack, self._tool.name, *where)
        self._findings.add(source, f"Tool {self._tool.name}, {words}: {message}", code)

    def statement(self, where: Where, sql: str, *, writes: bool) -> Statement | None:
        try:
            statement, rewritten = self._preparer.prepare(sql, writes=writes)
        except SqlTextError as error:
            self.add(where, str(error), "bad_sql")
            return None
        self.prefixes.update(rewritten.prefixes)
        good = True
        for name in statement.parameters:
            if name not in self.known:
                self.add(
                    where,
                    f":{name} is not known here: it is no parameter of 'input' and no step before binds it."
                    + did_you_mean(name, self.known),
                    "unknown_name",
                )
                good = False
        return statement if good else None

    def step(self, number: int, step: Step) -> CompiledStep | None:
        where: Where = ("steps", number)
        shape = step.shape
        sql = step.require if shape == "require" else step.sql
        assert sql is not None
        may_write = self._tool.kind == "write" and shape != "require"
        statement = self.statement(
            (*where, "require" if shape == "require" else "sql"), sql, writes=may_write
        )
        binding = step.binding
        targets: tuple[str, ...] = ()
        if statement is not None:
            if shape == "write" and statement.readonly:
                self.add(
                    where,
                    "A step with only 'sql' writes; bind what a SELECT finds with one, maybe or many.",
                    "bad_step",
                )
            if shape != "write" and not statement.columns:
                self.add(
                    where,
                    "The statement returns no row: add RETURNING, or make it a plain 'sql' step.",
                    "bad_step",
                )
            if shape == "one" and step.otherwise is None and statement.readonly:
                self.add(
                    where,
                    "'one' with a SELECT needs 'otherwise: {error: ..., message: ...}'.",
                    "no_otherwise",
                )
        if step.otherwise is not None:
            for place in _PLACE.findall(step.otherwise.message):
                if place not in self.known:
                    self.add(
                        where,
                        f"{{{place}}} in the message is not known here." + did_you_mean(place, self.known),
                        "unknown_name",
                    )
        if binding is not None:
            taken = {n.split(".")[0] for n in self.known if "." in n} | (
                self.known if shape == "many" else set()
            )
            if binding in taken:
                self.add(where, f"The name {binding} is already taken: choose another.", "name_twice")
            if shape == "many":
                self.known.add(binding)
            elif statement is not None:
                targets = tuple(f"{binding}.{column}" for column in statement.columns)
                self.known.update(targets)
        if statement is None:
            return None
        otherwise = step.otherwise
        return CompiledStep(
            shape, statement, binding, targets,
            otherwise.error if otherwise else None, otherwise.message if otherwise else None,
        )  # fmt: skip

    def field(self, where: Where, name: str | None, part: str | ManyRows) -> CompiledField | None:
        many = isinstance(part, ManyRows)
        statement = self.statement(where, part.many if isinstance(part, ManyRows) else part, writes=False)
        if statement is None:
            return None
        names = tuple(c[:-5] if c.endswith("_json") and len(c) > 5 else c for c in statement.columns)
        if len(set(names)) != len(names):
            self.add(
                where, "Two columns have the same name once '_json' is dropped: rename one.", "name_twice"
            )
        json = tuple(n for n, c in enumerate(statement.columns) if c.endswith("_json") and len(c) > 5)
        return CompiledField(name, many, statement, names, json)


def compile_tool(
    pack: Pack, tool: Tool, preparer: Preparer, findings: Findings
) -> tuple[CompiledTool | None, frozenset[str]]:
    """The tool, or None when it has problems (added to `findings`), and the prefixes of its ids."""
    before = len(findings.problems)
    compiler = _Compiler(pack, tool, preparer, findings)
    arguments: ArgumentChecker | None = None
    try:
        arguments = ArgumentChecker(tool.input)
        compiler.known.update(arguments.names)
    except BadSchema as error:
        compiler.add(("input",), str(error), "bad_schema")
        compiler.known.update(n for n in tool.input.get("properties", {}) if isinstance(n, str))
    steps = [compiler.step(number, step) for number, step in enumerate(tool.steps)]
    fields: list[CompiledField | None] = []
    if isinstance(tool.result, Fields):
        fields = [
            compiler.field(("result", "fields", name), name, part)
            for name, part in tool.result.fields.items()
        ]
    elif tool.result is not None:
        fields = [compiler.field(("result",), None, tool.result)]
    if tool.kind == "write" and all(s is not None and s.statement.readonly for s in steps):
        compiler.add(
            ("steps",),
            "A write tool needs a step that writes: make it 'kind: read', or add the step.",
            "bad_step",
        )
    prefixes = frozenset(compiler.prefixes)
    if len(findings.problems) > before or arguments is None:
        return None, prefixes
    spec = ToolSpec(tool.name, tool.description, arguments.schema, tool.kind)
    done = tuple(s for s in steps if s is not None)
    return CompiledTool(spec, arguments, done, tuple(f for f in fields if f is not None)), prefixes


def filled(message: str, values: Mapping[str, object]) -> str:
    """`{argument}` and `{name.column}` of an error message filled in. Done once: values are not looked into."""
    return _PLACE.sub(lambda found: _said(values.get(found[1])), message)


def _said(value: object) -> str:
    if value is None:
        return "(none)"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    text = str(value)
    return text if len(text) <= 200 else text[:197] + "..."
