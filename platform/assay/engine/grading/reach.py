"""What a tool can change and where it looks first, read from its SQL. For telling what a failed call was about."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from assay.engine.packs.models import Fields, ManyRows, Tool
from assay.engine.sandbox.difference import RowDifference
from assay.engine.sandbox.sqltext import Token, tokens

_NAMES = ("word", "quoted")
_VERBS = {"SELECT", "VALUES", "INSERT", "REPLACE", "UPDATE", "DELETE"}
_ENDS_SET = {"WHERE", "FROM", "RETURNING", "ON"}


@dataclass(frozen=True, slots=True)
class Reach:
    """`inserts`, `deletes`: tables; `updates`: (table, column), in lower case as SQL names are alike in any case.

    `looks_in`: the first table that the tool reads, where its key argument has to be found.
    """

    inserts: frozenset[str]
    deletes: frozenset[str]
    updates: frozenset[tuple[str, str]]
    looks_in: str | None

    def covers(self, row: RowDifference) -> bool:
        """Whether the tool could have made this difference good: it writes that row's table, and those columns."""
        change = row.expected or row.actual
        assert change is not None
        table = row.table.lower()
        if change.op == "delete":
            return table in self.deletes
        if change.op == "insert" and table in self.inserts:
            return True
        return any((table, cell.column.lower()) in self.updates for cell in row.cells)


def reach(tool: Tool) -> Reach:
    inserts: set[str] = set()
    deletes: set[str] = set()
    updates: set[tuple[str, str]] = set()
    first: str | None = None
    for sql in statements_of(tool):
        words = _without_schemas([t for t in tokens(sql) if t.kind != "space"])
        if first is None:
            first = _after(words, "FROM")
        words = _without_with(words)
        verb = words[0].text.upper() if words else ""
        if verb in ("INSERT", "REPLACE"):
            table = _after(words, "INTO")
            if table:
                inserts.add(table)
                updates |= {(table, column) for column in _set_columns(words)}
                if verb == "REPLACE" or _after(words, "OR") == "replace":
                    deletes.add(table)
        elif verb == "UPDATE":
            table = _name(words[3] if words[1].text.upper() == "OR" else words[1])
            updates |= {(table, column) for column in _set_columns(words)}
        elif verb == "DELETE":
            table = _after(words, "FROM")
            if table:
                deletes.add(table)
    return Reach(frozenset(inserts), frozenset(deletes), frozenset(updates), first)


def statements_of(tool: Tool) -> Iterator[str]:
    for step in tool.steps:
        if step.sql:
            yield step.sql
    result = tool.result
    parts = list(result.fields.values()) if isinstance(result, Fields) else [result]
    for part in parts:
        if isinstance(part, ManyRows):
            yield part.many
        elif isinstance(part, str):
            yield part


def _without_schemas(words: list[Token]) -> list[Token]:
    """`main.orders` is `orders`: no name keeps what stands before its dot."""
    kept: list[Token] = []
    for word in words:
        if len(kept) > 1 and kept[-1].text == "." and kept[-2].kind in _NAMES and word.kind in _NAMES:
            del kept[-2:]
        kept.append(word)
    return kept


def _without_with(words: list[Token]) -> list[Token]:
    """The statement itself, without the tables that WITH names before it."""
    if not words or words[0].text.upper() != "WITH":
        return words
    depth = 0
    for number, word in enumerate(words):
        depth += {"(": 1, ")": -1}.get(word.text, 0)
        if depth == 0 and word.kind == "word" and word.text.upper() in _VERBS:
            return words[number:]
    return []


def _after(words: list[Token], keyword: str) -> str | None:
    """The name that follows the first `keyword`, if a name does."""
    for word, following in pairwise(words):
        if word.kind == "word" and word.text.upper() == keyword and following.kind in _NAMES:
            return _name(following)
    return None


def _set_columns(words: list[Token]) -> Iterator[str]:
    """The columns that SET assigns: names before `=` outside of parentheses, and those of `(a, b) = (...)`."""
    depth, setting, listing = 0, False, False
    previous = ""
    for word, following in pairwise(words):
        before, previous = previous, word.text.upper()
        if word.text == "(":
            listing = setting and depth == 0 and before in ("SET", ",")
            depth += 1
        elif word.text == ")":
            listing = False
            depth -= 1
        elif listing and word.kind in _NAMES:
            yield _name(word)
        elif depth == 0 and word.kind == "word" and word.text.upper() == "SET":
            setting = True
        elif depth == 0 and word.kind == "word" and word.text.upper() in _ENDS_SET:
            setting = False
        elif setting and depth == 0 and word.kind in _NAMES and following.text == "=":
            yield _name(word)


def _name(token: Token) -> str:
    text = token.text
    return (text[1:-1] if token.kind == "quoted" else text).lower()
