"""Connecting endpoints and ticket systems, and looking after their deliveries."""

from __future__ import annotations

import base64
import binascii
import json
import secrets as random
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

import httpx
from django.db import transaction
from django.utils import timezone

from assay.accounts import secrets
from assay.accounts.audit import record
from assay.accounts.models import User
from assay.engine.blame import in_time
from assay.integrations import deliveries, events
from assay.integrations.errors import IntegrationError
from assay.integrations.events import queue_run_finished
from assay.integrations.models import Delivery, TicketConnection, WebhookEndpoint
from assay.plugin_choices.services import require, with_defaults
from assay.plugins.tickets import build_ticket_system
from assay_sdk import AssayError, TicketSystemError, outgoing

__all__ = [
    "IntegrationError",
    "check_connection",
    "create_connection",
    "create_endpoint",
    "delete_connection",
    "delete_endpoint",
    "queue_run_finished",
    "redeliver",
    "rotate_secret",
    "send_test",
    "switch_connection",
    "switch_endpoint",
    "update_connection",
    "update_endpoint",
]

MOST_PLACES = 50  # endpoints, and ticket connections, of one tenant
GRACE = timedelta(hours=24)  # after a rotation, for the receiver to learn the new secret
_PREFIX = "whsec_"


# --- endpoints ----------------------------------------------------------------------------------


def create_endpoint(
    url: str,
    *,
    types: Sequence[str] = events.TYPES,
    description: str = "",
    secret: str | None = None,
    by: User | None = None,
) -> tuple[WebhookEndpoint, str]:
    """Connect an endpoint. Gives it and its secret (whsec_...), which cannot be read again.

    `secret`: one that the receiver has chosen; None draws one. Raises IntegrationError with a sentence for
    an address that is not to be used, an unknown type of event or an unusable secret.
    """
    url, types = _url(url), _types(types)
    secret = _secret(secret)
    with transaction.atomic():
        if WebhookEndpoint.objects.count() >= MOST_PLACES:
            raise IntegrationError(f"There are {MOST_PLACES} endpoints, which is the most; delete one first.")
        endpoint = WebhookEndpoint.objects.create(
            url=url,
            events=types,
            description=_line(description),
            sealed_secret=secrets.seal(secret),
            created_by=by,
        )
        record(
            "webhook_endpoint.created", actor=by, target=endpoint, data={"host": _host(url), "events": types}
        )
    return endpoint, secret


def update_endpoint(
    endpoint: WebhookEndpoint,
    *,
    url: str | None = None,
    types: Sequence[str] | None = None,
    description: str | None = None,
    by: User | None = None,
) -> WebhookEndpoint:
    """Change what is given. Deliveries that are pending go to the new address. Raises IntegrationError."""
    changed: dict[str, Any] = {}
    if url is not None:
        changed["url"] = _url(url)
    if types is not None:
        changed["events"] = _types(types)
    if description is not None:
        changed["description"] = _line(description)
    with transaction.atomic():
        for name, value in changed.items():
            setattr(endpoint, name, value)
        endpoint.save(update_fields=list(changed))
        record(
            "webhook_endpoint.changed",
            actor=by,
            target=endpoint,
            data={"host": _host(endpoint.url), "events": endpoint.events, "changed": sorted(changed)},
        )
    return endpoint


def switch_endpoint(endpoint: WebhookEndpoint, on: bool, *, by: User | None = None) -> WebhookEndpoint:
    """Switch an endpoint on or off. Off gives up what is pending; on tells it of what happens from now on."""
    with transaction.atomic():
        endpoint.enabled, endpoint.disabled_reason = on, ""
        if on:
            endpoint.enabled_since = timezone.now()
        endpoint.save(update_fields=["enabled", "disabled_reason", "enabled_since"])
        if not on:
            deliveries.give_up(endpoint, "The endpoint was switched off.")
        record(f"webhook_endpoint.{'enabled' if on else 'disabled'}", actor=by, target=endpoint)
    return endpoint


