"""Checkers by name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from assay.engine.blame import BUILD_SECONDS, blamed, in_time
from assay.plugins.manager import get_manager
from assay.plugins.options import pick, read_options
from assay_sdk import Checker, OptionsError, PluginFault

_KEYS = {"name", "options", "required"}


def reported_checks(chosen: Sequence[Mapping[str, Any]]) -> list[str]:
    """The names under which the chosen checks report, of those that are not required. Raises OptionsError."""
    known = get_manager().checkers()
    return [
        name
        for entry in chosen
        if not entry.get("required", False)
        for name in pick("check", str(entry.get("name", "")), known).names
    ]


def build_checkers(chosen: Sequence[Mapping[str, Any]]) -> tuple[tuple[str, Checker, bool], ...]:
    """(name, checker, required) for each {"name", "options": {}, "required": false}, in that order.

    Raises OptionsError with a sentence; PluginFault when a plugin breaks.
    """
    built: list[tuple[str, Checker, bool]] = []
    for entry in chosen:
        unknown = set(entry) - _KEYS
        if "name" not in entry or unknown:
            raise OptionsError(
                f"A check is given as name, options and required, not {', '.join(map(str, entry))}."
            )
        name = str(entry["name"])
        if any(name == other for other, _, _ in built):
            raise OptionsError(f"The check {name!r} is listed twice; list it once.")
        with blamed(f"check {name}"):
            checker = _checker(name, entry.get("options") or {})
        built.append((name, checker, bool(entry.get("required", False))))
    return tuple(built)


def _checker(name: str, options: Mapping[str, Any]) -> Checker:
    kind = pick("check", name, get_manager().checkers())
    given = read_options(f"check {name!r}", kind.options, options)
    try:
        checker: Checker = in_time(f"check {name}", lambda: kind.build(given), BUILD_SECONDS)
    except (OptionsError, PluginFault):
        raise
    except Exception as error:
        raise PluginFault(
            f"The check {name!r} could not be built: {type(error).__name__}: {error}"
        ) from error
    if not callable(getattr(checker, "check", None)):
        raise PluginFault(f"The check {name!r} built something that has no check().")
    return checker
