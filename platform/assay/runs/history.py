"""Time travel on the platform: the database of a finished trial as it was after any of its calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.engine.dialogue.transcript import Transcript, transcript_from_json
from assay.engine.grading.checkers import change_as_json
from assay.engine.replaying import State, state_at
from assay.engine.replaying.history import NoSuchMoment
from assay.packs.services import load_world
from assay.runs.models import Evidence, Trial


def transcript_of(evidence: Evidence) -> Transcript:
    """Raises NoSuchMoment when it was kept in a form that is no longer known."""
    try:
        return transcript_from_json(evidence.transcript, evidence.notes)
    except ValueError as error:
        raise NoSuchMoment(f"The transcript of this trial cannot be read: {error}.") from None


def state_of(
    trial: Trial, call: int, *, table: str | None = None, key: Mapping[str, Any] | None = None
) -> State:
    """The trial's database after call number `call` (-1: before the first), rebuilt in the run's pack version.

    Raises NoSuchMoment when the trial has no evidence or there is no such call, table or column; PackError, PackFault.
    """
    evidence = Evidence.objects.filter(trial=trial).first()
    if evidence is None:
        raise NoSuchMoment("This trial left no evidence: it is not over, or it could not be tried.")
    world = load_world(trial.run.pack_version)
    return state_at(world, trial.task_id, transcript_of(evidence), call, table=table, key=key)


def as_json(state: State) -> dict[str, Any]:
    """Changed rows as in a trial's evidence; rows of a table as {column: value}, blobs as hexadecimal text."""
    return {
        "call": state.call,
        "changes": [change_as_json(change) for change in state.changes.rows],
        "unlike": state.unlike.as_json() if state.unlike else None,
        "table": state.table,
        "rows": [{c: v.hex() if isinstance(v, bytes) else v for c, v in row.items()} for row in state.rows],
    }
