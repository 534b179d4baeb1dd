"""What no tool of a pack can undo, read from their SQL: for proving that a wrong row stays wrong.

Everything here is cautious: "no" means that no sequence of calls can do it, "yes" that one perhaps could.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any

from assay.engine.grading.reach import reach, statements_of
from assay.engine.sandbox import ChangeSet, World
from assay.engine.sandbox.changes import RowChange
from assay.engine.sandbox.comparison import compare
from assay.engine.sandbox.difference import RowDifference
from assay.engine.sandbox.sqltext import Token, statements, tokens

_ENDS = {"WHERE", "FROM", "RETURNING", "ON"}


class Undoing:
    """What the writing tools of one pack can do to rows that are there. Names are compared in any case."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._inserts: set[str] = set()
        self._deletes: set[str] = set()
        #: (table, column) -> the texts it can be set to, or None when to anything
        self._sets: dict[tuple[str, str], set[str] | None] = {}
        for tool in world.pack.tools.values():
            if tool.kind != "write":
                continue
            can = reach(tool)
            self._inserts |= can.inserts
            self._deletes |= can.deletes
            literals = _literals(list(statements_of(tool)))
            for place in can.updates:
                texts = literals.get(place[1])
                known = self._sets.get(place, set())
                self._sets[place] = None if texts is None or known is None else known | texts
        # Rows that go or change with another one can be undone without being named by a tool.
        self._free = {
            table
            for _, text in world.pack.schema_sql
            for _, sql in statements(text)
            if (table := _follows_others(sql)) is not None
        }

    def lost(self, accepted: Sequence[ChangeSet], actual: ChangeSet) -> bool:
        """Whether no calls of tools can lead from here to an accepted outcome any more, for certain."""
        return all(self._never(outcome, actual) for outcome in accepted)

    def _never(self, expected: ChangeSet, actual: ChangeSet) -> bool:
        ignored = set(self._world.pack.comparison.ignore_tables)
        made = [row for row in actual.rows if row.op == "insert" and row.table not in ignored]
        for table in {row.table for row in made}:
            if self._may_go(table):
                continue
            wanted = [row for row in expected.rows if row.op == "insert" and row.table == table]
            there = [row for row in made if row.table == table]
            if len(there) > len(wanted):
                return True
            generated = expected.generated | actual.generated
            if any(
                all(self._stays_unlike(table, row, other, generated) for other in wanted) for row in there
            ):
                return True
        difference = compare(self._world.tables, self._world.pack.comparison, [expected], actual)
        return any(self._stays_wrong(row) for row in difference.rows)

    def _stays_unlike(self, table: str, row: RowChange, wanted: RowChange, generated: frozenset[Any]) -> bool:
        """Whether a cell of this new row can never become what this expected one holds."""
        rules = self._world.pack.comparison.tables.get(table)
        for column in self._world.tables[table].columns:
            if rules is not None and rules.columns.get(column, "exact") != "exact":
                continue
            is_, should = (row.after or {}).get(column), (wanted.after or {}).get(column)
            if is_ == should or is_ in generated or should in generated:
                continue
            if column in self._world.tables[table].primary_key:
                continue  # keys of new rows may differ; whether they do here is for the comparison to say
            if type(is_) is not type(should) or _may_be_alike(is_, should):
                continue
            if not self._can_become(table, column, should):
                return True
        return False

    def _stays_wrong(self, row: RowDifference) -> bool:
        """Whether a row of the seed that is not as it should be can never be put right."""
        actual, expected = row.actual, row.expected
        if actual is None or actual.op == "insert":
            return False
        table = row.table.lower()
        if actual.op == "delete":
            return (expected is None or expected.op != "delete") and table not in self._inserts
        if self._may_go(row.table) or (expected and expected.op == "delete"):
            return False
        return any(
            cell.rule == "exact" and not self._can_become(row.table, cell.column, cell.expected)
            for cell in row.cells
            if not _may_be_alike(cell.expected, cell.actual)
        )

    def _may_go(self, table: str) -> bool:
        """Whether a row can perhaps be deleted, or be given another key, which makes it another row."""
        if table.lower() in self._deletes or table.lower() in self._free:
            return True
        return any((table.lower(), c.lower()) in self._sets for c in self._world.tables[table].primary_key)

    def _can_become(self, table: str, column: str, value: Any) -> bool:
        place = (table.lower(), column.lower())
        if place not in self._sets:
            return False
        texts = self._sets[place]
        return texts is None or (value is not None and str(value).casefold() in texts)


