"""The gate: the condition a run must meet, decided from the intervals in its summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay.engine.grading.leaks.check import LEAK
from assay.engine.statistics.summary import TrialOutcome, summarise
from assay.plugins.options import did_you_mean
from assay_sdk import OptionsError

_MOST_NAMED = 5  # groups in one sentence
CHECK_NAME = r"^[A-Za-z0-9](?:[A-Za-z0-9_.:-]{0,198}[A-Za-z0-9_])?$"


class CheckCondition(BaseModel):
    """The share of trials that pass this check, which decides about no trial itself, is at least so much."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    check: Annotated[str, Field(pattern=CHECK_NAME)]
    at_least: Annotated[float, Field(gt=0, le=1)]

    def __str__(self) -> str:
        return f"check:{self.check} >= {self.at_least:.12g}"


class Gate(BaseModel):
    """For example `{"metric": "pass_hat", "k": 5, "at_least": 0.9}`: pass^5 is at least 0.9, by its interval.

    `checks`: what must be shown of other checks as well; a gate that names none looks at none.
    `in_every_group`: all of it must hold in each task group, not only over all tasks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: Literal["pass_hat", "pass_at"] = "pass_hat"
    k: Annotated[int, Field(ge=1, le=1000)] = 1
    at_least: Annotated[float, Field(gt=0, le=1)]
    checks: Annotated[tuple[CheckCondition, ...], Field(max_length=20)] = ()
    in_every_group: bool = False

    def __str__(self) -> str:
        where = " in every group" if self.in_every_group else ""
        figure = f"pass{'^' if self.metric == 'pass_hat' else '@'}{self.k} >= {self.at_least:.12g}"
        return " and ".join([figure, *map(str, self.checks)]) + where


def parse(gate: Mapping[str, Any] | None, *, trials: int, reported: Sequence[str]) -> dict[str, Any] | None:
    """The gate with its defaults. `reported`: the checks of plugins that the run reports without requiring them.

    Raises OptionsError, also for a check that the run will not report.
    """
    if gate is None:
        return None
    try:
        parsed = Gate(**gate)
    except (ValidationError, TypeError) as error:
        raise OptionsError(f"The gate is wrong: {_sentence(error)}.") from None
    if parsed.k > trials:
        raise OptionsError(f"The gate needs at least {parsed.k} trials of each task; the run has {trials}.")
    names = [condition.check for condition in parsed.checks]
    for name in names:
        if names.count(name) > 1:
            raise OptionsError(f"The gate names the check {name!r} twice; name it once.")
        # Rules of the pack and the search for leaks are known when they have been judged.
        if name not in reported and ":" not in name and name != LEAK:
            listed = ", ".join(reported) or "none"
            raise OptionsError(
                f"The gate names the check {name!r}, which this run does not report{did_you_mean(name, reported)}; "
                f"it reports {listed}. Add the check to the run without requiring it."
            )
    return parsed.model_dump(mode="json")


@dataclass(frozen=True, slots=True)
class _Part:
    """One group's answer. `value`, `low`, `high` are shares in [0, 1]; None when there is nothing to estimate from."""

    name: str
    met: bool | None
    value: float | None
    low: float | None
    high: float | None
    why: str
    check: str | None = None


def answer(gate: Mapping[str, Any] | None, summary: Mapping[str, Any]) -> dict[str, Any] | None:
    """Whether a finished run (its RunSummary.as_json()) meets the gate; None when it has no gate.

    {"met": True | False | None, "says": a sentence, "gate": it in short, "groups": [{"name", "check", "met", "value",
    "low", "high", "why"}]}; one group named "all" unless the gate holds in every group, and once more for each check
    that the gate names (`check` is None for the first condition). Decided by the interval: met when
    its lower end reaches the limit; not met otherwise, because the run is over and it was not shown. None (undecided)
    when there is nothing to estimate from, or when only the void trials stand in the way: they say nothing about the
    bot, but what would not hold if all of them had failed was not shown either.
    """
    if gate is None:
        return None
    condition = Gate(**gate)
    groups = summary["groups"] if condition.in_every_group else [summary["overall"]]
    parts = [_part(condition, group, summary) for group in groups]
    for wanted in condition.checks:
        parts += [_check_part(wanted, group, summary) for group in groups]
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
    nothing = f"no task has {gate.k} valid trials" if gate.k > 1 else "there is no valid trial"

    def worst() -> Mapping[str, Any] | None:
        return _estimate(gate, _worst_case(group, summary))

    return _decided(group["name"], gate.at_least, _estimate(gate, group), worst, group["void"], nothing)


