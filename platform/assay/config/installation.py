"""Bringing an installation up: the embedded services if nothing else is configured, and the tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from django.core.management import call_command

from assay.tenancy.services import ensure_public


@contextmanager
def services() -> Iterator[None]:
    """The embedded Postgres and broker for the time of the block; nothing to do when real ones are configured."""
    from assay.config import embedded

    with embedded.services():
        yield


def migrate() -> None:
    """Bring every schema up to date, and make sure that the operators' site has its host name."""
    call_command("migrate_schemas", interactive=False, verbosity=0)
    ensure_public()
