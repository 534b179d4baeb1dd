"""Where events go, the events, their deliveries with every attempt, and what ticket systems were told."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from assay.runs.models import Run


class WebhookEndpoint(models.Model):
    """A URL that events are posted to. The secret is sealed (accounts.secrets) and shown once, when it is made."""

    url = models.CharField(max_length=2000)
    description = models.CharField(max_length=200, blank=True)
    events = models.JSONField()  # types, see events.TYPES
    enabled = models.BooleanField(default=True)
    enabled_since = models.DateTimeField(default=timezone.now)  # it is not told of what happened before
    disabled_reason = models.CharField(max_length=500, blank=True)  # when the platform switched it off
    sealed_secret = models.BinaryField(editable=False)
    # After a rotation messages carry the signatures of both secrets until then.
    sealed_previous_secret = models.BinaryField(null=True, editable=False)
    previous_secret_until = models.DateTimeField(null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return self.description or self.url


class TicketConnection(models.Model):
    """A ticket system of the tenant, by the name that a plugin gives it. Options hold secrets by reference only."""

    name = models.CharField(max_length=100, unique=True)
    system = models.CharField(max_length=64)
    options = models.JSONField(default=dict)
    enabled = models.BooleanField(default=True)
    enabled_since = models.DateTimeField(default=timezone.now)  # it is not told of what happened before
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Event(models.Model):
    """Something that happened, as it is told: `body` is the exact text that is sent and signed, every time."""

    uid = models.CharField(max_length=40, unique=True)  # the webhook-id
    type = models.CharField(max_length=40)
    run = models.ForeignKey(Run, null=True, blank=True, on_delete=models.CASCADE, related_name="events")
    body = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            # Whoever asks again finds that the run was told already.
            models.UniqueConstraint(
                fields=["type", "run"], condition=Q(run__isnull=False), name="integrations_event_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.uid}"


class DeliveryStatus(models.TextChoices):
    PENDING = "pending", _("Pending")  # never tried yet, or to be tried again at `next_at`
    ACCEPTED = "accepted", _("Accepted")
    GIVEN_UP = "given_up", _("Given up")


class Delivery(models.Model):
    """One event to one place. Leased while a worker is at it, so that no two are at once."""

    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    endpoint = models.ForeignKey(
        WebhookEndpoint, null=True, blank=True, on_delete=models.CASCADE, related_name="deliveries"
    )
    connection = models.ForeignKey(
        TicketConnection, null=True, blank=True, on_delete=models.CASCADE, related_name="deliveries"
    )
    status = models.CharField(max_length=8, choices=DeliveryStatus.choices, default=DeliveryStatus.PENDING)
    reason = models.CharField(max_length=500, blank=True)  # why it is pending or given up; for people
    tries = models.PositiveSmallIntegerField(default=0)  # since it was queued, or queued again by hand
    next_at = models.DateTimeField()
    queued_until = models.DateTimeField(
        null=True, blank=True
    )  # a message for a worker is under way until then
    lease_token = models.UUIDField(null=True, blank=True)
    lease_expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        verbose_name_plural = "deliveries"
        constraints = [
            models.CheckConstraint(
                condition=Q(endpoint__isnull=False, connection__isnull=True)
                | Q(endpoint__isnull=True, connection__isnull=False),
                name="integrations_delivery_one_place",
            ),
            models.UniqueConstraint(
                fields=["event", "endpoint"],
                condition=Q(endpoint__isnull=False),
                name="integrations_delivery_endpoint_once",
            ),
            models.UniqueConstraint(
                fields=["event", "connection"],
                condition=Q(connection__isnull=False),
                name="integrations_delivery_connection_once",
            ),
        ]
        indexes = [
            models.Index(fields=["next_at"], name="integrations_delivery_due", condition=Q(status="pending"))
        ]

    def __str__(self) -> str:
        return f"{self.event} to {self.place}"

    @property
    def place(self) -> WebhookEndpoint | TicketConnection:
        """Where it goes."""
        place = self.endpoint or self.connection
        assert place is not None  # the database holds it
        return place


class DeliveryAttempt(models.Model):
    """What became of one attempt. Written once."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveIntegerField()  # 1.. over the whole life of the delivery
    at = models.DateTimeField()  # when it began
    seconds = models.FloatField()
    accepted = models.BooleanField()
    status_code = models.PositiveSmallIntegerField(null=True, blank=True)  # of the answer, when there was one
    message = models.CharField(max_length=500)  # a sentence
    answer = models.TextField(blank=True)  # how the answer's body begins; foreign text

    class Meta:
        ordering = ["delivery", "number"]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "number"], name="integrations_attempt_once")
        ]

    def __str__(self) -> str:
        return f"{self.number}: {self.message}"


class ToldFailure(models.Model):
    """That a ticket system was told of a failure by an event, and the ticket. Makes a repeated delivery harmless."""

    connection = models.ForeignKey(TicketConnection, on_delete=models.CASCADE, related_name="told")
    fingerprint = models.CharField(max_length=64)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="+")
    ticket_id = models.CharField(max_length=100)
    ticket_url = models.CharField(max_length=2000, blank=True)
    created = models.BooleanField()  # the ticket was opened; otherwise commented
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["connection", "fingerprint", "event"], name="integrations_told_once"
            )
        ]

    def __str__(self) -> str:
        return f"{self.fingerprint[:12]}: {self.ticket_id}"