def delete_endpoint(endpoint: WebhookEndpoint, *, by: User | None = None) -> None:
    """Delete an endpoint with its deliveries."""
    with transaction.atomic():
        # Rows are locked before the audit trail, here as everywhere, so that no two wait for each other.
        held = WebhookEndpoint.objects.select_for_update().filter(pk=endpoint.pk).first()
        if held is None:
            return  # deleted by somebody else meanwhile
        held.delete()
        record("webhook_endpoint.deleted", actor=by, target=endpoint, data={"host": _host(endpoint.url)})


def rotate_secret(endpoint: WebhookEndpoint, *, secret: str | None = None, by: User | None = None) -> str:
    """Give the endpoint a new secret, and return it. Messages carry both signatures for a day (GRACE)."""
    secret = _secret(secret)
    with transaction.atomic():
        endpoint = WebhookEndpoint.objects.select_for_update().get(pk=endpoint.pk)
        endpoint.sealed_previous_secret = endpoint.sealed_secret
        endpoint.previous_secret_until = timezone.now() + GRACE
        endpoint.sealed_secret = secrets.seal(secret)
        endpoint.save(update_fields=["sealed_secret", "sealed_previous_secret", "previous_secret_until"])
        record("webhook_endpoint.secret_rotated", actor=by, target=endpoint)
    return secret


def send_test(endpoint: WebhookEndpoint, *, by: User | None = None) -> Delivery:
    """Queue a test event for this endpoint. It is tried once. Raises IntegrationError when it is switched off."""
    if not endpoint.enabled:
        raise IntegrationError("The endpoint is switched off; switch it on first.")
    with transaction.atomic():
        delivery = deliveries.queue(events.write_test(), endpoint)
        record("webhook_endpoint.tested", actor=by, target=endpoint)
    return delivery


def redeliver(delivery: Delivery, *, by: User | None = None) -> Delivery:
    """Make a delivery again, under its old identifier, with the whole series of attempts.

    Raises IntegrationError when it is still under way or its place is switched off.
    """
    with transaction.atomic():
        delivery = Delivery.objects.select_for_update(of=("self",)).get(pk=delivery.pk)
        if delivery.lease_expires_at is not None and delivery.lease_expires_at > timezone.now():
            raise IntegrationError("An attempt is under way; wait until it has ended.")
        if not delivery.place.enabled:
            raise IntegrationError(f"{delivery.place} is switched off; switch it on first.")
        deliveries.queue_again(delivery)
        record("delivery.queued_again", actor=by, target=delivery)
    return delivery


# --- ticket systems -----------------------------------------------------------------------------


def create_connection(
    name: str, system: str, options: Mapping[str, Any], *, by: User | None = None
) -> TicketConnection:
    """Connect a ticket system by the name its plugin gives it. Does not contact it: see check_connection.

    Secrets stand in `options` by reference (`secret:NAME`). Raises IntegrationError with a sentence.
    """
    name = _name(name)
    options = _options(system, options)
    with transaction.atomic():
        if TicketConnection.objects.count() >= MOST_PLACES:
            raise IntegrationError(
                f"There are {MOST_PLACES} connections, which is the most; delete one first."
            )
        if TicketConnection.objects.filter(name=name).exists():
            raise IntegrationError(f"There is a connection named {name!r} already; choose another name.")
        made = TicketConnection.objects.create(name=name, system=system, options=options, created_by=by)
        record("ticket_connection.created", actor=by, target=made, data={"name": name, "system": system})
    return made


def update_connection(
    connection: TicketConnection, options: Mapping[str, Any], *, by: User | None = None
) -> TicketConnection:
    """Replace the options. Raises IntegrationError."""
    connection.options = _options(connection.system, options)
    with transaction.atomic():
        connection.save(update_fields=["options"])
        record("ticket_connection.changed", actor=by, target=connection, data={"name": connection.name})
    return connection


