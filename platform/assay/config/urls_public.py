"""The operators' site, on the public schema's host."""

from __future__ import annotations

from django.urls import include, path

from assay.accounts.passwords import own_password
from assay.tenancy.admin import operators_site

urlpatterns = [
    own_password(operators_site),
    path("admin/", operators_site.urls),
    path("", include("assay.web.urls_public")),
]
