"""What an older copy of the database would answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from assay.engine.sandbox import CallOutcome, Sandbox
from assay_sdk import PackFault


def older_answer(
    sandbox: Sandbox, tool: str, arguments: Mapping[str, Any], truth: CallOutcome, *, wrote: bool
) -> CallOutcome | None:
    """The answer to a look-up from a copy that lags behind, or None when no older copy answers otherwise than `truth`.

    Tried are: the world as it was before the bot's writes (`wrote`: there were any), and a world in which the last row
    that the look-up found is not there yet. The sandbox itself is not touched.
    """
    ages = [_before_writes] if wrote else []
    for age in (*ages, _before_row):
        outcome = age(sandbox, tool, arguments, truth)
        if outcome is not None and (outcome.ok, outcome.content) != (truth.ok, truth.content):
            return replace(outcome, arguments=truth.arguments)
    return None


def _before_writes(
    sandbox: Sandbox, tool: str, arguments: Mapping[str, Any], truth: CallOutcome
) -> CallOutcome | None:
    try:
        with sandbox.world.open(sandbox.task_id) as copy:
            return copy.call(tool, arguments)
    except PackFault:
        return None


def _before_row(
    sandbox: Sandbox, tool: str, arguments: Mapping[str, Any], truth: CallOutcome
) -> CallOutcome | None:
    try:
        with sandbox.world.open(sandbox.task_id) as copy:
            for value in _named(arguments, truth.content):
                gone = [
                    copy.forget(table, value) for table in copy.world.tables
                ]  # in every table that has it
                if any(gone):
                    return copy.call(tool, arguments)
    except PackFault:  # a row that others hold on to, or one that the tool cannot do without
        return None
    return None


def _named(arguments: Mapping[str, Any], content: Any) -> Iterator[str]:
    """Texts that may be the key of the row looked up: those given, then those of the answer, of a list its last."""
    row = content[-1] if isinstance(content, list) and content else content
    for source in (arguments, row):
        if isinstance(source, Mapping):
            yield from (value for value in source.values() if isinstance(value, str) and value)
