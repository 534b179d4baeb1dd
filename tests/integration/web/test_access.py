"""Who may open which page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import PermissionDenied
from django.test import Client
from django.urls import URLPattern, get_resolver
from django.utils.functional import SimpleLazyObject

from assay.accounts.models import User
from assay.packs.models import PackVersion
from assay.runs.models import Run
from assay.tenancy.services import create_tenant, in_tenant
from assay.web.urls import urlpatterns

PASSWORD = "quiet-harbour-17"
PUBLIC = {"sign-in", "sign-out"}
BY_ROLE = {
    "viewer": {"home", "packs", "bots", "runs", "tokens", "plugins"},
    "author": {"home", "packs", "bots", "runs", "tokens", "plugins"},
    "operator": {"home", "packs", "bots", "runs", "tokens", "plugins", "run-new"},
    "reviewer": {"home", "packs", "bots", "runs", "tokens", "plugins"},
    "admin": {
        "home", "packs", "bots", "runs", "tokens", "run-new", "integrations", "webhook-add", "tickets-connect", "secrets", "plugins",
    },
}  # fmt: skip
PLAIN = {
    p.name: f"/{p.pattern}" for p in urlpatterns if isinstance(p, URLPattern) and "<" not in str(p.pattern)
}
POST_ONLY = {"pack-upload"}


@pytest.mark.usefixtures("acme")
def test_whoever_is_not_signed_in_is_sent_to_sign_in_from_every_page() -> None:
    client = Client(HTTP_HOST="acme.localhost")
    for pattern in urlpatterns:
        assert isinstance(pattern, URLPattern)
        if pattern.name in PUBLIC:
            continue
        path = "/" + str(pattern.pattern).replace("<int:pk>", "1").replace("<str:task_id>", "T-1")
        for response in (client.get(path), client.post(path)):
            assert response.status_code == 302, path
            assert response.headers["Location"].startswith("/sign-in/?next="), path


@pytest.mark.usefixtures("acme")
def test_a_piece_of_a_page_that_is_asked_for_after_signing_out_loads_the_whole_page_again() -> None:
    client = Client(HTTP_HOST="acme.localhost")
    response = client.get("/runs/1/progress/", headers={"HX-Request": "true"})
    assert response.status_code == 401
    assert response.headers["HX-Refresh"] == "true"  # not the form to sign in, put into the page
    assert response.content == b""


@pytest.mark.parametrize("status", [403, 404])
def test_a_page_of_an_error_asks_nobody_who_they_are(browser: Callable[[str], Client], status: int) -> None:
    """Under the web server it is made in a thread that knows no company, where asking would sign the member out."""
    asked: list[str] = []

    def who() -> AnonymousUser:
        asked.append("who")
        return AnonymousUser()

    request = browser("owner").get("/").wsgi_request  # type: ignore[attr-defined]
    request.user = SimpleLazyObject(who)
    answer = get_resolver().resolve_error_handler(status)(
        request, exception=PermissionDenied("It is closed.")
    )
    assert answer.status_code == status
    assert b"Back to the start" in answer.content
    assert asked == []


@pytest.mark.parametrize("role", sorted(BY_ROLE))
def test_a_member_opens_the_pages_of_their_role_and_no_others(
    browser: Callable[[str], Client], role: str
) -> None:
    client = browser(role)
    opened = {
        name
        for name, path in PLAIN.items()
        if name not in PUBLIC | POST_ONLY and client.get(path).status_code == 200
    }
    assert opened == BY_ROLE[role]


@pytest.mark.usefixtures("acme")
def test_a_member_signs_in_with_address_and_password_and_out_again() -> None:
    client = Client(HTTP_HOST="acme.localhost")
    page = client.get("/sign-in/")
    assert "Sign in to Acme" in page.content.decode()
    wrong = client.post("/sign-in/", {"username": "owner@acme.example", "password": "not it"})
    assert "do not belong together" in wrong.content.decode()
    right = client.post("/sign-in/", {"username": "OWNER@acme.example", "password": PASSWORD})
    assert (right.status_code, right.headers["Location"]) == (302, "/")
    assert client.get("/").status_code == 200
    client.post("/sign-out/")
    assert client.get("/").status_code == 302


def test_an_account_and_a_session_of_one_company_mean_nothing_on_anothers_host(
    browser: Callable[[str], Client],
) -> None:
    client = browser("owner")
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"host": "globex.localhost"}).status_code == 302
    stranger = Client(HTTP_HOST="globex.localhost")
    refused = stranger.post("/sign-in/", {"username": "owner@acme.example", "password": PASSWORD})
    assert "do not belong together" in refused.content.decode()


def test_what_one_company_has_is_not_there_for_another(
    finished: Callable[..., Run], platform_db: None
) -> None:
    run = finished(trials=1)
    # A company without anything, so that no row of its own can have the same number.
    create_tenant(
        name="Outsider",
        schema="outsider",
        host="outsider.localhost",
        owner_email="owner@outsider.example",
        owner_password=PASSWORD,
    )
    other = Client(HTTP_HOST="outsider.localhost")
    with in_tenant("outsider"):
        other.force_login(User.objects.get(email="owner@outsider.example"))
    for path in (
        f"/runs/{run.pk}/", f"/runs/{run.pk}/report/", f"/runs/{run.pk}/progress/",
        f"/packs/versions/{run.pack_version_id}/", f"/packs/versions/{run.pack_version_id}/download/",
        f"/trials/{run.trials.first().pk}/",  # type: ignore[union-attr]
    ):  # fmt: skip
        assert other.get(path).status_code == 404, path


def test_a_viewer_changes_nothing(
    browser: Callable[[str], Client], library: PackVersion, finished: Callable[..., Run]
) -> None:
    run, task = finished(trials=1), library.tasks.first()
    assert task is not None
    client = browser("viewer")
    for path, data in (
        ("/packs/upload/", {}),
        (f"/tasks/{task.pk}/", {"yaml": "- id: X-1"}),
        (f"/tasks/{task.pk}/switch/", {"enabled": "0"}),
        ("/bots/", {"name": "mine", "spec": "reference:faithful"}),
        (f"/bots/{run.bot_version.bot_id}/", {"spec": "reference:faithful"}),
        ("/runs/new/", {}),
        (f"/runs/{run.pk}/move/", {"action": "cancel"}),
        ("/integrations/webhooks/", {"url": "https://example.com/"}),
        ("/secrets/", {"name": "k", "value": "v"}),
        ("/plugins/assay/", {"action": "off"}),
        ("/plugins/assay/", {"part": "connector litellm"}),
    ):
        response = client.post(path, data)
        assert response.status_code == 403, path
        assert "Your role (viewer) does not allow this." in response.content.decode()
    task.refresh_from_db()
    assert task.enabled


def test_a_form_without_its_token_is_refused(browser: Callable[[str], Client]) -> None:
    strict = Client(HTTP_HOST="acme.localhost", enforce_csrf_checks=True)
    strict.cookies = browser("owner").cookies
    assert strict.post("/bots/", {"name": "x", "spec": "reference:faithful"}).status_code == 403


def test_pages_allow_no_foreign_script(browser: Callable[[str], Client]) -> None:
    response = browser("owner").get("/")
    assert "default-src 'self'" in response.headers["Content-Security-Policy"]
    assert "unsafe" not in response.headers["Content-Security-Policy"]
