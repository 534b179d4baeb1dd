"""Runs, trials, the attempts that came to nothing, and the evidence of each trial."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from assay.bots.models import BotVersion
from assay.packs.models import PackVersion


class RunStatus(models.TextChoices):
    PLANNED = "planned", _("Planned")  # no trial has been claimed yet
    RUNNING = "running", _("Running")
    PAUSED = "paused", _("Paused")
    FINISHED = "finished", _("Finished")
    CANCELLED = "cancelled", _("Cancelled")


ACTIVE = (RunStatus.PLANNED, RunStatus.RUNNING)  # trials may be claimed


class Run(models.Model):
    """Tasks x trials of one bot version on one pack version."""

    pack_version = models.ForeignKey(PackVersion, on_delete=models.PROTECT, related_name="runs")
    bot_version = models.ForeignKey(BotVersion, on_delete=models.PROTECT, related_name="runs")
    status = models.CharField(max_length=10, choices=RunStatus.choices, default=RunStatus.PLANNED)
    task_ids = models.JSONField()  # list of text, in the pack's order
    trials_per_task = models.PositiveIntegerField()
    trial_count = models.PositiveIntegerField()  # len(task_ids) * trials_per_task
    seed = models.BigIntegerField()
    max_attempts = models.PositiveSmallIntegerField(default=3)  # of one trial, before it stays void
    trials_at_once = models.PositiveSmallIntegerField(default=16)  # in one worker process
    limits = models.JSONField(default=dict)  # fields of assay.engine.dialogue.limits.Limits that differ
    persona = models.CharField(max_length=100, blank=True)
    persona_options = models.JSONField(default=dict)
    user = models.CharField(max_length=300, default="scripted")  # or the model that plays, NAME:MODEL
    user_options = models.JSONField(default=dict)  # secrets by reference
    faults = models.CharField(
        max_length=100, blank=True
    )  # the profile by which tool calls go wrong on purpose
    fault_options = models.JSONField(default=dict)
    judge = models.CharField(max_length=300, blank=True)  # the model that judges reply rules, NAME:MODEL
    judge_options = models.JSONField(default=dict)  # secrets by reference
    judge_votes = models.PositiveSmallIntegerField(default=3)
    checkers = models.JSONField(default=list)  # [{"name", "options", "required"}]
    gate = models.JSONField(null=True, blank=True)  # see gates.py
    gate_answer = models.JSONField(null=True, blank=True)
    manifest = models.JSONField(default=dict)  # versions and hashes of what went in
    summary = models.JSONField(
        null=True, blank=True
    )  # RunSummary.as_json(), written once when the run finishes
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(
                fields=["id"], name="runs_run_active", condition=Q(status__in=["planned", "running"])
            ),
        ]

    def __str__(self) -> str:
        return f"Run {self.pk}: {self.bot_version} on {self.pack_version}"


class TrialStatus(models.TextChoices):
    QUEUED = "queued", _("Queued")
    RUNNING = "running", _("Running")
    PASSED = "passed", _("Passed")
    FAILED = "failed", _("Failed")
    VOID = "void", _("Void")


OPEN = (TrialStatus.QUEUED, TrialStatus.RUNNING)


class Trial(models.Model):
    """One attempt at one task. queued -> running (leased) -> passed | failed | void, or back to queued.

    `attempt` counts the attempts that a platform fault made void, and goes into the seed; `losses` counts the
    workers that went away with it, and does not: such an attempt says nothing and is done again the same way.
    """

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="trials")
    task_id = models.CharField(max_length=100)
    title = models.CharField(max_length=300, blank=True)
    group = models.CharField(max_length=100)
    index = models.PositiveIntegerField()  # 0.. within the task
    attempt = models.PositiveSmallIntegerField(default=0)
    losses = models.PositiveSmallIntegerField(default=0)
    seed = models.BigIntegerField()
    status = models.CharField(max_length=8, choices=TrialStatus.choices, default=TrialStatus.QUEUED)

    # while queued or running
    available_at = models.DateTimeField(null=True, blank=True)  # not to be claimed before
    lease_token = models.UUIDField(null=True, blank=True)
    leased_by = models.CharField(max_length=100, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)

    # when it is over
    void_cause = models.CharField(max_length=40, blank=True)
    termination = models.CharField(max_length=30, blank=True)
    category = models.CharField(max_length=30, blank=True)
    s1 = models.BooleanField(null=True)
    s2 = models.BooleanField(null=True)
    s3 = models.BooleanField(null=True)
    fingerprint = models.CharField(max_length=64, blank=True)
    explanation = models.TextField(blank=True)
    turns = models.PositiveIntegerField(default=0)
    tool_calls = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["run", "id"]
        constraints = [
            models.UniqueConstraint(fields=["run", "task_id", "index"], name="runs_trial_once"),
            models.CheckConstraint(
                condition=Q(status="running", lease_token__isnull=False, lease_expires_at__isnull=False)
                | ~Q(status="running") & Q(lease_token__isnull=True, lease_expires_at__isnull=True),
                name="runs_trial_lease",
            ),
        ]
        indexes = [
            models.Index(fields=["run", "status"], name="runs_trial_status"),
            models.Index(fields=["run", "id"], name="runs_trial_queued", condition=Q(status="queued")),
            models.Index(
                fields=["run", "lease_expires_at"], name="runs_trial_leased", condition=Q(status="running")
            ),
            models.Index(
                fields=["run", "fingerprint"], name="runs_trial_failed", condition=Q(status="failed")
            ),
            models.Index(fields=["fingerprint"], name="runs_trial_alike", condition=Q(status="failed")),
        ]

    def __str__(self) -> str:
        return f"{self.task_id} #{self.index + 1}"


class TrialAttempt(models.Model):
    """An attempt that a platform fault made void, or whose worker was lost. Shown by cause; never the bot's."""

    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="void_attempts")
    number = models.PositiveSmallIntegerField()  # 0.., over void and lost attempts together
    cause = models.CharField(max_length=40)
    kind = models.CharField(max_length=40, blank=True)  # what the simulated user did, where it was at fault
    detail = models.TextField(blank=True)
    worker = models.CharField(max_length=100, blank=True)
    seed = models.BigIntegerField()
    plugin_failures = models.JSONField(default=list)  # {"part", "sentence"} of each plugin that failed
    at = models.DateTimeField()

    class Meta:
        ordering = ["trial", "number"]
        constraints = [models.UniqueConstraint(fields=["trial", "number"], name="runs_attempt_once")]
        indexes = [models.Index(fields=["trial", "cause"], name="runs_attempt_cause")]

    def __str__(self) -> str:
        return f"Attempt {self.number + 1}: {self.cause}"


