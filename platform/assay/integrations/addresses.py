"""The tenant's own site, as others see it: for links in events and tickets."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import connection
from django.urls import NoReverseMatch, reverse

from assay.tenancy.models import Domain


def page(name: str, **arguments: Any) -> str | None:
    """The absolute URL of a page of the current tenant; None when the tenant or the installation has no such page."""
    domain = (
        Domain.objects.filter(tenant__schema_name=connection.schema_name, is_primary=True)
        .values_list("domain", flat=True)
        .first()
    )
    if domain is None:
        return None
    try:
        path = reverse(name, urlconf=settings.ROOT_URLCONF, kwargs=arguments)
    except NoReverseMatch:
        return None
    scheme, port = ("https", "") if settings.HTTPS else ("http", settings.ASSAY_SITE_PORT)
    return f"{scheme}://{domain}{f':{port}' if port else ''}{path}"
