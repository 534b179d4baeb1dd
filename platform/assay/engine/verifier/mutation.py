"""Point 6, first half: the check discriminates. Every mutant of the expected calls must fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Literal

from assay.engine.packs.models import ComparisonFile
from assay.engine.packs.problems import Problem
from assay.engine.sandbox import ChangeSet, World, compare
from assay.engine.sandbox.cells import rule_name
from assay.engine.sandbox.replay import ReplayError
from assay.engine.verifier.content import Content
from assay.engine.verifier.mutants import KINDS, MOST, MOST_UNRELATED, Mutant, Pool, mutants
from assay.engine.verifier.plan import Plan, perform, plan_of
from assay.engine.verifier.processes import in_order
from assay.engine.verifier.subject import Gold, Subject
from assay_sdk import PackFault

#: Mutants that a finding names; the table and the JSON name all.
MOST_NAMED = 3
#: Kinds of which it is no fault that nothing differs: a second call without effect, an argument that says what is so
#: already.
MAY_BE_SAME = frozenset({"double", "extra"})
#: killed: another outcome. refused: the tool refuses the call. same: nothing differs, and that is no fault. accepted: an outcome under also_accept. declared: listed under `equivalents`. survived: a finding.
Fate = Literal["killed", "refused", "same", "accepted", "declared", "survived"]
FATES: tuple[Fate, ...] = ("killed", "refused", "same", "accepted", "declared", "survived")


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that passes. `through`: the columns that differ and the rules that let them through."""

    task: str
    kind: str
    key: str
    through: tuple[str, ...]
    declared: str | None = None  # the reason given under `equivalents`

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task, "kind": self.kind, "key": self.key,
            "through": list(self.through), "declared": self.declared,
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class MutationReport:
    """`kinds`: by kind of mutant, how many met which fate. `survivors`: those that passed, declared ones too."""

    kinds: Mapping[str, Mapping[Fate, int]]
    survivors: tuple[Survivor, ...]
    problems: tuple[Problem, ...]

    def count(self, *fates: Fate) -> int:
        return sum(counts.get(fate, 0) for counts in self.kinds.values() for fate in fates)

    def as_json(self) -> dict[str, Any]:
        return {
            "mutants": self.count(*FATES),
            **{fate: self.count(fate) for fate in FATES},
            "kinds": {
                kind: {fate: counts.get(fate, 0) for fate in FATES} for kind, counts in self.kinds.items()
            },
            "survivors": [s.as_json() for s in self.survivors],
        }


def merged(reports: Sequence[MutationReport], tasks: Sequence[str]) -> MutationReport:
    """One report of several, each about some of the tasks."""
    counts: dict[str, Counter[Fate]] = {}
    for report in reports:
        for kind, found in report.kinds.items():
            counts.setdefault(kind, Counter()).update(found)
    survivors = in_order([s for r in reports for s in r.survivors], tasks, lambda s: s.task)
    problems = sorted(p for r in reports for p in r.problems)
    return MutationReport({k: counts[k] for k in KINDS if k in counts}, tuple(survivors), tuple(problems))


@dataclass
class _Tally:
    kinds: dict[str, Counter[Fate]] = field(default_factory=dict)
    survivors: list[Survivor] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def examine_mutants(subject: Subject) -> MutationReport:
    """Play the mutants of the chosen tasks. Raises OutOfTime."""
    plans = _plans(subject)
    pool = Pool.of(plans)
    tally = _Tally()
    for task_id in subject.tasks:
        _Examination(subject, subject.gold(task_id), plans[task_id], tally).run(pool)
    kinds = {kind: tally.kinds[kind] for kind in KINDS if kind in tally.kinds}
    return MutationReport(kinds, tuple(tally.survivors), tuple(sorted(tally.problems)))


def _plans(subject: Subject) -> dict[str, Plan]:
    """The plans of all tasks of the pack that run, since every task lends its writes to the others."""
    plans = {}
    for task_id in subject.pack.tasks:
        subject.check_time()
        try:
            plans[task_id] = plan_of(subject.gold(task_id))
        except (ReplayError, PackFault):
            continue
    return plans