class Evidence(models.Model):
    """What a finished trial leaves: enough to reproduce its verdict offline. Written once, with the result."""

    trial = models.OneToOneField(Trial, primary_key=True, on_delete=models.CASCADE, related_name="evidence")
    transcript = models.JSONField()
    changes = models.JSONField(default=list)
    verdict = models.JSONField(null=True)
    notes = models.JSONField(default=dict)  # from the bot's session; never shown to grading
    plugin_failures = models.JSONField(default=list)  # as with an attempt; those that made nothing void too
    versions = models.JSONField(default=dict)  # pack hash, bot, engine

    class Meta:
        verbose_name_plural = "evidence"

    def __str__(self) -> str:
        return f"Evidence of trial {self.trial_id}"

    @property
    def events(self) -> list[dict[str, Any]]:
        """What was said and called, in order."""
        return list(self.transcript.get("events", []))


class RegradeStatus(models.TextChoices):
    WAITING = "waiting", _("Waiting")
    RUNNING = "running", _("Running")
    DONE = "done", _("Done")
    FAILED = "failed", _("Failed")


class Regrade(models.Model):
    """A finished run judged again under another version of its pack. The run itself stays as it is."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="regrades")
    pack_version = models.ForeignKey(PackVersion, on_delete=models.PROTECT, related_name="regrades")
    status = models.CharField(max_length=8, choices=RegradeStatus.choices, default=RegradeStatus.WAITING)
    tally = models.JSONField(null=True, blank=True)  # engine.regrading.Tally.as_json(), when done
    note = models.TextField(blank=True)  # why it failed
    attempts = models.PositiveIntegerField(default=0)  # in a row without progress
    token = models.UUIDField(null=True, blank=True)  # of the worker that is at it
    due_at = models.DateTimeField()  # when somebody may (again) begin
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"Run {self.run_id} by {self.pack_version}"

    @property
    def pending(self) -> bool:
        return self.status in (RegradeStatus.WAITING, RegradeStatus.RUNNING)


class RegradedTrial(models.Model):
    """What a trial comes to under the other version. The old verdict stands with the trial."""

    regrade = models.ForeignKey(Regrade, on_delete=models.CASCADE, related_name="trials")
    trial = models.ForeignKey(Trial, on_delete=models.CASCADE, related_name="regraded")
    status = models.CharField(max_length=14)  # passed, failed, void or not_comparable
    category = models.CharField(max_length=30, blank=True)
    explanation = models.TextField(blank=True)
    changed = models.BooleanField()
    why = models.JSONField(default=list)  # sentences
    verdict = models.JSONField(null=True)

    class Meta:
        ordering = ["regrade", "trial"]
        constraints = [models.UniqueConstraint(fields=["regrade", "trial"], name="runs_regraded_once")]
        indexes = [
            models.Index(fields=["regrade", "trial"], name="runs_regraded_changed", condition=Q(changed=True))
        ]

    def __str__(self) -> str:
        return f"{self.trial_id}: {self.status}"
