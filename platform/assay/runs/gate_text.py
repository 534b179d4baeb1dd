"""Gates as people write them: "pass^5>=0.9 and check:communication.promises>=95% in every group"."""

from __future__ import annotations

import re
from typing import Any

from assay_sdk import OptionsError

_LIMIT = r"\s*>=\s*(?P<limit>\d*\.?\d+)\s*(?P<percent>%?)\s*"
_FIGURE = re.compile(rf"\s*pass(?P<sign>[@^])(?P<k>\d{{1,4}}){_LIMIT}")
_CHECK = re.compile(rf"\s*(?:check:)?(?P<check>[A-Za-z0-9](?:[A-Za-z0-9_.:-]*[A-Za-z0-9_])?){_LIMIT}")
_EVERYWHERE = re.compile(r"(?<=[\s%\d])in every group\s*$")
_MOST = 4000  # characters


def read_gate(text: str | None) -> dict[str, Any] | None:
    """The gate's fields, as assay.runs.gates.parse takes them; None for None. Raises OptionsError."""
    if text is None:
        return None
    everywhere = _EVERYWHERE.search(text[:_MOST])
    figure, *checks = re.split(r"\band\b", text[: everywhere.start()] if everywhere else text[:_MOST])
    found = _FIGURE.fullmatch(figure)
    read = [_CHECK.fullmatch(part) if part.strip().startswith("check:") else None for part in checks]
    if not found or None in read:
        raise OptionsError(
            f"--gate {text!r} is no gate; write for example 'pass^5>=0.9', 'pass@1>=80% in every group' or "
            "'pass^5>=0.9 and check:communication.promises>=0.95'."
        )
    return {
        "metric": "pass_hat" if found["sign"] == "^" else "pass_at",
        "k": int(found["k"]),
        "at_least": _share(found),
        "in_every_group": everywhere is not None,
        "checks": [_condition(check) for check in read if check],
    }


def read_conditions(text: str) -> list[dict[str, Any]]:
    """The conditions on checks, one a line: "communication.promises >= 0.95". Raises OptionsError."""
    found = []
    for line in filter(str.strip, text.splitlines()):
        read = _CHECK.fullmatch(line)
        if not read:
            raise OptionsError(
                f"{line.strip()!r} is no condition; write for example 'communication.promises >= 0.95'."
            )
        found.append(_condition(read))
    return found


def _condition(found: re.Match[str]) -> dict[str, Any]:
    return {"check": found["check"], "at_least": _share(found)}


def _share(found: re.Match[str]) -> float:
    return float(found["limit"]) / (100 if found["percent"] else 1)
