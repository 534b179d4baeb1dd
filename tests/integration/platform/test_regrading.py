"""Finished runs judged again by another version of their pack: by workers, on the site and over the API."""

from __future__ import annotations

import html
import io
import zipfile
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from rest_framework.test import APIClient

from assay.accounts.models import AuditEvent, User
from assay.accounts.services import create_token
from assay.packs.models import PackVersion
from assay.packs.services import edit_task, upload_pack
from assay.runs import regrading
from assay.runs.models import Regrade, RegradedTrial, RegradeStatus, Run
from assay.runs.regrading import RegradeError, plan_regrade
from assay.runs.services import plan_run
from tests.support.site import LIBRARY, browser, finished, library, member, reference_bot

__all__ = ["browser", "finished", "library", "member"]

CHANGED = ("members_find", "loans_list")  # both show the name of a member
OLD, NEW = "args: {loan_id: LN-1, days: 7}", "args: {loan_id: LN-1, days: 21}"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """What workers are asked for, instead of messages."""
    found: list[tuple[str, int]] = []
    monkeypatch.setattr(regrading, "ask", lambda schema, regrade_id: found.append((schema, regrade_id)))
    return found


@pytest.fixture
def corrected(library: PackVersion) -> PackVersion:
    """A later version, in which one task expects another number of days."""
    entry = library.tasks.get(task_id="LIB-LOAN-001")
    assert OLD in entry.yaml
    return edit_task(library, entry.task_id, entry.yaml.replace(OLD, NEW), by=None)


def test_a_run_is_judged_again_in_slices_and_stays_as_it_is(
    finished: Callable[..., Run],
    corrected: PackVersion,
    member: Callable[[str], User],
    asked: list[tuple[str, int]],
) -> None:
    run = finished("faithful", trials=2)
    before = list(run.trials.values())
    found = plan_regrade(run, corrected, by=member("operator"))
    assert plan_regrade(run, corrected) == found  # it is pending already
    assert AuditEvent.objects.filter(action="run.regrade").latest("id").data["to"] == str(corrected)
    assert (found.status, found.tally) == (RegradeStatus.WAITING, None)
    regrading.BATCH, whole = 5, regrading.BATCH
    try:
        assert regrading.work(found.pk, seconds=0) is True  # one batch, then another message
        assert found.trials.count() == 5
        while regrading.work(found.pk, seconds=0):
            pass
    finally:
        regrading.BATCH = whole
    found.refresh_from_db()
    assert found.status == RegradeStatus.DONE
    assert found.tally == {
        "trials": 12,
        "changed": 2,
        "not_comparable": 0,
        "moves": [
            {"old": "passed", "new": "failed", "trials": 2},
            {"old": "passed", "new": "passed", "trials": 10},
        ],
    }
    changed = found.trials.filter(changed=True)
    assert {row.trial.task_id for row in changed} == {"LIB-LOAN-001"}
    for row in changed:
        assert row.why[0].startswith(
            "The check state was a pass and is a failure. Found now: It left wrong values"
        )
        assert row.why[-1] == "Of the task, expected changed."
        assert row.verdict["category"] == row.category == "incorrect_state_update"
    assert list(run.trials.values()) == before
    assert regrading.work(found.pk) is False  # it is done
    assert AuditEvent.objects.filter(action="run.regraded").latest("id").data["tally"] == found.tally


def test_calls_that_behave_differently_make_trials_not_comparable(
    finished: Callable[..., Run], library: PackVersion, asked: list[tuple[str, int]]
) -> None:
    run = finished("faithful", trials=1)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(p for p in LIBRARY.rglob("*") if p.is_file()):
            text = path.read_bytes()
            text = text.replace(b"version: 1.0.0", b"version: 1.9.0")
            text = text.replace(b"No member {member_id}.", b"There is no member {member_id}.")
            text = text.replace(b":member.name AS name", b"upper(:member.name) AS name")
            archive.writestr(path.relative_to(LIBRARY).as_posix(), text)
    found = plan_regrade(run, upload_pack(buffer.getvalue()))
    assert regrading.work(found.pk) is False
    found.refresh_from_db()
    assert (found.status, found.note) == (RegradeStatus.DONE, "")
    rows = {row.trial.task_id: row for row in found.trials.select_related("trial")}
    looked = [
        trial.task_id
        for trial in run.trials.all()
        if any(e["type"] == "tool" and e["tool"] in CHANGED for e in trial.evidence.events)
    ]
    assert {task for task, row in rows.items() if row.status == "not_comparable"} == set(looked)
    for task in looked:
        assert "now behaves differently: its result at " in rows[task].why[0]
        assert "name was " in rows[task].why[0]
        assert rows[task].verdict is None


