"""Making and finding tenants."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django_tenants.utils import get_public_schema_name, schema_context, schema_exists

from assay.accounts.audit import record
from assay.accounts.models import Role, User
from assay.accounts.services import create_user
from assay.tenancy.models import Domain, Tenant
from assay_sdk import AssayError

_SCHEMA = re.compile(r"[a-z][a-z0-9_]{1,47}")
_RESERVED = {"public", "information_schema"}
_HOST = re.compile(
    r"(?=.{1,253}\Z)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*"
)


class TenantError(AssayError):
    """A tenant that cannot be made or found; the message says why and what to do."""


def create_tenant(
    *, name: str, schema: str, host: str, owner_email: str, owner_password: str, by: User | None = None
) -> Tenant:
    """Make a company: its row, schema with all tables, host name and owner, in one transaction.

    Raises TenantError when a name is not usable or taken, or the owner's email or password is refused; after
    any error at all nothing is left behind. Takes about a second. `by` is an operator.
    """
    name, schema, host = name.strip(), schema.strip(), host.strip().lower()
    if not name:
        raise TenantError("The company needs a name.")
    _check_schema(schema)
    _check_host(host)
    try:
        with schema_context(get_public_schema_name()), transaction.atomic():
            _take_turns()
            if Tenant.objects.filter(schema_name__iexact=schema).exists() or schema_exists(schema):
                raise TenantError(f"The schema {schema!r} exists already; choose another name.")
            _check_free(host)
            tenant = Tenant.objects.create(name=name, schema_name=schema)
            Domain.objects.create(tenant=tenant, domain=host, is_primary=True)
            tenant.create_schema(check_if_exists=False, verbosity=0)
            with schema_context(schema):
                owner = create_user(email=owner_email, password=owner_password, role=Role.OWNER)
                record("tenant.created", actor=owner, data={"name": name, "schema": schema, "host": host})
            record(
                "tenant.created", actor=by, target=tenant, data={"name": name, "schema": schema, "host": host}
            )
    except ValidationError as error:
        raise TenantError(" ".join(error.messages)) from error
    return tenant


def rename_tenant(tenant: Tenant, name: str, *, by: User | None) -> Tenant:
    """Another name for people; schema and host names stay. Raises TenantError when it is empty."""
    name = name.strip()
    if not name:
        raise TenantError("The company needs a name.")
    with schema_context(get_public_schema_name()), transaction.atomic():
        tenant = Tenant.objects.select_for_update().get(pk=tenant.pk)
        if tenant.name != name:
            record("tenant.renamed", actor=by, target=tenant, data={"from": tenant.name, "to": name})
            tenant.name = name
            tenant.save(update_fields=["name"])
    return tenant


def add_host(tenant: Tenant, host: str, *, by: User | None) -> Domain:
    """One more host name for a company. Raises TenantError when it is not usable or taken."""
    host = host.strip().lower()
    _check_host(host)
    with schema_context(get_public_schema_name()), transaction.atomic():
        _take_turns()
        _check_free(host)
        domain = Domain.objects.create(tenant=tenant, domain=host, is_primary=False)
        record("tenant.host_added", actor=by, target=tenant, data={"host": host})
    return domain


def create_operator(*, email: str, password: str, role: str = Role.OWNER) -> User:
    """Somebody who runs the installation, in the public schema. Raises TenantError with sentences."""
    try:
        with schema_context(get_public_schema_name()):
            return create_user(email=email, password=password, role=role)
    except ValidationError as error:
        raise TenantError(" ".join(error.messages)) from error


def ensure_public() -> Tenant:
    """The public schema's own entry, which gives the operators' site its host name (settings.ASSAY_OPERATORS_HOST).

    Does nothing if it is there. Raises TenantError when the host name is not usable or a company's.
    """
    host = settings.ASSAY_OPERATORS_HOST.lower()
    _check_host(host)
    with schema_context(get_public_schema_name()), transaction.atomic():
        _take_turns()
        tenant, _ = Tenant.objects.get_or_create(
            schema_name=get_public_schema_name(), defaults={"name": "Operators"}
        )
        domain, _ = Domain.objects.get_or_create(domain=host, defaults={"tenant": tenant, "is_primary": True})
        if domain.tenant_id != tenant.pk:
            raise TenantError(
                f"ASSAY_OPERATORS_HOST is {host!r}, which belongs to a company; choose another."
            )
    return tenant


@contextmanager
def in_tenant(schema: str) -> Iterator[Tenant]:
    """Work inside a tenant's schema. Raises TenantError when there is no such tenant.

    Background work uses this and not the library's schema_context, which would go on quietly in the public
    schema's tables when the tenant is gone.
    """
    with schema_context(get_public_schema_name()):
        tenant = (
            Tenant.objects.filter(schema_name=schema).exclude(schema_name=get_public_schema_name()).first()
        )
    if tenant is None:
        raise TenantError(f"There is no tenant with the schema {schema!r}.")
    with schema_context(schema):
        yield tenant


def schemas() -> list[str]:
    """The schemas of all tenants, without the public one."""
    with schema_context(get_public_schema_name()):
        return list(
            Tenant.objects.exclude(schema_name=get_public_schema_name()).values_list("schema_name", flat=True)
        )


def current_schema() -> str:
    """The schema this thread's connection works in."""
    return str(connection.schema_name)


def _check_schema(schema: str) -> None:
    if not _SCHEMA.fullmatch(schema) or schema in _RESERVED or schema.startswith("pg_"):
        raise TenantError(
            f"{schema!r} cannot be a schema name: use 2 to 48 lower-case letters, digits and underscores, "
            "starting with a letter, and neither 'public' nor 'pg_...'."
        )


def _take_turns() -> None:
    """Names are given out one after the other, so that the second of two equal ones gets a sentence."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtext('assay.tenants'))")


def _check_free(host: str) -> None:
    if Domain.objects.filter(domain=host).exists():
        raise TenantError(f"The host name {host!r} belongs to another tenant; choose another.")


def _check_host(host: str) -> None:
    if not _HOST.fullmatch(host):
        raise TenantError(
            f"{host!r} is not a host name; give it without scheme and port, like shop.example.com."
        )
