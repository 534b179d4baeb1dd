"""Tasks of a pack whose structure is nearly the same, and how near: docs/reference/verifier.md defends the limit."""

from __future__ import annotations

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from assay.engine.packs.models import Action, Task
from assay.engine.packs.problems import Problem
from assay.engine.verifier.coverage import exercised_by
from assay.engine.verifier.knowing import plain
from assay.engine.verifier.subject import Subject

#: Pairs from here up are findings: a case with other names, another wording of the trap and one call more or less.
LIMIT = 0.7
#: Pairs at the limit that are listed; a pack in which more are alike has other troubles.
MOST_ABOVE = 500
#: Nearest pairs that are always listed.
NEAREST = 10
#: Characters of a trap that are looked at.
LONGEST_TRAP = 1_000
#: What the parts of a score weigh.
WEIGHTS = {"clauses": 0.3, "steps": 0.35, "trap": 0.25, "hardness": 0.1}

_LITTLE_WORDS = (
    "a an and are as at be but by can for from has have he her his in is it its may must no not nor of on one only or "
    "she so than that the their them there they this to too was were which who whom will with would what when where "
    "while"
)
_LITTLE = frozenset(_LITTLE_WORDS.split())


@dataclass(frozen=True, slots=True)
class Pair:
    """Two tasks, how alike they are (0 to 1), and each part of the score."""

    one: str
    other: str
    score: float
    parts: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        return {
            "tasks": [self.one, self.other],
            "score": round(self.score, 3),
            **{name: round(value, 3) for name, value in self.parts.items()},
        }


@dataclass(frozen=True)
class SimilarityReport:
    """`above`: every pair at the limit or over it, the nearest first. `nearest`: the nearest pairs, whatever they score."""

    limit: float
    pairs: int
    above: tuple[Pair, ...]
    nearest: tuple[Pair, ...]
    problems: tuple[Problem, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "limit": self.limit,
            "pairs": self.pairs,
            "above": [pair.as_json() for pair in self.above],
            "nearest": [pair.as_json() for pair in self.nearest],
        }


def examine_similarity(subject: Subject) -> SimilarityReport:
    """Compare all tasks of the pack with one another; findings only when the whole pack is verified. Raises OutOfTime."""
    tasks = list(subject.pack.tasks.values())
    likeness = Likeness(tasks, subject)
    above: list[Pair] = []
    nearest: list[Pair] = []
    for number, one in enumerate(tasks):
        subject.check_time()
        found = [likeness.pair(one, other) for other in tasks[number + 1 :]]
        above = (above + [pair for pair in found if pair.score >= LIMIT])[:MOST_ABOVE]
        nearest = heapq.nsmallest(NEAREST, nearest + found, key=_order)
    above.sort(key=_order)
    problems = []
    for pair in above if subject.whole else ():
        first = subject.source(pair.one)
        message = (
            f"It is nearly {pair.one} ({first.path}:{first.line}) once more: likeness {pair.score:.2f}, and {LIMIT:.2f} is too much. Give it "
            "another rule, another course or another trap, or remove it."
        )
        problems.append(subject.problem(pair.other, message, "similar_tasks"))
    pairs = len(tasks) * (len(tasks) - 1) // 2
    return SimilarityReport(LIMIT, pairs, tuple(above), tuple(nearest), tuple(sorted(problems)))


def _order(pair: Pair) -> tuple[float, str, str]:
    return -pair.score, pair.one, pair.other


