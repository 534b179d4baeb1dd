"""Trials through Celery and Postgres, and the memory of the workers meanwhile. Runs in a process of its own."""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PAGE = os.sysconf("SC_PAGE_SIZE")
PROCESSES = 2


def main(trials: int) -> dict[str, Any]:
    """Run about `trials` trials of the retail pack with two worker processes; rates and memory as JSON values."""
    os.environ.setdefault("ASSAY_STATE_DIR", tempfile.mkdtemp(prefix="assay-bench-"))
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "assay.config.settings")
    import django

    django.setup()
    from django.conf import settings

    from assay.config import installation
    from assay.config.processes import working

    with installation.services():
        installation.migrate()
        run, schema = _plan(trials)
        with working(PROCESSES, Path(settings.STATE_DIR) / "logs" / "worker.log") as worker:
            found = _watch(run, schema, worker.pid)
        return {**found, "alone": _alone(run, schema)}


def _plan(trials: int) -> tuple[Any, str]:
    from django.conf import settings

    from assay.bots.services import create_bot
    from assay.packs.services import upload_pack
    from assay.runs.services import plan_run
    from assay.tenancy.services import create_tenant, in_tenant

    schema = f"bench{os.getpid()}"
    create_tenant(
        name="Bench",
        schema=schema,
        host=f"{schema}.localhost",
        owner_email="owner@bench.example",
        owner_password="quiet-harbour-17",
    )
    with in_tenant(schema):
        version = upload_pack(settings.ROOT / "domain_packs" / "retail")
        bot = create_bot("careless", spec="reference:careless")
        return plan_run(version, bot, trials=-(-trials // version.task_count), seed=1), schema


def _watch(run: Any, schema: str, worker: int) -> dict[str, Any]:
    from assay.runs.models import RunStatus
    from assay.runs.services import progress
    from assay.tenancy.services import in_tenant

    samples: list[tuple[float, int, int]] = []  # seconds, trials done, bytes of the pool's processes
    start = time.monotonic()
    while True:
        with in_tenant(schema):
            now = progress(run)
        samples.append((time.monotonic() - start, now.done, _memory(worker)))
        if now.status == RunStatus.FINISHED:
            break
        if samples[-1][0] > 1800:
            raise SystemExit("The run did not end within half an hour.")
        time.sleep(0.5)
    busy = [s for s in samples if 0 < s[1] < now.total]
    half = [s for s in busy if s[1] >= now.total * 0.1]
    return {
        "trials": now.total,
        "void": now.void,
        "rate": (busy[-1][1] - busy[0][1]) / (busy[-1][0] - busy[0][0]),
        "early_mb": half[0][2] / 1e6,
        "early_at": half[0][1],
        "late_mb": half[-1][2] / 1e6,
        "late_at": half[-1][1],
    }


def _alone(run: Any, schema: str) -> float:
    """Trials a second of the engine in this one process, without queue, database and evidence."""
    import asyncio

    from assay.engine.trial import run_trial
    from assay.runs import laboratory
    from assay.tenancy.services import in_tenant

    with in_tenant(schema):
        lab = laboratory.build(run)

    async def some() -> int:
        count = 0
        for index in range(20):
            for task in run.task_ids:
                await run_trial(lab, task, index, run.seed, 0)
                count += 1
        return count

    start = time.monotonic()
    return asyncio.run(some()) / (time.monotonic() - start)


def _memory(worker: int) -> int:
    """Resident bytes of the processes below the worker that are not shared with it."""
    total = 0
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == worker:
                resident, shared = (entry / "statm").read_text().split()[1:3]
                total += (int(resident) - int(shared)) * PAGE
        except (OSError, ValueError, IndexError):
            continue
    return total


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
