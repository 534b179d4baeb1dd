"""What Celery calls. Each task names its tenant's schema; the work is in the services."""

from __future__ import annotations

import os
import threading
from typing import Any

from celery import shared_task
from celery.signals import worker_process_init, worker_ready, worker_shutting_down
from django.db import connections

from assay.runs import regrading, sweeping, waking, workers
from assay.runs.executor import Executor
from assay.runs.finishing import finish_if_done
from assay.runs.models import ACTIVE, Run
from assay.tenancy.services import TenantError, in_tenant

_stop = threading.Event()


@shared_task(name="runs.execute", ignore_result=True)
def execute(schema: str, run_id: int) -> None:
    """Work on a run for one slice; queue another slice when there is more."""
    try:
        with in_tenant(schema):
            run = (
                Run.objects.select_related("pack_version__pack", "bot_version__bot")
                .defer("pack_version__bundle")  # read when its world is not in this process yet
                .filter(pk=run_id, status__in=ACTIVE)
                .first()
            )
            if run is None:
                return
            drained = Executor(run, schema=schema).drain()
            if not finish_if_done(run_id) and drained.more:
                waking.wake(schema, run_id)
    except TenantError:
        return  # the tenant is gone, and its runs with it


@shared_task(name="runs.regrade", ignore_result=True, soft_time_limit=240, time_limit=270)
def regrade_run(schema: str, regrade_id: int) -> None:
    """Judge trials of a run again for one slice; queue another slice when there is more."""
    try:
        with in_tenant(schema):
            if regrading.work(regrade_id):
                regrading.ask(schema, regrade_id)
    except TenantError:
        return  # the tenant is gone, and its runs with it


@worker_process_init.connect
def _in_child(**_: Any) -> None:
    connections.close_all()  # a connection must not be shared with the process this one was forked from


@worker_ready.connect
def _ready(**_: Any) -> None:
    threading.Thread(target=sweeping.sweep_forever, args=[_stop], name="sweep", daemon=True).start()
    parent = os.environ.get("ASSAY_STOP_WITH_PARENT")
    if parent:
        threading.Thread(
            target=sweeping.stop_with_parent, args=[int(parent), _stop], name="parent", daemon=True
        ).start()


@worker_shutting_down.connect
def _shutting_down(**_: Any) -> None:
    _stop.set()
    workers.ask_to_stop()
