"""Regular expressions that a pack brings: bounded in length, in what they are tried on and in time."""

from __future__ import annotations

import regex

#: Seconds for one search; and characters of the text that is searched.
LONGEST_SEARCH = 0.5
LONGEST_TEXT = 50_000
_FLAGS = regex.IGNORECASE | regex.MULTILINE | regex.VERSION1


class PatternTookTooLong(Exception):
    """The search was given up; nothing is known of the text."""


def pattern_problem(pattern: str) -> str | None:
    """A sentence when the pattern cannot be used."""
    try:
        compiled = regex.compile(pattern, _FLAGS)
    except (regex.error, OverflowError, RecursionError) as error:
        return f"This is no regular expression: {error}."
    try:
        if compiled.search("", timeout=LONGEST_SEARCH) is not None:
            return "The pattern is found in an empty text, so it says nothing; make it ask for something."
    except TimeoutError:
        return "The pattern takes too long; write it without nested repetitions."
    return None


def search(pattern: str, text: str) -> str | None:
    """The first piece of `text` that the pattern matches, regardless of case; None when there is none.

    Raises PatternTookTooLong after LONGEST_SEARCH seconds, or for a text longer than LONGEST_TEXT characters.
    """
    if len(text) > LONGEST_TEXT:
        raise PatternTookTooLong
    try:
        found = regex.compile(pattern, _FLAGS).search(text, timeout=LONGEST_SEARCH)
    except TimeoutError:
        raise PatternTookTooLong from None
    return found.group() if found else None
