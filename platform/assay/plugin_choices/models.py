"""What a company has chosen about a plugin. A plugin without a row is on and has no options of the company's."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class PluginChoice(models.Model):
    """`plugin` is the name of its entry point. `options`: by part (`persona terse`), what a run does not say itself;
    secrets in them by reference only (`secret:NAME`)."""

    plugin = models.CharField(max_length=200, unique=True)
    enabled = models.BooleanField(default=True)
    options = models.JSONField(default=dict)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        ordering = ["plugin"]

    def __str__(self) -> str:
        return f"{self.plugin}: {'on' if self.enabled else 'off'}"
