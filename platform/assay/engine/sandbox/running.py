"""Run a compiled tool on a world: its steps, its result, and the bounds of one call."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Sequence
from typing import Any

import apsw

from assay.engine.sandbox.tools import CompiledField, CompiledTool, Statement, filled
from assay_sdk import PackFault

#: Bounds of a call, from docs/reference/pack-format.md.
MOST_STEPS = 2_000_000
MOST_ROWS = 1_000
MOST_BYTES = 256_000
MOST_SECONDS = 2.0
#: Characters of text that one query may return, before it is shaped into a result.
MOST_TEXT = 4 * MOST_BYTES
#: SQLite asks the budget every so many VM steps.
STRIDE = 5_000


class Refused(Exception):
    """The tool answers with an error, as the company's system would."""

    def __init__(self, error: str, message: str) -> None:
        super().__init__(message)
        self.error = error
        self.message = message


class Budget:
    """VM steps and wall time of one call. Handed to SQLite as its progress handler."""

    def __init__(self, steps: int = MOST_STEPS, seconds: float = MOST_SECONDS) -> None:
        self._steps = steps
        self._seconds = seconds
        self._strides = 0
        self._until = 0.0
        self.spent: str | None = None

    def start(self) -> None:
        self._strides = 0
        self._until = time.monotonic() + self._seconds
        self.spent = None

    def __call__(self) -> bool:
        self._strides += 1
        if self._strides * STRIDE > self._steps:
            self.spent = f"it needs more than {self._steps:,} steps"
        elif time.monotonic() > self._until:
            self.spent = f"it needs more than {self._seconds:g} seconds"
        return self.spent is not None


class Runner:
    """Runs statements on one connection, within one budget."""

    def __init__(self, connection: apsw.Connection, budget: Budget) -> None:
        self._connection = connection
        self._budget = budget

    def run(self, tool: CompiledTool, values: dict[str, Any]) -> Any:
        """The result of a tool. `values` (the bound arguments) is filled with what the steps bind.

        Raises Refused, PackFault, apsw.ConstraintError.
        """
        for step in tool.steps:
            statement = step.statement
            shape = step.shape
            # Two rows tell `one` that there is not exactly one; nobody asks for more.
            enough = 2 if shape == "one" else 1 if shape in ("maybe", "require") else None
            rows = self.rows(statement, values, enough)
            if shape == "one":
                if len(rows) != 1:
                    if step.error is None or step.message is None:
                        raise PackFault(f"'one: {step.binding}' found {len(rows)} rows.")
                    raise Refused(step.error, filled(step.message, values))
                values.update(zip(step.targets, rows[0], strict=True))
            elif shape == "require":
                if not rows or not _true(rows[0][0]):
                    assert step.error is not None and step.message is not None
                    raise Refused(step.error, filled(step.message, values))
            elif shape == "maybe":
                values.update(
                    zip(step.targets, rows[0] if rows else (None,) * len(step.targets), strict=True)
                )
            elif shape == "many":
                assert step.binding is not None
                found = [dict(zip(statement.columns, map(_plain, row), strict=True)) for row in rows]
                values[step.binding] = json.dumps(found, ensure_ascii=False, separators=(",", ":"))
        return self._result(tool.result, values)

    def rows(
        self, statement: Statement, values: dict[str, Any], enough: int | None = None
    ) -> list[tuple[Any, ...]]:
        """All rows, or the first `enough`. Raises PackFault for more than MOST_ROWS of them."""
        bound = tuple([values[name] for name in statement.parameters])
        try:
            cursor = self._connection.execute(statement.sql, bound)
            rows: list[tuple[Any, ...]] = []
            size = 0
            for row in cursor:
                if len(rows) == enough:
                    cursor.close()
                    break
                if len(rows) == MOST_ROWS:
                    cursor.close(True)
                    raise PackFault(f"a query returns more than {MOST_ROWS:,} rows: add a LIMIT to the tool.")
                size += sum([len(value) for value in row if type(value) is str])
                if size > MOST_TEXT:
                    cursor.close(True)
                    raise PackFault(
                        f"a query returns more than {MOST_TEXT:,} characters: add a LIMIT to the tool."
                    )
                rows.append(row)
        except apsw.ConstraintError:
            raise
        except apsw.InterruptError:
            raise PackFault(
                f"{self._budget.spent or 'it was interrupted'}: make the query simpler."
            ) from None
        except (apsw.Error, UnicodeDecodeError) as error:
            if bound and _comes_from_values(error):
                raise Refused("invalid_arguments", f"The arguments cannot be processed: {error}.") from error
            raise PackFault(f"its SQL failed: {error}.") from error
        return rows

    def _result(self, fields: Sequence[CompiledField], values: dict[str, Any]) -> Any:
        if not fields:
            return {"ok": True}
        size = 0
        content: Any = {}
        for field in fields:
            rows = self.rows(field.statement, values, None if field.many else 1)
            shaped = []
            for row in rows:
                size += 40 * len(row) + sum([6 * len(v) for v in row if type(v) is str])
                shaped.append(dict(zip(field.names, _cells(field, row), strict=True)))
            part: Any = shaped if field.many else shaped[0] if shaped else None
            if field.name is None:
                content = part
            else:
                content[field.name] = part
        # The estimate is generous: exact bytes are counted only when they may be too many.
        if size > MOST_BYTES and len(json.dumps(content, ensure_ascii=False).encode()) > MOST_BYTES:
            raise PackFault(f"its result is larger than {MOST_BYTES:,} bytes: return less, or add a LIMIT.")
        return content


def _comes_from_values(error: Exception) -> bool:
    """Whether SQL that is right in itself failed because of a value it was given: then the bot is answered."""
    return isinstance(error, apsw.MismatchError | apsw.TooBigError) or (
        isinstance(error, apsw.SQLError)
        and any(
            text in str(error)
            for text in ("integer overflow", "malformed JSON", "pattern too complex", "bad JSON path")
        )
    )


def _cells(field: CompiledField, row: tuple[Any, ...]) -> list[Any]:
    cells = [_plain(value) for value in row]
    for position in field.json:
        if isinstance(cells[position], str):
            try:
                cells[position] = _parsed(cells[position])
            except (ValueError, RecursionError) as error:
                name = field.statement.columns[position]
                raise PackFault(f"the column {name} of its result is not JSON: {error}.") from error
    return cells


def _parsed(text: str) -> Any:
    value = json.loads(text, parse_constant=_refuse_constant)
    if "\\u" in text:  # an escaped half of a character could be stored nowhere
        value = json.loads(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace"))
    return value


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _plain(value: Any) -> Any:
    """A cell as JSON can say it: no number without end, no bytes."""
    if type(value) is float and not math.isfinite(value):
        return None
    if type(value) is bytes:
        raise PackFault("its SQL gives a BLOB, which cannot be told to a bot: use hex().")
    return value


def _true(value: Any) -> bool:
    """Whether SQLite would take the value for true."""
    if value is None:
        return False
    if isinstance(value, int | float):
        return value != 0
    number = str(value).strip() if isinstance(value, str) else ""
    digits = number[: len(number) - len(number.lstrip("+-.0123456789"))]
    try:
        return float(digits) != 0
    except ValueError:
        return False
