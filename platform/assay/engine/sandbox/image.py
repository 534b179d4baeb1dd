"""The prepared image of a world: schema and seed rows, as the bytes of a database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import apsw

from assay.engine.packs.models import Pack, Source
from assay.engine.sandbox.authorizer import SchemaAuthorizer
from assay.engine.sandbox.connection import connect
from assay.engine.sandbox.functions import Counters, add_functions
from assay.engine.sandbox.inspection import Catalogue, catalogue, quoted
from assay.engine.sandbox.problems import Findings
from assay.engine.sandbox.rows import RowWriter
from assay.engine.sandbox.running import STRIDE, Budget
from assay.engine.sandbox.sqltext import keywords, statements, tokens

#: Small pages keep the copy that each trial gets small: a table and its index take a page each at least.
PAGE_SIZE = 1024

#: Bounds of preparing a world: some 40 µs go into a row of the seed.
MOST_PREPARING_STEPS = 2_000_000_000
MOST_PREPARING_SECONDS = 120.0

#: Views that one view may come to when the views it is made of are written out.
MOST_VIEWS = 500

_NAMES = ("word", "quoted", "string")  # SQLite takes 'x' for a name where only a name can stand
_ALLOWED = (("CREATE", "TABLE"), ("CREATE", "INDEX"), ("CREATE", "UNIQUE"), ("CREATE", "VIEW"))


def open_empty(vfs: str, now: str, today: str) -> apsw.Connection:
    """An empty world: settings and functions, no table yet."""
    connection = connect(vfs)
    connection.execute(f"PRAGMA page_size = {PAGE_SIZE}")
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_FKEY, 0)  # rows come in any order and are checked together
    add_functions(connection, now, today, Counters())
    budget = Budget(MOST_PREPARING_STEPS, MOST_PREPARING_SECONDS)
    budget.start()
    connection.set_progress_handler(budget, STRIDE)
    return connection


def run_schema(connection: apsw.Connection, pack: Pack, findings: Findings) -> Catalogue:
    """Run world/schema.sql (the pack's, then those of shared parts) and look at what it made."""
    made: dict[str, Source] = {}
    authorizer = SchemaAuthorizer()
    connection.set_authorizer(authorizer)
    try:
        for path, text in pack.schema_sql:
            for line, sql in statements(text):
                source = Source(path, line)
                if tuple(keywords(sql, 2)) not in _ALLOWED:
                    findings.add(
                        source,
                        "A schema holds CREATE TABLE, CREATE INDEX and CREATE VIEW (no triggers, no virtual or temporary "
                        "tables, no data): remove this statement.",
                        "bad_schema",
                    )
                    continue
                if _copies_a_query(sql):
                    findings.add(
                        source,
                        "A table is made of columns and not of a query (no AS SELECT): write the columns here and the "
                        "rows into world/seed.",
                        "bad_schema",
                    )
                    continue
                authorizer.refused = None
                before = _names(connection)
                try:
                    connection.execute(sql)
                except apsw.Error as error:
                    findings.add(
                        source, authorizer.refused or f"The statement cannot be run: {error}.", "bad_schema"
                    )
                else:
                    made.update(dict.fromkeys(_names(connection) - before, source))
    finally:
        connection.set_authorizer(None)
    too_large = list(_drop_large_views(connection))
    found, wrong = catalogue(connection)
    for table, code, message in (*too_large, *wrong, *_views_that_fail(connection, found)):
        findings.add(made.get(table, Source("world/schema.sql", 0)), message, code)
    if not found.tables and not findings.problems:
        findings.add(
            Source("world/schema.sql", 0),
            "The schema makes no table: a world needs at least one.",
            "no_table",
        )
    return found


def load_seed(connection: apsw.Connection, found: Catalogue, pack: Pack, findings: Findings) -> RowWriter:
    writer = RowWriter(connection, found, findings)
    connection.execute("BEGIN")
    writer.insert(pack.seed)
    connection.execute("COMMIT")
    before = len(findings.problems)
    writer.check_references()
    if len(findings.problems) == before:
        writer.check_cycles()
    return writer


def _copies_a_query(sql: str) -> bool:
    """CREATE TABLE ... AS: the work and the rows of a query without bound, in place of a table's columns."""
    for token in tokens(sql):
        if token.kind == "other" and token.text == "(":
            return False
        if token.kind == "word" and token.text.upper() == "AS":
            return keywords(sql, 2) == ["CREATE", "TABLE"]
    return False


def _views_that_fail(connection: apsw.Connection, found: Catalogue) -> Iterator[tuple[str, str, str]]:
    """SQLite looks at what a view says only when it is read. EXPLAIN compiles it and runs nothing."""
    for view in sorted(found.views):
        try:
            connection.execute(f"EXPLAIN SELECT * FROM {quoted(view)}").fetchall()  # noqa: S608 (quoted)
        except apsw.Error as error:
            yield view, "bad_schema", f"The view {view} cannot be read: {error}."


def _drop_large_views(connection: apsw.Connection) -> Iterator[tuple[str, str, str]]:
    """Before anything compiles them, which takes twice as long with each view made of another one twice, and
    cannot be interrupted."""
    for view, size in sorted(_sizes(connection).items()):
        if size > MOST_VIEWS:
            connection.execute(f"DROP VIEW {quoted(view)}")
            message = f"The view {view} comes to more than {MOST_VIEWS} views when those it is made of are written out"
            yield view, "bad_schema", f"{message}: make it simpler."


def _sizes(connection: apsw.Connection) -> dict[str, int]:
    """How many views each view comes to, itself and those that it names, as often as it names them."""
    rows = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'view'").fetchall()
    names = {str(name).casefold(): str(name) for name, _ in rows}
    made_of: dict[str, Counter[str]] = {}
    for name, sql in rows:
        said = (t.text if t.kind == "word" else t.text[1:-1] for t in tokens(str(sql)) if t.kind in _NAMES)
        named = Counter(names[n] for text in said if (n := text.replace('""', '"').casefold()) in names)
        named[str(name)] -= 1  # CREATE VIEW itself
        made_of[str(name)] = named
    sizes = dict.fromkeys(made_of, 1)
    for (
        _
    ) in made_of:  # as deep as views can stand on one another; one that stands on itself grows past the bound
        grown = {
            name: min(1 + sum(sizes[n] * times for n, times in named.items()), MOST_VIEWS + 1)
            for name, named in made_of.items()
        }
        if grown == sizes:
            break
        sizes = grown
    return sizes


def _names(connection: apsw.Connection) -> set[str]:
    # The authorizer lets the schema be read; that is how SQLite itself works with it.
    return {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema")}
