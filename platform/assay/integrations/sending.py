"""Making one delivery: a signed POST to an endpoint, or tickets in a connected system."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx
from celery.exceptions import SoftTimeLimitExceeded
from django.utils import timezone
from standardwebhooks import Webhook

import assay
from assay.accounts import secrets
from assay.integrations.deliveries import Attempt
from assay.integrations.models import Event, TicketConnection, ToldFailure, WebhookEndpoint
from assay.plugin_choices.services import require
from assay.plugins.tickets import build_ticket_system
from assay_sdk import AssayError, OptionsError, TicketRef, TicketSystemError, outgoing
from assay_sdk.ticketing import EventProblem, report_failures

log = logging.getLogger(__name__)

TIMEOUT = 20.0  # seconds for the connection, the request and the answer together


def post(event: Event, endpoint: WebhookEndpoint) -> Attempt:
    """Post the event as Standard Webhooks says. Whatever happens becomes an Attempt."""
    try:
        headers = signed_headers(event, endpoint, timezone.now())
        answer = outgoing.request(
            "POST", endpoint.url, headers=headers, content=event.body.encode(), timeout=TIMEOUT
        )
    except secrets.SecretError as error:
        return Attempt(False, f"{error} Rotate the endpoint's secret.", permanent=True)
    except outgoing.TargetRefused as error:
        return Attempt(False, str(error), permanent=True)
    except httpx.TimeoutException as error:
        return Attempt(False, f"No answer within {TIMEOUT:g} s ({type(error).__name__}).")
    except httpx.HTTPError as error:
        return Attempt(False, f"The request failed: {error or type(error).__name__}.")
    return _judge(answer)


def tell(event: Event, connection: TicketConnection) -> Attempt:
    """Report the event's failures to the ticket system. Whatever happens becomes an Attempt."""
    try:
        require([("ticket system", connection.system)])
        system = build_ticket_system(connection.system, connection.options, secrets.resolve_secret)
        reported = report_failures(system, json.loads(event.body), event.uid, _Rows(event, connection))
    except (OptionsError, EventProblem) as error:
        return Attempt(False, str(error), permanent=True)
    except TicketSystemError as error:
        return Attempt(False, str(error), permanent=error.permanent)
    except AssayError as error:
        return Attempt(False, str(error))
    except SoftTimeLimitExceeded:
        raise  # the worker's own bound, and not the plugin's doing
    except (
        Exception,
        SystemExit,
    ) as error:  # a plugin may raise anything; it ends this attempt and nothing else
        log.exception("the ticket system %r broke", connection.system)
        return Attempt(
            False,
            f"The plugin of the ticket system {connection.system!r} broke: {type(error).__name__}: {error}",
        )
    return Attempt(True, str(reported))


def signed_headers(event: Event, endpoint: WebhookEndpoint, now: datetime) -> dict[str, str]:
    """The headers of Standard Webhooks; after a rotation with the signatures of both secrets. Raises SecretError."""
    keys = [secrets.unseal(bytes(endpoint.sealed_secret))]
    previous, until = endpoint.sealed_previous_secret, endpoint.previous_secret_until
    if previous is not None and until is not None and now < until:
        keys.append(secrets.unseal(bytes(previous)))
    return {
        "content-type": "application/json",
        "user-agent": f"Assay/{assay.__version__}",
        "webhook-id": event.uid,
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": " ".join(
            Webhook(key).sign(msg_id=event.uid, timestamp=now.astimezone(UTC), data=event.body)
            for key in keys
        ),
    }


def _judge(answer: outgoing.Response) -> Attempt:
    status, text = answer.status, answer.text
    if 200 <= status < 300:
        return Attempt(True, f"Accepted with {status}.", status, text)
    if status == 410:
        return Attempt(False, "The endpoint answered 410 Gone.", status, text, gone=True)
    if 300 <= status < 400:
        return Attempt(
            False,
            f"The endpoint answered {status}; redirects are not followed, so give the final URL.",
            status,
            text,
        )
    return Attempt(
        False, f"The endpoint answered {status}.", status, text, retry_after=_retry_after(answer.headers)
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds, from either form of Retry-After."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        at = parsedate_to_datetime(value)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return max(0.0, (at - timezone.now()).total_seconds())
    except (ValueError, TypeError, OverflowError):  # the last for a year that no calendar reaches
        return None


class _Rows:
    """assay_sdk.ticketing.Memory, kept in the tenant's schema."""

    def __init__(self, event: Event, connection: TicketConnection) -> None:
        self._event, self._connection = event, connection

    def was_told(self, fingerprint: str, event_id: str) -> bool:
        return ToldFailure.objects.filter(
            connection=self._connection, fingerprint=fingerprint, event__uid=event_id
        ).exists()

    def told(self, fingerprint: str, event_id: str, ticket: TicketRef, *, created: bool) -> None:
        ToldFailure.objects.get_or_create(
            connection=self._connection,
            fingerprint=fingerprint,
            event=self._event,
            defaults={
                "ticket_id": ticket.id[:100],
                "ticket_url": (ticket.url or "")[:2000],
                "created": created,
            },
        )
