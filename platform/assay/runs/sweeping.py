"""The sweep: finds runs with work and nobody at it. It needs no broker message to start, and no memory.

Every worker runs one beside its pool; whichever gets the lock sweeps, the others skip.
"""

from __future__ import annotations

import logging
import os
import signal
import threading
from collections.abc import Callable
from functools import partial
from typing import TypeVar

from django.conf import settings
from django.db import connection, connections, transaction
from django.utils.module_loading import import_string

from assay.runs import waking
from assay.runs.finishing import revive, runs_to_sweep
from assay.tenancy.services import TenantError, in_tenant, schemas

log = logging.getLogger(__name__)

T = TypeVar("T")


def sweep() -> int:
    """Look at the runs of all tenants once, and call settings.ASSAY_SWEEPS for each. Gives the number of wake
    messages sent."""
    woken = 0
    for schema in schemas():
        for run_id in _inside(schema, "list of runs", runs_to_sweep) or ():
            woken += bool(_inside(schema, f"run {run_id}", partial(_sweep_run, schema, run_id)))
        for path in settings.ASSAY_SWEEPS:
            _inside(schema, path, partial(_call, path, schema))
    return woken


def _inside(schema: str, what: str, work: Callable[[], T]) -> T | None:
    """Do one part of the sweep in the tenant's schema. What goes wrong is logged, and holds up no other part: the
    next one enters the tenant again, on a new connection."""
    try:
        with in_tenant(schema):
            return work()
    except TenantError:
        return None  # dropped since the list was made
    except Exception:
        log.exception("sweep of %s: %s", schema, what)
        connections.close_all()
        return None


def _call(path: str, schema: str) -> None:
    import_string(path)(schema)


def _sweep_run(schema: str, run_id: int) -> bool:
    """Revive one run unless another sweep is at it, and wake a worker when it has work that nobody does."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_try_advisory_xact_lock(hashtext(%s), %s)", [f"assay.sweep.{schema}", run_id]
            )
            if not cursor.fetchone()[0]:
                return False
        needs_worker = revive(run_id)
    if needs_worker:
        waking.wake(schema, run_id, expires=waking.sweep_expiry())
    return needs_worker


def sweep_forever(stop: threading.Event) -> None:
    """For a thread beside the pool: sweep every ASSAY_SWEEP_SECONDS until `stop`, whatever happens."""
    while not stop.is_set():
        try:
            sweep()
        except Exception as error:  # noqa: BLE001 (the database may be away; the next round tries again)
            log.warning("sweep failed, trying again: %s", error)
        finally:
            connections.close_all()
        stop.wait(settings.ASSAY_SWEEP_SECONDS)


def stop_with_parent(parent: int, stop: threading.Event) -> None:
    """For a thread: ask this process to end when the process that started it is gone."""
    while not stop.wait(1.0):
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGTERM)
            return
