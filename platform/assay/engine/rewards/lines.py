"""The lines of an export: one for the run, then one for each trial."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.engine.rewards.chat import as_chat
from assay.engine.rewards.given import Given
from assay.engine.trial import TrialRecord

FORMAT = 1
_OF_THE_RUN = (
    "assay",
    "pack",
    "bot",
    "plugins",
    "seed",
    "trials",
    "persona",
    "user",
    "faults",
    "checkers",
    "judge",
)


def run_line(manifest: Mapping[str, Any], given: Given) -> dict[str, Any]:
    """The first line: what all trials share, the tools' schemas among it. `manifest`: the run's."""
    return {
        "kind": "run",
        "format": FORMAT,
        **{key: manifest[key] for key in _OF_THE_RUN if key in manifest},
        "tools": [dict(tool) for tool in given.tools],
    }


def trial_line(record: TrialRecord, given: Given, *, tools: bool = False) -> dict[str, Any]:
    """One trial. `tools`: with the tools' schemas, for readers that want a line to stand alone.

    `reward` is 1 for a trial that passed, 0 for one that failed, None for a void one. A check's reward is None where it
    cannot tell, because nothing was found out that could be rewarded.
    """
    verdict = record.verdict or {}
    chat = as_chat(given.system, record.transcript.get("events", ()))
    line = {
        "kind": "trial",
        "task": record.task,
        "group": record.group,
        "index": record.index,
        "attempt": record.attempt,
        "seed": str(record.seed),
        "status": record.status,
        "void_cause": record.void_cause,
        "category": verdict.get("category") if record.status == "failed" else None,
        "termination": record.transcript.get("termination", ""),
        "reward": {"passed": 1.0, "failed": 0.0}.get(record.status),
        "checks": [_check(check) for check in verdict.get("checks", ())],
        "messages": chat.messages,
        "truncated": chat.truncated,
        "faults": chat.faults,
    }
    return {**line, "tools": [dict(tool) for tool in given.tools]} if tools else line


def _check(check: Mapping[str, Any]) -> dict[str, Any]:
    unknown = check["outcome"] == "cannot_tell"
    return {
        "name": check["name"],
        "outcome": check["outcome"],
        "required": check["required"],
        "reward": None if unknown else float(check["reward"]),
    }
