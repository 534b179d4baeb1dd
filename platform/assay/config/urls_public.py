"""The operators' site, on the public schema's host."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from assay.tenancy.admin import operators_site

urlpatterns = [
    path("admin/", operators_site.urls),
    path("", RedirectView.as_view(url="/admin/")),
]
