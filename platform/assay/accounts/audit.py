"""The audit trail: append-only, each event hashed together with the one before it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC
from typing import Any

from django.db import connection, models, transaction
from django.utils import timezone

from assay.accounts.models import AuditEvent, User

_START = "0" * 64


def record(
    action: str,
    *,
    actor: User | None = None,
    target: models.Model | None = None,
    data: Mapping[str, Any] | None = None,
) -> AuditEvent:
    """Write one event in the current schema, in the caller's transaction: what is undone was never recorded.

    `action` is noun.verb; `data` must be JSON and hold no secrets. Events of one schema are written one after
    the other, which the chain needs, so call it near the end of a transaction and never for each trial.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_advisory_xact_lock(hashtext('assay.audit'), hashtext(current_schema()))"
            )
        previous = AuditEvent.objects.order_by("-id").values_list("hash", flat=True).first() or _START
        event = AuditEvent(
            at=timezone.now(),
            actor=actor.email if actor is not None else "",
            action=action,
            target=f"{target._meta.model_name}:{target.pk}" if target is not None else "",
            data=json.loads(json.dumps(dict(data or {}), default=str)),
            previous_hash=previous,
        )
        event.hash = _hash(event)
        event.save(force_insert=True)
    return event


def first_broken() -> AuditEvent | None:
    """The first event of the current schema that does not fit the chain, or None when the trail is whole."""
    previous = _START
    for event in AuditEvent.objects.order_by("id").iterator(chunk_size=1000):
        if event.previous_hash != previous or event.hash != _hash(event):
            return event
        previous = event.hash
    return None


def _hash(event: AuditEvent) -> str:
    body = [
        event.previous_hash,
        event.at.astimezone(UTC).isoformat(timespec="microseconds"),
        event.actor,
        event.action,
        event.target,
        event.data,
    ]
    return hashlib.sha256(json.dumps(body, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