def switch_connection(connection: TicketConnection, on: bool, *, by: User | None = None) -> TicketConnection:
    """Switch a connection on or off. Off gives up what is pending; on tells it of what happens from now on.

    Raises IntegrationError when its plugin is switched off.
    """
    if on:
        _check_on(connection)
    with transaction.atomic():
        connection.enabled = on
        if on:
            connection.enabled_since = timezone.now()
        connection.save(update_fields=["enabled", "enabled_since"])
        if not on:
            deliveries.give_up(connection, "The connection was switched off.")
        record(f"ticket_connection.{'enabled' if on else 'disabled'}", actor=by, target=connection)
    return connection


def delete_connection(connection: TicketConnection, *, by: User | None = None) -> None:
    """Delete a connection with its deliveries and what it remembers. The tickets stay where they are."""
    with transaction.atomic():
        # Rows are locked before the audit trail, here as everywhere, so that no two wait for each other.
        held = TicketConnection.objects.select_for_update().filter(pk=connection.pk).first()
        if held is None:
            return  # deleted by somebody else meanwhile
        held.delete()
        record("ticket_connection.deleted", actor=by, target=connection, data={"name": connection.name})


def check_connection(connection: TicketConnection) -> str:
    """Contact the ticket system now; who we are signed in as there. Raises IntegrationError with a sentence."""
    _check_on(connection)
    try:
        system = build_ticket_system(connection.system, connection.options, secrets.resolve_secret)
        return str(in_time(f"ticket system {connection.system}", system.check, 60.0))
    except (AssayError, TicketSystemError) as error:
        raise IntegrationError(str(error)) from error
    except (Exception, SystemExit) as error:  # whatever a plugin raises is the plugin's
        raise IntegrationError(
            f"The plugin of the ticket system {connection.system!r} broke: {type(error).__name__}: {error}"
        ) from error


def _check_on(connection: TicketConnection) -> None:
    try:
        require([("ticket system", connection.system)])
    except AssayError as error:
        raise IntegrationError(str(error)) from error


# --- what people write --------------------------------------------------------------------------


def _url(url: str) -> str:
    url = url.strip()
    if len(url) > 2000:
        raise IntegrationError("The URL is too long; the most is 2000 characters.")
    try:
        outgoing.check_url(url)
    except outgoing.TargetRefused as error:
        raise IntegrationError(str(error)) from None
    return url


def _types(types: Sequence[str]) -> list[str]:
    unknown = sorted(set(types) - set(events.TYPES))
    if unknown or not types:
        raise IntegrationError(
            f"Choose at least one of these events: {', '.join(events.TYPES)}"
            + (f"; there is no {', '.join(unknown)}." if unknown else ".")
        )
    return [t for t in events.TYPES if t in types]


def _secret(secret: str | None) -> str:
    if secret is None:
        return _PREFIX + base64.b64encode(random.token_bytes(32)).decode()
    secret = secret.strip()
    try:
        raw = base64.b64decode(secret.removeprefix(_PREFIX), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if not secret.startswith(_PREFIX) or not 24 <= len(raw) <= 64:
        raise IntegrationError(
            f"The secret must be {_PREFIX} and the base64 text of 24 to 64 random bytes; leave it out to have one drawn."
        )
    return secret


def _options(system: str, options: Mapping[str, Any]) -> dict[str, Any]:
    try:
        require([("ticket system", system)])
        whole = with_defaults("ticket system", system, options)
        kept: dict[str, Any] = json.loads(json.dumps(whole, allow_nan=False))
        build_ticket_system(system, kept, secrets.resolve_secret)
    except (TypeError, ValueError) as error:
        raise IntegrationError(f"The options must be plain JSON values: {error}.") from None
    except AssayError as error:
        raise IntegrationError(str(error)) from error
    return kept


def _name(name: str) -> str:
    name = _line(name)
    if not name or len(name) > 100:
        raise IntegrationError("Give the connection a name of 1 to 100 characters.")
    return name


def _line(text: str) -> str:
    return " ".join(text.replace("\0", " ").split())[:200]


def _host(url: str) -> str:
    # Not the whole URL: its path or query may hold a token, and the audit trail holds no secrets.
    return httpx.URL(url).host
