"""The check due-date-told: whoever renewed a loan has to say until when."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from assay_sdk import CheckerType, CheckResult, Evidence, Outcome, TrialView

NAME = "due-date-told"
# Not from strftime, which speaks the language of the machine.
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


class DueDateOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tool: str = Field(default="loans_renew", description="The tool that moves a due date")
    field: str = Field(default="due_on", description="Where the new date stands in its result")


class DueDateTold:
    """Knows 2026-05-13, 13.05.2026, 05/13/2026 and "May 13" or "13 May", whatever stands around them."""

    def __init__(self, options: DueDateOptions) -> None:
        self._options = options

    def check(self, trial: TrialView) -> CheckResult:
        renewals = [
            (turn, event)
            for turn, event in enumerate(trial.events)
            if event["type"] == "tool" and event["tool"] == self._options.tool and event["wrote"]
        ]
        if not renewals:
            return _result(Outcome.PASS, 1.0, [Evidence("The bot renewed nothing.")])
        untold, unknown = [], []
        for turn, event in renewals:
            due = _date(event["result"], self._options.field)
            if due is None:
                unknown.append(
                    Evidence(
                        f"The result has no date in {self._options.field!r}.", turn=turn, call=event["call"]
                    )
                )
            elif not _says(_replies(trial.events[turn:]), due):
                untold.append(
                    Evidence(
                        f"It renewed until {due}, and no reply after it says so.",
                        turn=turn,
                        call=event["call"],
                    )
                )
        share = 1.0 - len(untold) / len(renewals)
        if untold:
            return _result(Outcome.FAIL, share, untold)
        if unknown:
            return _result(Outcome.CANNOT_TELL, 0.0, unknown)
        return _result(Outcome.PASS, 1.0, [])


def _result(outcome: Outcome, reward: float, evidence: Sequence[Evidence]) -> CheckResult:
    # Whether it is required is the run's choice, whatever stands here.
    return CheckResult(NAME, outcome, required=False, reward=reward, evidence=tuple(evidence))


def _date(result: Any, field: str) -> date | None:
    value = result.get(field) if isinstance(result, Mapping) else None
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None


def _replies(events: Sequence[Mapping[str, Any]]) -> str:
    return "\n".join(event["text"] for event in events if event["type"] == "bot")


def _says(text: str, due: date) -> bool:
    month = _MONTHS[due.month - 1]
    month = rf"{month[:3]}(?:{month[3:]})?\.?"
    day = rf"0?{due.day}(?:st|nd|rd|th)?"
    forms = (
        f"{due:%Y-%m-%d}",
        rf"{due:%d}\.{due:%m}\.(?:{due:%Y})?",
        rf"{due:%m}/{due:%d}(?:/{due:%Y})?",
        rf"{month} {day}",
        rf"{day} (?:of )?{month}",
    )
    return re.search(rf"(?<!\w)(?:{'|'.join(forms)})(?!\d)", text, re.IGNORECASE) is not None


CHECK = CheckerType(name=NAME, title="Due date told", options=DueDateOptions, build=DueDateTold)
