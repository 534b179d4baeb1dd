"""The trials of a run as JSON lines, over the API."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any

import jsonschema
import pytest
from django.db import connection
from django.http import StreamingHttpResponse
from rest_framework.test import APIClient

from assay.accounts.models import User
from assay.accounts.services import create_token
from assay.engine.rewards import LINE_SCHEMA
from assay.runs.models import Evidence, Run, Trial, TrialStatus
from assay.runs.rewards import BATCH, reward_lines
from assay.tenancy.services import in_tenant
from tests.support.chat import check_chat

Api = Callable[[str], APIClient]


@pytest.fixture
def api(member: Callable[[str], User]) -> Api:
    def make(role: str) -> APIClient:
        _, text = create_token(member(role), name="tests")
        client = APIClient(HTTP_HOST="acme.localhost")
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        return client

    return make


@pytest.fixture
def run(finished: Callable[..., Run]) -> Run:
    return finished("careless", trials=2)


def lines(response: Any) -> Iterator[dict[str, Any]]:
    assert response.status_code == 200
    assert isinstance(response, StreamingHttpResponse)
    return (json.loads(line) for line in b"".join(response).splitlines())


def test_every_line_fits_and_tells_what_became_of_the_trial(api: Api, run: Run) -> None:
    response = api("viewer").get(f"/api/v1/runs/{run.pk}/rewards/")
    assert response.headers["Content-Type"] == "application/x-ndjson"
    head, *trials = lines(response)
    assert head["kind"] == "run"
    assert head["tools"]
    kept = {(t.task_id, t.index): t for t in Trial.objects.filter(run=run)}
    assert len(trials) == len(kept)
    for line in (head, *trials):
        jsonschema.validate(line, LINE_SCHEMA)
    for line in trials:
        check_chat(line["messages"])
        trial = kept[line["task"], line["index"]]
        assert (line["status"], line["seed"]) == (trial.status, str(trial.seed))
        assert line["reward"] == (1.0 if trial.status == "passed" else 0.0)
        assert [c["name"] for c in line["checks"]][:2] == ["state", "ending"]


def test_void_trials_come_only_when_asked_for_and_tools_in_every_line_too(api: Api, run: Run) -> None:
    trial = Trial.objects.filter(run=run).order_by("pk")[0]
    Trial.objects.filter(pk=trial.pk).update(status=TrialStatus.VOID, void_cause="provider_outage")
    Evidence.objects.filter(trial=trial).delete()
    client, url = api("viewer"), f"/api/v1/runs/{run.pk}/rewards/"
    assert "void" not in {line.get("status") for line in lines(client.get(url))}
    _, *trials = lines(client.get(url, {"void": "true", "tools": "true"}))
    (void,) = [line for line in trials if line["status"] == "void"]
    jsonschema.validate(void, LINE_SCHEMA)
    assert (void["void_cause"], void["reward"], void["checks"]) == ("provider_outage", None, [])
    assert all(line["tools"] for line in trials)
    assert client.get(url, {"void": "perhaps"}).status_code == 400


def test_another_company_and_strangers_get_nothing(api: Api, run: Run) -> None:
    assert APIClient(HTTP_HOST="acme.localhost").get(f"/api/v1/runs/{run.pk}/rewards/").status_code == 401
    client = api("viewer")
    assert client.get(f"/api/v1/runs/{run.pk + 10_000}/rewards/").status_code == 404


def test_a_large_run_is_read_a_few_trials_at_a_time(run: Run) -> None:
    """Also when the lines are asked for outside of the request, where no tenant is chosen."""
    evidence = Evidence.objects.filter(trial__run=run).first()
    assert evidence is not None
    said = {"type": "bot", "text": "word " * 40_000, "truncated": False, "ends": None}
    transcript = {**evidence.transcript, "events": [{"type": "user", "text": "Hi.", "facts_given": []}, said]}
    made = Trial.objects.bulk_create(
        Trial(run=run, task_id="LARGE", group="g", index=n, seed=n, status=TrialStatus.PASSED)
        for n in range(200)
    )
    for start in range(0, len(made), BATCH):
        Evidence.objects.bulk_create(
            Evidence(trial=t, transcript=transcript, verdict=evidence.verdict)
            for t in made[start : start + BATCH]
        )
    schema = connection.schema_name
    found = reward_lines(run)
    next(found)
    connection.set_schema_to_public()
    try:
        tracemalloc.start()
        written = sum(len(line) for line in found)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        connection.set_tenant(_tenant(schema))
    assert written > 200 * 200_000  # 40 MB in all
    assert peak < 20_000_000


def _tenant(schema: str) -> Any:
    with in_tenant(schema) as tenant:
        return tenant
