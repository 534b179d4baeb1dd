"""Point 5 of "a pack proves itself": what a bot has to ask for, and whether a task that says so hides anything."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.findings import shown
from assay.engine.packs.models import FactEntry, Hardness, Task
from assay.engine.packs.problems import Problem
from assay.engine.verifier import prose
from assay.engine.verifier.knowing import Passage, Place, words
from assay.engine.verifier.provenance import traces_of
from assay.engine.verifier.subject import Subject
from assay.engine.verifier.told import told_by_customer
from assay.engine.verifier.tracing import Trace

#: A fact hidden in this share of the tasks is what is asked in every conversation: who is calling.
ROUTINE = 0.6
#: Whole numbers below this stand in any text by chance.
_SMALL = 32


@dataclass(frozen=True, slots=True)
class TaskInformation:
    """Keys of facts. `needed`: the expected outcome depends on them; `hidden`: those of them that the customer does
    not say unasked, so many questions a bot has to ask at least; `unneeded`: nothing depends on them.
    """

    needed: tuple[str, ...]
    hidden: tuple[str, ...]
    unneeded: tuple[str, ...]
    claimed: bool  # hardness says hidden_information

    def as_json(self) -> dict[str, Any]:
        return {
            "needed": list(self.needed),
            "hidden": list(self.hidden),
            "questions": len(self.hidden),
            "unneeded": list(self.unneeded),
            "claimed": self.claimed,
        }


@dataclass(frozen=True)
class InformationReport:
    """`routine`: keys of facts that are hidden in most tasks."""

    tasks: Mapping[str, TaskInformation]
    routine: tuple[str, ...]
    problems: tuple[Problem, ...]

    def only_routine(self) -> tuple[str, ...]:
        """Tasks that say hidden_information and hide nothing but what every caller is asked."""
        return tuple(
            task
            for task, found in self.tasks.items()
            if found.claimed and not set(found.hidden) - set(self.routine)
        )

    def as_json(self) -> dict[str, Any]:
        questions = Counter(len(found.hidden) for found in self.tasks.values())
        return {
            "tasks": {task: found.as_json() for task, found in self.tasks.items()},
            "questions": {str(number): questions[number] for number in sorted(questions)},
            "routine": list(self.routine),
            "claimed": sum(found.claimed for found in self.tasks.values()),
            "only_routine": list(self.only_routine()),
        }


def examine_information(subject: Subject) -> InformationReport:
    """What the chosen tasks hide. Raises OutOfTime."""
    traces = traces_of(subject)
    found: dict[str, TaskInformation] = {}
    problems: list[Problem] = []
    for task_id in subject.tasks:
        task = subject.pack.tasks[task_id]
        information = found[task_id] = task_information(task, traces[task_id], subject)
        unknown = any(
            trace.how == "unknown" for trace in traces[task_id]
        )  # a finding, after which this may follow
        if information.claimed and not information.hidden and not unknown:
            at = task.hardness.index(Hardness.HIDDEN_INFORMATION)
            problems.append(
                subject.problem(
                    task_id,
                    "It says hidden_information, but all that the expected actions need stands in the opening or the "
                    "results: take it out of 'hardness', move a needed value from the opening to a fact, or say what a "
                    "fact settles under 'decides'.",
                    "nothing_hidden",
                    "hardness",
                    at,
                )
            )
        problems += _given_away(task, traces[task_id], information, subject)
    hidden = Counter(key for information in found.values() for key in information.hidden)
    routine = tuple(
        sorted(k for k, count in hidden.items() if len(found) >= 5 and count >= ROUTINE * len(found))
    )
    return InformationReport(found, routine, tuple(sorted(problems)))


def task_information(task: Task, traces: Sequence[Trace], subject: Subject) -> TaskInformation:
    """Which facts of a task are needed, and which of those are hidden."""
    facts = {f.key: f for f in task.user.facts}
    needed: dict[str, bool] = {}  # key: whether the customer says it unasked
    unasked = [
        p for p in told_by_customer(task, subject.pack.clock) if p.place.kind in ("opening", "customer")
    ]
    for key, fact in facts.items():
        if fact.decides:
            needed[key] = _said_already(fact, unasked)
    for trace in traces:
        if trace.how == "derived":
            for key in _operands(trace, facts):
                needed.setdefault(key, _said_already(facts[key], unasked))
    keys = _keys(task, subject)
    for trace in sorted(traces, key=_choices):
        source = _source(trace, facts, needed, keys)
        if source is not None:
            said = any(p.kind in ("opening", "customer") for p in trace.places)
            needed[source] = needed.get(source, True) and said
    order = tuple(k for k in facts if k in needed)
    return TaskInformation(
        needed=order,
        hidden=tuple(k for k in order if not needed[k]),
        unneeded=tuple(k for k in facts if k not in needed),
        claimed=Hardness.HIDDEN_INFORMATION in task.hardness,
    )


def _keys(task: Task, subject: Subject) -> frozenset[Any]:
    """The ids of the rows of a task's world."""
    tables = subject.world.tables
    if "keys" not in subject.shared:
        subject.shared["keys"] = frozenset(
            row.values.get(c) for row in subject.pack.seed for c in tables[row.table].primary_key
        )
    own = (row.get(c) for name, rows in task.world.items() for row in rows for c in tables[name].primary_key)
    known: frozenset[Any] = subject.shared["keys"]
    return known | frozenset(own)


