"""The evidence of a trial, laid out for reading."""

from __future__ import annotations

import json
from typing import Any

from assay.runs.models import Evidence

_LONG = 1_500  # characters of a result shown at once; the rest is folded


def conversation(evidence: Evidence) -> list[dict[str, Any]]:
    """The transcript's events; tool calls with their arguments and result as indented JSON."""
    shown = []
    for event in evidence.events:
        if event["type"] == "tool":
            answer = (
                event["result"] if event["ok"] else {"error": event["error"], "message": event["message"]}
            )
            arguments = event["arguments"]
            text = _json(answer)
            shown.append(
                {
                    **event,
                    "arguments_text": arguments if isinstance(arguments, str) else _json(arguments),
                    "result_text": text,
                    "long": len(text) > _LONG,
                    "css": "error" if not event["ok"] else "write" if event["wrote"] else "read",
                }
            )
        else:
            shown.append(event)
    return shown


def difference(evidence: Evidence) -> list[dict[str, Any]]:
    """Each row that is not as it should be: its cells with expected and actual side by side."""
    if not evidence.verdict:
        return []
    return [
        {
            "kind": row["kind"],
            "table": row["table"],
            "key": ", ".join(str(k) for k in (row["expected"] or row["actual"])["key"]),
            "call": (row["actual"] or {}).get("call"),
            "cells": row["cells"] or _all_cells(row),
            "whole": not row["cells"],
        }
        for row in evidence.verdict["difference"]["rows"]
    ]


def _all_cells(row: dict[str, Any]) -> list[dict[str, Any]]:
    """A row that is wholly missing or wholly unexpected, cell by cell."""
    expected = (row["expected"] or {}).get("after") or {}
    actual = (row["actual"] or {}).get("after") or {}
    return [
        {"column": column, "expected": expected.get(column), "actual": actual.get(column)}
        for column in (expected or actual)
    ]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
