"""Collect problems, so that one bad file does not hide what is wrong in the others."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable

from assay.engine.packs.problems import PackError, Problem

#: More problems than this in one file, and in a pack, help nobody.
MOST_IN_A_FILE = 100
MOST_IN_ALL = 1_000

_LONGEST_SHOWN = 80
#: Names that are compared with a wrong one: not longer, not of a very different length, not too many.
_LONGEST_COMPARED = 64
_MOST_COMPARED = 200


class Findings:
    """The problems of one pack, at most so many a file and in all; nothing is kept twice."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}
        self._kept: Counter[str] = Counter()
        self._cut: set[str] = set()  # files of which not every problem is kept
        #: How often something was reported, also what is not kept; it grows whenever something is wrong.
        self.reported = 0

    def add(self, path: str, line: int, message: str, code: str, *, task: str | None = None) -> None:
        """Report a problem. `line` counts from 1; 0 is the file as a whole."""
        self.reported += 1
        problem = Problem(path, line, message, code, task)
        if problem not in self._problems and not self.enough(path):
            self._kept[path] += 1
            self._problems[problem] = None

    def enough(self, path: str) -> bool:
        """Whether no more problems of a file are kept. Whoever stops looking then need not say so."""
        if self._kept[path] < MOST_IN_A_FILE and len(self._problems) < MOST_IN_ALL:
            return False
        self._cut.add(path)
        return True

    def about(self, path: str) -> bool:
        """Whether a problem of this file was reported."""
        return self._kept[path] > 0 or path in self._cut

    def __bool__(self) -> bool:
        return bool(self._problems)

    def problems(self) -> list[Problem]:
        """All of them, in the order of the files and lines."""
        known = {path for path in self._cut if self._kept[path]}
        more = [(path, "There may be more problems in this file; correct these first.") for path in known]
        if self._cut - known:
            more.append(("pack.yaml", "There may be problems in other files; correct these first."))
        notes = [Problem(path, 0, message, "more_problems") for path, message in more]
        return sorted([*self._problems, *notes], key=lambda p: (p.path, p.line, p.message))

    def raise_if_any(self) -> None:
        """Raises PackError when there is a problem."""
        if self._problems:
            raise PackError(self.problems())


def shown(value: object) -> str:
    """A value of the pack as it may stand in a message: short, on one line, in quotes if it is text."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    text = " ".join("".join(c if c.isprintable() else " " for c in str(value)[: 4 * _LONGEST_SHOWN]).split())
    if len(text) > _LONGEST_SHOWN or len(str(value)) > 4 * _LONGEST_SHOWN:
        text = text[: _LONGEST_SHOWN - 3] + "..."
    return f"'{text}'" if isinstance(value, str) else text


def suggestion(wrong: str, names: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or a full stop when no name is close."""
    if len(wrong) <= _LONGEST_COMPARED:
        alike = sorted(n for n in set(names) if abs(len(n) - len(wrong)) <= 2 + len(wrong) // 3)
        lower = {name.casefold(): name for name in reversed(alike[:_MOST_COMPARED])}
        near = difflib.get_close_matches(wrong.casefold(), list(lower), n=1, cutoff=0.6)
        if near:
            return f"; did you mean {shown(lower[near[0]])}?"
    return "."


def torn(key: str, value: object) -> str:
    """A hint for the commonest slip: `{description: Yes, if any}`, where a comma ends the text."""
    if value is None and " " in key.strip():
        return " If it belongs to the text before it, put that text into quotes: a comma ends it inside { }."
    return ""


def listed(names: Iterable[str], last: str = "and") -> str:
    """`a, b and c`, shortened after 20."""
    items = list(names)
    if len(items) > 20:
        items = [*items[:20], f"{len(items) - 20} more"]
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} {last} {items[-1]}"
