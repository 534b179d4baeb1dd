"""The tenant's own site, as others see it: for links in events and tickets."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import connection
from django.urls import NoReverseMatch, reverse

from assay.tenancy.models import Domain


def site() -> str | None:
    """How the URLs of the current tenant begin, for example https://acme.assay.example; None when it has no host."""
    domain = (
        Domain.objects.filter(tenant__schema_name=connection.schema_name, is_primary=True)
        .values_list("domain", flat=True)
        .first()
    )
    if domain is None:
        return None
    if settings.HTTPS:
        return f"https://{domain}"
    port = settings.ASSAY_SITE_PORT
    return f"http://{domain}:{port}" if port else f"http://{domain}"


def page(site: str | None, name: str, **arguments: Any) -> str | None:
    """The URL of a page there, by the name that the site's URLs give it; None when there is no such page."""
    if site is None:
        return None
    try:
        return site + reverse(name, urlconf=settings.ROOT_URLCONF, kwargs=arguments)
    except NoReverseMatch:
        return None
