"""Wake messages: the only thing the broker carries for a run. Losing them all loses no work (see sweeping)."""

from __future__ import annotations

import logging
from functools import partial

from django.conf import settings
from django.db import connection, transaction

from assay.runs.models import Run

log = logging.getLogger(__name__)


def wake(schema: str, run_id: int, *, wakes: int = 1, expires: float | None = None) -> None:
    """Send wake messages; when the broker does not answer, say so in the log and leave it to the sweep."""
    from assay.runs.tasks import execute

    try:
        for _ in range(wakes):
            execute.apply_async(args=[schema, run_id], expires=expires, retry=False)
    except Exception as error:  # noqa: BLE001 (whatever a broker's client raises, the sweep goes on)
        log.warning("the broker took no wake message for run %s of %s: %s", run_id, schema, error)


def wake_on_commit(run: Run, *, wakes: int) -> None:
    transaction.on_commit(partial(wake, str(connection.schema_name), run.pk, wakes=wakes))


def sweep_expiry() -> float:
    """Seconds after which a sweep's message is worth nothing, because the next sweep has sent another."""
    return float(settings.ASSAY_SWEEP_SECONDS) * 2
