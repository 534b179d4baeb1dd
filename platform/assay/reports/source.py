"""What a report is made from, wherever the run took place: in the platform's tables or in a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class ReportSource:
    """A run to report on.

    `summary` is RunSummary.as_json(); `manifest` as written for the run; `statuses` the status of each finished
    trial (passed, failed, void) by task, in the order of the trials; `titles` the tasks' titles;
    `void_attempts` every attempt that came to nothing, by cause, those tried again included;
    `simulator_faults` those whose user was at fault, by kind; `gate_answer` as assay.runs.gates gives it; `urls` a page for each failure's fingerprint, if there is one;
    `unfinished` a sentence when trials are still to come.
    """

    bot: str
    pack: str
    synthetic: bool
    summary: Mapping[str, Any]
    manifest: Mapping[str, Any]
    statuses: Mapping[str, Sequence[str]]
    titles: Mapping[str, str]
    void_attempts: Mapping[str, int] = field(default_factory=dict)
    simulator_faults: Mapping[str, int] = field(default_factory=dict)
    gate_answer: Mapping[str, Any] | None = None
    urls: Mapping[str, str] = field(default_factory=dict)
    finished_at: str = ""
    unfinished: str = ""
