"""The task library in the admin: find tasks, switch them on and off, edit one as a new pack version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Max, Model, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from assay.accounts.admin import ReadOnlyAdmin, ServiceAdmin
from assay.engine.packs import PackError
from assay.packs import services
from assay.packs.models import Pack, PackVersion, TaskEntry, Verification


@admin.register(Pack)
class PackAdmin(ReadOnlyAdmin):
    list_display = ["title", "name", "created_at"]
    search_fields = ["name", "title"]


@admin.register(PackVersion)
class PackVersionAdmin(ReadOnlyAdmin):
    list_display = ["pack", "version", "short_hash", "task_count", "tool_count", "uploaded_by", "created_at"]
    list_select_related = ["pack", "uploaded_by"]
    list_filter = ["pack"]
    search_fields = ["pack__name", "version", "content_hash"]
    exclude = ["bundle"]

    @admin.display(description="content hash")
    def short_hash(self, version: PackVersion) -> str:
        return version.content_hash[:12]

    def get_queryset(self, request: HttpRequest) -> QuerySet[PackVersion]:
        return super().get_queryset(request).defer("bundle")


@admin.register(Verification)
class VerificationAdmin(ReadOnlyAdmin):
    list_display = ["pack_version", "status", "problem_count", "attempts", "finished_at"]
    list_select_related = ["pack_version__pack"]
    list_filter = ["status"]
    search_fields = ["pack_version__pack__name", "pack_version__version"]
    exclude = ["report", "token"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Verification]:
        return super().get_queryset(request).defer("report", "pack_version__bundle")


class VersionFilter(admin.SimpleListFilter):
    """Tasks of the newest version of each pack, unless another version is chosen."""

    title = "pack version"
    parameter_name = "version"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        versions = PackVersion.objects.select_related("pack").defer("bundle")[:50]
        return [("all", "All versions"), *((str(v.pk), str(v)) for v in versions)]

    def choices(self, changelist: Any) -> Iterator[dict[str, Any]]:
        plain = changelist.get_query_string(remove=[self.parameter_name])
        yield {"selected": self.value() is None, "query_string": plain, "display": "Newest of each pack"}
        for value, title in self.lookup_choices:
            query = changelist.get_query_string({self.parameter_name: value})
            yield {"selected": self.value() == value, "query_string": query, "display": title}

    def queryset(self, request: HttpRequest, queryset: QuerySet[TaskEntry]) -> QuerySet[TaskEntry]:
        if self.value() == "all":
            return queryset
        if self.value() and self.value().isdecimal() and len(self.value()) <= 18:
            return queryset.filter(pack_version_id=int(self.value()))
        newest = Pack.objects.annotate(newest=Max("versions__id")).values("newest")
        return queryset.filter(pack_version_id__in=newest)


class TaskForm(forms.ModelForm):
    """The task's text, checked with the whole pack before anything is stored."""

    class Meta:
        model = TaskEntry
        fields = ["enabled", "yaml"]
        widgets = {"yaml": forms.Textarea(attrs={"rows": 40, "cols": 110, "spellcheck": "false"})}
        help_texts = {
            "yaml": "The task as it stands in its file. Saving a change makes a new version of the pack; runs that "
            "are planned or finished keep theirs.",
            "enabled": "New runs take enabled tasks only.",
        }

    edit: services.Edit | None = None

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if "yaml" in data:
            try:
                self.edit = services.draft_edit(
                    self.instance.pack_version, self.instance.task_id, data["yaml"]
                )
            except PackError as error:
                raise ValidationError({"yaml": [str(p) for p in error.problems]}) from error
        return data


@admin.register(TaskEntry)
class TaskEntryAdmin(ServiceAdmin):
    form = TaskForm
    list_display = ["task_id", "title", "group", "pack_version", "enabled"]
    list_filter = [VersionFilter, "enabled", "group"]
    list_per_page = 50
    search_fields = ["task_id", "title", "trap", "yaml"]
    readonly_fields = ["task_id", "title", "pack_version", "place", "clauses", "hardness", "trap"]
    fields = ["task_id", "title", "pack_version", "place", "clauses", "hardness", "trap", "enabled", "yaml"]
    actions = ["enable", "disable"]

    @admin.display(description="file")
    def place(self, entry: TaskEntry) -> str:
        return f"{entry.source_path}:{entry.source_line}"

    @admin.action(description="Enable the chosen tasks", permissions=["change"])
    def enable(self, request: HttpRequest, chosen: QuerySet[TaskEntry]) -> None:
        self._set_enabled(request, chosen, True)

    @admin.action(description="Disable the chosen tasks", permissions=["change"])
    def disable(self, request: HttpRequest, chosen: QuerySet[TaskEntry]) -> None:
        self._set_enabled(request, chosen, False)

    def _set_enabled(self, request: HttpRequest, chosen: QuerySet[TaskEntry], enabled: bool) -> None:
        changed = [services.set_enabled(e, enabled, by=request.user) for e in chosen.exclude(enabled=enabled)]
        word = "enabled" if enabled else "disabled"
        self.message_user(
            request, f"{len(changed)} task{'s' if len(changed) != 1 else ''} {word}.", messages.SUCCESS
        )

    def get_queryset(self, request: HttpRequest) -> QuerySet[TaskEntry]:
        return (
            super().get_queryset(request).select_related("pack_version__pack").defer("pack_version__bundle")
        )

    def save_form(self, request: HttpRequest, form: Any, change: bool) -> TaskEntry:
        version = services.store_edit(form.edit, by=request.user)
        entry = version.tasks.select_related("pack_version__pack").get(task_id=form.edit.task_id)
        return services.set_enabled(entry, form.cleaned_data["enabled"], by=request.user)

    def save_model(self, request: HttpRequest, obj: TaskEntry, form: Any, change: bool) -> None:
        """Saved already, by the services in save_form."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Nothing hangs on a task."""

    def response_change(self, request: HttpRequest, obj: TaskEntry) -> HttpResponse:
        """To the task in the version that was made, so that the next edit starts from it."""
        if str(obj.pk) == request.resolver_match.kwargs["object_id"]:
            self.message_user(
                request, f"{obj.task_id} is {'enabled' if obj.enabled else 'disabled'}.", messages.SUCCESS
            )
        else:
            self.message_user(request, f"{obj.task_id} is saved in {obj.pack_version}.", messages.SUCCESS)
        return HttpResponseRedirect(reverse("admin:packs_taskentry_change", args=[obj.pk]))

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False  # tasks come with an upload

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False
