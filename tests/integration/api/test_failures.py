"""Time travel and the same failure in other runs, over the API."""

from __future__ import annotations

from collections.abc import Callable

from rest_framework.test import APIClient

from assay.runs.models import Run
from tests.integration.api.test_api import api

__all__ = ["api"]

Api = Callable[[str], APIClient]


def test_the_database_after_a_call(api: Api, finished: Callable[..., Run]) -> None:
    run = finished("faithful", trials=1)
    trial = run.trials.get(task_id="LIB-LOAN-001")
    call = next(e["call"] for e in trial.evidence.events if e["type"] == "tool" and e["wrote"])
    client = api("viewer")
    url = f"/api/v1/trials/{trial.pk}/state/"
    key = '{"id": "LN-1"}'
    before = client.get(url, {"call": call - 1, "table": "loans", "key": key}).json()
    after = client.get(url, {"call": call, "table": "loans", "key": key}).json()
    assert [s["rows"][0]["due_on"] for s in (before, after)] == ["2026-05-06", "2026-05-13"]
    assert (before["changes"], before["unlike"], after["unlike"]) == ([], None, None)
    assert after["changes"] == trial.evidence.changes
    assert client.get(url).json()["call"] == -1
    for asked, says in (
        ({"call": 99}, "There is no call 99"),
        ({"call": 0, "table": "lones"}, "There is no table lones"),
        ({"call": 0, "table": "loans", "key": '{"ident": 1}'}, "no column ident"),
    ):
        answer = client.get(url, asked)
        assert answer.status_code == 422
        assert says in answer.json()["detail"]
    for asked in ({"call": "soon"}, {"call": 0, "key": "{"}, {"call": 0, "key": '{"id": [1]}'}):
        assert client.get(url, asked).status_code == 400


def test_the_same_failure_in_all_runs(api: Api, finished: Callable[..., Run]) -> None:
    first, second = finished(trials=6), finished(trials=6)
    trial = first.trials.filter(status="failed").first()
    assert trial is not None
    rows = api("viewer").get(f"/api/v1/trials/{trial.pk}/alike/").json()
    assert [row["run"] for row in rows[:2]] == [first.pk, second.pk]  # its own, then the newest
    assert {row["count"] for row in rows[:2]} == {first.trials.filter(fingerprint=trial.fingerprint).count()}
    assert {row["of"] for row in rows[:2]} == {6}
    assert api("viewer").get("/api/v1/trials/999999/alike/").status_code == 404


def test_a_verdict_says_its_clauses_and_when_it_was_lost(api: Api, finished: Callable[..., Run]) -> None:
    trial = finished(trials=6).trials.filter(status="failed").first()
    assert trial is not None
    verdict = api("viewer").get(f"/api/v1/trials/{trial.pk}/").json()["evidence"]["verdict"]
    assert set(verdict["clauses"]) == {"ids", "told"}
    assert verdict["no_return"] is None or verdict["no_return"]["status"] in (
        "lost",
        "reachable",
        "cannot_tell",
    )


def test_the_distinct_failures_of_a_pack(api: Api, finished: Callable[..., Run]) -> None:
    run = finished(trials=6)
    rows = api("viewer").get(f"/api/v1/packs/{run.pack_version.pack_id}/failures/").json()
    assert [row["trials"] for row in rows] == sorted((row["trials"] for row in rows), reverse=True)
    assert len({row["fingerprint"] for row in rows}) == len(rows)
    of_run = set(run.trials.filter(status="failed").values_list("fingerprint", flat=True))
    assert of_run <= {row["fingerprint"] for row in rows}
