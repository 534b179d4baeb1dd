"""How an actual change set differs from an accepted outcome, in terms a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from assay.engine.sandbox.changes import Row, RowChange


@dataclass(frozen=True, slots=True)
class CellDifference:
    column: str
    expected: Any
    actual: Any
    rule: str  # the column rule that was applied


@dataclass(frozen=True, slots=True)
class RowDifference:
    """One row that is not as it should be.

    missing: an expected change is absent. unexpected: a change nobody expected.
    wrong: an expected change with wrong cells.
    """

    kind: Literal["missing", "unexpected", "wrong"]
    table: str
    expected: RowChange | None
    actual: RowChange | None
    cells: tuple[CellDifference, ...] = ()

    def as_json(self) -> dict[str, Any]:
        def change(row: RowChange | None) -> Any:
            if row is None:
                return None
            return {
                "op": row.op,
                "key": list(row.key),
                "before": _plain(row.before),
                "after": _plain(row.after),
                "call": row.call,
            }

        return {
            "kind": self.kind,
            "table": self.table,
            "expected": change(self.expected),
            "actual": change(self.actual),
            "cells": [
                {"column": c.column, "expected": c.expected, "actual": c.actual, "rule": c.rule}
                for c in self.cells
            ],
        }


@dataclass(frozen=True, slots=True)
class Difference:
    """Against the closest accepted outcome. Empty `rows` means equal.

    `outcome`: index of that outcome (0 is `actions`, 1.. are `also_accept`).
    `pairs`: matched rows, for showing expected and actual side by side (right ones included).
    `ids`: generated id of the actual world -> its partner in the expected one.
    """

    outcome: int
    rows: tuple[RowDifference, ...]
    pairs: Sequence[tuple[RowChange, RowChange]] = ()
    ids: Mapping[Any, Any] | None = None

    @property
    def equal(self) -> bool:
        return not self.rows


def _plain(row: Row | None) -> dict[str, Any] | None:
    if row is None:
        return None
    return {k: (v.hex() if isinstance(v, bytes) else v) for k, v in row.items()}
