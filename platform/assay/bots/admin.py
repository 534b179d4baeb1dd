"""Bots and their versions in the admin, to look at. They are made on the site, where the connector is tried out."""

from __future__ import annotations

from django.contrib import admin

from assay.accounts.admin import ReadOnlyAdmin
from assay.bots.models import Bot, BotVersion


@admin.register(Bot)
class BotAdmin(ReadOnlyAdmin):
    list_display = ["name", "description", "created_at"]
    search_fields = ["name", "description"]


@admin.register(BotVersion)
class BotVersionAdmin(ReadOnlyAdmin):
    list_display = ["bot", "number", "spec", "synthetic", "created_by", "created_at"]
    list_select_related = ["bot", "created_by"]
    list_filter = ["synthetic", "bot"]
    search_fields = ["bot__name", "spec"]
