"""The texts that a derivation may take its constants from: the clause or section it names, and what goes with them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from assay.engine.packs.models import Derivation, Pack
from assay.engine.verifier import prose
from assay.engine.verifier.derivation import Constant, constants, stands
from assay.engine.verifier.knowing import plain
from assay.engine.verifier.told import bare

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]")


@dataclass
class Ground:
    """A text with its numbers, worked out when they are first asked for."""

    text: str

    @cached_property
    def numbers(self) -> frozenset[float]:
        return frozenset(value for value, _ in prose.numbers(self.text))

    def holds(self, constant: Constant) -> bool:
        """Whether a constant of an expression stands here, as a percentage for example."""
        return stands(constant, self.numbers, self.text)

    def names(self, value: float | str, clock: datetime) -> bool:
        """Whether a number, or a date, stands here as it is."""
        if isinstance(value, str):
            return value in prose.dates(self.text, clock)
        return any(math.isclose(n, abs(value), rel_tol=1e-12, abs_tol=1e-9) for n in self.numbers)


class Grounds:
    """The clauses and sections of a pack as grounds."""

    def __init__(self, pack: Pack) -> None:
        self._clauses = _regions(pack)
        self._sections = {s.id: Ground(f"{s.heading}\n{s.text}") for s in pack.sections}
        articles: dict[str, list[str]] = {}
        for section in pack.sections:
            articles.setdefault(section.id.split("#")[0], []).append(f"{section.heading}\n{section.text}")
        self._articles = {stem: Ground("\n".join(texts)) for stem, texts in articles.items()}
        titles = {s.id.split("#")[0]: plain(s.article) for s in pack.sections}
        self._referred = {name: _referred(ground.text, titles) for name, ground in self._clauses.items()}

    def clause(self, name: str) -> Ground | None:
        return self._clauses.get(name)

    def section(self, name: str) -> Ground | None:
        """A section by its id, or a whole article by the stem of its file."""
        return self._sections.get(name) or self._articles.get(name)

    def articles(self, clauses: Iterable[str]) -> frozenset[str]:
        """The stems of the articles that clauses refer to by their titles."""
        return frozenset(stem for name in clauses for stem in self._referred.get(name, ()))

    def without_ground(
        self, derivation: Derivation, clauses: Iterable[str], sections: Iterable[str], said: Iterable[str]
    ) -> list[Constant]:
        """Constants of an expression that stand nowhere they may come from.

        `clauses`, `sections`: what the expression and the task name, since rules are combined, and what was read
        before. `said`: what the customer says, and texts that are known by then.
        """
        named = [*map(self.clause, clauses), *map(self.section, sections), *map(Ground, said)]
        grounds = [ground for ground in named if ground is not None]
        return [c for c in constants(derivation.value) if not any(g.holds(c) for g in grounds)]


def _referred(text: str, titles: Mapping[str, str]) -> frozenset[str]:
    said = plain(text)
    return frozenset(
        stem for stem, title in titles.items() if title in said or stem.replace("-", " ").casefold() in said
    )


def _regions(pack: Pack) -> dict[str, Ground]:
    """Each clause with what follows it up to the next clause or heading: a table below a paragraph belongs to it.

    A clause that is a heading has all that stands below the heading.
    """
    lines = pack.policy.splitlines()
    levels = {n: len(m[1]) for n, line in enumerate(lines, 1) if (m := _HEADING.match(line))}
    starts = sorted({c.source.line for c in pack.clauses.values()})
    regions = {}
    for clause in pack.clauses.values():
        first = clause.source.line
        if first in levels:
            ends = [n for n, level in levels.items() if n > first and level <= levels[first]]
        else:
            ends = [n for n in (*levels, *starts) if n > first]
        below = "\n".join(lines[first - 1 : min(ends, default=len(lines) + 1) - 1])
        regions[clause.id] = Ground(bare(f"{clause.text}\n{below}"))
    return regions
