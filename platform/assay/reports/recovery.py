"""How a bot got over faults on purpose, worded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.reports.wording import count, interval, percent

FAULTS = {
    "all": "All kinds",
    "timeout": "Timeout",
    "rate_limit": "Rate limit (429)",
    "server_error": "Internal error (500)",
    "slow": "Slow answer",
    "truncated": "List cut short",
    "stale": "Answer out of date",
    "renamed": "Field renamed",
}


def fault_name(kind: str) -> str:
    return FAULTS.get(kind, kind.replace("_", " ").capitalize())


def recovery_rows(faults: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Of each kind of fault, then of all: how many, how many the bot recovered from, what became of the trials."""
    if not faults:
        return []
    return [_row(entry, total=False) for entry in faults["by_kind"]] + [_row(faults["overall"], total=True)]


def recovery_sentence(faults: Mapping[str, Any] | None) -> str:
    """The figures in short; "" when no fault was injected."""
    if not faults:
        return ""
    overall, untouched = faults["overall"], faults["untouched"]
    text = (
        f"{count(overall['injected'], 'fault')} went into the tool calls on purpose; the bot recovered from "
        f"{_share(overall['recovered'])}. Of the {count(overall['trials'], 'trial')} that met one, "
        f"{_share(overall['passed'])} passed"
    )
    if untouched["of"]:
        text += f"; of the {count(untouched['of'], 'trial')} that met none, {_share(untouched)}"
    return f"{text}."


def _row(entry: Mapping[str, Any], *, total: bool) -> dict[str, Any]:
    recovered, passed = entry["recovered"], entry["passed"]
    return {
        "name": fault_name(entry["kind"]),
        "total": total,
        "injected": f"{entry['injected']:,}",
        "recovered": percent(recovered["share"]),
        "recovered_interval": interval(recovered),
        "trials": f"{entry['trials']:,}",
        "passed": percent(passed["share"]),
        "passed_interval": interval(passed),
    }


def _share(share: Mapping[str, Any]) -> str:
    return f"{share['count']:,} ({percent(share['share'])})"
