"""Deliveries as rows: queued, claimed under a token by one worker, tried again until accepted or given up.

A message of the broker only makes it quicker: `due` finds what is to be done without one.
"""

from __future__ import annotations

import logging
import random
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID, uuid4

from django.db import connection, transaction
from django.db.models import Max, Q
from django.utils import timezone

from assay.integrations.models import (
    Delivery,
    DeliveryAttempt,
    DeliveryStatus,
    Event,
    TicketConnection,
    WebhookEndpoint,
)

log = logging.getLogger(__name__)

# Seconds between one attempt and the next, as Standard Webhooks advises: ten attempts over about three days.
WAITS = (5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
LEASE = timedelta(seconds=400)  # longer than a worker may be at one delivery (tasks.SECONDS)
_MESSAGE = timedelta(seconds=30)  # after which a message that nobody took is sent again
_ANSWER = 1_000  # characters of an answer that are kept


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one attempt came to. `permanent`: trying again by itself makes no sense."""

    accepted: bool
    message: str
    status_code: int | None = None
    answer: str = ""
    permanent: bool = False
    gone: bool = False  # the endpoint wants nothing more
    retry_after: float | None = None  # seconds the other end asked for


@dataclass(frozen=True, slots=True)
class Claimed:
    delivery: Delivery
    token: UUID
    at: datetime


def queue(event: Event, place: WebhookEndpoint | TicketConnection) -> Delivery:
    """Write a delivery and, once that is committed, ask a worker to make it."""
    now = timezone.now()
    delivery = Delivery(event=event, next_at=now, queued_until=now + _MESSAGE)
    if isinstance(place, WebhookEndpoint):
        delivery.endpoint = place
    else:
        delivery.connection = place
    delivery.save(force_insert=True)
    _ask_on_commit(delivery.pk)
    return delivery


def queue_again(delivery: Delivery) -> None:
    """Start the whole series of attempts again; the identifier stays. In the caller's transaction, row locked."""
    now = timezone.now()
    delivery.status, delivery.reason, delivery.tries, delivery.finished_at = (
        DeliveryStatus.PENDING,
        "",
        0,
        None,
    )
    delivery.next_at, delivery.queued_until = now, now + _MESSAGE
    delivery.save(update_fields=["status", "reason", "tries", "finished_at", "next_at", "queued_until"])
    _ask_on_commit(delivery.pk)


def give_up(place: WebhookEndpoint | TicketConnection, reason: str) -> int:
    """End what is pending for a place that was switched off. It can be sent again by hand."""
    return Delivery.objects.filter(_of(place), status=DeliveryStatus.PENDING).update(
        status=DeliveryStatus.GIVEN_UP, reason=reason[:500], finished_at=timezone.now()
    )


def claim(delivery_id: int) -> Claimed | None:
    """Take a delivery that is due; None when it is not, or when somebody else is at it.

    A ticket system is told by one worker at a time, since "is there a ticket?" and "open one" are two requests.
    """
    now = timezone.now()
    with transaction.atomic():
        # Places are locked before their deliveries, everywhere, so that no two wait for each other.
        connected = (
            TicketConnection.objects.select_for_update(of=("self",)).filter(deliveries=delivery_id).first()
        )
        delivery = (
            Delivery.objects.select_for_update(skip_locked=True, of=("self",))
            .select_related("event", "endpoint", "connection")
            .filter(pk=delivery_id, status=DeliveryStatus.PENDING, next_at__lte=now)
            .filter(_free(now))
            .first()
        )
        if delivery is None or not delivery.place.enabled:
            return None
        if connected and Delivery.objects.filter(connection=connected, lease_expires_at__gt=now).exists():
            delivery.queued_until = None  # the next sweep sees to it
            delivery.save(update_fields=["queued_until"])
            return None
        token = uuid4()
        delivery.tries += 1
        delivery.lease_token, delivery.lease_expires_at, delivery.queued_until = token, now + LEASE, None
        delivery.save(update_fields=["tries", "lease_token", "lease_expires_at", "queued_until"])
    return Claimed(delivery, token, now)


def write(claimed: Claimed, attempt: Attempt, *, once: bool = False) -> bool:
    """Log an attempt and decide what comes next. False when the lease was taken over: then only the log is kept.

    `once`: there is no second attempt.
    """
    now = timezone.now()
    with transaction.atomic():
        if attempt.gone:
            _lock_endpoint(claimed.delivery)
        delivery = Delivery.objects.select_for_update().filter(pk=claimed.delivery.pk).first()
        if delivery is None:
            return False  # the place was deleted meanwhile
        last = delivery.attempts.aggregate(n=Max("number"))["n"] or 0
        DeliveryAttempt.objects.create(
            delivery=delivery,
            number=last + 1,
            at=claimed.at,
            seconds=round((now - claimed.at).total_seconds(), 3),
            accepted=attempt.accepted,
            status_code=attempt.status_code,
            message=_storable(attempt.message)[:500],
            answer=_storable(attempt.answer)[:_ANSWER],
        )
        if delivery.lease_token != claimed.token:
            return False
        delivery.lease_token = delivery.lease_expires_at = None
        if delivery.status == DeliveryStatus.PENDING:
            _decide(delivery, attempt, now, once=once)
        delivery.save()
        if attempt.gone and delivery.endpoint is not None:
            _switch_off(delivery.endpoint, "The endpoint answered 410 Gone, so nothing more is sent to it.")
    return True


def due() -> list[int]:
    """Deliveries that need a worker now, marked so that the next caller does not find them too."""
    now = timezone.now()
    with transaction.atomic():
        rows = (
            Delivery.objects.select_for_update(skip_locked=True, of=("self",))
            .filter(status=DeliveryStatus.PENDING, next_at__lte=now)
            .filter(Q(endpoint__enabled=True) | Q(connection__enabled=True))
            .filter(_free(now))
            .filter(Q(queued_until__isnull=True) | Q(queued_until__lte=now))
            .order_by("next_at")[:200]
        )
        ids = [row.pk for row in rows]
        Delivery.objects.filter(pk__in=ids).update(queued_until=now + _MESSAGE)
    return ids


def ask(schema: str, delivery_id: int) -> None:
    """Ask a worker to make a delivery; when the broker does not answer, say so in the log and leave it to the sweep."""
    from assay.integrations.tasks import deliver

    try:
        deliver.apply_async(args=[schema, delivery_id], expires=_MESSAGE.total_seconds(), retry=False)
    except Exception as error:  # noqa: BLE001 (whatever a broker's client raises, the row is kept and the sweep goes on)
        log.warning("the broker took no message for delivery %s of %s: %s", delivery_id, schema, error)


def _decide(delivery: Delivery, attempt: Attempt, now: datetime, *, once: bool) -> None:
    if attempt.accepted:
        delivery.status, delivery.reason, delivery.finished_at = DeliveryStatus.ACCEPTED, "", now
        return
    delivery.reason = _storable(attempt.message)[:500]
    if attempt.permanent or attempt.gone or once or delivery.tries > len(WAITS):
        delivery.status, delivery.finished_at = DeliveryStatus.GIVEN_UP, now
        return
    # Spread a little, so that what failed together does not come back together.
    wait = WAITS[max(0, delivery.tries - 1)] * random.uniform(1.0, 1.1)  # noqa: S311 (it hides nothing)
    if attempt.retry_after is not None:
        wait = max(wait, min(attempt.retry_after, float(WAITS[-1])))
    delivery.next_at = now + timedelta(seconds=wait)


def _lock_endpoint(delivery: Delivery) -> None:
    WebhookEndpoint.objects.select_for_update(of=("self",)).filter(deliveries=delivery.pk).first()


def _switch_off(endpoint: WebhookEndpoint, reason: str) -> None:
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(enabled=False, disabled_reason=reason)
    give_up(endpoint, reason)


def _free(now: datetime) -> Q:
    return Q(lease_expires_at__isnull=True) | Q(lease_expires_at__lte=now)


def _of(place: WebhookEndpoint | TicketConnection) -> Q:
    return Q(endpoint=place) if isinstance(place, WebhookEndpoint) else Q(connection=place)


def _ask_on_commit(delivery_id: int) -> None:
    transaction.on_commit(partial(ask, str(connection.schema_name), delivery_id), robust=True)


def _storable(text: str) -> str:
    """Postgres text cannot hold NUL, nor UTF-8 lone surrogates; an answer may bring either."""
    return text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")
