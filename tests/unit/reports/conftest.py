"""Runs to report on, made from outcomes alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest

from assay.engine.statistics.summary import TrialOutcome, summarise
from assay.reports.source import ReportSource


def outcomes(
    task: str, statuses: str, *, group: str = "returns", says: str = "it is wrong"
) -> list[TrialOutcome]:
    """`statuses`: a letter for each trial, p passed, f failed, v void."""
    made = []
    for letter in statuses:
        if letter == "f":
            made.append(
                TrialOutcome(
                    task, group, "failed", category="incorrect_state_update", s1=True, s2=True, s3=True,
                    fingerprint=f"{task}-1", explanation=says,
                )
            )  # fmt: skip
        elif letter == "v":
            made.append(TrialOutcome(task, group, "void", void_cause="provider_outage"))
        else:
            made.append(TrialOutcome(task, group, "passed"))
    return made


@pytest.fixture
def run() -> Callable[..., ReportSource]:
    """A run from {task: statuses}; other fields of the source by name."""

    def make(
        tasks: dict[str, str], *, says: str = "it is wrong", group: str = "returns", **fields: Any
    ) -> ReportSource:
        every: Iterable[TrialOutcome] = (
            o for task, statuses in tasks.items() for o in outcomes(task, statuses, group=group, says=says)
        )
        names = {"p": "passed", "f": "failed", "v": "void"}
        given = {
            "bot": "Desk v1",
            "pack": "Library 1.0.0",
            "synthetic": False,
            "summary": summarise(every).as_json(),
            "manifest": {
                "pack": {"name": "library", "version": "1.0.0", "content_hash": "ab12"},
                "seed": "7",
            },
            "statuses": {task: [names[s] for s in statuses] for task, statuses in tasks.items()},
            "titles": {task: f"Title of {task}" for task in tasks},
        }
        return ReportSource(**{**given, **fields})

    return make
