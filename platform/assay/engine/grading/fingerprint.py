"""The same failure has the same fingerprint, in every trial and every run.

It is made of the task, the category, and the rows and columns that are wrong: never of ids that the world generated,
of wordings, or of the wrong values themselves. A bot that gets a fee wrong in three ways has one failure, not three.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from assay.engine.grading.categories import Cause
from assay.engine.grading.verdict import Category
from assay.engine.packs.models import Task
from assay.engine.sandbox.difference import Difference, RowDifference
from assay_sdk import CheckResult, Outcome


def fingerprint(task: Task, cause: Cause, difference: Difference, checks: Sequence[CheckResult]) -> str:
    """16 hexadecimal digits."""
    parts: list[Any] = [task.id, cause.category.value]
    if cause.call is not None:
        parts.append([cause.call.tool, cause.call.error])
    if cause.category is Category.INCOMPLETE_RESPONSE:
        parts.append(sorted(c.name for c in checks if c.required and c.outcome is Outcome.FAIL))
    else:
        parts.append(sorted({json.dumps(_row(row)) for row in difference.rows}))
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _row(row: RowDifference) -> list[Any]:
    """Which row it is, where that is known before the trial; which columns are wrong."""
    change = row.expected or row.actual
    assert change is not None
    named = row.expected is not None and change.op != "insert"
    key = [v.hex() if isinstance(v, bytes) else v for v in change.key] if named else None
    return [row.kind, row.table, change.op, key, sorted(cell.column for cell in row.cells)]
