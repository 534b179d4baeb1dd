"""The REST API, as a program with a token uses it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from rest_framework.test import APIClient

from assay.accounts.models import User
from assay.accounts.services import create_token, revoke_token
from assay.packs.models import PackVersion
from assay.runs.models import Run
from tests.support.site import LIBRARY, finish, reference_bot

Api = Callable[[str], APIClient]


@pytest.fixture
def api(member: Callable[[str], User]) -> Api:
    """A client with a token of that member of Acme."""

    def make(role: str) -> APIClient:
        _, text = create_token(member(role), name="tests")
        client = APIClient(HTTP_HOST="acme.localhost")
        client.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
        return client

    return make


def zipped(changed: Mapping[str, bytes] | None = None) -> SimpleUploadedFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path in sorted(LIBRARY.rglob("*")):
            if path.is_file():
                name = path.relative_to(LIBRARY).as_posix()
                archive.writestr(name, (changed or {}).get(name, path.read_bytes()))
    return SimpleUploadedFile("library.zip", buffer.getvalue(), "application/zip")


def test_without_a_valid_token_nothing_is_answered(api: Api, member: Callable[[str], User]) -> None:
    bare = APIClient(HTTP_HOST="acme.localhost")
    answer = bare.get("/api/v1/packs/")
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")
    for header in ("Bearer nonsense", "Bearer a b", "Basic abc"):
        bare.credentials(HTTP_AUTHORIZATION=header)
        assert bare.get("/api/v1/packs/").status_code == 401
    token, text = create_token(member("viewer"), name="short")
    bare.credentials(HTTP_AUTHORIZATION=f"Bearer {text}")
    assert bare.get("/api/v1/packs/").status_code == 200
    revoke_token(token, by=None)
    assert bare.get("/api/v1/packs/").status_code == 401


def test_a_session_of_the_site_opens_nothing_here(member: Callable[[str], User]) -> None:
    client = APIClient(HTTP_HOST="acme.localhost")
    client.force_login(member("owner"))
    assert client.get("/api/v1/packs/").status_code == 401


def test_a_token_of_one_company_means_nothing_on_anothers_host(
    api: Api, finished: Callable[..., Run]
) -> None:
    run = finished(trials=1)
    client = api("owner")
    assert client.get(f"/api/v1/runs/{run.pk}/").status_code == 200
    assert client.get(f"/api/v1/runs/{run.pk}/", HTTP_HOST="globex.localhost").status_code == 401


def test_a_role_that_may_not_is_refused_with_a_sentence(api: Api, library: PackVersion) -> None:
    bot = reference_bot("faithful")
    task = library.tasks.first()
    assert task is not None
    viewer = api("viewer")
    for path, data in (
        ("/api/v1/bots/", {"name": "x", "spec": "reference:faithful"}),
        ("/api/v1/runs/", {"pack_version": library.pk, "bot_version": bot.pk}),
        (f"/api/v1/tasks/{task.pk}/disable/", {}),
        (f"/api/v1/tasks/{task.pk}/edit/", {"yaml": task.yaml}),
    ):
        answer = viewer.post(path, data, format="json")
        assert answer.status_code == 403, path
        assert "viewer" in answer.json()["detail"], path
    assert viewer.get("/api/v1/runs/").status_code == 200
    assert api("author").post("/api/v1/bots/", {"name": "x", "spec": "reference:faithful"}).status_code in (
        403,
        415,
    )


def test_from_a_zip_to_a_report(api: Api) -> None:
    client = api("admin")
    uploaded = client.post("/api/v1/packs/upload/", {"file": zipped()}, format="multipart")
    assert uploaded.status_code == 201, uploaded.content
    version = uploaded.json()
    bot = client.post(
        "/api/v1/bots/", {"name": "Over the API", "spec": "reference:careless"}, format="json"
    ).json()
    assert bot["synthetic"] is True
    planned = client.post(
        "/api/v1/runs/",
        {
            "pack_version": version["id"], "bot_version": bot["id"], "trials": 3, "seed": str(2**63 - 1),
            "gate": {"metric": "pass_at", "k": 1, "at_least": 0.5},
        },
        format="json",
    )  # fmt: skip
    assert planned.status_code == 201, planned.content
    run = planned.json()
    assert run["seed"] == str(2**63 - 1)
    url = f"/api/v1/runs/{run['id']}/"
    assert client.get(f"{url}summary/").status_code == 404
    assert client.get(f"{url}progress/").json()["queued"] == run["trial_count"]
    finish(Run.objects.get(pk=run["id"]))
    progress = client.get(f"{url}progress/").json()
    assert (progress["done"], progress["status"]) == (run["trial_count"], "finished")
    summary = client.get(f"{url}summary/").json()
    assert summary["passed"] + summary["failed"] == run["trial_count"]
    assert client.get(url).json()["gate_answer"]["met"] in (True, False)
    report = client.get(f"{url}report/")
    assert report.headers["Content-Type"].startswith("text/html")
    assert "Reliability report" in report.content.decode()
    trials = client.get("/api/v1/trials/", {"run": run["id"], "status": "failed"}).json()
    assert trials["count"] == summary["failed"]
    one = client.get(f"/api/v1/trials/{trials['results'][0]['id']}/").json()
    assert one["evidence"]["verdict"]["outcome"] == "fail"
    assert one["evidence"]["transcript"]["events"][0]["type"] == "user"


def test_a_run_takes_a_fault_profile_and_its_summary_tells_the_recovery_rate(
    api: Api, library: PackVersion
) -> None:
    client = api("operator")
    asked = {
        "pack_version": library.pk, "bot_version": reference_bot("careless").pk, "trials": 6, "seed": "4",
        "faults": "flaky", "fault_options": {"rate": 0.5},
    }  # fmt: skip
    run = client.post("/api/v1/runs/", asked, format="json").json()
    assert (run["faults"], run["fault_options"]) == ("flaky", {"rate": 0.5})
    assert run["manifest"]["faults"]["options"]["rate"] == 0.5
    assert "fault profile flaky" in run["manifest"]["plugins"]["assay"]["parts"]
    finish(Run.objects.get(pk=run["id"]))
    faults = client.get(f"/api/v1/runs/{run['id']}/summary/").json()["faults"]
    assert faults["overall"]["injected"] == sum(entry["injected"] for entry in faults["by_kind"]) > 10
    assert 0 < faults["overall"]["recovered"]["share"] < 1
    hit = faults["overall"]["trials"]
    assert hit + faults["untouched"]["of"] == run["trial_count"]
    trial = client.get("/api/v1/trials/", {"run": run["id"]}).json()["results"][0]
    evidence = client.get(f"/api/v1/trials/{trial['id']}/").json()["evidence"]
    assert "faults" in evidence["verdict"]


def test_a_broken_pack_is_answered_problem_by_problem(api: Api) -> None:
    before = PackVersion.objects.count()
    broken = zipped({"pack.yaml": b"format: 1\nname: Library!\nversion: 1.0.0\ncolour: red\n"})
    answer = api("author").post("/api/v1/packs/upload/", {"file": broken}, format="multipart")
    assert answer.status_code == 422
    problems = answer.json()["problems"]
    assert {(p["path"], p["line"]) for p in problems} >= {("pack.yaml", 2), ("pack.yaml", 4)}
    assert all(p["message"].endswith((".", "?", "…")) for p in problems), problems
    assert PackVersion.objects.count() == before


def test_input_that_does_not_fit_is_refused_and_leaves_nothing(api: Api, library: PackVersion) -> None:
    bot = reference_bot("faithful")
    client = api("admin")
    before = Run.objects.count()
    base: dict[str, Any] = {"pack_version": library.pk, "bot_version": bot.pk}
    for wrong in (
        {"trials": 0}, {"trials": "many"}, {"seed": "-1"}, {"seed": str(2**63)}, {"tasks": "NOPE-*"},
        {"gate": {"metric": "vibes"}}, {"gate": {"k": 50, "at_least": 0.9}}, {"persona": "nobody"},
        {"faults": "nobody"}, {"faults": "flaky", "fault_options": {"rate": 2}}, {"faults": "flaky", "fault_options": []},
        {"user": "nobody:x"}, {"user": "litellm:openai/m", "user_options": {"tries": 0}},
        {"pack_version": 10**9}, {"bot_version": None},
    ):  # fmt: skip
        answer = client.post("/api/v1/runs/", {**base, **wrong}, format="json")
        assert answer.status_code in (400, 422), (wrong, answer.status_code)
        assert answer.json(), wrong
    assert client.post("/api/v1/runs/", b"{", content_type="application/json").status_code == 400
    assert Run.objects.count() == before
    task = library.tasks.first()
    assert task is not None
    answer = client.post(f"/api/v1/tasks/{task.pk}/edit/", {"yaml": "- id: OTHER-1"}, format="json")
    assert answer.status_code == 422
    assert answer.json()["problems"]


def test_a_task_is_switched_off_and_edited(api: Api, library: PackVersion) -> None:
    task = library.tasks.first()
    assert task is not None
    client = api("author")
    assert client.post(f"/api/v1/tasks/{task.pk}/disable/").json()["enabled"] is False
    assert client.post(f"/api/v1/tasks/{task.pk}/enable/").json()["enabled"] is True
    found = client.get("/api/v1/tasks/", {"pack_version": library.pk, "search": task.task_id}).json()
    assert [t["task_id"] for t in found["results"]] == [task.task_id]
    edited = client.post(
        f"/api/v1/tasks/{task.pk}/edit/",
        {"yaml": task.yaml.replace(task.title, "Said over the API")},
        format="json",
    )
    assert edited.status_code == 201
    assert edited.json()["edited_from"] == library.pk


def test_a_run_is_paused_and_cancelled_once(api: Api, library: PackVersion) -> None:
    client = api("operator")
    bot = reference_bot("faithful")
    run = client.post(
        "/api/v1/runs/", {"pack_version": library.pk, "bot_version": bot.pk, "trials": 1}, format="json"
    )
    url = f"/api/v1/runs/{run.json()['id']}/"
    assert client.post(f"{url}pause/").json()["status"] == "paused"
    assert client.post(f"{url}resume/").json()["status"] in ("planned", "running")
    assert client.post(f"{url}cancel/").json()["status"] == "cancelled"
    assert client.post(f"{url}cancel/").status_code == 422


@pytest.mark.usefixtures("acme")
def test_the_schema_describes_every_path_without_complaint(capsys: pytest.CaptureFixture[str]) -> None:
    from drf_spectacular.generators import SchemaGenerator
    from drf_spectacular.validation import validate_schema

    schema = SchemaGenerator().get_schema(request=None, public=True)
    validate_schema(schema)
    assert "Warning" not in capsys.readouterr().err
    assert {"/api/v1/packs/upload/", "/api/v1/runs/{id}/report/", "/api/v1/trials/{id}/"} <= set(
        schema["paths"]
    )
    client = APIClient(HTTP_HOST="acme.localhost")
    assert client.get("/api/v1/schema/").status_code == 200
    assert client.get("/api/v1/docs/").status_code == 200
