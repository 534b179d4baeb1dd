"""What each role may do, in one table, and that the admin keeps to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from assay.accounts import audit, roles, services
from assay.accounts.models import AuditEvent, Role, Secret, User
from assay.accounts.roles import CAPABILITIES
from assay.tenancy.services import in_tenant

PASSWORD = "quiet-harbour-17"

MAY = {
    "owner": {"view", "edit_packs", "edit_bots", "run", "review", "manage_integrations", "manage_secrets"}
    | {"manage_plugins", "manage_members", "see_audit"},
    "admin": {"view", "edit_packs", "edit_bots", "run", "review", "manage_integrations", "manage_secrets"}
    | {"manage_plugins", "manage_members", "see_audit"},
    "author": {"view", "edit_packs", "review"},
    "operator": {"view", "edit_bots", "run"},
    "reviewer": {"view", "review", "see_audit"},
    "viewer": {"view"},
}


@pytest.fixture
def signed_in(member: Callable[[str], User]) -> Callable[[str], Client]:
    def sign_in(role: str) -> Client:
        member(role)
        client = Client(HTTP_HOST="acme.localhost")
        assert client.login(username=f"{role}@acme.example", password=PASSWORD)
        return client

    return sign_in


@pytest.mark.parametrize("role", sorted(MAY))
def test_each_role_may_do_what_the_table_says_and_nothing_else(role: str) -> None:
    assert CAPABILITIES[role] == MAY[role]
    user = User(role=role)
    every = {c for allowed in MAY.values() for c in allowed}
    assert {c for c in every if user.may(c)} == MAY[role]
    user.is_active = False
    assert not any(user.may(c) for c in every)


PAGES = {
    "/admin/packs/taskentry/": roles.VIEW,
    "/admin/packs/packversion/": roles.VIEW,
    "/admin/bots/botversion/": roles.VIEW,
    "/admin/runs/trial/": roles.VIEW,
    "/admin/plugin_choices/pluginchoice/": roles.VIEW,
    "/admin/accounts/user/": roles.MANAGE_MEMBERS,
    "/admin/accounts/user/add/": roles.MANAGE_MEMBERS,
    "/admin/accounts/apitoken/": roles.MANAGE_MEMBERS,
    "/admin/accounts/secret/": roles.MANAGE_SECRETS,
    "/admin/accounts/secret/add/": roles.MANAGE_SECRETS,
    "/admin/accounts/auditevent/": roles.SEE_AUDIT,
    "/admin/admin/logentry/": roles.SEE_AUDIT,
}


@pytest.mark.parametrize("role", sorted(MAY))
def test_the_admin_shows_a_page_to_those_whose_role_allows_it(
    role: str, signed_in: Callable[[str], Client]
) -> None:
    client = signed_in(role)
    assert client.get("/admin/").status_code == 200
    for page, capability in PAGES.items():
        expected = 200 if capability in MAY[role] else 403
        assert client.get(page).status_code == expected, page


@pytest.mark.parametrize(
    "page",
    [
        *("/admin/packs/pack/add/", "/admin/packs/packversion/add/", "/admin/packs/taskentry/add/"),
        *(
            "/admin/bots/bot/add/",
            "/admin/bots/botversion/add/",
            "/admin/runs/run/add/",
            "/admin/runs/trial/add/",
            "/admin/plugin_choices/pluginchoice/add/",
        ),
        *("/admin/runs/evidence/add/", "/admin/accounts/auditevent/add/", "/admin/accounts/apitoken/add/"),
        "/admin/admin/logentry/add/",
    ],
)
def test_not_even_an_owner_makes_by_hand_what_only_services_make(
    page: str, signed_in: Callable[[str], Client]
) -> None:
    assert signed_in("owner").get(page).status_code == 403


def test_audit_events_cannot_be_changed_or_deleted_in_the_admin(signed_in: Callable[[str], Client]) -> None:
    client = signed_in("owner")
    event = AuditEvent.objects.first()
    assert event is not None
    page = f"/admin/accounts/auditevent/{event.pk}/"
    assert client.get(f"{page}change/").status_code == 200
    assert client.post(f"{page}change/", {"action": "x"}).status_code == 403
    assert client.post(f"{page}delete/", {"post": "yes"}).status_code == 403
    assert audit.first_broken() is None


def test_an_admin_adds_a_member_and_changes_their_role_and_the_trail_says_so(
    signed_in: Callable[[str], Client],
) -> None:
    client = signed_in("admin")
    new = {"email": "new@acme.example", "name": "New", "role": "viewer", "password": PASSWORD}
    assert client.post("/admin/accounts/user/add/", new).status_code == 302
    user = User.objects.get(email="new@acme.example")
    assert user.check_password(PASSWORD)
    page = f"/admin/accounts/user/{user.pk}/change/"
    assert client.post(page, {"role": "author", "is_active": "on", "new_password": ""}).status_code == 302
    user.refresh_from_db()
    assert user.role == Role.AUTHOR and user.check_password(PASSWORD)
    events = AuditEvent.objects.filter(target=f"user:{user.pk}").values_list("action", "actor")
    assert set(events) == {
        ("user.created", "admin@acme.example"),
        ("user.role_changed", "admin@acme.example"),
    }


def test_a_weak_password_is_refused_in_the_admin_and_nobody_is_made(
    signed_in: Callable[[str], Client],
) -> None:
    new = {"email": "weak@acme.example", "name": "", "role": "viewer", "password": "12345"}
    answer = signed_in("admin").post("/admin/accounts/user/add/", new, follow=True)
    assert "too short" in answer.content.decode()
    assert not User.objects.filter(email="weak@acme.example").exists()


def test_only_owners_make_and_remove_owners(member: Callable[[str], User]) -> None:
    owner = User.objects.get(email="owner@acme.example")
    admin = member("admin")
    for refused in (
        lambda: services.change_role(admin, "owner", by=admin),
        lambda: services.change_role(owner, "viewer", by=admin),
        lambda: services.set_active(owner, False, by=admin),
        lambda: services.set_password(owner, "another-harbour-18", by=admin),
        lambda: services.create_user(email="x@acme.example", password=PASSWORD, role="owner", by=admin),
    ):
        with pytest.raises(ValidationError, match="Only an owner"):
            refused()
    owner.refresh_from_db()
    assert owner.role == Role.OWNER and owner.is_active and owner.check_password(PASSWORD)


def test_the_last_owner_stays(acme: None) -> None:
    owner = User.objects.get(email="owner@acme.example")
    with pytest.raises(ValidationError, match="only owner"):
        services.change_role(owner, Role.VIEWER, by=owner)
    with pytest.raises(ValidationError, match="only owner"):
        services.set_active(owner, False, by=owner)


def test_somebody_made_inactive_is_out_at_once_with_their_tokens(
    member: Callable[[str], User], signed_in: Callable[[str], Client]
) -> None:
    user = member("operator")
    client = signed_in("operator")
    _, text = services.create_token(user, name="ci")
    owner = User.objects.get(email="owner@acme.example")
    services.set_active(user, False, by=owner)
    assert client.get("/admin/").status_code == 302
    assert services.user_of_token(text) is None
    services.set_active(user, True, by=owner)
    assert services.user_of_token(text) == user


def test_a_new_password_ends_the_sessions_that_knew_the_old_one(
    member: Callable[[str], User], signed_in: Callable[[str], Client]
) -> None:
    client = signed_in("reviewer")
    services.set_password(member("reviewer"), "another-harbour-18", by=None)
    assert client.get("/admin/").status_code == 302
    services.set_password(member("reviewer"), PASSWORD, by=None)


def test_a_secret_set_in_the_admin_is_never_shown(signed_in: Callable[[str], Client]) -> None:
    client = signed_in("owner")
    assert (
        client.post("/admin/accounts/secret/add/", {"name": "key", "value": "sk-very-secret"}).status_code
        == 302
    )
    secret = Secret.objects.get(name="key")
    for page in (
        "/admin/accounts/secret/",
        f"/admin/accounts/secret/{secret.pk}/change/",
        "/admin/admin/logentry/",
    ):
        assert b"sk-very-secret" not in client.get(page).content
    assert "sk-very-secret" not in str(list(AuditEvent.objects.values_list("data", flat=True)))
    assert client.post(f"/admin/accounts/secret/{secret.pk}/delete/", {"post": "yes"}).status_code == 302
    assert not Secret.objects.filter(name="key").exists()


def test_a_token_is_revoked_in_the_admin(
    member: Callable[[str], User], signed_in: Callable[[str], Client]
) -> None:
    token, text = services.create_token(member("author"), name="ci")
    chosen: dict[str, Any] = {"action": "revoke", "_selected_action": [token.pk]}
    assert signed_in("owner").post("/admin/accounts/apitoken/", chosen).status_code == 302
    assert services.user_of_token(text) is None


def test_a_member_of_one_company_does_not_see_another_ones_members(
    signed_in: Callable[[str], Client],
) -> None:
    with in_tenant("globex"):
        stranger = User.objects.get(email="owner@globex.example")
    client = signed_in("owner")
    assert b"globex" not in client.get("/admin/accounts/user/").content
    page = client.get(f"/admin/accounts/user/{stranger.pk}/change/", follow=True)
    assert b"globex" not in page.content