def _check_part(wanted: CheckCondition, group: Mapping[str, Any], summary: Mapping[str, Any]) -> _Part:
    """The answer for a check: over all tasks, or over those of the group that have it."""
    check = next((c for c in summary.get("checks", ()) if c["name"] == wanted.check), None)
    figures = check
    if check is not None and group is not summary["overall"]:
        figures = next((g for g in check["groups"] if g["name"] == group["name"]), None)
    if figures is None:
        says = f"no trial has the check {wanted.check}"
        return _Part(group["name"], None, None, None, None, says, wanted.check)
    part = _decided(
        group["name"],
        wanted.at_least,
        figures["share"],
        lambda: figures["worst_case"],
        figures["void"],
        f"no valid trial has the check {wanted.check}",
    )
    unknown = (
        f" ({figures['cannot_tell']} trials cannot be told and do not pass)" if figures["cannot_tell"] else ""
    )
    return replace(part, why=f"{wanted.check}: {part.why}{unknown}", check=wanted.check)


def _decided(
    name: str,
    at_least: float,
    estimate: Mapping[str, Any] | None,
    worst_case: Callable[[], Mapping[str, Any] | None],
    void: int,
    nothing: str,
) -> _Part:
    """Met, not shown or undecided, by the interval. `worst_case`: the estimate had every void trial failed; `nothing`:
    what to say without an estimate."""
    if estimate is None:
        return _Part(name, None, None, None, None, nothing)
    value, low, high = (float(estimate[k]) for k in ("value", "low", "high"))
    shown = f"{_percent(value)} ({_percent(low)} to {_percent(high)})"
    if high < at_least:
        return _Part(name, False, value, low, high, f"{shown} lies below it")
    if low < at_least:
        return _Part(name, False, value, low, high, f"{shown} does not show it; more trials or tasks may")
    if not void:
        return _Part(name, True, value, low, high, shown)
    worst = worst_case()
    if worst is None or float(worst["low"]) < at_least:
        says = f"{shown} shows it for the valid trials, but not if the {void} void trial{'s' if void != 1 else ''} had failed"
        return _Part(name, None, value, low, high, says)
    return _Part(name, True, value, low, high, f"{shown}, and it would hold had every void trial failed")


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
        return " ".join([head, *(f"{_upper(part.why)}." for part in parts)])
    if not parts:
        return f"{head} There is no group to judge."
    names = list(dict.fromkeys(p.name for p in parts))
    if met:
        return (
            f"{head} It holds in all {len(names)} groups."
            if len(names) > 1
            else f"{head} It holds in {names[0]}."
        )
    short = [p for p in parts if p.met is met]
    groups = len({p.name for p in short})
    named = "; ".join(f"{p.name}: {p.why}" for p in short[:_MOST_NAMED])
    more = f"; and {len(short) - _MOST_NAMED} more" if len(short) > _MOST_NAMED else ""
    return f"{head} {'Not shown' if met is False else 'Undecided'} in {groups} of {len(names)} groups: {named}{more}."


def _percent(share: float) -> str:
    # Cut and not rounded, so that 89.96 % is not shown as 90.0 % next to "below 90 %".
    return f"{int(share * 1000 + 1e-9) / 10:.1f} %"


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _sentence(error: ValidationError | TypeError) -> str:
    if isinstance(error, ValidationError):
        return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'it'}: {e['msg']}" for e in error.errors())
    return str(error)
