"""A member changes their own password in the admin."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from assay.accounts.models import AuditEvent, User
from tests.support.site import PASSWORD

NEW = "another-harbour-18"
PAGE = "/admin/password_change/"


@pytest.mark.parametrize("role", ["viewer", "owner"])
def test_one_s_own_password_is_changed_and_the_audit_trail_has_it(
    member: Callable[[str], User], role: str
) -> None:
    user = member(role)
    client = Client(HTTP_HOST="acme.localhost")
    assert client.login(username=user.email, password=PASSWORD)
    assert client.get(PAGE).status_code == 200
    before = AuditEvent.objects.filter(action="user.password_changed").count()
    wrong = {"old_password": "not it", "new_password1": NEW, "new_password2": NEW}
    assert client.post(PAGE, wrong).status_code == 200
    weak = {"old_password": PASSWORD, "new_password1": "12345", "new_password2": "12345"}
    assert client.post(PAGE, weak).status_code == 200
    assert AuditEvent.objects.filter(action="user.password_changed").count() == before
    right = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert client.post(PAGE, right).headers["Location"] == "/admin/password_change/done/"
    user.refresh_from_db()
    assert user.check_password(NEW)
    event = AuditEvent.objects.filter(action="user.password_changed").first()
    assert event is not None
    assert (event.actor, event.target) == (user.email, f"user:{user.pk}")
    assert client.get("/").status_code == 200  # and is still signed in
    user.set_password(PASSWORD)
    user.save(update_fields=["password"])
