"""Which clause of the policy a failure is about, by the links that the task and the pack write down.

In this order: the clause that derives an argument the bot got wrong (`derived`); the clause that a fact settles
together with that argument (`decides`); the one clause of the task that derives arguments of the same tool anywhere in
the pack, or that alone has all words of the tool's name. Where none of these tells, the clauses of the
task are listed, and the sentence says no more than that: a task with one clause may fail for another reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.dialogue.transcript import ToolCall
from assay.engine.packs.models import Action, Pack, Task
from assay.engine.sandbox.difference import RowDifference

_LONGEST = 200  # characters of a clause that are quoted
_LEAST = 4  # letters of a word that says anything


#: An expected action, and the name of one of its arguments.
_Argument = tuple[Action, str]


@dataclass(frozen=True, slots=True)
class Clauses:
    """`told`: these are the clauses that the failure is about; otherwise they are all that the task turns on."""

    ids: tuple[str, ...] = ()
    told: bool = False

    def as_json(self) -> dict[str, Any]:
        return {"ids": list(self.ids), "told": self.told}


def clauses_of(
    task: Task, pack: Pack, actions: Sequence[Action], row: RowDifference | None, writer: ToolCall | None
) -> Clauses:
    """The clauses of a failure. `actions`: of the closest accepted outcome. `row`: the first wrong row. `writer`: the
    call that wrote it, or the one that was refused."""
    expected = _expected_action(actions, row)
    wrong = _wrong_arguments(actions, expected, row, writer)
    for found in (
        _derived(wrong),
        _decided(task, pack, wrong),
        _linked(task, pack, expected, writer),
    ):
        known = [clause for clause in dict.fromkeys(found) if clause in pack.clauses]
        if known:
            return Clauses(tuple(known), told=True)
    return Clauses(tuple(task.clauses))


def sentence(clauses: Clauses, pack: Pack) -> str:
    """For the end of an explanation: the clause and what it says, or the clauses that the task turns on."""
    if not clauses.ids:
        return ""
    if not clauses.told:
        return f"The task turns on {_list(clauses.ids)}."
    if len(clauses.ids) > 1:
        return f"Clauses {_list(clauses.ids)} say how."
    (clause,) = clauses.ids
    text = _quoted(pack.clauses[clause].text)
    return f"clause {clause} says “{text}”" if text else f"clause {clause} is about this"


def _expected_action(actions: Sequence[Action], row: RowDifference | None) -> Action | None:
    number = row.expected.call if row is not None and row.expected is not None else None
    return actions[number] if number is not None and 0 <= number < len(actions) else None


def _wrong_arguments(
    actions: Sequence[Action], expected: Action | None, row: RowDifference | None, writer: ToolCall | None
) -> list[_Argument]:
    """Arguments of expected actions that the bot got wrong: those in which its call of the same tool differs, and
    those whose value should stand in a wrong cell (the action that wrote the row last may not be the one)."""
    found: list[_Argument] = []
    given = writer.arguments if writer is not None and expected and writer.tool == expected.tool else None
    if expected is not None and isinstance(given, Mapping):
        found += [(expected, n) for n, value in expected.args.items() if not _alike(value, given.get(n))]
    cells = [cell.expected for cell in row.cells] if row is not None and row.kind != "unexpected" else []
    for action in actions:
        found += [
            (action, name)
            for name in action.derived
            if any(_same_value(action.args.get(name), cell) for cell in cells)
        ]
    return found


def _derived(wrong: Iterable[_Argument]) -> list[str]:
    return [
        clause
        for action, name in wrong
        if name in action.derived and (clause := action.derived[name].clause) is not None
    ]


def _decided(task: Task, pack: Pack, wrong: Iterable[_Argument]) -> list[str]:
    """Clauses that a fact decides together with a wrong argument."""
    places = {f"{action.tool}.{name}" for action, name in wrong}
    return [
        entry
        for fact in task.user.facts
        if places.intersection(fact.decides)
        for entry in fact.decides
        if entry in pack.clauses
    ]


def _linked(task: Task, pack: Pack, expected: Action | None, writer: ToolCall | None) -> list[str]:
    """The one clause of the task that goes with the tool: by what the pack's tasks derive, else by its name."""
    tool = expected.tool if expected is not None else writer.tool if writer is not None else ""
    derived = [clause for clause in dict.fromkeys(_derived_anywhere(pack, tool)) if clause in task.clauses]
    if derived:
        return derived if len(derived) == 1 else []
    words = _words(tool)
    # One word, such as "ticket", stands in clauses about anything; the noun and the verb together hardly do.
    if len(words) < 2:
        return []
    speaking = [
        clause
        for clause in task.clauses
        if clause in pack.clauses and _speaks(pack.clauses[clause].text, words)
    ]
    return speaking if len(speaking) == 1 else []


def _derived_anywhere(pack: Pack, tool: str) -> Iterator[str]:
    for task in pack.tasks.values():
        for actions in (task.expected.actions, *(o.actions for o in task.expected.also_accept)):
            for action in actions:
                if action.tool == tool:
                    yield from (d.clause for d in action.derived.values() if d.clause is not None)


def _words(names: str) -> set[str]:
    """The words of names such as extensions_grant, without their plural."""
    return {_stem(word) for word in re.split(r"[^a-z]+", names.lower()) if len(word) >= _LEAST}


def _stem(word: str) -> str:
    for end in ("ies", "es", "s"):
        if word.endswith(end) and len(word) - len(end) >= _LEAST - 1:
            return word[: -len(end)]
    return word


def _speaks(text: str, words: set[str]) -> bool:
    said = re.findall(r"[a-z]+", text.lower().replace("-", ""))
    return all(any(other.startswith(word) for other in said) for word in words)


def _same_value(value: Any, cell: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return False  # stands in too many cells to say anything
    if isinstance(value, int | float):
        return isinstance(cell, int | float) and abs(value - cell) < 1e-9
    return type(value) is type(cell) and bool(value == cell)


def _alike(expected: Any, given: Any) -> bool:
    if isinstance(expected, str) and expected.startswith("$") and not expected.startswith("$$"):
        return True  # stands for what an earlier call returned
    if isinstance(expected, int | float) and isinstance(given, int | float):
        return abs(expected - given) < 1e-9
    return bool(expected == given)


def _quoted(text: str) -> str:
    """The clause in one line, without its mark-up."""
    plain = " ".join(re.sub(r"\*\*|__|`|\{#[^}]*\}", "", text).split()).lstrip("-# ").strip()
    plain = plain.rstrip(".")
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 1].rstrip() + "…"


def _list(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"{', '.join(ids[:-1])} and {ids[-1]}"
