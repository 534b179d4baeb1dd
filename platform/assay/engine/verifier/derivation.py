"""Work out a value that an expected action computes, from what earlier actions returned, and check its constants.

A derivation is one SELECT without tables of the world. Its parameters are paths into results of earlier actions
(`:order.lines.0.paid`), facts (`:fact.order_date`) or arguments of the same action that are known by then
(`:args.begins_on`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import apsw

from assay.engine.packs.models import Derivation, FactEntry
from assay.engine.sandbox import World
from assay.engine.sandbox.arguments import sql_value
from assay.engine.sandbox.authorizer import Authorizer
from assay.engine.sandbox.connection import connect
from assay.engine.sandbox.functions import Counters, add_functions
from assay.engine.sandbox.replay import resolve
from assay.engine.sandbox.running import STRIDE, Budget
from assay.engine.sandbox.sqltext import SqlTextError, Token, keywords, rewrite, tokens
from assay.engine.verifier import prose

#: Numbers that need no ground: nothing, one, two, a hundred for percentages; days of a week, months and hours, days of
#: a month and a year, minutes and seconds.
FREE = frozenset({0.0, 1.0, 2.0, 100.0, 7.0, 12.0, 24.0, 30.0, 60.0, 365.0, 3600.0, 86400.0})

#: What is added so that a binary fraction is rounded the right way is no figure of a rule.
_ROUNDING = 1e-4

_PARAMETER = re.compile(r":[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_]+)*")
_AMOUNT = re.compile(r"[^\w\s-]{0,3}\s?(-?[\d,]*\.?\d+)\s?(?:[^\w\s]|[A-Z]{3})?")
#: Functions whose numbers are positions or places, not figures of a rule.
_POSITIONS = frozenset(
    {"substr", "substring", "round", "printf", "format", "instr", "json_extract", "strftime", "cast"}
)
_MODIFIER = re.compile(r"[+-]?(\d+(?:\.\d+)?)\s+(?:second|minute|hour|day|month|year)s?", re.IGNORECASE)
_FRACTIONS = {0.5: "half", 1 / 3: "third", 0.25: "quarter", 0.75: "three quarters"}


class BadDerivation(Exception):
    """The expression cannot be used; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal of an expression: a number, or a text that holds digits."""

    text: str
    value: float | str


class Deriver:
    """Evaluates derivations under a world's clock, on a database without tables. Close it when done."""

    def __init__(self, world: World) -> None:
        self._connection = connect(world.vfs)
        add_functions(self._connection, world.now, world.today, Counters())
        self._budget = Budget()
        self._clock = world.pack.clock
        self._connection.set_progress_handler(self._budget, STRIDE)

    def close(self) -> None:
        self._connection.close()

    def value(self, derivation: Derivation, results: Mapping[str, Any], facts: Mapping[str, str]) -> Any:
        """What the expression gives: None, a number or a text.

        `results` by the name of their action, `facts` by key (see `facts_by_name`). Raises BadDerivation.
        """
        sql, names = numbered(derivation.value)
        bound = tuple(sql_value(operand(name, results, facts, self._clock)) for name in names)
        authorizer = Authorizer((), writes=False)
        self._connection.set_authorizer(authorizer)
        self._budget.start()
        try:
            cursor = self._connection.execute(sql, bound)
            rows = [row for row, _ in zip(cursor, range(2), strict=False)]
            cursor.close(True)
        except apsw.Error as error:
            raise BadDerivation(
                self._budget.spent
                or (authorizer.refused and _without_tables(authorizer.refused))
                or _without_tables(f"the SQL fails: {error}.")
            ) from error
        finally:
            self._connection.set_authorizer(None)
        if len(rows) != 1 or len(rows[0]) != 1:
            raise BadDerivation("it must give one row with one column: make it one SELECT of one value.")
        value = rows[0][0]
        if isinstance(value, bytes) or (isinstance(value, float) and not math.isfinite(value)):
            raise BadDerivation("it gives neither a number nor a text.")
        return value


def facts_by_name(facts: Collection[FactEntry]) -> dict[str, str]:
    """Facts as expressions name them: the key in small letters, `_` for whatever is no letter or digit."""
    return {re.sub(r"[^a-z0-9]+", "_", f.key.casefold()).strip("_"): f.value for f in facts}


def operand(name: str, results: Mapping[str, Any], facts: Mapping[str, str], clock: datetime) -> Any:
    """What a parameter stands for. Raises BadDerivation for one that is not known yet."""
    first, _, rest = name.partition(".")
    if first == "fact":
        key, _, form = rest.partition(".")
        if key not in facts:
            there = f"the facts are: {', '.join(sorted(facts))}" if facts else "the task has no facts"
            raise BadDerivation(f":{name} is no fact of the task ({there}).")
        return _fact(name, facts[key], form, clock)
    try:
        return resolve(f"${name}", results)
    except LookupError as error:
        if first not in results:
            there = f"; there are: {', '.join(results)}" if results else ""
            raise BadDerivation(
                f":{name} is no result of an earlier action with 'as: {first}'{there}."
            ) from error
        raise BadDerivation(f":{name}: {str(error.args[0]).partition(': ')[2]}") from error


