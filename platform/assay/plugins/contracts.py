"""Checks that what a hook returns is what its contract says."""

from __future__ import annotations

import re
from dataclasses import fields
from typing import Any

from pydantic import BaseModel

from assay_sdk import Liberty

# The name stands before the colon of a bot spec, in files and in URLs.
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


def problem_with(item: Any, kind: type[Any]) -> str | None:
    """What is wrong with one returned item, as the rest of a sentence that starts with the hook's name, or None."""
    if not isinstance(item, kind):
        return f"returned a {type(item).__name__} where a {kind.__name__} belongs"
    name = getattr(item, "name", None)
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        return f"returned a {kind.__name__} named {name!r}; use lower-case letters, digits, '-' and '_'"
    if not isinstance(getattr(item, "title", None), str) or not item.title.strip():
        return f"returned {name!r} without a title"
    for field in fields(kind):
        value = getattr(item, field.name)
        if field.name == "options" and not (isinstance(value, type) and issubclass(value, BaseModel)):
            return (
                f"returned {name!r} whose options are not a pydantic model (use NoOptions when it has none)"
            )
        if field.name in ("build", "recognises", "convert", "not_for") and not callable(value):
            return f"returned {name!r} whose {field.name} cannot be called"
        if field.name in ("changes", "stays_true", "says") and not (isinstance(value, str) and value.strip()):
            return f"returned {name!r} whose {field.name} is not a sentence"
        if field.name == "liberties" and not (
            isinstance(value, frozenset) and all(isinstance(one, Liberty) for one in value)
        ):
            return f"returned {name!r} whose liberties are not a frozenset of Liberty"
    return None
