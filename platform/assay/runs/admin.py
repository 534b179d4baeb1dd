"""Runs, trials and evidence in the admin, to look at. Nobody changes them by hand."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from assay.accounts.admin import ReadOnlyAdmin
from assay.runs.models import Evidence, Regrade, Run, Trial, TrialAttempt


@admin.register(Run)
class RunAdmin(ReadOnlyAdmin):
    list_display = [
        "id",
        "bot_version",
        "pack_version",
        "status",
        "trial_count",
        "created_by",
        "created_at",
        "finished_at",
    ]
    list_filter = ["status", "bot_version__bot", "pack_version__pack"]
    search_fields = ["=id", "bot_version__bot__name", "pack_version__pack__name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Run]:
        related = ("pack_version__pack", "bot_version__bot", "created_by")
        return super().get_queryset(request).select_related(*related).defer("pack_version__bundle")


class AttemptInline(admin.TabularInline):
    model = TrialAttempt
    extra = 0
    can_delete = False
    fields = readonly_fields = ["number", "cause", "detail", "worker", "at"]
    verbose_name_plural = "attempts that came to nothing"

    def has_add_permission(self, request: HttpRequest, obj: Trial | None = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Trial | None = None) -> bool:
        return False


@admin.register(Trial)
class TrialAdmin(ReadOnlyAdmin):
    list_display = [
        "run_id",
        "task_id",
        "index",
        "status",
        "category",
        "void_cause",
        "attempt",
        "losses",
        "finished_at",
    ]
    list_filter = ["status", "category", "void_cause"]
    search_fields = ["=run__id", "task_id", "fingerprint"]
    show_full_result_count = False
    inlines = [AttemptInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Trial]:
        related = ("run__pack_version__pack", "run__bot_version__bot")
        return super().get_queryset(request).select_related(*related).defer("run__pack_version__bundle")


@admin.register(Evidence)
class EvidenceAdmin(ReadOnlyAdmin):
    """The raw evidence of a trial; the site shows it in a readable form."""

    list_display = ["trial_id"]
    search_fields = ["=trial__id"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Evidence]:
        found = super().get_queryset(request)
        listing = request.resolver_match is not None and request.resolver_match.url_name.endswith(
            "_changelist"
        )
        return found.only("trial_id").order_by("-trial_id") if listing else found.select_related("trial__run")


@admin.register(Regrade)
class RegradeAdmin(ReadOnlyAdmin):
    list_display = ["id", "run_id", "pack_version", "status", "created_by", "created_at", "finished_at"]
    list_filter = ["status"]
    exclude = ["token"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Regrade]:
        related = ("pack_version__pack", "created_by")
        return super().get_queryset(request).select_related(*related).defer("pack_version__bundle")
