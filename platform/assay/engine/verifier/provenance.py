"""Point 4 of "a pack proves itself": every value in an expected action can be known before that action."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.models import Hardness
from assay.engine.packs.problems import Problem
from assay.engine.sandbox.replay import ReplayError, replay
from assay.engine.verifier.derivation import Deriver
from assay.engine.verifier.free_texts import FreeTexts
from assay.engine.verifier.grounds import Grounds
from assay.engine.verifier.hints import Hints
from assay.engine.verifier.knowing import Known, Place
from assay.engine.verifier.subject import Gold, Subject
from assay.engine.verifier.told import known_to_all, told_by_customer
from assay.engine.verifier.tracing import Bench, Trace, Walk
from assay_sdk import PackFault


@dataclass(frozen=True)
class ProvenanceReport:
    """Every scalar of every argument of the expected actions, by task."""

    traces: Mapping[str, tuple[Trace, ...]]
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        every = [trace for traces in self.traces.values() for trace in traces]
        stands = Counter(t.places[0].kind for t in every if t.how == "known" and t.places)
        return {
            "values": len(every),
            "by_how": dict(sorted(Counter(t.how for t in every).items())),
            "known_from": dict(sorted(stands.items())),
            "tasks": {
                task: [
                    {
                        "action": t.action,
                        "argument": t.name,
                        "value": t.value,
                        "how": t.how,
                        "from": [str(p) for p in t.places[:3]],
                    }
                    for t in traces
                    if t.how in ("derived", "unknown")
                ]
                for task, traces in self.traces.items()
                if any(t.how in ("derived", "unknown") for t in traces)
            },
        }


def traces_of(subject: Subject) -> Mapping[str, tuple[Trace, ...]]:
    """The traces of the chosen tasks, made once. Raises OutOfTime."""
    if "traces" not in subject.shared:
        examine_provenance(subject)
    traces: Mapping[str, tuple[Trace, ...]] = subject.shared["traces"]
    return traces


def unknown_in(subject: Subject, task_id: str) -> frozenset[tuple[int, str]]:
    """(action, argument) of what was found unknown in a task, by now: action from 1, argument as `tool.argument.path`."""
    traces: Mapping[str, tuple[Trace, ...]] = subject.shared.get("traces", {})
    return frozenset((t.action, t.name) for t in traces.get(task_id, ()) if t.how == "unknown")


def examine_provenance(subject: Subject) -> ProvenanceReport:
    """Trace every argument of the chosen tasks. Raises OutOfTime."""
    tracer = Tracer(subject)
    traces: dict[str, tuple[Trace, ...]] = {}
    problems: list[Problem] = []
    try:
        for task_id in subject.tasks:
            subject.check_time()
            traces[task_id], found = tracer.task(task_id)
            problems += found
    finally:
        tracer.close()
    subject.shared["traces"] = traces
    return ProvenanceReport(traces, tuple(sorted(problems)))


class Tracer:
    """Traces tasks of one pack. Close it when done."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._all = known_to_all(subject.pack)
        self._bench = Bench(subject, Grounds(subject.pack), Deriver(subject.world), Hints(subject))

    def close(self) -> None:
        self._bench.deriver.close()

    def task(self, task_id: str) -> tuple[tuple[Trace, ...], list[Problem]]:
        """The traces of a task's expected actions, and what is wrong, in its alternatives too."""
        world, gold = self._subject.world, self._subject.gold(task_id)
        free = FreeTexts(world, task_id, gold.actions, gold.changes)
        main = Walk(self._bench, gold.task, ("expected", "actions"), self._start(gold), free, hinted=True)
        main.run(gold.actions, gold.outcomes)
        problems = [*main.problems, *self._replies(task_id, gold, main.known)]
        for number, other in enumerate(gold.task.expected.also_accept):
            try:
                with world.open(task_id) as sandbox:
                    outcomes = replay(sandbox, other.actions)
                    changes = sandbox.changes()
            except (ReplayError, PackFault):
                continue  # a finding of the gold check
            # Who reads never fails: what the expected actions look up, or work out, may be known here too.
            known = self._with_arguments(gold, main.known)
            free = FreeTexts(world, task_id, other.actions, changes)
            where = ("expected", "also_accept", number, "actions")
            walk = Walk(self._bench, gold.task, where, known, free, hinted=False)
            walk.run(other.actions, outcomes)
            problems += walk.problems
        return tuple(main.traces), problems

    def _with_arguments(self, gold: Gold, known: Known) -> Known:
        """What is known, and what the expected actions pass to tools."""
        more = known.more()
        more.learn(list(gold.arguments), Place("result", "the expected actions"), amounts=True)
        return more

    def _replies(self, task_id: str, gold: Gold, known: Known) -> Iterator[Problem]:
        """Numbers that the last reply must name and that nobody can know, unless the task says that it is computed."""
        if {Hardness.COMPUTED_AMOUNT, Hardness.COMPUTED_DATE} & set(gold.task.hardness):
            return
        given = self._with_arguments(gold, known)
        for index, rule in enumerate(gold.task.reply):
            for at, number in enumerate(rule.numbers):
                if not given.places(number):
                    yield self._subject.problem(
                        task_id,
                        f"The reply must name {number:g}, which stands nowhere that a bot could read and is no argument of an "
                        "expected action: let one look it up or carry it, or say in 'hardness' that it is computed.",
                        "unknowable_reply",
                        "reply",
                        index,
                        "numbers",
                        at,
                    )

    def _start(self, gold: Gold) -> Known:
        known = self._all.more()
        for passage in told_by_customer(gold.task, self._subject.pack.clock):
            known.say(passage.text, passage.place)
        return known
