"""A browser against a running site: a real web server, a real worker, a real Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.support.browsing import PATIENCE, Open, Watched, program, watched_page
from tests.support.serving import Site, serving
from tests.support.site import PASSWORD, finished, library

__all__ = ["finished", "library"]  # fixtures


@pytest.fixture(autouse=True)
def _patience() -> None:
    expect.set_options(timeout=PATIENCE)


@pytest.fixture(scope="module")
def site(
    services: None, companies: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    program()
    with serving(tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture(scope="module")
def newcomer(site: Site, django_db_blocker: Any) -> str:
    """A company that has nothing yet; gives its name on the site. Its owner is owner@newcomer.example."""
    from assay.tenancy.services import create_tenant

    with django_db_blocker.unblock():
        create_tenant(
            name="Newcomer",
            schema="newcomer",
            host="newcomer.localhost",
            owner_email="owner@newcomer.example",
            owner_password=PASSWORD,
        )
    return "newcomer"


@pytest.fixture
def opened(site: Site) -> Open:
    """A page on a company's site, with its owner signed in unless `sign_in` is false."""

    @contextmanager
    def make(company: str, *, sign_in: bool = True, **options: Any) -> Iterator[tuple[Page, Watched]]:
        with watched_page(site.url(company, ""), **options) as (page, watched):
            if sign_in:
                page.goto("/sign-in/")
                page.get_by_label("E-mail address").fill(f"owner@{company}.example")
                page.get_by_label("Password").fill(PASSWORD)
                page.get_by_role("button", name="Sign in").click()
                page.wait_for_url("**/")
            yield page, watched

    return make
