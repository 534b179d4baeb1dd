"""Verify a pack: every part in order, and what they found together."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from assay.engine.packs.lint import Checked
from assay.engine.packs.problems import Problem
from assay.engine.sandbox.replay import OutOfTime
from assay.engine.verifier import equivalents, mutation
from assay.engine.verifier.coverage import CoverageReport, examine_coverage
from assay.engine.verifier.endings import EndingsReport, examine_endings
from assay.engine.verifier.equivalents import EquivalentsReport, examine_equivalents
from assay.engine.verifier.gold import GoldReport, examine_gold
from assay.engine.verifier.information import InformationReport, examine_information
from assay.engine.verifier.leaks import LeaksReport, examine_leaks
from assay.engine.verifier.money import MoneyReport, examine_money
from assay.engine.verifier.mutation import MutationReport, examine_mutants
from assay.engine.verifier.processes import divided, usable
from assay.engine.verifier.provenance import ProvenanceReport, examine_provenance
from assay.engine.verifier.similarity import SimilarityReport, examine_similarity
from assay.engine.verifier.subject import Subject, playable

#: Seconds for a whole verification, unless the caller says otherwise.
LONGEST = 600.0


class Part(Protocol):
    """What one part of the verification found."""

    @property
    def problems(self) -> tuple[Problem, ...]: ...

    def as_json(self) -> dict[str, Any]: ...


@dataclass(frozen=True)
class Verification:
    """What is known of a pack. A part is None when it was not reached because the time was over.

    `problems` holds those of all parts. `tasks`: the ids that were verified. `whole`: these are all tasks of the pack. `seconds`:
    how long it took.
    """

    pack: str
    version: str
    content_hash: str
    tasks: tuple[str, ...]
    whole: bool
    problems: tuple[Problem, ...]
    seconds: float
    gold: GoldReport | None = None
    provenance: ProvenanceReport | None = None
    information: InformationReport | None = None
    leaks: LeaksReport | None = None
    mutation: MutationReport | None = None
    coverage: CoverageReport | None = None
    endings: EndingsReport | None = None
    similarity: SimilarityReport | None = None
    equivalents: EquivalentsReport | None = None
    money: MoneyReport | None = None

    @property
    def sound(self) -> bool:
        return not self.problems

    def as_json(self) -> dict[str, Any]:
        """The JSON document of docs/reference/verifier.md."""
        return {
            "sound": self.sound,
            "pack": self.pack,
            "version": self.version,
            "content_hash": self.content_hash,
            "tasks": list(self.tasks),
            "whole": self.whole,
            "problems": [
                {"path": p.path, "line": p.line, "message": p.message, "code": p.code, "task": p.task}
                for p in self.problems
            ],
            "parts": {name: part and part.as_json() for name, part in self.parts()},
            "seconds": round(self.seconds, 3),
        }

    def parts(self) -> Iterator[tuple[str, Part | None]]:
        """Every part with its name, in the order in which they are shown."""
        for name in PARTS:
            yield name, getattr(self, name)


#: The parts in the order in which they run: a field of Verification, and what makes it. A part is a frozen dataclass
#: with `problems` and `as_json()`; its function is given the tasks whose expected actions run.
PARTS: dict[str, Callable[[Subject], Part]] = {
    "gold": examine_gold,
    "provenance": examine_provenance,
    "information": examine_information,
    "leaks": examine_leaks,
    "mutation": examine_mutants,
    "coverage": examine_coverage,
    "endings": examine_endings,
    "similarity": examine_similarity,
    "equivalents": examine_equivalents,
    "money": examine_money,
}


#: Parts that take long, look at one task after the other, and can be divided; how their reports are put together.
_DIVISIBLE: dict[str, Callable[[Sequence[Any], Sequence[str]], Part]] = {
    "mutation": mutation.merged,
    "equivalents": equivalents.merged,
}


def verify(
    checked: Checked,
    *,
    tasks: Callable[[str], bool] | None = None,
    seconds: float = LONGEST,
    jobs: int = 1,
) -> Verification:
    """Verify a pack that loads. `tasks` chooses by id; parts that are about a pack as a whole look at all tasks,
    but report problems only when all are chosen. `jobs`: processes at most; what is found does not depend on it.

    Never raises for what is wrong with the pack; AssayError when a process is lost.
    """
    begun = time.monotonic()
    subject = Subject.of(checked.world, tasks, seconds, complete=checked.complete)
    parts: dict[str, Part] = {}
    problems: list[Problem] = []
    examined = subject
    for name, examine in PARTS.items():
        try:
            if name in _DIVISIBLE:
                reports = divided(examined, usable(jobs, len(examined.tasks)), examine)
                part = _DIVISIBLE[name](reports, examined.tasks)
            else:
                part = examine(examined)
        except OutOfTime:
            message = (
                f"Verifying took {seconds:.0f} s and ended in '{name}': make the tools cheaper, or verify fewer "
                "tasks at a time with --task."
            )
            problems.append(Problem("pack.yaml", 0, message, "verification_too_long"))
            break
        parts[name] = part
        problems += part.problems
        if name == "gold":
            examined = subject.only(playable(subject))  # what does not run is a finding already
    pack = checked.pack
    return Verification(
        pack=pack.name,
        version=pack.version,
        content_hash=pack.content_hash,
        tasks=subject.tasks,
        whole=subject.whole,
        problems=tuple(sorted(set(problems), key=lambda p: (p.path, p.line, p.code, p.message))),
        seconds=time.monotonic() - begun,
        **parts,  # type: ignore[arg-type]  # each under its own name
    )
