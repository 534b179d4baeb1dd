"""Packs, their immutable versions, and the tasks of each version."""

from __future__ import annotations

from django.conf import settings
from django.db import models


class Pack(models.Model):
    """All versions of one pack; `name` is the name in pack.yaml."""

    name = models.CharField(max_length=40, unique=True)
    title = models.CharField(max_length=200)  # of the newest version
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.title

    def latest(self) -> PackVersion | None:
        """The version uploaded last."""
        return self.versions.order_by("-id").first()


class PackVersion(models.Model):
    """One upload. Never changed: an edit makes another version."""

    pack = models.ForeignKey(Pack, on_delete=models.PROTECT, related_name="versions")
    version = models.CharField(max_length=20)  # as in pack.yaml
    title = models.CharField(max_length=200)
    content_hash = models.CharField(max_length=64, unique=True)
    bundle = models.BinaryField()  # the pack as a zip
    locale = models.CharField(max_length=40)
    task_count = models.PositiveIntegerField()
    tool_count = models.PositiveIntegerField()
    clause_count = models.PositiveIntegerField()
    article_count = models.PositiveIntegerField()
    edited_from = models.ForeignKey("self", null=True, blank=True, on_delete=models.PROTECT, related_name="+")
    uploaded_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pack__name", "-id"]

    def __str__(self) -> str:
        # The hash is what identifies a version: authors do not always raise the number.
        return f"{self.pack.name} {self.version} ({self.content_hash[:8]})"


class VerificationStatus(models.TextChoices):
    WAITING = "waiting", "waiting for a worker"
    RUNNING = "running", "being verified"
    SOUND = "sound", "verified"
    UNSOUND = "unsound", "has findings"
    FAILED = "failed", "could not be verified"


class Verification(models.Model):
    """What the verifier says about a pack version: whether its verdicts can be trusted."""

    pack_version = models.OneToOneField(PackVersion, on_delete=models.CASCADE, related_name="verification")
    status = models.CharField(
        max_length=10, choices=VerificationStatus.choices, default=VerificationStatus.WAITING
    )
    problem_count = models.PositiveIntegerField(default=0)
    report = models.JSONField(null=True, blank=True)  # Verification.as_json() of the engine
    note = models.TextField(blank=True)  # why it could not be verified
    attempts = models.PositiveIntegerField(default=0)
    token = models.UUIDField(null=True, blank=True)  # of the worker that is at it
    due_at = models.DateTimeField()  # when somebody may (again) begin
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]

    def __str__(self) -> str:
        return f"{self.pack_version}: {self.get_status_display()}"

    @property
    def pending(self) -> bool:
        return self.status in (VerificationStatus.WAITING, VerificationStatus.RUNNING)


class TaskEntry(models.Model):
    """A task of a pack version, for the library: found, switched on and off, read. Its meaning is in the bundle."""

    pack_version = models.ForeignKey(PackVersion, on_delete=models.CASCADE, related_name="tasks")
    task_id = models.CharField(max_length=100)
    title = models.CharField(max_length=300)
    group = models.CharField(max_length=100)
    clauses = models.JSONField(default=list)  # ids
    hardness = models.JSONField(default=list)
    trap = models.TextField(blank=True)
    source_path = models.CharField(max_length=300)  # the file in the pack
    source_line = models.PositiveIntegerField()
    yaml = models.TextField()  # the task as it stands in the file
    enabled = models.BooleanField(default=True)  # new runs take enabled tasks only

    class Meta:
        ordering = ["pack_version", "task_id"]
        verbose_name = "task"
        constraints = [models.UniqueConstraint(fields=["pack_version", "task_id"], name="packs_task_once")]

    def __str__(self) -> str:
        return self.task_id
