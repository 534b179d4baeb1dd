"""One sentence that says what went wrong: table, row, column, expected, actual, and the call behind it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from assay.engine.dialogue.transcript import ToolCall, Transcript
from assay.engine.grading.categories import Cause
from assay.engine.grading.clauses import Clauses, clauses_of
from assay.engine.grading.clauses import sentence as clause_sentence
from assay.engine.grading.names import ENDING, REPLY
from assay.engine.grading.no_return import NoReturn
from assay.engine.packs.models import Action, Task
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

    def clauses(self, cause: Cause) -> Clauses:
        """The clauses of the policy that the failure is about, as far as the task's links tell."""
        writer = cause.call
        if writer is None and cause.row is not None:
            number = self._written_by(cause.row)
            writer = self._calls.get(number) if number is not None else None
        return clauses_of(self._task, self._world.pack, self._actions(), cause.row, writer)

    def sentence(self, cause: Cause, after: NoReturn | None = None) -> str:
        """For a QA lead: what is wrong, which call wrote it or should have, what policy says of it, and, of a wrong
        database, from when on it could not be put right (`after`)."""
        clauses = self.clauses(cause)
        ruled = clause_sentence(clauses, self._world.pack)
        if cause.check is not None:
            said = f"The database is right, but {_what_is_not(cause.check)}"
            return f"{said} {ruled}" if ruled and not clauses.told else _joined(said, ruled)
        said = self.row(cause.row) if cause.row is not None else ""
        if cause.call is not None:
            said = f"{self._refusal(cause.call)}, and the bot never recovered from it. {said}".strip()
        if clauses.told:
            said = _joined(said, ruled)
        others = len(self._difference.rows) - (cause.row is not None)
        if others > 0:
            said += (
                f" {others} other row{'s' if others > 1 else ''} differ{'' if others > 1 else 's'} as well."
            )
        if ruled and not clauses.told:
            said += f" {ruled}"
        if self._difference.outcome > 0:
            why = self._task.expected.also_accept[self._difference.outcome - 1].why
            said += f" (The closest accepted outcome: {why.rstrip('.')}.)"
        return f"{said} {after.sentence}" if after is not None and after.sentence else said

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
        if row.kind == "unexpected":
            return f"{self._happened(row, known)}."
        by = f" with call {call} ({known.tool})" if known else ""
        cells = "; ".join(
            f"{cell.column} is {_value(cell.actual)} and should be {self._should_be(row.table, cell)}"
            for cell in row.cells[:_CELLS]
        )
        more = f"; and {len(row.cells) - _CELLS} more columns" if len(row.cells) > _CELLS else ""
        name = self._name(row.actual or row.expected, without={cell.column for cell in row.cells})
        return f"It left wrong values in {name}{by}: {cells}{more}."

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

    def _happened(self, row: RowDifference, by: ToolCall | None) -> str:
        """What the bot did that nobody expected."""
        change = row.actual
        assert change is not None
        if change.op == "insert":
            created = f" created by call {by.call}, {by.tool}" if by else ""
            cells = ", ".join(f"{column} {_value(value)}" for column, value in self._telling(change, ()))
            key = ", ".join(_plain(v) for v in change.key)
            with_ = f", with {cells}" if cells else ""
            return f"It added a row that nobody expected ({change.table} row {key}{created}){with_}"
        called = f" (call {by.call}, {by.tool})" if by else ""
        if change.op == "delete":
            return f"It deleted {self._name(change)}, which nobody expected{called}"
        changed = "; ".join(
            f"{c.column} went from {_value(c.expected)} to {_value(c.actual)}"
            for c in row.cells[:_CELLS]
            if c.column != WHOLE_ROW
        )
        return f"It changed {self._name(change)}, which nobody expected{called}: {changed}"

    def _should_have(self, row: RowDifference) -> str:
        """The call that would have written an absent row, from the expected actions."""
        number = row.expected.call if row.expected is not None else None
        actions = self._actions()
        if number is None or not 0 <= number < len(actions):
            return ""
        tool = actions[number].tool
        succeeded = any(call.tool == tool and call.truth["ok"] for call in self._calls.values())
        return f"; {tool} should have written it" + (
            "" if succeeded else ", and was never called with success"
        )

    def _actions(self) -> Sequence[Action]:
        """The expected actions of the closest accepted outcome."""
        outcome, expected = self._difference.outcome, self._task.expected
        return expected.actions if outcome == 0 else expected.also_accept[outcome - 1].actions

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


def _joined(said: str, ruled: str) -> str:
    """A clause in the same sentence; several clauses as a sentence of their own."""
    if not ruled:
        return said
    return f"{said} {ruled}" if ruled.endswith(".") else f"{said.rstrip('.')}; {ruled}."


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
