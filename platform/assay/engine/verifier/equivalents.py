"""Point 6, second half: what is as good as the expected calls must pass.

Look-ups more or fewer, free text in other words, 25 for 25.0, and independent calls in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from assay.engine.packs.problems import Problem
from assay.engine.sandbox import ChangeSet, compare
from assay.engine.sandbox.difference import Difference, RowDifference
from assay.engine.sandbox.replay import references
from assay.engine.verifier.alterations import altered, leaves
from assay.engine.verifier.content import Content
from assay.engine.verifier.plan import Path, Step, perform, plan_of, with_value
from assay.engine.verifier.provenance import unknown_in
from assay.engine.verifier.subject import Gold, Subject
from assay.engine.verifier.wording import known_words, reworded
from assay_sdk import PackFault

#: Kinds of equivalents in the order in which they are shown, and what each is.
KINDS: Mapping[str, str] = {
    "look_ups": "look-ups are made twice, or not at all",
    "numbers": "25 stands for 25.0, or 25.0 for 25",
    "wording": "a free text says it in other words",
    "order": "two calls that need nothing of each other are made in the other order",
}

#: passed, failed (a finding), or no equivalent after all: the tool refuses it, or the order matters to the outcome.
Result = Literal["passed", "failed", "refused", "ordered"]
RESULTS: tuple[Result, ...] = ("passed", "failed", "refused", "ordered")


@dataclass(frozen=True, slots=True)
class EquivalentsReport:
    """By kind, how many variants of the chosen tasks met which result."""

    kinds: Mapping[str, Mapping[Result, int]]
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            kind: {result: self.kinds.get(kind, {}).get(result, 0) for result in RESULTS} for kind in KINDS
        }


def examine_equivalents(subject: Subject) -> EquivalentsReport:
    """Play what is as good as the expected calls of the chosen tasks. Raises OutOfTime."""
    counts: dict[str, Counter[Result]] = {kind: Counter() for kind in KINDS}
    problems: list[Problem] = []
    for task_id in subject.tasks:
        subject.check_time()
        examination = _Examination(subject, subject.gold(task_id))
        for kind, result, found in examination.run():
            counts[kind][result] += 1
            problems += found
    return EquivalentsReport(counts, tuple(sorted(problems)))


def merged(reports: Sequence[EquivalentsReport], tasks: Sequence[str]) -> EquivalentsReport:
    """One report of several, each about some of the tasks."""
    counts: dict[str, Counter[Result]] = {kind: Counter() for kind in KINDS}
    for report in reports:
        for kind, found in report.kinds.items():
            counts[kind].update(found)
    return EquivalentsReport(counts, tuple(sorted(p for r in reports for p in r.problems)))


Found = tuple[str, Result, list[Problem]]


class _Examination:
    """The variants of one task."""

    def __init__(self, subject: Subject, gold: Gold) -> None:
        self._subject = subject
        self._world = subject.world
        self._gold = gold
        self._id = gold.task.id
        self._plan = plan_of(gold)
        self._accepted = subject.world.expected(self._id)

    def run(self) -> Iterator[Found]:
        yield from self._look_ups()
        yield from self._numbers()
        yield from self._wording()
        yield from self._order()

    def _look_ups(self) -> Iterator[Found]:
        every = tuple(
            Step(n + 1, a.tool, a.args, given, a.as_, True, outcome.kind == "write")
            for n, (a, given, outcome) in enumerate(
                zip(self._gold.actions, self._gold.arguments, self._gold.outcomes, strict=True)
            )
        )
        reads = [s for s in every if not s.writes]
        if not reads:
            return
        twice: list[Step] = []
        for step in every:
            twice += [step] if step.writes else [step, replace(step, name=None)]
        again = (*twice, *(replace(s, name=None) for s in reads))
        for steps in (again, self._plan.steps):
            try:
                difference = self._difference(self._played(steps))
            except PackFault as fault:
                message = f"With more look-ups, {fault}"
                keys = ("expected", "actions")
                yield (
                    "look_ups",
                    "failed",
                    [self._subject.fault(self._id, fault, message, "look_ups_count", *keys)],
                )
                continue
            if difference.equal:
                yield "look_ups", "passed", []
            else:
                what = "more look-ups" if steps is again else "fewer look-ups"
                message = f"The same calls with {what} leave another outcome ({_cells(difference)}): correct the tools."
                yield "look_ups", "failed", [self._problem(message, "look_ups_count")]

    def _numbers(self) -> Iterator[Found]:
        for number, step in self._plan.writes():
            schema = self._world.compiled[step.tool].spec.input_schema
            for path, value, _ in leaves(step.given, schema):
                other = _other_form(value)
                if other is None:
                    continue
                result, difference = self._variant(number, with_value(step, path, other))
                told = []
                if difference is not None and result == "failed":
                    message = (
                        f"{_argument(step, path)} given as {other!r} instead of {value!r} leaves another outcome "
                        f"({_cells(difference)}): keep numbers as numbers in the tool and the schema."
                    )
                    told = [self._problem(message, "number_form_counts", step, path)]
                yield "numbers", result, told

    def _wording(self) -> Iterator[Found]:
        content = Content.of(self._world, self._gold.task)
        known = known_words(self._subject.pack, self._gold)
        unknown = unknown_in(self._subject, self._id)
        for number, step in self._plan.writes():
            schema = self._world.compiled[step.tool].spec.input_schema
            for path, value, inner in leaves(step.given, schema):
                if not isinstance(value, str) or not value.strip() or value in self._plan.generated:
                    continue
                if {"enum", "pattern", "format", "const"} & inner.keys() or known(value):
                    continue
                if content.named(value) or next(altered(path, value, inner, content), None) is not None:
                    continue
                result, difference = self._variant(number, with_value(step, path, reworded(value)))
                told = []
                traced = (step.place, f"{step.tool}.{_dotted(path)}")  # one cause, one finding
                if difference is not None and result == "failed" and traced not in unknown:
                    message = (
                        f"{_argument(step, path)} in other words leaves another outcome ({_cells(difference)}), but "
                        "nobody can know these words: give the column the rule 'text', or the argument an 'enum'."
                    )
                    told = [self._problem(message, "wording_counts", step, path)]
                yield "wording", result, told

    def _order(self) -> Iterator[Found]:
        steps = self._plan.steps
        for number in range(len(steps) - 1):
            first, second = steps[number], steps[number + 1]
            if not (first.writes and second.writes):
                continue
            if first.name is not None and first.name in references(second.args):
                continue
            swapped = (*steps[:number], second, first, *steps[number + 2 :])
            try:
                played = perform(self._world, self._id, swapped)
            except PackFault:
                played = None
            if played is None or played.refused:
                yield "order", "refused", []
                continue
            difference = self._difference(played.changes)
            if difference.equal:
                yield "order", "passed", []
            elif _both_made(difference.rows, {number, number + 1}):
                message = (
                    f"Actions {first.place} and {second.place} in the other order leave another outcome "
                    f"({_cells(difference)}), though neither needs the other: give these columns the rule 'ignore', "
                    "or compute them elsewhere."
                )
                yield "order", "failed", [self._problem(message, "order_counts", second)]
            else:
                yield "order", "ordered", []

    def _variant(self, number: int, step: Step) -> tuple[Result, Difference | None]:
        """The plan with one step exchanged. Raises OutOfTime."""
        self._subject.check_time()
        steps = (*self._plan.steps[:number], step, *self._plan.steps[number + 1 :])
        try:
            played = perform(self._world, self._id, steps, number)
        except PackFault:
            played = None
        if played is None:
            return "refused", None
        difference = self._difference(played.changes)
        return ("passed" if difference.equal else "failed"), difference

    def _played(self, steps: Sequence[Step]) -> ChangeSet:
        played = perform(self._world, self._id, steps)
        assert played is not None
        return played.changes

    def _difference(self, changes: ChangeSet) -> Difference:
        return compare(self._world.tables, self._world.pack.comparison, self._accepted, changes)

    def _problem(self, message: str, code: str, step: Step | None = None, path: Path = ()) -> Problem:
        keys: tuple[str | int, ...] = ("expected", "actions")
        if step is not None and step.place:
            keys = (*keys, step.place - 1, *(("args", *path) if path else ()))
        return self._subject.problem(self._id, message, code, *keys)


def _both_made(rows: Sequence[RowDifference], positions: set[int]) -> bool:
    """Whether all that differs are cells of rows that both calls made: numbers in a row, running balances.

    When only one call's rows differ, it builds on what the other left, and the order is part of what is right.
    """
    calls: set[int | None] = set()
    for row in rows:
        if row.kind != "wrong" or row.actual is None or row.actual.op != "insert":
            return False
        calls.add(row.actual.call)
    return calls == positions


def _other_form(value: Any) -> int | float | None:
    """25.0 for 25 and 25 for 25.0; None for what has only one form."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) >= 2**53:
        return None
    if isinstance(value, int):
        return float(value)
    return int(value) if value.is_integer() else None


def _argument(step: Step, path: Path) -> str:
    return f"In action {step.place}, {step.tool}.{_dotted(path)}"


def _dotted(path: Path) -> str:
    return ".".join(map(str, path))


def _cells(difference: Difference) -> str:
    found: dict[str, None] = {}
    for row in difference.rows:
        found.update(dict.fromkeys(f"{row.table}.{c.column}: {c.rule}" for c in row.cells))
        if not row.cells:
            found[f"a row of {row.table} is {row.kind}"] = None
    return ", ".join(list(found)[:6])