class Likeness:
    """How alike tasks of one pack are. What most tasks of the pack do counts for little."""

    def __init__(self, tasks: Sequence[Task], subject: Subject) -> None:
        self._clauses = {t.id: exercised_by(t) for t in tasks}
        self._steps = {t.id: _steps(t, subject) for t in tasks}
        self._trap = {t.id: _content((t.trap or "")[:LONGEST_TRAP]) for t in tasks}
        self._hardness = {t.id: frozenset(h.value for h in t.hardness) for t in tasks}
        self._clause_weight = _weights(self._clauses.values())
        self._tool_weight = _weights({tool for tool, _ in steps} for steps in self._steps.values())
        self._word_weight = _weights(self._trap.values())
        self._hardness_weight = _weights(self._hardness.values())

    def pair(self, one: Task, other: Task) -> Pair:
        """The score of two tasks: symmetric, and 1 for a task and itself."""
        a, b = one.id, other.id
        parts = {
            "clauses": _shared(self._clauses[a], self._clauses[b], self._clause_weight),
            "steps": _in_order(self._steps[a], self._steps[b], self._tool_weight),
            "trap": _shared(self._trap[a], self._trap[b], self._word_weight),
            "hardness": _shared(self._hardness[a], self._hardness[b], self._hardness_weight),
        }
        score = math.fsum(WEIGHTS[name] * value for name, value in parts.items())
        return Pair(a, b, round(score, 9), parts)


#: A call: the tool, and its choices (enum and boolean arguments, and the section of an article that is read).
Step = tuple[str, frozenset[tuple[str, str]]]


def _steps(task: Task, subject: Subject) -> tuple[Step, ...]:
    return tuple(_step(action, subject) for action in task.expected.actions)


def _step(action: Action, subject: Subject) -> Step:
    compiled = subject.world.compiled.get(action.tool)
    if compiled is None:  # an article
        return action.tool, frozenset(
            (name, str(value)) for name, value in action.args.items() if name == "section"
        )
    properties = compiled.spec.input_schema.get("properties", {})
    choices = frozenset(
        (name, str(value))
        for name, value in action.args.items()
        if isinstance(value, bool) or "enum" in properties.get(name, {})
    )
    return action.tool, choices


def _weights(features: Iterable[Iterable[str]]) -> dict[str, float]:
    """How telling a feature is: 1 for what one task has, near 0 for what all have."""
    sets = [frozenset(f) for f in features]
    counts = Counter(feature for found in sets for feature in found)
    most = math.log(len(sets) + 1)
    return {
        f: max(0.05, math.log((len(sets) + 1) / count) / most) if most else 1.0 for f, count in counts.items()
    }


def _shared(one: frozenset[str], other: frozenset[str], weight: Mapping[str, float]) -> float:
    """What two sets share of what they hold together, by weight; two empty sets are alike."""
    whole = math.fsum(weight[f] for f in sorted(one | other))
    return math.fsum(weight[f] for f in sorted(one & other)) / whole if whole else 1.0


def _in_order(one: Sequence[Step], other: Sequence[Step], weight: Mapping[str, float]) -> float:
    """The longest common course of two lists of steps, by weight, as a share of both."""
    whole = math.fsum(weight[tool] for tool, _ in (*one, *other))
    if not whole:
        return 1.0
    rows = [[0.0] * (len(other) + 1) for _ in range(len(one) + 1)]
    for i, first in enumerate(one, 1):
        for j, second in enumerate(other, 1):
            rows[i][j] = max(
                rows[i - 1][j], rows[i][j - 1], rows[i - 1][j - 1] + _alike(first, second) * weight[first[0]]
            )
    return 2 * rows[-1][-1] / whole


def _alike(one: Step, other: Step) -> float:
    """0 for different tools; for the same one a half, and the other half by its choices."""
    if one[0] != other[0]:
        return 0.0
    whole = one[1] | other[1]
    return 0.5 + 0.5 * (len(one[1] & other[1]) / len(whole) if whole else 1.0)


@cache
def _content(text: str) -> frozenset[str]:
    """The content words of a sentence, cut so that "refund" and "refunded" are one; figures are left out."""
    found = re.findall(r"[^\W\d_]+", plain(text))
    return frozenset(word[:6] for word in found if word not in _LITTLE and len(word) > 1)
