"""The evidence of a trial, laid out for reading."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from assay.reports.recovery import fault_name
from assay.reports.wording import check_name
from assay.runs.models import Evidence

_SHORT = 110  # characters of JSON that fit on one line
_LONG = 1_500  # characters of a result shown at once; the rest is folded


def conversation(evidence: Evidence) -> list[dict[str, Any]]:
    """The transcript's events; tool calls with their arguments and result as text, long results of reads folded."""
    shown = []
    for event in evidence.events:
        if event["type"] != "tool":
            shown.append(event)
            continue
        arguments = event["arguments"]
        refused = {"error": event["error"], "message": event["message"]}
        text = _json(event["result"] if event["ok"] else refused)
        plain_read = event["ok"] and not event["wrote"]
        shown.append(
            {
                **event,
                "arguments_text": arguments if isinstance(arguments, str) else _json(arguments),
                "result_text": text,
                "fault": _fault(event),
                "folded": len(text) > (_SHORT if plain_read else _LONG),
                "css": "error" if not event["ok"] else "write" if event["wrote"] else "read",
            }
        )
    return shown


def _fault(event: Mapping[str, Any]) -> str:
    """What was done to a call on purpose; "" for nothing."""
    injected = event.get("injected")
    if not injected:
        return ""
    done = (
        " (but the call was carried out)"
        if injected["reached"] and not event["ok"] and event["wrote"]
        else ""
    )
    return f"{fault_name(injected['kind']).lower()}{done}"


def difference(evidence: Evidence) -> list[dict[str, Any]]:
    """Each row that is not as it should be: its cells with expected and actual side by side.

    Of a row that is wholly missing or wholly unexpected, the cells that hold something.
    """
    if not evidence.verdict:
        return []
    return [
        {
            "kind": row["kind"],
            "table": row["table"],
            "key": _key((row["expected"] or row["actual"])["key"]),
            "call": (row["actual"] or {}).get("call"),
            "cells": row["cells"] or _whole_row(row["expected"], row["actual"]),
            "whole": not row["cells"],
            "deletes": not row["cells"] and (row["expected"] or row["actual"])["op"] == "delete",
        }
        for row in evidence.verdict["difference"]["rows"]
    ]


def changes(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Each row changed: what was done to it, by which call, and the cells before and after. `rows`: as in a trial's
    evidence."""
    return [
        {
            "done": {"insert": "New row", "update": "Changed row", "delete": "Deleted row"}[change["op"]],
            "table": change["table"],
            "key": _key(change["key"]),
            "call": change.get("call"),
            "was": change["before"] is not None,
            "is": change["after"] is not None,
            "cells": _changed(change["before"] or {}, change["after"] or {}),
        }
        for change in rows
    ]


def calls(evidence: Evidence) -> list[dict[str, Any]]:
    """The calls in order, for choosing a moment: number, tool, whether it changed data."""
    return [event for event in evidence.events if event["type"] == "tool"]


def no_return(evidence: Evidence) -> dict[str, Any] | None:
    """From when on it could not be put right, as the verdict says; None when it says nothing of it."""
    found: dict[str, Any] | None = (evidence.verdict or {}).get("no_return")
    return found


def checks(evidence: Evidence) -> list[dict[str, Any]]:
    """The verdict's checks, with the names that people read."""
    return [
        {**check, "called": check_name(check["name"])} for check in (evidence.verdict or {}).get("checks", [])
    ]


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"column": column, "before": before.get(column), "after": after.get(column)}
        for column in (after or before)
        if before.get(column) != after.get(column)
    ]


def _whole_row(expected: Mapping[str, Any] | None, actual: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    should = (expected or {}).get("after") or (expected or {}).get("before") or {}
    did = (actual or {}).get("after") or (actual or {}).get("before") or {}
    return [
        {"column": column, "expected": should.get(column), "actual": did.get(column)}
        for column, held in (should or did).items()
        if held is not None
    ]


def _key(values: list[Any]) -> str:
    return ", ".join(map(str, values))


def _json(value: Any) -> str:
    """On one line when it fits there."""
    line = json.dumps(value, ensure_ascii=False)
    return line if len(line) <= _SHORT else json.dumps(value, ensure_ascii=False, indent=2)
