"""Are two cells the same outcome? One function for each column rule of comparison.yaml."""

from __future__ import annotations

import json
import math
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from assay.engine.packs.models import ColumnRule, Tolerance

#: Binary noise of sums such as 0.1 + 0.2 (some 1e-16) is no difference; a cent in a thousand million is.
RELATIVE_NOISE = 1e-12


def equal(rule: ColumnRule, expected: Any, actual: Any) -> bool:
    """Whether `actual` is as good as `expected` under a column's rule."""
    if rule == "ignore":
        return True
    if rule == "text":
        return present(expected) == present(actual)
    if expected is None or actual is None:
        return expected is None and actual is None
    if isinstance(rule, Tolerance):
        if _is_number(expected) and _is_number(actual):
            return bool(abs(expected - actual) <= rule.tolerance * (1 + 1e-9))
        return exact(expected, actual)
    if rule == "casefold":
        return _folded(expected) == _folded(actual)
    if rule == "set":
        return _members(expected) == _members(actual)
    return exact(expected, actual)


def exact(expected: Any, actual: Any) -> bool:
    """Numbers as numbers, instants as instants, anything else by value and type."""
    if isinstance(expected, int) and isinstance(actual, int):
        return expected == actual
    if _is_number(expected) and _is_number(actual):
        return math.isclose(expected, actual, rel_tol=RELATIVE_NOISE, abs_tol=1e-12)
    if isinstance(expected, str) and isinstance(actual, str):
        if expected == actual:
            return True
        first, second = instant(expected), instant(actual)
        return first is not None and first == second
    return type(expected) is type(actual) and bool(expected == actual)


def signature(rule: ColumnRule, value: Any) -> Any:
    """A hashable value that is the same for cells that `equal` calls the same, as far as one can.

    Used to find partners quickly; what counts in the end is `equal`. Under a tolerance no such
    value exists, so all cells look alike; numbers that differ only by noise may still differ here.
    """
    if rule == "ignore" or isinstance(rule, Tolerance):
        return None
    if rule == "text":
        return present(value)
    if value is None:
        return None
    if rule == "casefold":
        return _folded(value)
    if rule == "set":
        return tuple(sorted(_members(value).items()))
    if _is_number(value):
        return value if isinstance(value, int) and abs(value) >= 10**12 else f"{value:.12g}"
    if isinstance(value, str):
        moment = instant(value)
        return value if moment is None else moment.astimezone(UTC).isoformat()
    return repr(value)


def present(value: Any) -> bool:
    """Whether a free text says anything."""
    return value is not None and str(value).strip() != ""


def instant(text: str) -> datetime | None:
    """The moment an ISO 8601 text with an offset names; None for anything else (a date alone too)."""
    if len(text) < 17 or text[4:5] != "-" or text[10:11] not in ("T", " "):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else None


def rule_name(rule: ColumnRule) -> str:
    return f"tolerance {rule.tolerance:g}" if isinstance(rule, Tolerance) else rule


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _folded(value: Any) -> str:
    return str(value).strip().casefold()


def _members(value: Any) -> Counter[str]:
    """A JSON array's members, or the comma-separated parts of a text, with how often each occurs."""
    text = str(value)
    if text.lstrip().startswith("["):
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = None
        if isinstance(parsed, list):
            return Counter(m.strip() if isinstance(m, str) else json.dumps(m, sort_keys=True) for m in parsed)
    return Counter(part.strip() for part in text.split(",") if part.strip())
