"""One sentence that says what went wrong: table, row, column, expected, actual, and the call behind it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

from assay.engine.dialogue.transcript import ToolCall, Transcript
from assay.engine.grading.categories import Cause
from assay.engine.grading.names import ENDING, REPLY
from assay.engine.packs.models import Task
from assay.engine.sandbox import World
from assay.engine.sandbox.changes import ChangeSet, Row, RowChange
from assay.engine.sandbox.comparison import WHOLE_ROW
from assay.engine.sandbox.difference import CellDifference, Difference, RowDifference
from assay.engine.sandbox.pairing import Rules, Side
from assay_sdk import CheckResult, Evidence

_LONGEST = 80  # characters of a value
_LONGEST_ANSWER = 200  # and of what a tool answered
_CELLS = 3  # cells shown of a row


class Explainer:
    """Words for the differences of one trial."""

    def __init__(
        self,
        task: Task,
        world: World,
        transcript: Transcript,
        difference: Difference,
        expected: ChangeSet,
        actual: ChangeSet,
    ) -> None:
        """`expected`: the accepted outcome that `difference` is against. `actual`: what the trial changed."""
        self._task = task
        self._world = world
        self._difference = difference
        self._calls = {event.call: event for event in transcript.events if isinstance(event, ToolCall)}
        self._generated = expected.generated | actual.generated  # they say nothing to people
        self._expected = Side(Rules(world.tables, world.pack.comparison), expected)
        self._partners = {
            there: here for here, there in (difference.ids or {}).items() if isinstance(there, str)
        }

    def evidence(self, cause: Cause) -> Evidence:
        """Where to look for the cause."""
        if cause.call is not None:
            return Evidence(self.sentence(cause), call=cause.call.call, **self._place(cause.row))
        if cause.row is not None:
            return self.row_evidence(cause.row)
        if cause.check is not None and cause.check.evidence:
            return cause.check.evidence[0]
        return Evidence(self.sentence(cause))

    def row_evidence(self, row: RowDifference) -> Evidence:
        return Evidence(self.row(row), call=self._written_by(row), **self._place(row))

    def sentence(self, cause: Cause) -> str:
        """For a QA lead: what is wrong, and which call wrote it or should have."""
        if cause.check is not None:
            return f"The database is right, but {_what_is_not(cause.check)}"
        said = self.row(cause.row) if cause.row is not None else ""
        if cause.call is not None:
            said = f"{self._refusal(cause.call)}, and the bot never recovered from it. {said}".strip()
        others = len(self._difference.rows) - (cause.row is not None)
        if others > 0:
            said += (
                f" {others} other row{'s' if others > 1 else ''} differ{'' if others > 1 else 's'} as well."
            )
        if self._difference.outcome > 0:
            why = self._task.expected.also_accept[self._difference.outcome - 1].why
            said += f" (The closest accepted outcome: {why.rstrip('.')}.)"
        return said

    def _refusal(self, call: ToolCall) -> str:
        if call.kind == "unknown":
            return f"The bot called {_plain(call.tool)} (call {call.call}), which does not exist"
        if call.ok:
            return f"{call.tool} (call {call.call}) found nothing under the key it was given"
        return f"{call.tool} (call {call.call}) was refused ({call.error}: {_plain(call.message, _LONGEST_ANSWER)})"

    def row(self, row: RowDifference) -> str:
        """What is wrong with one row, as a sentence."""
        if row.kind == "missing":
            return f"{self._missing(row)}{self._should_have(row)}."
        call = self._written_by(row)
        known = self._calls.get(call) if call is not None else None
        by = f", written by {known.tool} (call {call})" if known else ""
        if row.kind == "unexpected":
            return f"Nobody expected that {self._happened(row)}{by}."
        cells = "; ".join(
            f"{cell.column} is {_value(cell.actual)} and should be {self._should_be(row.table, cell)}"
            for cell in row.cells[:_CELLS]
        )
        more = f"; and {len(row.cells) - _CELLS} more columns" if len(row.cells) > _CELLS else ""
        name = self._name(row.actual or row.expected, without={cell.column for cell in row.cells})
        return f"{name}: {cells}{more}{by}."

    def _missing(self, row: RowDifference) -> str:
        change = row.expected
        assert change is not None
        if change.op == "insert":
            return f"A new row in {self._name(change)} is missing"
        if change.op == "delete":
            return f"{self._name(change)} should have been deleted"
        cells = "; ".join(
            f"{c.column} should be {self._should_be(row.table, c)} and was left at {_value(c.actual)}"
            for c in row.cells[:_CELLS]
        )
        return f"{self._name(change)}: {cells}"

    def _should_be(self, table: str, cell: CellDifference) -> str:
        """The expected value. An id that the expected outcome made is shown as the trial's id of the same row: its
        own would name another row here, or none."""
        made = None
        if cell.rule not in ("ignore", "text"):
            made = self._expected.id_in(table, cell.column, cell.expected)
        if made is None:
            return _value(cell.expected)
        of_table, number = made
        if isinstance(number, str):
            if number in self._partners:
                return _value(self._partners[number])
        else:  # the numbers of rows are alike in every table
            for should, does in self._difference.pairs:
                if (should.table, should.key) == (of_table, (number,)):
                    return _value(does.key[0])
        for row in self._difference.rows:
            absent = row.expected if row.kind == "missing" else None
            if absent and absent.op == "insert" and number in absent.key and of_table in ("", row.table):
                return f"the id of the missing new row in {self._name(absent)}"
        return "a newly made id"

    def _happened(self, row: RowDifference) -> str:
        change = row.actual
        assert change is not None
        if change.op == "insert":
            return f"a row was added to {self._name(change)}"
        if change.op == "delete":
            return f"{self._name(change)} was deleted"
        cells = "; ".join(
            f"{c.column} went from {_value(c.expected)} to {_value(c.actual)}"
            for c in row.cells[:_CELLS]
            if c.column != WHOLE_ROW
        )
        return f"{self._name(change)} was changed ({cells})"

    def _should_have(self, row: RowDifference) -> str:
        """The call that would have written an absent row, from the expected actions."""
        number = row.expected.call if row.expected is not None else None
        outcome = self._difference.outcome
        actions = (
            self._task.expected.actions
            if outcome == 0
            else self._task.expected.also_accept[outcome - 1].actions
        )
        if number is None or not 0 <= number < len(actions):
            return ""
        tool = actions[number].tool
        succeeded = any(call.tool == tool and call.ok for call in self._calls.values())
        return f"; {tool} should have written it" + (
            "" if succeeded else ", and was never called with success"
        )

    def _name(self, change: RowChange | None, without: Collection[str] = ()) -> str:
        """The row for people: its table and key, or, for a row with a generated key, the cells that tell it apart."""
        assert change is not None
        if change.op != "insert":
            return f"{change.table} {', '.join(_plain(v) for v in change.key)}"
        cells = ", ".join(f"{column} {_value(value)}" for column, value in self._telling(change, without))
        return f"{change.table} ({cells})" if cells else change.table

    def _telling(self, change: RowChange, without: Collection[str]) -> Iterator[tuple[str, Any]]:
        """A few cells that tell a new row apart: natural key, references to other rows, then what comes first."""
        info = self._world.tables[change.table]
        rules = self._world.pack.comparison.tables.get(change.table)
        after: Row = change.after or {}
        order = [*(rules.key if rules else ()), *info.foreign_keys, *info.columns]
        shown: list[str] = []
        for column in order:
            value = after.get(column)
            seen = column in shown or column in without or column in info.primary_key
            if value is None or seen or value in self._generated:
                continue
            if rules and rules.columns.get(column) in ("ignore", "text"):
                continue
            shown.append(column)
            yield column, value
            if len(shown) == _CELLS:
                return

    def _written_by(self, row: RowDifference) -> int | None:
        return row.actual.call if row.actual is not None else None

    def _place(self, row: RowDifference | None) -> dict[str, Any]:
        if row is None:
            return {}
        change = row.actual or row.expected
        assert change is not None
        info = self._world.tables[row.table]
        key: Mapping[str, Any] = dict(zip(info.primary_key, (_json(v) for v in change.key), strict=True))
        return {"table": row.table, "row": key}


def _what_is_not(check: CheckResult) -> str:
    message = check.evidence[0].message if check.evidence else ""
    if check.name == ENDING:
        start = "the conversation did not end in order"
    elif check.name.startswith(REPLY):
        start = "the reply is not"
    else:
        start = f"the check {check.name!r} failed"
    return f"{start}: {message[:1].lower()}{message[1:]}" if message else f"{start}."


def _value(value: Any) -> str:
    if value is None:
        return "empty"
    text = _plain(value)
    return f"“{text}”" if isinstance(value, str) else text


def _plain(value: Any, longest: int = _LONGEST) -> str:
    if isinstance(value, float):
        return f"{value:.15g}"
    text = value.hex() if isinstance(value, bytes) else " ".join(str(value).split())
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _json(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value
