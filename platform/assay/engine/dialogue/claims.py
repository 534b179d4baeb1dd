"""Whether a value that a bot says is the one that the customer knows."""

from __future__ import annotations

import re

from assay.engine.dialogue.wording import normal

_NUMBER = re.compile(r"([$€£]?)([1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*|0)(?:\.(\d+))?")
_TOKEN = re.compile(r"\S*[\d@]\S*")
_AROUND = "()[]{}'.,;:!?"


def agrees(value: str, said: str) -> bool | None:
    """Whether `said`, normal text that begins where a value is named, names `value`.

    None when neither can be shown, as with a date or an address that is written otherwise.
    """
    known = " ".join(normal(value, asides=True).split()).rstrip(".")
    if not known:
        return None
    # Whole: ORD-7 is neither in ORD-71 nor in ORD-7-1, 195 not in 1,195 or 195.50.
    if re.search(rf"(?<![\w@])(?<!\w[-.,/+]){re.escape(known)}(?!\w|[-.,/@]\w)", said):
        return True
    found = _TOKEN.search(said)
    if found is None:
        return None
    named = found[0].strip(_AROUND)
    if "@" in known and "@" in named:
        return False
    if " " in known:
        return None
    if (a := _NUMBER.fullmatch(known)) and (b := _NUMBER.fullmatch(named)):
        if a[1] and b[1] and a[1] != b[1]:
            return None  # another currency
        return _figures(a) == _figures(b)
    if _shape(known) != _shape(named):
        return None
    # 02/10/2026 may be 10/02/2026.
    return None if sorted(re.findall(r"\w+", known)) == sorted(re.findall(r"\w+", named)) else False


def _figures(number: re.Match[str]) -> tuple[str, str]:
    """1,290.50 and 1290.5 are the same."""
    return number[2].replace(",", ""), (number[3] or "").rstrip("0")


def _shape(token: str) -> str:
    """How it is written: ORD-7 like ORD-1007, but a date only like one with as many figures."""
    return re.sub(r"\d+" if re.search(r"[a-z]", token) else r"\d", "0", token)
