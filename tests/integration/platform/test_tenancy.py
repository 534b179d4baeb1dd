"""A company is made wholly or not at all, and nothing crosses from one to another."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.test import Client
from django_tenants.utils import schema_exists

from assay.accounts import audit, secrets, services
from assay.accounts.models import AuditEvent, User
from assay.tenancy import services as tenancy
from assay.tenancy.models import Domain, Tenant
from assay.tenancy.services import TenantError, create_tenant, in_tenant

PASSWORD = "quiet-harbour-17"  # of the owners that conftest makes
GOOD = {
    "name": "Initech",
    "schema": "initech",
    "host": "initech.localhost",
    "owner_email": "o@initech.example",
}


def nothing_left(schema: str = "initech") -> bool:
    return not (
        schema_exists(schema)
        or Tenant.objects.filter(schema_name=schema).exists()
        or Domain.objects.filter(domain=GOOD["host"]).exists()
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"owner_password": "12345"}, "too short"),
        ({"owner_email": "not an address"}, "valid email"),
        ({"schema": "pg_x"}, "schema name"),
        ({"schema": "public"}, "schema name"),
        ({"schema": 'x"; DROP SCHEMA acme; --'}, "schema name"),
        ({"schema": "acme"}, "exists already"),
        ({"host": "acme.localhost"}, "belongs to another tenant"),
        ({"host": "http://x"}, "not a host name"),
        ({"name": "  "}, "needs a name"),
    ],
)
def test_a_company_that_cannot_be_made_leaves_nothing_and_says_why(
    platform_db: None, change: dict[str, str], said: str
) -> None:
    before = Tenant.objects.count()
    with pytest.raises(TenantError, match=said):
        create_tenant(**{**GOOD, "owner_password": PASSWORD, **change})
    assert Tenant.objects.count() == before
    assert nothing_left()
    assert schema_exists("acme")


def test_an_error_after_the_schema_was_made_takes_the_schema_away_again(
    platform_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(**_: Any) -> None:
        assert schema_exists("initech")
        raise RuntimeError("power cut")

    monkeypatch.setattr(tenancy, "create_user", fail)
    with pytest.raises(RuntimeError, match="power cut"):
        create_tenant(**GOOD, owner_password=PASSWORD)
    assert nothing_left()


def sign_in(host: str, email: str) -> tuple[Client, bool]:
    client = Client(HTTP_HOST=host)
    answer = client.post("/admin/login/?next=/admin/", {"username": email, "password": PASSWORD})
    return client, answer.status_code == 302


def test_a_member_signs_in_at_their_own_company_and_nowhere_else(platform_db: None) -> None:
    assert sign_in("acme.localhost", "owner@acme.example")[1]
    assert sign_in("acme.localhost", "OWNER@acme.example")[1]
    assert not sign_in("globex.localhost", "owner@acme.example")[1]
    assert not sign_in("admin.localhost", "owner@acme.example")[1]


def test_a_session_of_one_company_means_nothing_at_another(platform_db: None) -> None:
    client, _ = sign_in("acme.localhost", "owner@acme.example")
    assert client.get("/admin/").status_code == 200
    assert client.get("/admin/", HTTP_HOST="globex.localhost").status_code == 302
    assert client.get("/admin/", HTTP_HOST="admin.localhost").status_code == 302


def test_cookies_belong_to_one_host(platform_db: None) -> None:
    client, _ = sign_in("acme.localhost", "owner@acme.example")
    assert {m["domain"] for m in client.cookies.values()} == {""}
    assert client.cookies["assay_session"]["httponly"]


def test_a_host_that_is_nobodys_shows_nothing(platform_db: None) -> None:
    assert Client(HTTP_HOST="nobody.localhost").get("/admin/").status_code == 404
    assert Client(HTTP_HOST="evil.example").get("/admin/").status_code == 404


def test_rows_tokens_and_secrets_of_one_company_are_not_found_in_another(platform_db: None) -> None:
    with in_tenant("acme"):
        owner = User.objects.get(email="owner@acme.example")
        _, text = services.create_token(owner, name="ci")
        secrets.set_secret("model-key", "k-123", by=owner)
        assert services.user_of_token(text) == owner
        assert secrets.resolve_secret("secret:model-key") == "k-123"
        stolen = bytes(secrets.Secret.objects.get(name="model-key").ciphertext)
        assert b"k-123" not in stolen
    with in_tenant("globex"):
        assert not User.objects.filter(email="owner@acme.example").exists()
        assert services.user_of_token(text) is None
        with pytest.raises(secrets.SecretError, match="no secret named"):
            secrets.resolve_secret("secret:model-key")
        secrets.Secret.objects.create(name="copied", ciphertext=stolen)
        with pytest.raises(secrets.SecretError, match="cannot be read"):
            secrets.resolve_secret("secret:copied")
    assert not User.objects.filter(
        email="owner@acme.example"
    ).exists()  # the public schema has operators only


def test_a_company_cannot_read_the_servers_environment_through_a_secret_reference(acme: None) -> None:
    with pytest.raises(secrets.SecretError, match="secret:NAME"):
        secrets.resolve_secret("env:PATH")


def test_background_work_for_a_company_that_is_gone_is_refused(platform_db: None) -> None:
    with pytest.raises(TenantError, match="no tenant"), in_tenant("gone"):
        pass
    with pytest.raises(TenantError), in_tenant("public"):
        pass
    assert connection.schema_name == "public"


def test_a_token_works_until_it_is_revoked_and_only_its_hash_is_kept(acme: None) -> None:
    owner = User.objects.get(email="owner@acme.example")
    token, text = services.create_token(owner, name="ci")
    assert token.prefix == text[:12] and text not in (token.digest, token.prefix)
    services.revoke_token(token, by=owner)
    assert services.user_of_token(text) is None


def test_the_audit_trail_cannot_be_changed_and_shows_when_it_was(acme: None) -> None:
    audit.record("test.done", data={"n": 1})
    assert audit.first_broken() is None
    event = AuditEvent.objects.first()
    assert event is not None
    for spoil in (
        lambda: AuditEvent.objects.filter(pk=event.pk).update(action="x"),
        lambda: AuditEvent.objects.filter(pk=event.pk).delete(),
    ):
        with pytest.raises(DatabaseError, match="append-only"):
            spoil()
    with connection.cursor() as cursor:  # somebody with full rights over the database
        cursor.execute("ALTER TABLE accounts_auditevent DISABLE TRIGGER USER")
        try:
            AuditEvent.objects.filter(pk=event.pk).update(action="spoilt")
            broken = audit.first_broken()
            AuditEvent.objects.filter(pk=event.pk).update(action=event.action)
        finally:
            cursor.execute("ALTER TABLE accounts_auditevent ENABLE TRIGGER USER")
    assert broken is not None and broken.pk == event.pk
    assert audit.first_broken() is None


def test_an_api_token_of_one_company_opens_nothing_at_another(platform_db: None) -> None:
    with in_tenant("acme"):
        _, text = services.create_token(User.objects.get(email="owner@acme.example"), name="ci")

    def asked(host: str, url: str) -> int:
        return Client(HTTP_HOST=host).get(url, HTTP_AUTHORIZATION=f"Bearer {text}").status_code

    for url in ("/api/v1/packs/", "/api/v1/bots/", "/api/v1/runs/", "/api/v1/trials/", "/api/v1/tasks/"):
        assert asked("acme.localhost", url) == 200
        assert asked("globex.localhost", url) == 401
    assert asked("admin.localhost", "/api/v1/packs/") == 404  # operators have no packs


def test_a_session_cookie_opens_nothing_in_the_api(platform_db: None) -> None:
    client, _ = sign_in("acme.localhost", "owner@acme.example")
    assert client.get("/api/v1/packs/").status_code == 401


def test_each_company_has_an_audit_trail_of_its_own(platform_db: None) -> None:
    with in_tenant("acme"):
        event = audit.record("test.only_acme")
        assert audit.first_broken() is None
    with in_tenant("globex"):
        assert not AuditEvent.objects.filter(action="test.only_acme").exists()
        assert not AuditEvent.objects.filter(hash=event.hash).exists()
        assert audit.first_broken() is None
    with in_tenant("globex"):
        audit.record("test.only_globex")
    with in_tenant("acme"):
        assert audit.first_broken() is None  # chains do not depend on each other


def test_events_written_at_the_same_moment_form_one_chain(platform_db: None) -> None:
    def write(n: int) -> None:
        try:
            with in_tenant("acme"):
                for i in range(10):
                    audit.record("test.at_once", data={"thread": n, "i": i})
        finally:
            connections.close_all()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    with in_tenant("acme"):
        assert AuditEvent.objects.filter(action="test.at_once").count() == 40
        assert audit.first_broken() is None


def test_an_event_of_a_transaction_that_is_undone_was_never_written(acme: None) -> None:
    def change_mind() -> None:
        with transaction.atomic():
            audit.record("test.undone")
            raise RuntimeError("undone")

    with pytest.raises(RuntimeError):
        change_mind()
    assert not AuditEvent.objects.filter(action="test.undone").exists()
    assert audit.first_broken() is None