def _source(
    trace: Trace, facts: Mapping[str, FactEntry], needed: Mapping[str, bool], keys: frozenset[Any]
) -> str | None:
    """The fact that a value is taken from, if it is taken from one: of several the one that is needed already, or
    that says little else."""
    if trace.how != "known":
        return None
    holding = [p.name for p in trace.places if p.kind == "fact"]
    looked_up = any(p.kind == "result" for p in trace.places)
    # Nobody has to ask for an id that was looked up. What else is in a row is another matter: "two of them" settles a
    # quantity although the order line holds a 2 as well, and a caller proves who they are by saying what is on file.
    if not holding or (looked_up and trace.value in keys):
        return None
    said = words(trace.argument.replace("_", " "))
    return min(holding, key=lambda key: (key not in needed, not said & words(key), len(facts[key].value)))


def _choices(trace: Trace) -> int:
    """Values that stand in one fact come first: what stands in several is then told by a fact that is needed anyway."""
    return sum(p.kind == "fact" for p in trace.places)


def _operands(trace: Trace, facts: Mapping[str, FactEntry]) -> Iterator[str]:
    """Keys of the facts in a derivation, which names them with underscores."""
    named = {p.name for p in trace.places if p.kind == "fact"}
    for key in facts:
        if re.sub(r"[^a-z0-9]+", "_", key.casefold()).strip("_") in named:
            yield key


def _said_already(fact: FactEntry, unasked: Sequence[Passage]) -> bool:
    """Whether the customer says a fact unasked: all its words stand in one of their own lines."""
    said = words(fact.value)
    return bool(said) and any(said <= passage.words for passage in unasked)


def _given_away(
    task: Task, traces: Sequence[Trace], information: TaskInformation, subject: Subject
) -> Iterator[Problem]:
    """A customer who says what the bot has to work out."""
    for trace in traces:
        if trace.how != "derived" or not is_telling(trace.value):
            continue
        operands = {p.name for p in trace.places if p.kind == "fact"}
        for passage, keys in _lines(task, subject):
            if passage.place.kind == "fact" and (
                passage.place.name in information.needed or passage.place.name in operands
            ):
                continue
            if holds(passage, trace.value):
                yield subject.problem(
                    task.id,
                    f"{_sentence(passage.place)} says {shown(trace.value)}, which {trace.name} is to be worked out to "
                    f"(action {trace.action}): take it out of what the customer says.",
                    "answer_given_away",
                    *keys,
                )


def is_telling(value: Any) -> bool:
    """Whether a value found in a text is more than chance: an amount with cents, a larger number, a date, an instant."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return value != round(value) or abs(value) >= _SMALL
    return isinstance(value, str) and (prose.is_date(value) or prose.moment(value) is not None)


def holds(passage: Passage, value: Any) -> bool:
    """Whether a text says an amount or a date that `is_telling`. The customer's "Friday" does not say a date."""
    if isinstance(value, int | float):
        return any(abs(n - abs(value)) < 1e-9 for n in passage.numbers)
    found = set(prose.dates(passage.text, passage.clock))
    return str(value)[:10] in found


def _lines(task: Task, subject: Subject) -> Iterator[tuple[Passage, tuple[str | int, ...]]]:
    user, clock = task.user, subject.pack.clock
    yield Passage(Place("opening"), user.opening, clock), ("user", "opening")
    for number, fact in enumerate(user.facts):
        yield Passage(Place("fact", fact.key), fact.value, clock), ("user", "facts", number)
    for number, text in enumerate(user.follow_ups):
        yield Passage(Place("customer", "follow_ups"), text, clock), ("user", "follow_ups", number)


def _sentence(place: Place) -> str:
    text = str(place)
    return text[0].upper() + text[1:]
