"""Operators manage companies on the public schema's host, from the admin or the command line."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django_tenants.utils import schema_context, schema_exists

from assay.accounts.models import AuditEvent, User
from assay.tenancy.models import Domain, Tenant
from assay.tenancy.services import TenantError, create_operator, create_tenant, in_tenant

PASSWORD = "quiet-harbour-17"


@pytest.fixture
def operators(platform_db: None) -> Client:
    if not User.objects.filter(email="ops@assay.example").exists():
        create_operator(email="ops@assay.example", password=PASSWORD)
    client = Client(HTTP_HOST="admin.localhost")
    assert client.login(username="ops@assay.example", password=PASSWORD)
    return client


def new_company(name: str, **fields: str) -> dict[str, str]:
    return {
        "name": name.title(),
        "schema_name": name,
        "host": f"{name}.localhost",
        "owner_email": f"owner@{name}.example",
        "owner_password": PASSWORD,
        **fields,
    }


def test_an_operator_makes_a_company_whose_owner_can_sign_in_at_once(operators: Client) -> None:
    assert operators.post("/admin/tenancy/tenant/add/", new_company("hooli")).status_code == 302
    assert schema_exists("hooli")
    owner = Client(HTTP_HOST="hooli.localhost")
    answer = owner.post(
        "/admin/login/?next=/admin/", {"username": "owner@hooli.example", "password": PASSWORD}
    )
    assert answer.status_code == 302
    with schema_context("public"):
        made = AuditEvent.objects.get(action="tenant.created", data__schema="hooli")
    assert made.actor == "ops@assay.example"
    assert "hooli" in operators.get("/admin/tenancy/tenant/").content.decode()


def test_what_the_service_refuses_is_shown_and_nothing_is_made(operators: Client) -> None:
    answer = operators.post("/admin/tenancy/tenant/add/", new_company("acme"), follow=True)
    assert "acme" in answer.content.decode() and answer.status_code == 200
    answer = operators.post(
        "/admin/tenancy/tenant/add/", new_company("piper", owner_password="1"), follow=True
    )
    assert "too short" in answer.content.decode()
    assert not schema_exists("piper") and not Tenant.objects.filter(schema_name="piper").exists()


def test_an_operator_renames_a_company_and_adds_a_host_but_deletes_nothing(operators: Client) -> None:
    tenant = Tenant.objects.get(schema_name="globex")
    page = f"/admin/tenancy/tenant/{tenant.pk}"
    assert operators.post(f"{page}/change/", {"name": "Globex Ltd"}).status_code == 302
    tenant.refresh_from_db()
    assert (tenant.name, tenant.schema_name) == ("Globex Ltd", "globex")
    new = {"tenant": tenant.pk, "domain": "Shop.Globex.localhost"}
    assert operators.post("/admin/tenancy/domain/add/", new).status_code == 302
    assert Client(HTTP_HOST="shop.globex.localhost").get("/admin/login/").status_code == 200
    taken = {"tenant": tenant.pk, "domain": "acme.localhost"}
    operators.post("/admin/tenancy/domain/add/", taken)
    assert Domain.objects.get(domain="acme.localhost").tenant.schema_name == "acme"
    assert operators.post(f"{page}/delete/", {"post": "yes"}).status_code == 403


def test_a_companys_owner_is_nobody_on_the_operators_site_and_the_other_way_round(operators: Client) -> None:
    with in_tenant("acme"):
        assert not User.objects.filter(email="ops@assay.example").exists()
    assert operators.get("/admin/", HTTP_HOST="acme.localhost").status_code == 302
    owner = Client(HTTP_HOST="acme.localhost")
    answer = owner.post(
        "/admin/login/?next=/admin/", {"username": "owner@acme.example", "password": PASSWORD}
    )
    assert answer.status_code == 302
    assert owner.get("/admin/tenancy/tenant/").status_code == 404


def test_companies_and_operators_are_made_from_the_command_line(
    platform_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(command: str, *args: str, password: str) -> str:
        out = StringIO()
        monkeypatch.setattr("sys.stdin", StringIO(password + "\n"))
        call_command(command, *args, stdout=out)
        return out.getvalue()

    company: list[Any] = ["--name", "Umbrella", "--schema", "umbrella", "--host", "Umbrella.localhost"]
    company += ["--owner-email", "o@umbrella.example", "--owner-password-stdin"]
    assert "umbrella.localhost" in run("create_tenant", *company, password=PASSWORD)
    with in_tenant("umbrella"):
        assert User.objects.get().role == "owner"
    with pytest.raises(CommandError, match="exists already"):
        run("create_tenant", *company, password=PASSWORD)
    assert "may sign in at admin.localhost" in run(
        "create_operator", "--email", "second@assay.example", "--password-stdin", password=PASSWORD
    )
    with pytest.raises(CommandError, match="already exists"):
        run("create_operator", "--email", "second@assay.example", "--password-stdin", password=PASSWORD)


def test_creating_companies_with_the_same_name_at_once_makes_one(platform_db: None) -> None:
    from concurrent.futures import ThreadPoolExecutor

    from django.db import connections

    def make(n: int) -> str:
        try:
            create_tenant(
                name="Twice",
                schema="twice",
                host=f"twice{n}.localhost",
                owner_email="o@twice.example",
                owner_password=PASSWORD,
            )
        except TenantError as error:
            return str(error)
        else:
            return "made"
        finally:
            connections.close_all()

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(make, (1, 2)))
    assert sorted(results) == ["The schema 'twice' exists already; choose another name.", "made"]
    assert Domain.objects.filter(tenant__schema_name="twice").count() == 1
