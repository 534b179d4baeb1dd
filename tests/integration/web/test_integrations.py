"""Webhooks, ticket systems, secrets and tokens on the site."""

from __future__ import annotations

import re
from collections.abc import Callable

from django.test import Client

from assay.accounts.models import ApiToken, Secret
from assay.accounts.secrets import resolve_secret
from assay.accounts.services import user_of_token
from assay.integrations.models import Delivery, WebhookEndpoint


def test_a_webhook_is_added_tested_switched_off_and_deleted(browser: Callable[[str], Client]) -> None:
    client = browser("admin")
    page = client.post(
        "/integrations/webhooks/", {"url": "https://hooks.example.com/assay", "description": "QA"}
    ).content.decode()
    secret = re.search(r"whsec_[A-Za-z0-9+/=]+", page)
    assert secret is not None
    endpoint = WebhookEndpoint.objects.get(description="QA")
    url = f"/integrations/webhooks/{endpoint.pk}/"
    assert secret[0] not in client.get(url).content.decode()
    client.post(url, {"action": "test"})
    assert Delivery.objects.filter(endpoint=endpoint).count() == 1
    rotated = client.post(url, {"action": "rotate"}).content.decode()
    other = re.search(r"whsec_[A-Za-z0-9+/=]+", rotated)
    assert other is not None
    assert other[0] != secret[0]
    client.post(url, {"action": "off"})
    endpoint.refresh_from_db()
    assert not endpoint.enabled
    assert "Given up" in client.get("/integrations/").content.decode()
    client.post(url, {"action": "on"})
    client.post(url, {"action": "delete"})
    assert not WebhookEndpoint.objects.filter(pk=endpoint.pk).exists()
    assert client.get(url).status_code == 404


def test_an_address_that_is_not_to_be_used_is_refused(browser: Callable[[str], Client]) -> None:
    client = browser("admin")
    for url in ("ftp://example.com/", "nothing", "http://user:word@example.com/"):
        response = client.post("/integrations/webhooks/", {"url": url})
        assert response.status_code == 422, url
        assert 'class="error"' in response.content.decode()
    assert not WebhookEndpoint.objects.filter(url__contains="ftp").exists()


def test_a_secret_goes_in_and_is_never_shown(browser: Callable[[str], Client]) -> None:
    client = browser("admin")
    page = client.post(
        "/secrets/", {"name": "MODEL_KEY", "value": "sk-very-hidden"}, follow=True
    ).content.decode()
    assert "secret:MODEL_KEY" in page
    assert "sk-very-hidden" not in page
    assert resolve_secret("secret:MODEL_KEY") == "sk-very-hidden"
    refused = client.post("/secrets/", {"name": "no spaces please", "value": "x"})
    assert refused.status_code == 422
    assert "cannot name a secret" in refused.content.decode()
    client.post(f"/secrets/{Secret.objects.get(name='MODEL_KEY').pk}/delete/")
    assert not Secret.objects.filter(name="MODEL_KEY").exists()


def test_a_token_is_shown_once_and_can_be_revoked(browser: Callable[[str], Client]) -> None:
    client = browser("viewer")
    page = client.post("/tokens/", {"name": "shown once"}).content.decode()
    text = re.search(r"assay_[\w-]{40,}", page)
    assert text is not None
    assert text[0] not in client.get("/tokens/").content.decode()
    owner = user_of_token(text[0])
    assert owner is not None
    assert owner.email == "viewer@acme.example"
    token = ApiToken.objects.get(name="shown once", revoked_at=None)
    assert browser("operator").post(f"/tokens/{token.pk}/revoke/").status_code == 404
    client.post(f"/tokens/{token.pk}/revoke/")
    assert user_of_token(text[0]) is None


def test_connecting_a_ticket_system_says_what_is_wrong(browser: Callable[[str], Client]) -> None:
    client = browser("admin")
    assert client.get("/integrations/tickets/").status_code == 200
    response = client.post("/integrations/tickets/", {"name": "RT", "system": "nothing", "options": "{}"})
    assert response.status_code == 422
