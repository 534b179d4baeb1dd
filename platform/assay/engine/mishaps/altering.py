"""Answers of look-ups, made less than they are."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Any


def truncated(content: Any) -> tuple[Any, str] | None:
    """The answer with only the first half of its list, and a notice that says so; None when it has no list of two
    or more. Of an object the longest list among its fields is cut."""
    if isinstance(content, list):
        place, whole = None, content
    elif isinstance(content, Mapping):
        lists = [(name, value) for name, value in content.items() if isinstance(value, list)]
        place, whole = max(lists, key=lambda item: len(item[1]), default=(None, []))
    else:
        return None
    if len(whole) < 2:
        return None
    kept = whole[: len(whole) // 2]
    of = "" if place is None else f" of {place!r}"
    notice = f"Only the first {len(kept)} of {len(whole)} entries{of} were sent. Repeat the call for the full answer."
    return (kept if place is None else {**content, place: kept}), notice


def renamed(content: Any, dice: random.Random) -> Any | None:
    """The answer with one field under another name (`order_id` as `orderId`, `status` as `statusValue`), the same in
    every row of a list; None when it has no fields."""
    rows = content if isinstance(content, list) else [content]
    if not rows or not all(isinstance(row, Mapping) for row in rows):
        return None
    names = [name for name in rows[0] if all(name in row for row in rows)]
    taken = {name for row in rows for name in row}
    free = [name for name in names if _other_name(name) not in taken]
    if not free:
        return None
    old = dice.choice(free)
    changed = [{_other_name(n) if n == old else n: value for n, value in row.items()} for row in rows]
    return changed if isinstance(content, list) else changed[0]


def _other_name(name: str) -> str:
    camel = re.sub(r"_+([A-Za-z0-9])", lambda found: found[1].upper(), name)
    return camel if camel != name else f"{name}Value"
