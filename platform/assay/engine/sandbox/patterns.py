"""Regular expressions of uploaded packs, matched against what bots write: bounded in time.

Python's engine backtracks: `(a+)+b` takes for ever on forty letters. Such patterns are refused when
the pack is read, and the others are only tried on texts short enough for them.
"""

from __future__ import annotations

import re
from functools import lru_cache
from re import _constants, _parser  # type: ignore[attr-defined]  # the parse tree has no public door
from typing import Any

#: Longest text that a pattern is tried on, by how many unbounded repetitions it has: the time grows
#: with a power of the length that is one more than their number.
LONGEST = (10_000, 4_000, 500, 150)
#: A repetition up to this many times counts as bounded.
SMALL = 64

_REPEATS = (_constants.MAX_REPEAT, _constants.MIN_REPEAT, _constants.POSSESSIVE_REPEAT)


class BadPattern(ValueError):
    """The pattern cannot be used; the message says why and what to do."""


@lru_cache(maxsize=4096)
def longest_text(pattern: str) -> int:
    """How long a text may be for this pattern to be tried on it. Raises BadPattern."""
    try:
        tree = _parser.parse(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise BadPattern(f"the pattern {pattern!r} is not a regular expression: {error}") from error
    unbounded = _count(tree, pattern, inside=False)
    if unbounded >= len(LONGEST):
        raise BadPattern(
            f"the pattern {pattern!r} has more than {len(LONGEST) - 1} unbounded repetitions; bound some, as in {{1,20}}"
        )
    return LONGEST[unbounded]


def _count(tree: Any, pattern: str, *, inside: bool) -> int:
    """Unbounded repetitions in a parse tree. `inside` one, nothing may vary in length."""
    found = 0
    for op, argument in tree:
        if op in _REPEATS:
            low, high, body = argument
            unbounded = high > SMALL
            if inside and low != high:
                raise BadPattern(
                    f"the pattern {pattern!r} repeats a repetition without bound, which can take for ever; "
                    "bound one of them, as in {1,20}"
                )
            found += unbounded + _count(body, pattern, inside=inside or unbounded)
        elif op is _constants.SUBPATTERN:
            found += _count(argument[-1], pattern, inside=inside)
        elif op is _constants.ATOMIC_GROUP:
            found += _count(argument, pattern, inside=inside)
        elif op in (_constants.ASSERT, _constants.ASSERT_NOT):
            found += _count(argument[1], pattern, inside=inside)
        elif op is _constants.BRANCH:
            if inside:
                raise BadPattern(
                    f"the pattern {pattern!r} repeats alternatives without bound; bound it, as in {{1,20}}"
                )
            found += sum(_count(branch, pattern, inside=inside) for branch in argument[1])
        elif op in (_constants.GROUPREF, _constants.GROUPREF_EXISTS):
            raise BadPattern(f"the pattern {pattern!r} refers back to a group, which is not possible here")
    return found
