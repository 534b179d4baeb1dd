"""The checks that are reported only, in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.reports.wording import check_name, interval, value


def check_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A row for each check that decides about no trial."""
    return [
        {
            "name": check_name(check["name"]),
            "passed": f"{check['passed']:,} of {check['passed'] + check['failed'] + check['cannot_tell']:,}",
            "share": value(check["share"]),
            "share_interval": interval(check["share"]),
            "unknown": value(check["unknown"]),
            "unknown_interval": interval(check["unknown"]) if check["cannot_tell"] else "",
            "reward": _points(check["reward"]),
            "reward_interval": _between(check["reward"]),
        }
        for check in summary.get("checks", ())
    ]


def _points(estimate: Mapping[str, Any] | None) -> str:
    """A reward is no share: 0.95 and not 95 %."""
    return "–" if estimate is None else f"{estimate['value']:.2f}"


def _between(estimate: Mapping[str, Any] | None) -> str:
    return "" if estimate is None else f"{estimate['low']:.2f} to {estimate['high']:.2f}"
