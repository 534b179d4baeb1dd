"""The trials of a run as lines for training, read a few at a time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from django.db import connection

from assay.engine.rewards import Given, given_by, run_line, trial_line
from assay.engine.trial import TrialRecord
from assay.packs.services import load_world
from assay.runs.models import OPEN, Run, Trial, TrialStatus
from assay.tenancy.services import in_tenant

_COLUMNS = (
    "pk", "task_id", "group", "index", "attempt", "seed", "status", "void_cause", "evidence__transcript",
    "evidence__verdict",
)  # fmt: skip
#: Trials in memory at the same time: a transcript may be large.
BATCH = 8


def reward_lines(run: Run, *, void: bool = False, tools: bool = False) -> Iterator[str]:
    """JSON lines: one for the run, then one for each trial that is over. `void`: those that stayed void too.

    Everything that can be refused is refused here, before the first line; the lines themselves may be asked for later
    and outside of the request, so each batch is read in the tenant of now. Raises PackError.
    """
    given = given_by(load_world(run.pack_version))
    return _lines(run, given, str(connection.schema_name), void=void, tools=tools)


def _lines(run: Run, given: Given, schema: str, *, void: bool, tools: bool) -> Iterator[str]:
    yield _text(run_line(run.manifest, given))
    last = 0
    while True:
        with in_tenant(schema):
            batch = _batch(run, last, void=void)
        for row in batch:
            yield _text(trial_line(_record(row), given, tools=tools))
        if len(batch) < BATCH:
            return
        last = batch[-1]["pk"]


def _batch(run: Run, last: int, *, void: bool) -> list[dict[str, Any]]:
    over = Trial.objects.filter(run_id=run.pk, pk__gt=last).exclude(status__in=OPEN)
    if not void:
        over = over.exclude(status=TrialStatus.VOID)
    # Rows and not objects: a trial and its evidence hold each other, and would stay in memory for a while.
    return list(over.order_by("pk").values(*_COLUMNS)[:BATCH])


def _record(row: dict[str, Any]) -> TrialRecord:
    """The engine's record, without what a line does not hold."""
    return TrialRecord(
        task=row["task_id"],
        group=row["group"],
        index=row["index"],
        attempt=row["attempt"],
        seed=row["seed"],
        status=row["status"],
        void_cause=row["void_cause"] or None,
        transcript=row["evidence__transcript"] or {},
        changes=[],
        verdict=row["evidence__verdict"],
        notes={},
        seconds=0.0,
        started_at="",
    )


def _text(line: dict[str, Any]) -> str:
    return json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n"
