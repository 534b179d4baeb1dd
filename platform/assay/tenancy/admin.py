"""The operators' site, on the public schema's host: the companies of this installation, and its operators."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from assay.accounts.admin import AuditEventAdmin, ServiceAdmin, UserAdmin
from assay.accounts.models import AuditEvent, User
from assay.tenancy import services
from assay.tenancy.models import Domain, Tenant


class OperatorsSite(admin.AdminSite):
    site_header = site_title = "Assay operators"
    index_title = "Installation"


operators_site = OperatorsSite(name="operators")
operators_site.register(User, UserAdmin)
operators_site.register(AuditEvent, AuditEventAdmin)


class NewTenantForm(forms.ModelForm):
    host = forms.CharField(help_text="Without scheme and port, for example acme.example.com")
    owner_email = forms.EmailField()
    owner_password = forms.CharField(widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}))

    class Meta:
        model = Tenant
        fields = ["name", "schema_name"]


@admin.register(Tenant, site=operators_site)
class TenantAdmin(ServiceAdmin):
    """A company is made here as a whole: schema, host name and owner. It is never deleted from here."""

    list_display = ["name", "schema_name", "hosts", "created_at"]
    search_fields = ["name", "schema_name", "domains__domain"]

    @admin.display(description="host names")
    def hosts(self, tenant: Tenant) -> str:
        return ", ".join(d.domain for d in tenant.domains.all())

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("domains")

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        if not change:
            kwargs["form"] = NewTenantForm
        return super().get_form(request, obj, change=change, **kwargs)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return ["name", "schema_name", "host", "owner_email", "owner_password"]
        return ["name", "schema_name", "hosts", "created_at"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["schema_name", "hosts", "created_at"] if obj is not None else []

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Tenant:
        data, by = form.cleaned_data, request.user
        if change:
            return services.rename_tenant(form.instance, data["name"], by=by)
        return services.create_tenant(
            name=data["name"],
            schema=data["schema_name"],
            host=data["host"],
            owner_email=data["owner_email"],
            owner_password=data["owner_password"],
            by=by,
        )

    def save_model(self, request: HttpRequest, obj: Tenant, form: Any, change: bool) -> None:
        """Saved already, by the service in save_form."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nothing else hangs on a tenant here."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Domain, site=operators_site)
class DomainAdmin(ServiceAdmin):
    """Further host names of a company."""

    list_display = ["domain", "tenant", "is_primary"]
    list_select_related = ["tenant"]
    search_fields = ["domain", "tenant__name"]
    fields = ["tenant", "domain"]

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Domain:
        return services.add_host(form.cleaned_data["tenant"], form.cleaned_data["domain"], by=request.user)

    def save_model(self, request: HttpRequest, obj: Domain, form: Any, change: bool) -> None:
        """Saved already, by the service in save_form."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nothing hangs on a host name."""

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # add the new one

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
