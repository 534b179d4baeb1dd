"""A tenant's site."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

from assay.accounts.passwords import own_password

urlpatterns = [
    own_password(admin.site),
    path("admin/", admin.site.urls),
    path("api/", include("assay.api.urls")),
    path("", include("assay.web.urls")),
]
