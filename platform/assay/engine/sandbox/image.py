"""The prepared image of a world: schema and seed rows, as the bytes of a database."""

from __future__ import annotations

import apsw

from assay.engine.packs.models import Pack, Source
from assay.engine.sandbox.authorizer import SchemaAuthorizer
from assay.engine.sandbox.connection import connect
from assay.engine.sandbox.functions import Counters, add_functions
from assay.engine.sandbox.inspection import Catalogue, catalogue
from assay.engine.sandbox.problems import Findings
from assay.engine.sandbox.rows import RowWriter
from assay.engine.sandbox.running import STRIDE, Budget
from assay.engine.sandbox.sqltext import keywords, statements

#: Small pages keep the copy that each trial gets small: a table and its index take a page each at least.
PAGE_SIZE = 1024

#: Bounds of preparing a world: some 40 µs go into a row of the seed.
MOST_PREPARING_STEPS = 2_000_000_000
MOST_PREPARING_SECONDS = 120.0

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
    found, wrong = catalogue(connection)
    for table, code, message in wrong:
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


def _names(connection: apsw.Connection) -> set[str]:
    # The authorizer lets the schema be read; that is how SQLite itself works with it.
    return {str(row[0]) for row in connection.execute("SELECT name FROM sqlite_schema")}
