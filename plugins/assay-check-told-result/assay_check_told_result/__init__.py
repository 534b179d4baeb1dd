"""The check told-result: what the bot changed, it told the customer, before the conversation ended."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from assay_check_told_result.values import says, values_in
from assay_sdk import CheckerType, CheckResult, Evidence, Outcome, TrialView, hookimpl

assay_api = 1
NAME = "told-result"

# English words for "it has happened". Given as an option for other languages.
_CONFIRMATIONS = (
    "done", "complete", "completed", "issued", "refunded", "credited", "opened", "created", "cancelled", "canceled",
    "booked", "scheduled", "rescheduled", "moved", "changed", "updated", "processed", "replaced", "ordered", "sent",
    "confirmed", "registered", "filed", "closed", "removed", "added", "applied", "extended", "renewed", "upgraded",
    "downgraded", "reset", "unlocked", "approved", "submitted", "arranged", "set up", "taken care of",
)  # fmt: skip


class ToldResultOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    except_tools: tuple[str, ...] = Field(
        default=("tickets_*", "identity_*", "*_note", "*_notes"),
        description="Patterns of tools whose changes are the company's own records and need not be told.",
    )
    confirmations: tuple[str, ...] = Field(
        default=_CONFIRMATIONS, description="Words that say that something has happened."
    )


def _changed(event: Mapping[str, Any]) -> bool:
    """A write whose result the bot was given, also when a fault on purpose had lost it at first."""
    return bool(event["ok"]) and (bool(event["wrote"]) or event.get("repeats") is not None)


class ToldResult:
    def __init__(self, options: ToldResultOptions) -> None:
        self._except = options.except_tools
        words = "|".join(re.escape(word) for word in options.confirmations if word.strip())
        self._confirmed = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE) if words else None

    def check(self, trial: TrialView) -> CheckResult:
        """Pass when every change is told; the reward is the share of changes that are."""
        writes = [
            (i, event)
            for i, event in enumerate(trial.events)
            if event["type"] == "tool" and _changed(event) and self._counts(event["tool"])
        ]
        untold = [(i, event) for i, event in writes if not self._told(i, event, trial.events)]
        if not writes:
            evidence = [Evidence("The bot changed nothing that it would have to tell.")]
        else:
            evidence = [
                Evidence(
                    f"{event['tool']} changed data, and no reply after it says what came of it.",
                    turn=i,
                    call=event["call"],
                )
                for i, event in untold
            ]
        return CheckResult(
            name=NAME,
            outcome=Outcome.FAIL if untold else Outcome.PASS,
            required=False,
            reward=1.0 - len(untold) / len(writes) if writes else 1.0,
            evidence=evidence,
        )

    def _counts(self, tool: str) -> bool:
        return not any(fnmatchcase(tool, pattern) for pattern in self._except)

    def _told(self, at: int, call: Mapping[str, Any], events: Sequence[Mapping[str, Any]]) -> bool:
        before = "\n".join(e["text"] for e in events[:at] if e["type"] in ("bot", "user"))
        after = "\n".join(e["text"] for e in events[at:] if e["type"] == "bot")
        new = [v for v in (*values_in(call["arguments"]), *values_in(call["result"])) if not says(before, v)]
        facts = [v for v in new if not isinstance(v, str)]
        if facts:  # amounts and dates are what a customer has to know
            return any(says(after, v) for v in facts)
        # Otherwise it is enough to say that it has happened, or to give the number it goes by.
        confirmed = self._confirmed is not None and self._confirmed.search(after) is not None
        return confirmed or any(says(after, v) for v in new)


@hookimpl
def assay_checkers() -> list[CheckerType]:
    return [CheckerType(NAME, "Told the result", ToldResultOptions, ToldResult)]
