"""What a wrong outcome costs: the amounts that were moved, against those that should have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from assay.engine.packs.models import ComparisonFile, CostRule
from assay.engine.sandbox.changes import RowChange
from assay.engine.sandbox.comparison import WHOLE_ROW
from assay.engine.sandbox.difference import Difference, RowDifference

#: Digits kept of a sum: more than any currency has, and no binary noise.
DIGITS = 4


@dataclass(frozen=True, slots=True)
class Cost:
    """Money of one sort that one trial moved wrongly. `what` and `paid_by` as in comparison.yaml (`company` or
    `customer` bears it when it is too much); `over` and `under`: too much and too little, both from 0 up, in units of
    `currency` (ISO 4217). They are kept apart, since a refund to the wrong customer is not made good by the one that
    the right customer lacks.
    """

    what: str
    paid_by: str
    currency: str | None
    over: float
    under: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def costs_of(
    comparison: ComparisonFile, currency: str | None, difference: Difference
) -> tuple[Cost, ...] | None:
    """The costs of an outcome, the largest first; None when the pack has no cost rules."""
    rules = {
        (table, column): rule
        for table, said in comparison.tables.items()
        for column, rule in said.cost.items()
        if isinstance(rule, CostRule)
    }
    if not rules:
        return None
    sums: dict[tuple[str, str], list[float]] = {}
    for row in difference.rows:
        for rule, amount in _amounts(rules, row):
            over_under = sums.setdefault((rule.what, rule.paid_by), [0.0, 0.0])
            over_under[amount < 0] += abs(amount)
    found = [
        Cost(what, paid_by, currency, round(over, DIGITS), round(under, DIGITS))
        for (what, paid_by), (over, under) in sums.items()
    ]
    return tuple(
        sorted(
            (c for c in found if c.over or c.under), key=lambda c: (-(c.over + c.under), c.what, c.paid_by)
        )
    )


def _amounts(
    rules: Mapping[tuple[str, str], CostRule], row: RowDifference
) -> Sequence[tuple[CostRule, float]]:
    """For each column of money that is wrong in a row: how much more was moved than should have been."""
    wrong = {cell.column for cell in row.cells}
    found = []
    for (table, column), rule in rules.items():
        # A row that is missing or unexpected as a whole has no cells; of others only what is wrong counts.
        if table == row.table and (not wrong or column in wrong or WHOLE_ROW in wrong):
            amount = _moved(row.actual, column) - _moved(row.expected, column)
            if abs(amount) > 10**-DIGITS / 2:
                found.append((rule, amount))
    return found


def _moved(change: RowChange | None, column: str) -> float:
    """By how much a change raised a cell; a row that is not there counts as nothing."""
    if change is None:
        return 0.0
    before, after = ((side or {}).get(column) for side in (change.before, change.after))
    return _number(after) - _number(before)


def _number(value: Any) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
