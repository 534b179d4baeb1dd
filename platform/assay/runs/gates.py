"""The gate: the condition a run must meet, decided from the intervals in its summary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.engine.statistics.summary import TrialOutcome, summarise
from assay_sdk import OptionsError

_MOST_NAMED = 5  # groups in one sentence


class Gate(BaseModel):
    """For example `{"metric": "pass_hat", "k": 5, "at_least": 0.9}`: pass^5 is at least 0.9, by its interval.

    `in_every_group`: it must hold in each task group, not only over all tasks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: Literal["pass_hat", "pass_at"] = "pass_hat"
    k: Annotated[int, Field(ge=1, le=1000)] = 1
    at_least: Annotated[float, Field(gt=0, le=1)]
    in_every_group: bool = False

    def __str__(self) -> str:
        where = " in every group" if self.in_every_group else ""
        return f"pass{'^' if self.metric == 'pass_hat' else '@'}{self.k} >= {self.at_least:.12g}{where}"


def parse(gate: Mapping[str, Any] | None, *, trials: int) -> dict[str, Any] | None:
    """The gate with its defaults. Raises OptionsError."""
    if gate is None:
        return None
    try:
        parsed = Gate(**gate)
    except (ValidationError, TypeError) as error:
        raise OptionsError(f"The gate is wrong: {_sentence(error)}.") from None
    if parsed.k > trials:
        raise OptionsError(f"The gate needs at least {parsed.k} trials of each task; the run has {trials}.")
    return parsed.model_dump()


@dataclass(frozen=True, slots=True)
class _Part:
    """One group's answer. `value`, `low`, `high` are shares in [0, 1]; None when there is nothing to estimate from."""

    name: str
    met: bool | None
    value: float | None
    low: float | None
    high: float | None
    why: str


def answer(gate: Mapping[str, Any] | None, summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Whether a finished run (its RunSummary.as_json()) meets the gate; None when it has no gate.

    {"met": True | False | None, "says": a sentence, "gate": it in short, "groups": [{"name", "met", "value", "low",
    "high", "why"}]}; one group named "all" unless the gate holds in every group. Decided by the interval: met when
    its lower end reaches the limit; not met otherwise, because the run is over and it was not shown. None (undecided)
    when there is nothing to estimate from, or when only the void trials stand in the way: they say nothing about the
    bot, but what would not hold if all of them had failed was not shown either.
    """
    if gate is None:
        return None
    condition = Gate(**gate)
    groups = summary["groups"] if condition.in_every_group else [summary["overall"]]
    parts = [_part(condition, group, summary) for group in groups]
    if any(p.met is False for p in parts):
        met: bool | None = False
    elif parts and all(p.met for p in parts):
        met = True
    else:
        met = None
    return {
        "met": met,
        "says": _says(condition, met, parts),
        "gate": str(condition),
        "groups": [asdict(p) for p in parts],
    }


def _part(gate: Gate, group: Mapping[str, Any], summary: Mapping[str, Any]) -> _Part:
    estimate = _estimate(gate, group)
    if estimate is None:
        return _Part(
            group["name"], None, None, None, None,
            f"no task has {gate.k} valid trials" if gate.k > 1 else "there is no valid trial",
        )  # fmt: skip
    value, low, high = (float(estimate[k]) for k in ("value", "low", "high"))
    shown = f"{_percent(value)} ({_percent(low)} to {_percent(high)})"
    if high < gate.at_least:
        return _Part(group["name"], False, value, low, high, f"{shown} lies below it")
    if low < gate.at_least:
        return _Part(
            group["name"], False, value, low, high, f"{shown} does not show it; more trials or tasks may"
        )
    if group["void"]:
        worst = _estimate(gate, _worst_case(group, summary))
        if worst is None or float(worst["low"]) < gate.at_least:
            trials = f"{group['void']} void trial{'s' if group['void'] != 1 else ''}"
            return _Part(
                group["name"], None, value, low, high,
                f"{shown} shows it for the valid trials, but not if the {trials} had failed",
            )  # fmt: skip
        return _Part(
            group["name"], True, value, low, high, f"{shown}, and it would hold had every void trial failed"
        )
    return _Part(group["name"], True, value, low, high, shown)


def _estimate(gate: Gate, group: Mapping[str, Any]) -> Mapping[str, Any] | None:
    estimate = group[gate.metric].get(str(gate.k))
    return None if estimate is None or estimate["value"] is None else estimate


def _worst_case(group: Mapping[str, Any], summary: Mapping[str, Any]) -> Mapping[str, Any]:
    """The group with every void trial as if it had failed. The summary holds it over all tasks; for one group it is
    taken anew from the counts of its tasks."""
    if group is summary["overall"]:
        return summary["worst_case"]
    outcomes = [
        TrialOutcome(task=task["task"], group=group["name"], status=status)
        for task in summary["per_task"]
        if task["group"] == group["name"]
        for status, count in (("passed", task["passed"]), ("failed", task["failed"] + task["void"]))
        for _ in range(count)
    ]
    return summarise(outcomes).as_json()["overall"]


def _says(gate: Gate, met: bool | None, parts: list[_Part]) -> str:
    head = f"Asked for {gate}, with 95 % confidence."
    if not gate.in_every_group:
        return f"{head} {_upper(parts[0].why)}."
    if not parts:
        return f"{head} There is no group to judge."
    if met:
        return (
            f"{head} It holds in all {len(parts)} groups."
            if len(parts) > 1
            else f"{head} It holds in {parts[0].name}."
        )
    short = [p for p in parts if p.met is met]
    named = "; ".join(f"{p.name}: {p.why}" for p in short[:_MOST_NAMED])
    more = f"; and {len(short) - _MOST_NAMED} more" if len(short) > _MOST_NAMED else ""
    return f"{head} {'Not shown' if met is False else 'Undecided'} in {len(short)} of {len(parts)} groups: {named}{more}."


def _percent(share: float) -> str:
    # Cut and not rounded, so that 89.96 % is not shown as 90.0 % next to "below 90 %".
    return f"{int(share * 1000 + 1e-9) / 10:.1f} %"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(error: ValidationError | TypeError) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors())
    return str(error)
