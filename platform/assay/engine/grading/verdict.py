"""The verdict of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from assay.engine.grading.clauses import Clauses
from assay.engine.grading.cost import Cost
from assay.engine.grading.no_return import NoReturn
from assay.engine.grading.recovery import FaultMet
from assay.engine.grading.rubrics import Judgement
from assay.engine.sandbox.difference import Difference
from assay_sdk import CheckResult, Evidence, Outcome


class Category(StrEnum):
    """Why a trial failed; the first rule that matches, in this order."""

    TOOL_USE_ERROR = "tool_use_error"
    MISSING_STATE_CHANGE = "missing_state_change"
    INCORRECT_STATE_UPDATE = "incorrect_state_update"
    INCOMPLETE_RESPONSE = "incomplete_response"


@dataclass(frozen=True, slots=True)
class Surface:
    """What a failed trial looked like from outside: S1 ended cleanly, S2 and changed data, S3 and no tool error."""

    s1: bool
    s2: bool
    s3: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """`outcome` CANNOT_TELL voids the trial. `category` and `surface` are set when it is FAIL."""

    outcome: Outcome
    checks: Sequence[CheckResult]
    difference: Difference
    category: Category | None = None
    surface: Surface | None = None
    evidence: Evidence | None = None  # for the category
    explanation: str = ""  # one sentence a person can read
    fingerprint: str = ""  # same failure, same fingerprint, across trials and runs
    clauses: Clauses = field(default_factory=Clauses)  # of the policy, that the failure is about
    no_return: NoReturn | None = None  # of a wrong database: when it could no longer be put right
    faults: Sequence[FaultMet] = ()  # injected on purpose; they decide nothing
    judged: Sequence[Judgement] = ()  # what a judge said of reply rules
    costs: Sequence[Cost] | None = None  # of a failure, when the pack says what wrong amounts cost

    def as_json(self) -> dict[str, Any]:
        return {
            "outcome": self.outcome.value,
            "category": self.category.value if self.category else None,
            "surface": asdict(self.surface) if self.surface else None,
            "explanation": self.explanation,
            "evidence": asdict(self.evidence) if self.evidence else None,
            "clauses": self.clauses.as_json(),
            "no_return": self.no_return.as_json() if self.no_return else None,
            "fingerprint": self.fingerprint,
            "faults": [f.as_json() for f in self.faults],
            "judged": [j.as_json() for j in self.judged],
            "costs": None if self.costs is None else [c.as_json() for c in self.costs],
            "checks": [
                {
                    "name": c.name,
                    "outcome": c.outcome.value,
                    "required": c.required,
                    "reward": c.reward,
                    "evidence": [asdict(e) for e in c.evidence],
                }
                for c in self.checks
            ],
            "difference": {
                "outcome": self.difference.outcome,
                "rows": [r.as_json() for r in self.difference.rows],
            },
        }
