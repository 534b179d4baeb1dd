"""Changing one's own password in the admin, by the service, so that the audit trail has it."""

from __future__ import annotations

from django.contrib.admin import AdminSite
from django.contrib.admin.forms import AdminPasswordChangeForm
from django.contrib.auth.views import PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse

from assay.accounts import services
from assay.accounts.models import User


class OwnPasswordForm(AdminPasswordChangeForm):
    """Asks for the old password; saving it is the service's."""

    def save(self, commit: bool = True) -> User:
        return services.set_password(self.user, self.cleaned_data["new_password1"], by=self.user)


def own_password(site: AdminSite) -> URLPattern:
    """The site's page for it. Goes before the site's own URLs, whose page would write past the service."""

    def page(request: HttpRequest) -> HttpResponse:
        request.current_app = site.name
        return PasswordChangeView.as_view(
            form_class=OwnPasswordForm,
            success_url=reverse("admin:password_change_done", current_app=site.name),
            extra_context=site.each_context(request),
        )(request)

    return path("admin/password_change/", site.admin_view(page, cacheable=True))
