"""The choices in the admin, to look at. They are made on the site, where the options have a form."""

from __future__ import annotations

from django.contrib import admin

from assay.accounts.admin import ReadOnlyAdmin
from assay.plugin_choices.models import PluginChoice


@admin.register(PluginChoice)
class PluginChoiceAdmin(ReadOnlyAdmin):
    list_display = ["plugin", "enabled", "updated_by", "updated_at"]
    list_select_related = ["updated_by"]
    list_filter = ["enabled"]
    search_fields = ["plugin"]