class _Examination:
    """The mutants of one task."""

    def __init__(self, subject: Subject, gold: Gold, plan: Plan, tally: _Tally) -> None:
        self._subject = subject
        self._world = subject.world
        self._gold = gold
        self._task = gold.task
        self._plan = plan
        self._tally = tally
        self._accepted = subject.world.expected(gold.task.id)
        self._rows = plain_rows(self._accepted[0])
        self._declared = gold.task.expected.equivalents
        self._used: dict[int, set[Fate]] = {}
        self._passed: list[tuple[Mutant, tuple[str, ...]]] = []
        self._broken = False

    def run(self, pool: Pool) -> None:
        content = Content.of(self._world, self._task)
        made = mutants(self._world, self._gold, self._plan, content, pool)
        unrelated: set[str] = set()  # tools of the unrelated writes that worked
        for mutant in islice(made, MOST):
            self._subject.check_time()
            if mutant.kind == "unrelated":
                tool = mutant.steps[-1].tool
                if tool in unrelated or len(unrelated) == MOST_UNRELATED:
                    continue
                if self._unrelated(mutant):
                    unrelated.add(tool)
                continue
            self._count(mutant, *self._fate(mutant))
        if next(made, None) is not None:
            message = (
                f"It has more than {MOST:,} mutants, and the rest was not tried: make its actions fewer."
            )
            self._problem(message, "too_many_mutants", "expected", "actions")
        for group in grouped(self._passed):
            self._survived(*group)
        self._check_declared()

    def _fate(self, mutant: Mutant) -> tuple[Fate, tuple[str, ...]]:
        try:
            played = perform(self._world, self._task.id, mutant.steps, mutant.at)
        except PackFault as fault:
            return self._fault(mutant, fault)
        if played is None:
            return "refused", ()
        return self._judged(mutant, played.changes)

    def _judged(self, mutant: Mutant, changes: ChangeSet) -> tuple[Fate, tuple[str, ...]]:
        if plain_rows(changes) == self._rows:
            return ("same", ()) if mutant.kind in MAY_BE_SAME else ("survived", ())
        difference = compare(self._world.tables, self._world.pack.comparison, self._accepted, changes)
        if not difference.equal:
            return "killed", ()
        if difference.outcome > 0:
            return "accepted", ()
        through = let_through(self._world, self._accepted[0], changes)
        if mutant.kind == "text" and through and all(t.endswith(": text") for t in through):
            return "same", ()  # the pack says that this wording is not compared
        return "survived", through

    def _unrelated(self, mutant: Mutant) -> bool:
        """Whether the write does something here, in a table that is compared; a mutant only then."""
        assert mutant.at is not None
        try:
            played = perform(self._world, self._task.id, mutant.steps, mutant.at)
        except PackFault:
            return False  # the same call is a mutant's or an expected one elsewhere
        if played is None or mutant.at not in played.wrote:
            return False
        ignored = self._world.pack.comparison.ignore_tables
        if all(r.table in ignored for r in played.changes.rows if r.call == mutant.at):
            return False
        self._count(mutant, *self._judged(mutant, played.changes))
        return True

    def _fault(self, mutant: Mutant, fault: PackFault) -> tuple[Fate, tuple[str, ...]]:
        if not self._broken:
            self._broken = True
            message = f"With the mutant {mutant.key}, {fault} A bot that does this gets no verdict: keep the tool within its bounds."
            keys = ("expected", "actions", max(0, mutant.place - 1))
            found = self._subject.fault(self._task.id, fault, message, "mutant_breaks_tool", *keys)
            self._tally.problems.append(found)
        return "refused", ()

    def _count(self, mutant: Mutant, fate: Fate, through: tuple[str, ...]) -> None:
        why = None
        for number, entry in enumerate(self._declared):
            if names(entry.mutant, mutant.key):
                self._used.setdefault(number, set()).add(fate)
                if fate == "survived":
                    fate, why = "declared", entry.why
        self._tally.kinds.setdefault(mutant.kind, Counter())[fate] += 1
        if fate in ("survived", "declared"):
            self._tally.survivors.append(Survivor(self._task.id, mutant.kind, mutant.key, through, why))
        if fate == "survived":
            self._passed.append((mutant, through))

    def _survived(self, mutants: Sequence[Mutant], through: tuple[str, ...]) -> None:
        """One finding for the mutants that pass for the same reason, at the action that the first one alters."""
        first, one = mutants[0], len(mutants) == 1
        named = f"{first.key} ({KINDS[first.kind]})"
        if one:
            who = f"The mutant {named}"
        else:
            who = f"{len(mutants)} mutants, {_listed([named, *(m.key for m in mutants[1:])], MOST_NAMED)},"
        if through:
            what = f"{'passes' if one else 'pass'}, because of {_listed(through, 6)}"
            todo = f"compare the {'column' if len(through) == 1 else 'columns'} more strictly"
        else:
            what = f"{'leaves' if one else 'leave'} the very same rows"
            todo = "correct the tool or the action, so that it has an effect"
        message = (
            f"{who} {what}: {todo}, or, if {'it is' if one else 'they are'} right as well, list "
            f"{'it' if one else 'them'} under 'equivalents' and say why."
        )
        keys = ("expected", "actions", first.place - 1) if first.place else ("expected", "actions")
        self._problem(message, "mutant_survives", *keys)

    def _check_declared(self) -> None:
        for number, entry in enumerate(self._declared):
            fates = self._used.get(number)
            if fates is None:
                message = (
                    f"No mutant of the task is called {entry.mutant}: correct the name, or remove the entry."
                )
            elif "survived" not in fates:
                told = " and ".join(sorted(fates))
                message = f"{entry.mutant} needs no entry, since it is {told}: remove the entry."
            else:
                continue
            self._problem(message, "stale_equivalent", "expected", "equivalents", number)

    def _problem(self, message: str, code: str, *keys: str | int) -> None:
        self._tally.problems.append(self._subject.problem(self._task.id, message, code, *keys))