def _may_be_alike(one: Any, other: Any) -> bool:
    """Whether the comparison may call them equal though they are not the same: numbers nearly, times as instants."""
    if isinstance(one, float) or isinstance(other, float):
        return isinstance(one, int | float) and isinstance(other, int | float) and abs(one - other) < 1e-6
    return isinstance(one, str) and isinstance(other, str) and "T" in one and "T" in other


def _literals(statements: Sequence[str]) -> dict[str, set[str] | None]:
    """Column -> the texts that `SET column = 'text'` names; None where it is set to anything else, or in two ways
    of which one cannot be read."""
    found: dict[str, set[str] | None] = {}
    for sql in statements:
        words = [t for t in tokens(sql) if t.kind != "space"]
        for column, value in _assignments(words):
            known = found.get(column, set())
            text = _literal(value)
            found[column] = None if text is None or known is None else known | {text}
    return found


def _assignments(words: Sequence[Token]) -> Iterator[tuple[str, list[Token]]]:
    """(column, tokens of its value) of each assignment after SET, outside of parentheses."""
    setting, depth = False, 0
    column: str | None = None
    value: list[Token] = []
    for word, following in pairwise([*words, Token("other", ";", -1)]):
        if word.text == "(":
            depth += 1
        elif word.text == ")":
            depth -= 1
        upper = word.text.upper() if word.kind == "word" else ""
        if depth == 0 and upper == "SET":
            setting = True
            continue
        ends = depth == 0 and (upper in _ENDS or word.text in (",", ";"))
        if column is not None and ends:
            yield column, value
            column, value = None, []
        if depth == 0 and upper in _ENDS:
            setting = False
        elif column is not None:
            value.append(word)
        elif setting and depth == 0 and word.kind in ("word", "quoted") and following.text == "=":
            column = (word.text[1:-1] if word.kind == "quoted" else word.text).lower()
    if column is not None:
        yield column, value


def _literal(value: Sequence[Token]) -> str | None:
    """The text that `= 'text'` stands for, casefolded; None for anything else."""
    if len(value) == 2 and value[0].text == "=" and value[1].kind == "string":
        return value[1].text[1:-1].replace("''", "'").casefold()
    return None


def _follows_others(sql: str) -> str | None:
    """The table of a CREATE TABLE whose rows change when others do (CASCADE, SET NULL, SET DEFAULT)."""
    words = [t for t in tokens(sql) if t.kind in ("word", "quoted")]
    upper = [t.text.upper() for t in words]
    pairs = set(pairwise(upper))
    if "TABLE" not in upper or not (
        "CASCADE" in upper or ("SET", "NULL") in pairs or ("SET", "DEFAULT") in pairs
    ):
        return None
    names = [t for t in words[upper.index("TABLE") + 1 :] if t.text.upper() not in ("IF", "NOT", "EXISTS")]
    name = names[0]
    return (name.text[1:-1] if name.kind == "quoted" else name.text).lower()


class _ByContent:
    """A world as the key of a cache: by the content of its pack."""

    def __init__(self, world: World) -> None:
        self.world = world

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ByContent) and self.world.pack.content_hash == other.world.pack.content_hash

    def __hash__(self) -> int:
        return hash(self.world.pack.content_hash)


def undoing(world: World) -> Undoing:
    """The Undoing of a world; the last few are kept."""
    return _undoing(_ByContent(world))


@lru_cache(maxsize=8)
def _undoing(key: _ByContent) -> Undoing:
    return Undoing(key.world)
