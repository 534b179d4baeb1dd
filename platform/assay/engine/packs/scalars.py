"""What an unquoted word of YAML stands for: the 1.2 core schema, without the readings that lose something."""

from __future__ import annotations

import re

from assay.engine.packs.findings import shown

_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
}
_NUMBER_STARTS = frozenset("+-.0123456789")


def plain_scalar(text: str) -> str | int | float | bool | None:
    """The value of a plain scalar by the 1.2 core schema.

    Raises ValueError, with a sentence, for numbers that would not survive as what they look like.
    """
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMBER_STARTS:
        return text
    if _INT.fullmatch(text):
        digits = text.lstrip("+-")
        if text[0] == "+" or (len(digits) > 1 and digits[0] == "0"):
            raise ValueError(
                f"{shown(text)} would be read as a number and lose its {_lost(text)}; put it into quotes."
            )
        return _whole(text, 10)
    if _HEX.fullmatch(text) or _OCTAL.fullmatch(text):
        return _whole(text, 0)
    if _FLOAT.fullmatch(text):
        number = float(text)
        if number in {float("inf"), float("-inf")}:
            raise ValueError(f"{shown(text)} is too large for a number; put it into quotes if it is text.")
        return number
    if _NOT_FINITE.fullmatch(text):
        raise ValueError(
            f"{shown(text)} is no number that a world can hold; put it into quotes if it is text."
        )
    return text


def _lost(text: str) -> str:
    return "'+'" if text[0] == "+" else "leading zeros"


def _whole(text: str, base: int) -> int:
    """A whole number as SQLite stores it, in 64 bits. Long text is not even converted."""
    number = int(text, base) if len(text) <= 32 else 2**63
    if not -(2**63) <= number < 2**63:
        raise ValueError(f"{shown(text)} is too large for a whole number; put it into quotes if it is text.")
    return number