def names(pattern: str, key: str) -> bool:
    """Whether an entry under `equivalents` names a mutant: the same, or a beginning followed by `*`."""
    return key.startswith(pattern[:-1]) if pattern.endswith("*") else key == pattern


def plain_rows(changes: ChangeSet) -> tuple[Any, ...]:
    """The rows without the calls that wrote them; a value's type counts."""
    return tuple(
        (r.table, r.op, r.key, r.after and [(c, type(v), v) for c, v in r.after.items()])
        for r in changes.rows
    )


def let_through(world: World, expected: ChangeSet, actual: ChangeSet) -> tuple[str, ...]:
    """What differs between two outcomes that count as equal, as `table.column: rule`."""
    ignored = frozenset(world.pack.comparison.ignore_tables)
    rules = {name: r.columns for name, r in world.pack.comparison.tables.items()}
    difference = compare(world.tables, ComparisonFile(), [expected], actual)
    found: dict[str, None] = {}
    for row in difference.rows:
        if row.table in ignored:
            found[f"{row.table}: ignored table"] = None
            continue
        columns = [c.column for c in row.cells]
        if not columns:
            columns = list(rules.get(row.table, {}))
        for column in columns:
            found[f"{row.table}.{column}: {rule_name(rules.get(row.table, {}).get(column, 'exact'))}"] = None
    return tuple(found)


def grouped(
    passed: Sequence[tuple[Mutant, tuple[str, ...]]],
) -> list[tuple[list[Mutant], tuple[str, ...]]]:
    """Mutants that pass, put together by what lets them through; by what they alter, when nothing differs.

    One that several rules let through goes with those that one of these rules lets through alone: with that rule
    corrected, it fails as well.
    """
    alone = {through for _, through in passed if len(through) == 1}
    groups: dict[Any, tuple[list[Mutant], tuple[str, ...]]] = {}
    for mutant, through in passed:
        cause = next(((rule,) for rule in through if (rule,) in alone), through)
        altered = mutant.key.partition(":")[2].partition("=")[0] if not through else None
        groups.setdefault((cause, altered), ([], cause))[0].append(mutant)
    return list(groups.values())


def _listed(items: Sequence[str], most: int) -> str:
    return ", ".join(items[:most]) + (f" and {len(items) - most} more" if len(items) > most else "")
