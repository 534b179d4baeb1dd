"""What the wrong outcomes of a run cost together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.grading.cost import DIGITS, Cost


@dataclass(frozen=True, slots=True)
class Costs:
    """`by`: one sum for each sort of money, the largest first. `trials`: how many of the `of` valid ones moved a wrong
    amount. `company` and `customers`: what each side paid or went without that it should not have; too much of what
    the company pays is its loss, too little the customers', and the other way round.
    """

    currency: str | None
    trials: int
    of: int
    by: Sequence[Cost]

    @property
    def company(self) -> float:
        return self._borne_by("company")

    @property
    def customers(self) -> float:
        return self._borne_by("customer")

    def as_json(self) -> dict[str, Any]:
        return {
            "currency": self.currency,
            "trials": self.trials,
            "of": self.of,
            "company": self.company,
            "customers": self.customers,
            "by": [{"what": c.what, "paid_by": c.paid_by, "over": c.over, "under": c.under} for c in self.by],
        }

    def _borne_by(self, side: str) -> float:
        return round(sum(c.over if c.paid_by == side else c.under for c in self.by), DIGITS)


def sum_costs(trials: Iterable[Sequence[Mapping[str, Any]] | None], of: int) -> Costs | None:
    """The sums over the costs of failed trials; None when no trial says anything about costs."""
    known = [costs for costs in trials if costs is not None]
    if not known:
        return None
    sums: dict[tuple[str, str], list[float]] = {}
    currencies: dict[str, None] = {}
    for costs in known:
        for cost in costs:
            total = sums.setdefault((str(cost["what"]), str(cost["paid_by"])), [0.0, 0.0])
            total[0] += float(cost["over"])
            total[1] += float(cost["under"])
            if cost.get("currency"):
                currencies[str(cost["currency"])] = None
    by = [
        Cost(what, paid_by, next(iter(currencies), None), round(over, DIGITS), round(under, DIGITS))
        for (what, paid_by), (over, under) in sums.items()
    ]
    by.sort(key=lambda c: (-(c.over + c.under), c.what, c.paid_by))
    return Costs(next(iter(currencies), None), sum(bool(costs) for costs in known), of, tuple(by))
