"""A tenant's site."""

from __future__ import annotations

from importlib.util import find_spec

from django.contrib import admin
from django.urls import include, path

urlpatterns = [path("admin/", admin.site.urls)]
if find_spec("assay.api") and find_spec("assay.api.urls"):
    urlpatterns.append(path("api/", include("assay.api.urls")))
if find_spec("assay.web") and find_spec("assay.web.urls"):
    urlpatterns.append(path("", include("assay.web.urls")))
