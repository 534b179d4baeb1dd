"""Bots and their versions. A version is one configuration and never changes."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Bot(models.Model):
    name = models.CharField(max_length=100, unique=True)
    description = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def latest(self) -> BotVersion | None:
        return self.versions.order_by("-number").first()


class BotVersion(models.Model):
    """`spec` is NAME:TARGET of a connector; `options` hold secrets by reference only (`secret:NAME`)."""

    bot = models.ForeignKey(Bot, on_delete=models.PROTECT, related_name="versions")
    number = models.PositiveIntegerField()
    spec = models.CharField(max_length=200)
    options = models.JSONField(default=dict)
    synthetic = models.BooleanField(default=False)  # a reference bot, which reads the expected actions
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["bot__name", "-number"]
        constraints = [models.UniqueConstraint(fields=["bot", "number"], name="bots_version_once")]

    def __str__(self) -> str:
        return f"{self.bot.name} v{self.number}"