def test_what_cannot_be_judged_again_is_refused_with_a_sentence(
    finished: Callable[..., Run], library: PackVersion, asked: list[tuple[str, int]]
) -> None:
    going_on = plan_run(library, reference_bot("faithful"), trials=1, seed=1)
    with pytest.raises(RegradeError, match="it can be judged again when it is over"):
        plan_regrade(going_on, library)
    assert asked == []


def test_a_lost_worker_loses_one_batch_and_another_goes_on(
    finished: Callable[..., Run],
    corrected: PackVersion,
    asked: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = plan_regrade(finished("faithful", trials=1), corrected)
    first = regrading._claim(found.pk)
    assert first is not None
    assert regrading._claim(found.pk) is None  # somebody is at it
    Regrade.objects.filter(pk=found.pk).update(due_at=timezone.now() - timedelta(seconds=1))
    assert regrading.sweep("acme") >= 1
    assert ("acme", found.pk) in asked
    assert regrading.work(found.pk) is False
    found.refresh_from_db()
    assert (found.status, found.trials.count()) == (RegradeStatus.DONE, 6)
    assert regrading._keep(found, first, []) is False  # the first one writes nothing any more


def test_a_fault_ends_it_and_is_said(
    finished: Callable[..., Run],
    corrected: PackVersion,
    asked: list[tuple[str, int]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = plan_regrade(finished("faithful", trials=1), corrected)

    def breaks(*_: object) -> None:
        raise RuntimeError("no world today")

    monkeypatch.setattr(regrading, "load_world", breaks)
    assert regrading.work(found.pk) is False
    found.refresh_from_db()
    assert (found.status, found.note) == (RegradeStatus.FAILED, "RuntimeError: no world today")


def test_on_the_site_old_and_new_stand_side_by_side(
    browser: Callable[[str], Client],
    finished: Callable[..., Run],
    corrected: PackVersion,
    asked: list[tuple[str, int]],
    django_capture_on_commit_callbacks: Callable[..., object],
) -> None:
    run = finished("faithful", trials=1)
    client = browser("operator")
    assert f"/runs/{run.pk}/regrades/" in client.get(f"/runs/{run.pk}/").content.decode()
    assert (
        browser("viewer").post(f"/runs/{run.pk}/regrade/", {"pack_version": corrected.pk}).status_code == 403
    )
    answer = client.post(f"/runs/{run.pk}/regrade/", {"pack_version": corrected.pk})
    found = Regrade.objects.latest("id")
    assert answer.headers["Location"] == f"/regrades/{found.pk}/"
    waiting = client.get(f"/regrades/{found.pk}/").content.decode()
    assert "0 of 6 trials judged" in waiting
    assert "hx-get" in waiting
    regrading.work(found.pk)
    page = html.unescape(client.get(f"/regrades/{found.pk}/").content.decode())
    assert "1 of 6 trials judged otherwise" in page
    assert "hx-get" not in page
    assert "The check state was a pass and is a failure." in page
    assert "1 of 6" in client.get(f"/runs/{run.pk}/regrades/").content.decode()
    for nothing in ("0", "x", ""):
        assert client.post(f"/runs/{run.pk}/regrade/", {"pack_version": nothing}).status_code == 404


def test_over_the_api(
    member: Callable[[str], User],
    finished: Callable[..., Run],
    corrected: PackVersion,
    asked: list[tuple[str, int]],
) -> None:
    run = finished("faithful", trials=1)

    def api(role: str) -> APIClient:
        _, text = create_token(member(role), name="tests")
        client = APIClient(HTTP_HOST="acme.localhost")
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        return client

    url = f"/api/v1/runs/{run.pk}/regrade/"
    assert api("viewer").post(url, {"pack_version": corrected.pk}, format="json").status_code == 403
    made = api("operator").post(url, {"pack_version": corrected.pk}, format="json")
    assert made.status_code == 202
    assert made.json()["status"] == "waiting"
    number = made.json()["id"]
    regrading.work(number)
    client = api("viewer")
    assert client.get(f"/api/v1/regrades/{number}/").json()["tally"]["changed"] == 1
    rows = client.get("/api/v1/regraded-trials/", {"regrade": number, "changed": "true"}).json()["results"]
    (row,) = rows
    assert (row["task_id"], row["old_status"], row["status"]) == ("LIB-LOAN-001", "passed", "failed")
    assert row["why"]
    assert RegradedTrial.objects.filter(regrade=number).count() == 6
    going_on = plan_run(corrected, reference_bot("faithful"), trials=1, seed=1)
    refused = api("operator").post(
        f"/api/v1/runs/{going_on.pk}/regrade/", {"pack_version": corrected.pk}, format="json"
    )
    assert refused.status_code == 422
    assert "when it is over" in refused.json()["detail"]
