"""Events and who is told of them."""

from __future__ import annotations

import json
import logging
import secrets
from datetime import timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from assay.integrations import deliveries, payload
from assay.integrations.models import Event, TicketConnection, WebhookEndpoint
from assay.runs.models import Run, RunStatus
from assay_sdk.ticketing import RUN_FINISHED

log = logging.getLogger(__name__)

TEST = "endpoint.test"  # sent by hand, to one endpoint
TYPES = (RUN_FINISHED,)  # what an endpoint can ask for
_LOOK_BACK = timedelta(days=1)

Place = WebhookEndpoint | TicketConnection


def queue_run_finished(run: Run) -> Event | None:
    """Write the event of a finished run and a delivery for each place that wants it, all or nothing, once.

    None when nobody wants it or it was written before. Called after the run's own commit; if that call is
    lost, `queue_missed` finds the run.
    """
    run = Run.objects.select_related("pack_version__pack", "bot_version__bot").get(pk=run.pk)
    places = [p for p in _places() if run.finished_at is not None and p.enabled_since <= run.finished_at]
    if not places:
        return None
    try:
        with transaction.atomic():
            event = write(RUN_FINISHED, payload.run_finished(run), run=run)
            for place in places:
                deliveries.queue(event, place)
    except IntegrityError:
        if Event.objects.filter(type=RUN_FINISHED, run=run).exists():
            return None  # another worker was first
        raise
    return event


def queue_missed() -> int:
    """Write the events of runs whose call was lost (the process ended between commit and call). Gives their number."""
    places = _places()
    if not places:
        return 0
    since = max(min(p.enabled_since for p in places), timezone.now() - _LOOK_BACK)
    runs = Run.objects.filter(status=RunStatus.FINISHED, finished_at__gte=since)
    written = 0
    for run in runs.exclude(events__type=RUN_FINISHED).order_by("id"):
        try:
            written += queue_run_finished(run) is not None
        except Exception:
            log.exception("the event of run %s could not be written", run.pk)
    return written


def write(kind: str, body: dict[str, Any], *, run: Run | None = None) -> Event:
    """Keep an event under an identifier of its own. `body` must be JSON."""
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Event.objects.create(uid=f"msg_{secrets.token_urlsafe(20)}", type=kind, run=run, body=text)


def write_test() -> Event:
    """An event that says nothing but that it is a test."""
    data = {"message": "A test from Assay. Nothing has happened."}
    return write(
        TEST, {"type": TEST, "timestamp": timezone.now().isoformat(timespec="milliseconds"), "data": data}
    )


def _places() -> list[Place]:
    """Everybody who wants to hear of finished runs."""
    return [
        *WebhookEndpoint.objects.filter(enabled=True, events__contains=[RUN_FINISHED]),
        *TicketConnection.objects.filter(enabled=True),
    ]