def _fact(name: str, value: str, form: str, clock: datetime) -> str:
    """A fact's text; where it is a number or a date as a whole, in SQL's form. `.number` and `.date` give the only
    one that stands in a longer text."""
    if form == "":
        amount = _AMOUNT.fullmatch(value.strip())
        return amount[1].replace(",", "") if amount else prose.whole_date(value, clock) or value
    if form == "number":
        found = {repr(n).removesuffix(".0") for n, _ in prose.numbers(value)}
    elif form == "date":
        found = {readings[0] for readings in prose.mentions(value, clock, spoken=True)}
    else:
        raise BadDerivation(f":{name}: a fact can be asked for its .number or its .date, not for .{form}.")
    if len(found) != 1:
        raise BadDerivation(f":{name}: the fact {value!r} names {len(found) or 'no'} {form}s, not one.")
    return found.pop()


def equal(value: Any, argument: Any) -> bool:
    """Whether a derived value is the argument: numbers as numbers, lists and objects as JSON."""
    if isinstance(argument, bool):
        return value in (0, 1) and bool(value) == argument
    if isinstance(argument, int | float):
        return isinstance(value, int | float) and math.isclose(value, argument, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(argument, str):
        return value == argument or (isinstance(value, int | float) and f"{value:g}" == argument)
    if isinstance(argument, list | dict) and isinstance(value, str):
        try:
            return bool(json.loads(value) == argument)
        except ValueError:
            return False
    return value is None and argument is None


def numbered(sql: str) -> tuple[str, tuple[str, ...]]:
    """The expression with ?1, ?2 for its parameters, and their names in that order. Raises BadDerivation."""
    if next(iter(keywords(sql, 1)), "") not in ("SELECT", "WITH"):
        raise BadDerivation("it must be one SELECT, for example SELECT round(:order.total * 0.15, 2).")
    names: dict[str, str] = {}
    flat: list[str] = []
    end = 0
    for token in tokens(sql):
        if token.start < end:
            continue
        if token.kind == "parameter":
            found = _PARAMETER.match(sql, token.start)
            assert found is not None
            end = found.end()
            name = found.group()[1:]
            flat.append(f":{names.setdefault(name, f'p{len(names)}')}")
        else:
            flat.append(token.text)
    try:
        rewritten = rewrite("".join(flat))
    except SqlTextError as error:
        raise BadDerivation(str(error)) from error
    by_alias = {alias: name for name, alias in names.items()}
    return rewritten.sql, tuple(by_alias[alias] for alias in rewritten.parameters)


def parameters(sql: str) -> tuple[str, ...]:
    """The names of an expression's parameters, or none when it cannot be read."""
    try:
        return numbered(sql)[1]
    except BadDerivation:
        return ()


def constants(sql: str) -> Iterator[Constant]:
    """The literals that carry a rule: numbers that are no positions, and texts that hold digits."""
    calls: list[str] = []
    previous = ""
    end = 0
    for token in tokens(sql):
        if token.kind == "space" or token.start < end:
            continue
        if token.kind == "parameter":
            found = _PARAMETER.match(sql, token.start)
            assert found is not None
            end = found.end()
        elif token.kind == "number" and not (_inside_position(calls) and "." not in token.text):
            yield Constant(
                token.text,
                float(int(token.text, 0))
                if token.text[:2] in ("0x", "0X")
                else float(token.text.replace("_", "")),
            )
        elif token.kind == "string" and not _inside_position(calls):
            yield from _in_text(token)
        if token.text == "(":
            calls.append(previous)
        elif token.text == ")" and calls:
            calls.pop()
        previous = token.text.casefold() if token.kind == "word" else ""


def stands(constant: Constant, ground: Collection[float], text: str) -> bool:
    """Whether a constant stands in the text that is named as its ground. `ground`: the numbers of that text.

    0.15 stands in "15 %", 1.15 and 0.85 too (with it, without it); 0.5 in "half".
    """
    if isinstance(constant.value, str):
        return constant.value.casefold() in text.casefold()
    value = constant.value
    if value in FREE or abs(value) <= _ROUNDING:
        return True
    readings = {value, value * 100}
    if 0 < value < 2:
        readings.add(abs(1 - value) * 100)
    if any(math.isclose(r, n, rel_tol=1e-9, abs_tol=1e-9) for r in readings for n in ground):
        return True
    return any(
        math.isclose(value, fraction, rel_tol=1e-3) and word in text.casefold()
        for fraction, word in _FRACTIONS.items()
    )


def _inside_position(calls: list[str]) -> bool:
    """Whether the innermost call that has a name takes positions; "round(x * 15, 2)" is looked at all the same."""
    named = [c for c in calls if c]
    return bool(named) and named[-1] in _POSITIONS - {"round", "cast"}


def _in_text(token: Token) -> Iterator[Constant]:
    inner = token.text[1:-1].replace("''", "'")
    if not any(c.isdigit() for c in inner) or inner.startswith("$"):
        return
    found = _MODIFIER.fullmatch(inner.strip())
    if found:
        yield Constant(inner, float(found[1]))
        return
    try:
        yield Constant(inner, float(inner))
    except ValueError:
        yield Constant(inner, inner)


def _without_tables(refused: str) -> str:
    if "cannot be read" in refused or "no such table" in refused:
        return "it reads a table: take the values from results of earlier actions with 'as'."
    return refused
