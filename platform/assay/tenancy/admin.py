"""The operators' site: which companies there are."""

from __future__ import annotations

from django.contrib import admin
from django.http import HttpRequest

from assay.accounts.models import User
from assay.tenancy.models import Domain, Tenant


class OperatorsSite(admin.AdminSite):
    site_header = site_title = "Assay operators"
    index_title = "Installation"


operators_site = OperatorsSite(name="operators")


class _ReadOnly(admin.ModelAdmin):
    """Tenants are made by the create_tenant command, in one transaction with their schema."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object | None = None) -> bool:
        return False


@admin.register(Tenant, site=operators_site)
class TenantAdmin(_ReadOnly):
    list_display = ["name", "schema_name", "created_at"]


@admin.register(Domain, site=operators_site)
class DomainAdmin(_ReadOnly):
    list_display = ["domain", "tenant", "is_primary"]


@admin.register(User, site=operators_site)
class OperatorAdmin(_ReadOnly):
    list_display = ["email", "role", "is_active", "last_login"]
    fields = ["email", "name", "role", "is_active", "last_login"]
