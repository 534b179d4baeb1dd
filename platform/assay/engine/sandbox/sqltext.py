"""Read SQL as SQLite's tokeniser does, as far as tools need it: statements, parameters, calls with literals.

Tools write `:argument` and `:name.column`. SQLite knows only `:name`, so both become numbered
parameters. Strings, quoted names and comments are left alone, whatever stands in them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

_TOKEN = re.compile(
    r"""
      (?P<space>\s+|--[^\n]*|/\*.*?(?:\*/|\Z))
    | (?P<string>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\])
    | (?P<parameter>:[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)?)
    | (?P<foreign>[?@$\#][A-Za-z0-9_:]*)
    | (?P<number>(?:\d[\d_]*\.?[\d_]*|\.\d+)(?:[eE][+-]?\d+)?|0[xX][0-9A-Fa-f]+)
    | (?P<word>[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_$\x80-\U0010ffff]*)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

#: Modifiers that make a date depend on the machine's time zone.
_LOCAL = {"localtime", "utc"}
_DATE_FUNCTIONS = {"date", "time", "datetime", "julianday", "strftime", "unixepoch"}


class SqlTextError(ValueError):
    """The text cannot be a tool's SQL; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Token:
    kind: str  # space, string, quoted, parameter, foreign, number, word, other
    text: str
    start: int  # offset in the SQL


@dataclass(frozen=True, slots=True)
class Rewritten:
    """SQL with numbered parameters; `parameters[i]` is the name that stands for `?{i+1}`."""

    sql: str
    parameters: tuple[str, ...]
    prefixes: tuple[str, ...]  # what next_id() is called with


def tokens(sql: str) -> Iterator[Token]:
    """Every token of the text, in order; joined they are the text again."""
    for found in _TOKEN.finditer(sql):
        assert found.lastgroup is not None
        yield Token(found.lastgroup, found.group(), found.start())


def statements(sql: str) -> list[tuple[int, str]]:
    """The statements of a script: (line from 1, text without the semicolon), empty ones left out.

    The schema language has no triggers, so every semicolon outside of quotes ends a statement.
    """
    found: list[tuple[int, str]] = []
    parts: list[str] = []
    start: int | None = None
    for token in tokens(sql):
        if token.kind == "other" and token.text == ";":
            if start is not None:
                found.append((sql.count("\n", 0, start) + 1, "".join(parts).strip()))
            parts, start = [], None
            continue
        if token.kind != "space" and start is None:
            start = token.start
            parts = []
        parts.append(token.text)
    if start is not None:
        found.append((sql.count("\n", 0, start) + 1, "".join(parts).strip()))
    return found


def keywords(sql: str, count: int) -> list[str]:
    """The first words of a statement, in capital letters."""
    words: list[str] = []
    for token in tokens(sql):
        if token.kind == "space":
            continue
        if token.kind != "word" or len(words) == count:
            break
        words.append(token.text.upper())
    return words


def rewrite(sql: str) -> Rewritten:
    """Make every `:name` and `:name.column` a numbered parameter.

    Raises SqlTextError for more than one statement, another kind of parameter, next_id() without a
    literal prefix, and dates in the machine's time zone.
    """
    parts: list[str] = []
    numbers: dict[str, int] = {}
    prefixes: list[str] = []
    calls: list[str] = []  # the function (or "") of every open parenthesis
    previous = ""
    ended = False
    significant = [t for t in tokens(sql) if t.kind != "space"]
    following = {t.start: n for t, n in pairwise(significant)}
    for token in tokens(sql):
        if token.kind == "space":
            parts.append(" ")
            continue
        if ended:
            raise SqlTextError("A step holds one statement: split it into two steps.")
        text = token.text
        if token.kind == "foreign":
            raise SqlTextError(f"{text} is not a parameter of tools: write :name or :name.column.")
        if token.kind == "parameter":
            number = numbers.setdefault(text[1:], len(numbers) + 1)
            parts.append(f"?{number}")
        elif token.kind == "other" and text == ";":
            ended = True
        else:
            parts.append(text)
        if text == "(":
            calls.append(previous)
            if previous == "next_id":
                prefixes.append(_literal_prefix(following.get(token.start)))
        elif text == ")" and calls:
            calls.pop()
        elif (
            token.kind == "string"
            and calls
            and calls[-1] in _DATE_FUNCTIONS
            and text[1:-1].strip().casefold() in _LOCAL
        ):
            raise SqlTextError(f"{text} would depend on the machine's time zone: use today() and now().")
        previous = text.casefold() if token.kind == "word" else ""
    return Rewritten("".join(parts).strip(), tuple(numbers), tuple(prefixes))


def _literal_prefix(token: Token | None) -> str:
    if (
        token is None
        or token.kind != "string"
        or not re.fullmatch(r"'[A-Za-z][A-Za-z0-9_]{0,19}'", token.text)
    ):
        raise SqlTextError("next_id() takes a prefix written out, for example next_id('RF').")
    return token.text[1:-1]
