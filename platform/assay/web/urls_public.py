"""The operators' pages: they work in the admin, so every other way leads there."""

from __future__ import annotations

from django.urls import path
from django.views.generic import RedirectView

from assay.web.views.signing_in import SignIn

urlpatterns = [
    path("", RedirectView.as_view(url="/admin/"), name="home"),
    path("sign-in/", SignIn.as_view(next_page="/admin/"), name="sign-in"),
]
