"""The whole chain against a known truth: what the reference bots drew, hidden from grading, and what the verdicts say.

The faithful bot does what policy requires and must pass every trial. The careless bot draws a mistake for each trial,
or none, and notes which category the rules of the design give it; the verdict has to agree in every single trial.
"""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from assay.engine.packs.lint import check
from assay.engine.reference import connector_type
from assay.engine.run import run_pack
from assay.engine.sandbox import World
from assay.engine.statistics.summary import summarise
from assay.engine.trial import Lab, TrialRecord

ROOT = Path(__file__).parents[2]
#: Where each pack is, and how often each of its tasks is tried.
PACKS = {
    "library": (ROOT / "tests/support/packs/library", 30),
    **{
        name: (ROOT / "domain_packs" / name, 4)
        for name in ("retail", "travel", "auto_insurance", "neobank_it", "consulting_it_hr")
    },
}
SEEDS = (1, 20_261_201, 2**62 + 7)


@pytest.fixture(scope="module", params=PACKS)
def pack(request: pytest.FixtureRequest) -> tuple[World, int]:
    """A prepared world, and the number of trials."""
    path, count = PACKS[request.param]
    return check(path).world, count


def trials(world: World, target: str, count: int, seed: int) -> list[TrialRecord]:
    connector = connector_type.build(target, connector_type.options(), os.environ.__getitem__)
    found: list[TrialRecord] = []
    run_pack(
        Lab(world, connector), list(world.pack.tasks), count, seed, on_record=found.append, retry_after=0.0
    )
    assert len(found) == count * len(world.pack.tasks)
    return found


def told(trial: TrialRecord) -> str:
    verdict = trial.verdict or {}
    return f"{trial.task}/{trial.index} ({trial.notes}): {trial.status}, {verdict.get('category')}, {verdict.get('explanation')}"


@pytest.mark.parametrize("seed", SEEDS)
def test_the_faithful_bot_passes_every_trial(pack: tuple[World, int], seed: int) -> None:
    wrong = [told(t) for t in trials(pack[0], "faithful", 3, seed) if t.status != "passed"]
    assert wrong == []


@pytest.mark.parametrize("seed", SEEDS)
def test_the_verdict_on_the_careless_bot_agrees_with_the_mistake_it_drew(
    pack: tuple[World, int], seed: int
) -> None:
    found = trials(pack[0], "careless", pack[1], seed)
    wrong = []
    for trial in found:
        expected = trial.notes["expected_category"]
        right = trial.status == ("failed" if expected else "passed") and trial.outcome().category == expected
        if not right:
            wrong.append(f"{told(trial)}; expected {expected}")
    assert wrong == []
    drawn = Counter(t.notes["reference_fault"] for t in found)
    assert drawn["none"] and len(drawn) >= 5, drawn  # both kinds were there to agree on


def test_one_mistake_at_one_place_is_one_failure(pack: tuple[World, int]) -> None:
    """Fingerprints: the same drawn mistake of a task gives few distinct failures, and none is shared by two tasks."""
    summary = summarise(t.outcome() for t in trials(pack[0], "careless", 2 * pack[1], 3))
    assert summary.failures
    assert sum(f.count for f in summary.failures) == summary.overall.counts.failed
    by_print = Counter(f.fingerprint for f in summary.failures)
    assert max(by_print.values()) == 1
    # at most four alterations are kept for each of the four mistakes in the actions, and two concern the reply
    most = Counter(f.task for f in summary.failures).most_common(1)[0][1]
    assert most <= 4 * 4 + 2
