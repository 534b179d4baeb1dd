"""A count of a whole, with its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from assay.engine.statistics.intervals import Estimate, wilson


@dataclass(frozen=True, slots=True)
class Share:
    """`count` of `of`, with its Wilson interval; `estimate` is None when `of` is 0."""

    count: int
    of: int
    estimate: Estimate | None

    @classmethod
    def make(cls, count: int, of: int) -> Share:
        return cls(count, of, wilson(count, of))

    def as_json(self) -> dict[str, Any]:
        e = self.estimate
        return {
            "count": self.count,
            "of": self.of,
            "share": e.value if e else None,
            "low": e.low if e else None,
            "high": e.high if e else None,
        }
