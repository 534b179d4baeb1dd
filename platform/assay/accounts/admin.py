"""Members, tokens, secrets and the audit trail in the admin. Thin: every change is a service's."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from assay.accounts import secrets, services
from assay.accounts.models import ApiToken, AuditEvent, Role, Secret, User
from assay_sdk import AssayError

admin.site.site_header = admin.site.site_title = "Assay"
admin.site.index_title = "Library and records"


class ReadOnlyAdmin(admin.ModelAdmin):
    """For rows that nobody changes by hand. Who may look at them follows the role."""

    actions = None

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class ServiceAdmin(admin.ModelAdmin):
    """For rows that services change: what a service refuses is shown as a message, and nothing was saved."""

    actions: Any = None

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> HttpResponse:
        try:
            return super().changeform_view(request, object_id, form_url, extra_context)
        except (ValidationError, AssayError) as error:
            return refused(request, error)

    def delete_view(self, request: HttpRequest, object_id: str, extra_context: Any = None) -> HttpResponse:
        try:
            return super().delete_view(request, object_id, extra_context)
        except (ValidationError, AssayError) as error:
            return refused(request, error)


def refused(request: HttpRequest, error: ValidationError | AssayError) -> HttpResponse:
    said = error.messages if isinstance(error, ValidationError) else [str(error)]
    for sentence in said:
        messages.error(request, sentence)
    return HttpResponseRedirect(request.get_full_path())


class NewMemberForm(forms.ModelForm):
    password = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Tell it to them on a safe way; they can be given another one here.",
    )

    class Meta:
        model = User
        fields = ["email", "name", "role"]


class MemberForm(forms.ModelForm):
    new_password = forms.CharField(
        required=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Leave it empty to keep the password. A new one signs them out everywhere.",
    )

    class Meta:
        model = User
        fields = ["role", "is_active"]


class UserAdmin(ServiceAdmin):
    list_display = ["email", "name", "role", "is_active", "last_login"]
    list_filter = ["role", "is_active"]
    search_fields = ["email", "name"]
    readonly_fields = ["email", "name", "last_login", "date_joined"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        kwargs["form"] = MemberForm if change else NewMemberForm
        return super().get_form(request, obj, change=change, **kwargs)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return list(self.readonly_fields) if obj is not None else []

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        if obj is None:
            return ["email", "name", "role", "password"]
        shown = ["email", "name", "role", "is_active"]
        return [
            *shown,
            *(["new_password"] if self.has_change_permission(request, obj) else []),
            "last_login",
            "date_joined",
        ]

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> User:
        data, by = form.cleaned_data, request.user
        if not change:
            return services.create_user(
                email=data["email"], name=data["name"], role=data["role"], password=data["password"], by=by
            )
        user = services.change_role(form.instance, data["role"], by=by)
        user = services.set_active(user, data["is_active"], by=by)
        if data["new_password"]:
            user = services.set_password(user, data["new_password"], by=by)
        return user

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        """Saved already, by the services in save_form."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nothing hangs on a member."""

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False  # the audit trail names them; a member who leaves is made inactive


admin.site.register(User, UserAdmin)


@admin.register(ApiToken)
class ApiTokenAdmin(ServiceAdmin):
    """Members make tokens on their own page, where the text is shown once; here they are seen and revoked."""

    list_display = ["name", "prefix", "user", "created_at", "expires_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    search_fields = ["name", "prefix", "user__email"]
    fields = readonly_fields = [
        "name",
        "prefix",
        "user",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    ]
    actions = ["revoke"]

    @admin.action(description="Revoke the chosen tokens", permissions=["change"])
    def revoke(self, request: HttpRequest, chosen: QuerySet[ApiToken]) -> None:
        for token in chosen.filter(revoked_at=None):
            services.revoke_token(token, by=request.user)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


class SecretForm(forms.ModelForm):
    value = forms.CharField(
        widget=forms.PasswordInput(attrs={"autocomplete": "off"}),
        help_text="Stored encrypted and never shown again. Options refer to it as secret:NAME.",
    )

    class Meta:
        model = Secret
        fields = ["name"]


@admin.register(Secret)
class SecretAdmin(ServiceAdmin):
    form = SecretForm
    list_display = ["name", "updated_at", "updated_by"]
    list_select_related = ["updated_by"]
    search_fields = ["name"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["name"] if obj is not None else []

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> Secret:
        name = form.instance.name if change else form.cleaned_data["name"]
        return secrets.set_secret(name, form.cleaned_data["value"], by=request.user)

    def save_model(self, request: HttpRequest, obj: Secret, form: Any, change: bool) -> None:
        """Saved already, by the service in save_form."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nothing hangs on a secret."""

    def delete_model(self, request: HttpRequest, obj: Secret) -> None:
        secrets.delete_secret(obj.name, by=request.user)


class AuditEventAdmin(ReadOnlyAdmin):
    list_display = ["at", "actor", "action", "target", "data"]
    list_filter = ["action"]
    search_fields = ["actor", "action", "target"]
    date_hierarchy = "at"


admin.site.register(AuditEvent, AuditEventAdmin)


class LogEntryAdmin(ReadOnlyAdmin):
    list_display = ["action_time", "user", "content_type", "object_repr", "action_flag"]
    list_select_related = ["user", "content_type"]


admin.site.register(LogEntry, LogEntryAdmin)

__all__ = [
    "AuditEventAdmin",
    "LogEntryAdmin",
    "ReadOnlyAdmin",
    "Role",
    "ServiceAdmin",
    "UserAdmin",
    "refused",
]
