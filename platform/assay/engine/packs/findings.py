"""Collect problems, so that one bad file does not hide what is wrong in the others."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable

from assay.engine.packs.problems import PackError, Problem

#: More problems than this in one file help nobody; the rest are counted.
MOST_IN_A_FILE = 100
#: And of these in a pack.
MOST_IN_ALL = 1000

_LONGEST_SHOWN = 80
_LONGEST_COMPARED = 64
_MOST_COMPARED = 2000


class Findings:
    """The problems of one pack, at most so many a file and in all; nothing is reported twice."""

    def __init__(self) -> None:
        self._problems: dict[Problem, None] = {}
        self._kept: Counter[str] = Counter()
        self._dropped: Counter[str] = Counter()
        #: How often something was reported, also what is not kept; it grows whenever something is wrong.
        self.reported = 0

    def add(self, path: str, line: int, message: str, code: str, *, task: str | None = None) -> None:
        self.put(Problem(path, line, message, code, task))

    def put(self, problem: Problem) -> None:
        self.reported += 1
        if problem in self._problems:
            return
        if self._kept[problem.path] >= MOST_IN_A_FILE or len(self._problems) >= MOST_IN_ALL:
            self._dropped[problem.path] += 1
            return
        self._kept[problem.path] += 1
        self._problems[problem] = None

    def __bool__(self) -> bool:
        return bool(self._problems)

    def problems(self) -> list[Problem]:
        """All of them, in the order of the files and lines."""
        more: list[Problem] = []
        elsewhere = 0
        for path, number in self._dropped.items():
            if self._kept[path]:
                more.append(
                    Problem(path, 0, f"There are {number} more problems in this file.", "more_problems")
                )
            else:
                elsewhere += number
        if elsewhere:
            more.append(
                Problem(
                    "pack.yaml", 0, f"There are {elsewhere} more problems in other files.", "more_problems"
                )
            )
        return sorted([*self._problems, *more], key=lambda p: (p.path, p.line, p.message))

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
        known = [name for _, name in zip(range(_MOST_COMPARED), sorted(set(names)), strict=False)]
        lower = {name.casefold(): name for name in reversed(known)}
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
