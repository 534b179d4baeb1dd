"""Checks that are only reported: chosen on the site or over the API, shown with the run, and named by a gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.test import Client
from rest_framework.test import APIClient

from assay.accounts.models import User
from assay.accounts.services import create_token
from assay.packs.models import PackVersion
from assay.runs.models import Run
from tests.support.site import finish, reference_bot

Browser = Callable[[str], Client]


def planned(client: Client, library: PackVersion, **fields: Any) -> Any:
    bot = reference_bot("faithful")
    form = {"pack_version": library.pk, "bot_version": bot.pk, "trials": 2, "seed": 3, **fields}
    return client.post("/runs/new/", form)


def test_a_check_is_chosen_in_the_form_and_its_figures_stand_on_the_run_page(
    browser: Browser, library: PackVersion
) -> None:
    client = browser("operator")
    assert "Said something" in client.get("/runs/new/").content.decode()
    gate = {
        "gate_metric": "pass_hat",
        "gate_k": 2,
        "gate_at_least": 0.3,
        "gate_checks": "said-something >= 35 %",
    }
    assert planned(client, library, checks=["said-something"], **gate).status_code == 302
    run = Run.objects.latest("id")
    assert [c["name"] for c in run.checkers] == ["said-something"]
    assert run.gate is not None
    assert run.gate["checks"] == [{"check": "said-something", "at_least": 0.35}]
    finish(run)
    assert run.summary is not None
    assert [c["name"] for c in run.summary["checks"]][-1] == "said-something"
    assert run.gate_answer is not None
    assert run.gate_answer["met"] is True
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert "Other checks" in page
    assert "said-something" in page
    assert "check:said-something &gt;= 0.35" in page


def test_a_gate_on_a_check_that_the_run_does_not_report_is_refused(
    browser: Browser, library: PackVersion
) -> None:
    client = browser("operator")
    figure = {"gate_metric": "pass_hat", "gate_k": 2, "gate_at_least": 0.3}
    for fields, says in (
        ({**figure, "gate_checks": "said-something >= 0.9"}, "does not report"),
        ({**figure, "gate_checks": "said-something"}, "is no condition"),
        ({"gate_checks": "said-something >= 0.9"}, "needs a figure of the trials too"),
    ):
        response = planned(client, library, **fields)
        assert response.status_code == 422
        assert says in response.content.decode().replace("&#x27;", "'"), fields


def test_checks_and_gates_on_them_go_over_the_api(
    member: Callable[[str], User], library: PackVersion
) -> None:
    _, token = create_token(member("operator"), name="tests")
    client = APIClient(HTTP_HOST="acme.localhost")
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {token}")
    bot = reference_bot("faithful")
    base = {"pack_version": library.pk, "bot_version": bot.pk, "trials": 1}
    gate = {"at_least": 0.3, "checks": [{"check": "said-something", "at_least": 0.3}]}
    made = client.post(
        "/api/v1/runs/",
        {**base, "checkers": [{"name": "said-something"}], "gate": gate},
        format="json",
    )
    assert made.status_code == 201, made.content
    assert made.json()["gate"]["checks"] == gate["checks"]
    assert made.json()["checkers"][0]["name"] == "said-something"
    for wrong in (
        {"gate": gate},
        {"checkers": [{"name": "nobody"}]},
        {"checkers": [{"nom": "x"}]},
        {"checkers": ["x"]},
    ):
        answer = client.post("/api/v1/runs/", {**base, **wrong}, format="json")
        assert answer.status_code in (400, 422), (wrong, answer.status_code)
