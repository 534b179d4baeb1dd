"""Regular expressions in packs: only those that cannot take for ever."""

from __future__ import annotations

import re

LONGEST = 300

#: More repeats without a bound than this make even the harmless ones slow on long text.
_MOST_UNBOUNDED = 3
#: A range that reaches further, like {1,500}, counts as unbounded.
_LONG = 64

_REPEAT = re.compile(r"[*+?]|\{(\d*)(,?)(\d*)\}")


def check_pattern(pattern: str) -> str | None:
    """Why a pattern is refused, in one sentence; None when it can be used.

    Python's `re` tries every way to match. A repeat inside a repeat, `(a+)+`, has as many ways as
    there are partitions, and one argument of a bot would hold a worker for hours.
    """
    if len(pattern) > LONGEST:
        return f"The pattern has {len(pattern)} characters; at most {LONGEST} are allowed."
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return f"The pattern is no regular expression: {error}."
    return _Scan(pattern).run()


class _Scan:
    """One walk over a pattern that compiles, counting repeats by group."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._groups: list[bool] = [False]  # for each open group: is there a repeat or a choice in it
        self._unbounded = 0

    def run(self) -> str | None:
        text, at = self._pattern, 0
        closed = False  # the group that was closed last held a repeat or a choice
        while at < len(text):
            char = text[at]
            repeat = _REPEAT.match(text, at)
            if char == "\\":
                if text[at + 1 : at + 2].isdigit() and text[at + 1] != "0":
                    return "The pattern refers back to a group (\\1); write it without."
                at, closed = at + 2, False
            elif char == "[":
                at, closed = self._after_class(at), False
            elif char == "(":
                if text.startswith(("(?=", "(?!", "(?<", "(?P=", "(?("), at) and not text.startswith("(?P<", at):
                    return "The pattern looks ahead or behind; write it without (?=...), (?!...) and the like."
                self._groups.append(False)
                at, closed = self._after_open(at), False
            elif char == ")":
                closed = self._groups.pop()
                self._groups[-1] |= closed
                at += 1
            elif char == "|":
                self._groups[-1] = True
                at, closed = at + 1, False
            elif repeat is not None and (char != "{" or repeat.group(1) or repeat.group(3)):
                said = self._repeat(repeat, closed=closed)
                if said is not None:
                    return said
                at, closed = repeat.end(), False
                if text[at : at + 1] in {"?", "+"}:
                    at += 1
            else:
                at, closed = at + 1, False
        return None

    def _repeat(self, repeat: re.Match[str], *, closed: bool) -> str | None:
        braces = repeat.group()[0] == "{"
        most = int(repeat.group(3) or repeat.group(1) or 0) if braces else 1
        exact = braces and not repeat.group(2)
        unbounded = repeat.group() in {"*", "+"} or (braces and not exact and (not repeat.group(3) or most > _LONG))
        if closed and (unbounded or most > 1):
            return "The pattern repeats a group that itself repeats or chooses, like (a+)+; it could take for ever."
        if unbounded:
            self._unbounded += 1
            if self._unbounded > _MOST_UNBOUNDED:
                return f"The pattern has more than {_MOST_UNBOUNDED} of *, + and {{n,}}; write bounds like {{1,20}}."
        if not exact:
            self._groups[-1] = True
        return None

    def _after_class(self, at: int) -> int:
        """The index behind a set like [a-z]; a ']' right at its beginning belongs to it."""
        at += 1
        if self._pattern[at : at + 1] == "^":
            at += 1
        first = at
        while at < len(self._pattern) and (self._pattern[at] != "]" or at == first):
            at += 2 if self._pattern[at] == "\\" else 1
        return at + 1

    def _after_open(self, at: int) -> int:
        if self._pattern.startswith("(?P<", at):
            return self._pattern.index(">", at) + 1
        if self._pattern.startswith("(?", at):
            return at + 3 if self._pattern.startswith("(?:", at) else at + 2
        return at + 1
