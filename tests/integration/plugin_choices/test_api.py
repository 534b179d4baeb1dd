"""Plugins over the API."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from rest_framework.test import APIClient

from assay.accounts.models import User
from assay.accounts.services import create_token
from assay.plugin_choices import services

ONE = "/api/v1/plugins/acme-assay/"
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


def test_the_plugins_are_listed_with_versions_and_parts(api: Api) -> None:
    built_in, acme = api("viewer").get("/api/v1/plugins/").json()
    assert (built_in["name"], built_in["fixed"]) == ("assay", True)
    assert acme == {
        "name": "acme-assay",
        "distribution": "acme-assay",
        "version": "1.2.0",
        "brings": {
            "connector": ["parrot"],
            "model": ["echo"],
            "persona": ["greeter"],
            "check": ["said-something"],
            "pack importer": ["copy"],
            "ticket system": ["notebook"],
            **(
                {"fault profile": acme["brings"]["fault profile"]}
                if "fault profile" in acme["brings"]
                else {}
            ),
        },
        "failures": [],
        "enabled": True,
        "fixed": False,
        "options": {},
    }


def test_an_admin_switches_and_sets_and_nobody_else(api: Api) -> None:
    admin = api("admin")
    for role in ("author", "operator", "reviewer", "viewer"):
        assert api(role).post(f"{ONE}disable/").status_code == 403
        assert api(role).put(f"{ONE}options/", {}, format="json").status_code == 403
    assert services.state("acme-assay").enabled
    assert admin.post(f"{ONE}disable/").json()["enabled"] is False
    assert admin.post(f"{ONE}enable/").json()["enabled"] is True
    given = {"kind": "connector", "name": "parrot", "options": {"volume": 2}}
    shown = admin.put(f"{ONE}options/", given, format="json").json()
    assert shown["options"] == {"connector parrot": {"volume": 2}}


def test_what_is_wrong_is_answered_with_a_sentence(api: Api) -> None:
    admin = api("admin")
    wrong = {"kind": "connector", "name": "parrot", "options": {"volume": 9, "colour": "red"}}
    refused = admin.put(f"{ONE}options/", wrong, format="json")
    assert refused.status_code == 422
    assert "'volume'" in refused.json()["detail"] and "no option 'colour'" in refused.json()["detail"]
    for body, status in (
        ({"kind": "persona", "name": "cooperative", "options": {}}, 404),  # another plugin's
        ({"kind": "flavour", "name": "parrot", "options": {}}, 404),
        ({"kind": "connector", "name": "parrot", "options": 7}, 400),
        ({"kind": "connector"}, 400),
    ):
        assert admin.put(f"{ONE}options/", body, format="json").status_code == status, body
    assert admin.get("/api/v1/plugins/nothing/").status_code == 404
    assert admin.post("/api/v1/plugins/nothing/disable/").status_code == 404
    refused = admin.post("/api/v1/plugins/assay/disable/")
    assert refused.status_code == 422 and "cannot be switched off" in refused.json()["detail"]
    assert services.options_of("connector", "parrot") == {}
