"""A patient bot passes every task of the reference domains, whatever goes wrong on purpose."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from assay.engine.mishaps import NONE, PROFILES, mishaps
from assay.engine.packs import load_pack
from assay.engine.reference import connector_type
from assay.engine.run import run_pack
from assay.engine.sandbox import World
from assay.engine.trial import Lab, TrialRecord
from assay_sdk import FaultKind

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

DOMAINS = Path(__file__).parents[3] / "domain_packs"


@pytest.fixture(
    scope="module", params=["retail", "travel", "auto_insurance", "neobank_it", "consulting_it_hr"]
)
def world(request: pytest.FixtureRequest) -> World:
    return World.prepare(load_pack(DOMAINS / request.param))


def test_every_task_is_passed_under_every_profile_at_its_worst(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mishaps, "PAUSE", 0.0)
    bot = connector_type.build("faithful", None, lambda reference: reference)
    met: Counter[str] = Counter()
    for profile in PROFILES:
        if profile.name == NONE:
            continue
        # Every call that may be disturbed is, as often as the profile allows.
        lab = Lab(world, bot, faults=profile, fault_options=profile.options.model_validate({"rate": 1}))
        records: list[TrialRecord] = []
        run_pack(lab, list(world.pack.tasks), 1, 17, on_record=records.append)
        left = {r.task: r.verdict for r in records if r.status != "passed"}
        assert left == {}, profile.name
        assert len(records) == len(world.pack.tasks)
        met.update(f["kind"] for r in records for f in (r.verdict or {})["faults"])
    assert set(met) == set(FaultKind)  # none of them is there in name only
