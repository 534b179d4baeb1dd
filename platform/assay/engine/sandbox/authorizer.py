"""What the SQL of a pack may do. Asked by SQLite while a statement is prepared, before it can run.

Tool SQL is prepared under these rules when the world is prepared, and a sandbox runs no other SQL,
so nothing is asked again in a trial.
"""

from __future__ import annotations

from collections.abc import Collection

import apsw

#: Functions of SQLite that give the same result for the same input, touch nothing, and are bounded.
FUNCTIONS = frozenset(
    """
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh count
    cume_dist current_date current_time current_timestamp date datetime degrees dense_rank exp first_value floor format
    glob group_concat hex if ifnull iif instr json json_array json_array_insert json_array_length json_each
    json_error_position json_extract json_group_array json_group_object json_insert json_object json_patch json_pretty
    json_quote json_remove json_replace json_set json_tree json_type json_valid julianday lag last_value lead length
    like likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length
    percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians rank replace round
    row_number rtrim sign sin sinh sqrt strftime string_agg substr substring sum tan tanh time timediff total trim
    trunc typeof unhex unicode unistr unistr_quote unixepoch unlikely upper
    """.split()  # noqa: SIM905 - a list of a hundred quoted names reads worse
)
#: What Assay adds.
ADDED = frozenset({"now", "today"})
COUNTER = "next_id"

#: Tables that SQLite makes for table-valued functions; they hold nothing of their own.
_VALUED = frozenset({"json_each", "json_tree"})

_READING = {apsw.SQLITE_SELECT, apsw.SQLITE_RECURSIVE}
_WRITING = {apsw.SQLITE_INSERT: "INSERT", apsw.SQLITE_UPDATE: "UPDATE", apsw.SQLITE_DELETE: "DELETE"}


class Authorizer:
    """An authorizer callback; `refused` says in one sentence what it refused last, and what to do.

    `tables`: the tables of the world (schema tables are not among them). `writes`: whether
    INSERT, UPDATE, DELETE and next_id() are allowed.
    """

    def __init__(self, tables: Collection[str], *, writes: bool) -> None:
        self._tables = frozenset(tables)
        self._writes = writes
        self.refused: str | None = None

    def __call__(
        self, op: int, one: str | None, two: str | None, database: str | None, inner: str | None
    ) -> int:
        reason = self._reason(op, one, two, database)
        if reason is None:
            return apsw.SQLITE_OK
        self.refused = self.refused or reason
        return apsw.SQLITE_DENY

    def _reason(self, op: int, one: str | None, two: str | None, database: str | None) -> str | None:
        if op in _READING:
            return None
        if op == apsw.SQLITE_READ:
            if not one or one in self._tables or one in _VALUED:
                return None
            if database is None and not one.startswith("sqlite_"):
                return None  # count(*) of a subquery, by the name it has in the statement
            return f"The table {one} cannot be read: only tables and views of world/schema.sql can."
        if op == apsw.SQLITE_FUNCTION:
            name = (two or "").casefold()
            if name in FUNCTIONS or name in ADDED or (name == COUNTER and self._writes):
                return None
            if name == COUNTER:
                return "next_id() makes something new: only a write step of a write tool can call it."
            return f"The function {name}() is not available: its result is not determined by the world, or it is unsafe."
        if op in _WRITING:
            verb = _WRITING[op]
            if one not in self._tables:
                return f"{verb} on {one} is refused: only tables of world/schema.sql can be written."
            if not self._writes:
                return f"{verb} on {one} is refused here: make the tool 'kind: write' and put it into a step."
            return None
        name = str(apsw.mapping_authorizer_function.get(op, op)).removeprefix("SQLITE_").replace("_", " ")
        return f"{name} is refused: tools read and write rows, and nothing else."


class SchemaAuthorizer:
    """For world/schema.sql: CREATE TABLE, INDEX and VIEW."""

    _CREATING = frozenset(
        {
            apsw.SQLITE_CREATE_TABLE,
            apsw.SQLITE_CREATE_INDEX,
            apsw.SQLITE_CREATE_VIEW,
            apsw.SQLITE_SELECT,
            apsw.SQLITE_READ,
            apsw.SQLITE_RECURSIVE,
            apsw.SQLITE_REINDEX,
        }
    )
    _SCHEMA_TABLES = frozenset({"sqlite_master", "sqlite_schema", "sqlite_sequence"})

    def __init__(self) -> None:
        self.refused: str | None = None

    def __call__(
        self, op: int, one: str | None, two: str | None, database: str | None, inner: str | None
    ) -> int:
        if op in self._CREATING:
            return apsw.SQLITE_OK
        if op in _WRITING and (one or "").casefold() in self._SCHEMA_TABLES:
            return apsw.SQLITE_OK  # how SQLite itself records what is created
        if op == apsw.SQLITE_FUNCTION:
            name = (two or "").casefold()
            if name in FUNCTIONS or name in ADDED:
                return apsw.SQLITE_OK
            self.refused = self.refused or f"The function {name}() is not available in a schema."
            return apsw.SQLITE_DENY
        what = str(apsw.mapping_authorizer_function.get(op, op)).removeprefix("SQLITE_").replace("_", " ")
        self.refused = (
            self.refused or f"{what} is refused: a schema holds CREATE TABLE, CREATE INDEX and CREATE VIEW."
        )
        return apsw.SQLITE_DENY
