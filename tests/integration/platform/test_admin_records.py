"""What a run leaves can be looked at in the admin, and not touched."""

from __future__ import annotations

import pytest
from django.test import Client

from assay.packs.models import PackVersion
from assay.runs import finishing, services
from assay.runs.executor import Executor
from assay.runs.models import Evidence, Run, Trial, TrialAttempt
from tests.integration.platform.conftest import Installation
from tests.support.companies import PASSWORD
from tests.support.site import reference_bot


@pytest.fixture
def run(installation: Installation, library: PackVersion) -> Run:
    """A finished run; one of its trials was void at first."""
    run = services.plan_run(library, reference_bot("careless"), trials=2, seed=4)
    Executor(run, schema="acme").drain()
    finishing.finish_if_done(run.pk)
    trial = Trial.objects.filter(run=run).first()
    assert trial is not None
    TrialAttempt.objects.create(
        trial=trial, number=0, cause="provider_outage", detail="503", seed=1, at=trial.finished_at
    )
    return run


@pytest.fixture
def owner(acme: None) -> Client:
    client = Client(HTTP_HOST="acme.localhost")
    assert client.login(username="owner@acme.example", password=PASSWORD)
    return client


def test_runs_trials_and_evidence_are_shown(run: Run, owner: Client) -> None:
    trial = Trial.objects.filter(run=run).earliest("id")
    assert trial.task_id in owner.get(f"/admin/runs/trial/?q={run.pk}").content.decode()
    shown = owner.get(f"/admin/runs/trial/{trial.pk}/change/").content.decode()
    assert trial.task_id in shown and "provider_outage" in shown
    assert "termination" in owner.get(f"/admin/runs/evidence/{trial.pk}/change/").content.decode()
    assert owner.get("/admin/runs/evidence/").status_code == 200
    assert f"{run.bot_version}" in owner.get("/admin/runs/run/").content.decode()
    assert owner.get(f"/admin/runs/run/{run.pk}/change/").status_code == 200
    version = run.pack_version
    assert (
        version.content_hash in owner.get(f"/admin/packs/packversion/{version.pk}/change/").content.decode()
    )
    assert "reference:careless" in owner.get("/admin/bots/botversion/").content.decode()


@pytest.mark.parametrize("what", ["run", "trial", "evidence"])
def test_nobody_changes_or_deletes_them_by_hand(run: Run, owner: Client, what: str) -> None:
    trial = Trial.objects.filter(run=run).earliest("id")
    page = f"/admin/runs/{what}/{run.pk if what == 'run' else trial.pk}"
    assert owner.post(f"{page}/change/", {"status": "passed", "seed": 1}).status_code == 403
    assert owner.post(f"{page}/delete/", {"post": "yes"}).status_code == 403
    assert Run.objects.filter(pk=run.pk).exists() and Evidence.objects.filter(pk=trial.pk).exists()
