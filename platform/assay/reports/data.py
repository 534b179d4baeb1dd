"""A report's content, ready to be laid out: every figure is worded here, nothing is computed in a template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.reports import charts
from assay.reports.money import cost_rows, costs_sentence
from assay.reports.other_checks import check_rows
from assay.reports.recovery import recovery_rows, recovery_sentence
from assay.reports.source import ReportSource
from assay.reports.users import disclosure_sentence, kind_rows, never_asked, users_sentence
from assay.reports.wording import (
    CATEGORIES,
    GATES,
    ILLUSIONS,
    category,
    cause,
    columns,
    count,
    interval,
    moment,
    percent,
    value,
)

_MOST_FAILURES = 25  # shown; a bot that fails everywhere makes hundreds

Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReportData:
    """What templates/reports/ lay out. The names are those used there."""

    title: str
    bot: str
    pack: str
    counts: str
    finished_at: str
    synthetic: bool
    unfinished: str
    figures: Sequence[Row]
    headline: str
    gate: Row | None
    axes: charts.Axes
    curves: Sequence[charts.Curve]
    columns: Sequence[str]
    groups: Sequence[Row]
    failed: int
    illusions: Sequence[Row]
    categories: Sequence[Row]
    costs_say: str
    costs: Sequence[Row]
    recovery_say: str
    recoveries: Sequence[Row]
    other_checks: Sequence[Row]
    failures_shown: str
    failures: Sequence[Row]
    tasks: Sequence[Row]
    voids: Sequence[Row]
    void_says: str
    void_kinds: Sequence[Row]
    users_say: str
    rejected: Sequence[Row]
    disclosure_says: str
    never_asked: Sequence[Row]
    method: str
    provenance: Sequence[tuple[str, str]]


def report_data(source: ReportSource) -> ReportData:
    """The report of a run."""
    summary = source.summary
    most = max(1, int(summary["trials_per_task"]))
    return ReportData(
        title=f"{source.bot} on {source.pack}",
        bot=source.bot,
        pack=source.pack,
        counts=f"{count(summary['tasks'], 'task')}, {count(most, 'trial')} a task, {count(summary['trials'], 'trial')} in all",
        finished_at=moment(source.finished_at),
        synthetic=source.synthetic,
        unfinished=source.unfinished,
        figures=main_figures(summary),
        headline=headline(summary),
        gate=_gate(source.gate_answer),
        axes=charts.axes(most),
        curves=_curves(summary, most),
        columns=[heading for heading, _, _ in columns(summary)],
        groups=group_rows(summary),
        failed=summary["failed"],
        illusions=[_bar(ILLUSIONS[key], summary["illusion"][key]) for key in ("s1", "s2", "s3")],
        categories=[_bar(CATEGORIES[c["category"]], c) for c in summary["categories"]],
        costs_say=costs_sentence(summary.get("costs")),
        costs=cost_rows(summary.get("costs")),
        recovery_say=recovery_sentence(summary.get("faults")),
        recoveries=recovery_rows(summary.get("faults")),
        other_checks=check_rows(summary),
        failures_shown=_failures_shown(summary),
        failures=[_failure(source, failure) for failure in summary["failures"][:_MOST_FAILURES]],
        tasks=_tasks(source),
        voids=[{"cause": cause(name), "count": n} for name, n in sorted(source.void_attempts.items())],
        void_says=_void_says(summary, source.void_attempts),
        void_kinds=kind_rows(source.simulator_faults),
        users_say=users_sentence(summary.get("users")),
        rejected=kind_rows((summary.get("users") or {}).get("rejected", {})),
        disclosure_says=disclosure_sentence(summary.get("disclosures") or ()),
        never_asked=never_asked(summary.get("disclosures") or (), source.titles),
        method=summary["method"],
        provenance=_provenance(source.manifest),
    )


def headline(summary: Mapping[str, Any]) -> str:
    """The run in two sentences, for somebody who reads nothing else."""
    overall, most = summary["overall"], max(1, int(summary["trials_per_task"]))
    once, every = overall["pass_at"].get("1"), overall["pass_hat"].get(str(most))
    if once is None:
        return "No trial counts, so nothing can be said about this bot."
    text = f"A single trial is right in {value(once)} of the cases"
    if most > 1 and every is not None:
        joined = "but" if every["value"] < once["value"] else "and"
        text += f", {joined} all {most} trials are right on {value(every)} of the tasks"
    text += "."
    s3 = summary["illusion"]["s3"]
    if s3["of"]:
        text += (
            f" Of {count(s3['of'], 'failed trial')}, {s3['count']} ({percent(s3['share'])}) look perfect in the transcript:"
            " the conversation ended cleanly, data was changed and no tool showed an error."
        )
    return text


def main_figures(summary: Mapping[str, Any]) -> list[dict[str, str]]:
    """pass@1, pass@n and pass^n of a run with n trials a task, worded."""
    overall, most = summary["overall"], max(1, int(summary["trials_per_task"]))

    def figure(name: str, css: str, estimate: Mapping[str, Any] | None, says: str) -> dict[str, str]:
        between = interval(estimate)
        return {
            "name": name,
            "css": css,
            "value": value(estimate),
            "interval": f"(95\u00a0%: {between})" if between else "",
            "says": says,
        }

    shown = [figure("pass@1", "", overall["pass_at"].get("1"), "Right in a single trial")]
    if most > 1:
        shown += [
            figure(
                f"pass@{most}", "can", overall["pass_at"].get(str(most)),
                f"Right at least once in {most} trials",
            ),
            figure(
                f"pass^{most}", "every", overall["pass_hat"].get(str(most)),
                f"Right every time, in all {most} trials",
            ),
        ]  # fmt: skip
    return shown


def _gate(answer: Mapping[str, Any] | None) -> dict[str, str] | None:
    if answer is None:
        return None
    met = answer.get("met")
    css = {True: "met", False: "missed"}.get(met, "open")
    return {"answer": GATES[met][0], "css": css, "says": str(answer.get("says", ""))}


def _curves(summary: Mapping[str, Any], most: int) -> list[charts.Curve]:
    if most < 2:
        return []

    def points(family: str) -> list[tuple[int, float, float, float]]:
        estimates = summary["overall"][family]
        return [
            (k, e["value"], e["low"], e["high"])
            for k in range(1, most + 1)
            if (e := estimates.get(str(k))) is not None
        ]

    drawn = [("pass@k", "can", points("pass_at")), ("pass^k", "every", points("pass_hat"))]
    return [charts.curve(label, css, values, most) for label, css, values in drawn if values]


def group_rows(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Each group of tasks, then all tasks, with the cells of `columns(summary)` in their order."""
    shown = columns(summary)

    def row(group: Mapping[str, Any], *, total: bool) -> dict[str, Any]:
        cells = [group[family].get(k) for _, family, k in shown]
        return {
            "name": "All tasks" if total else group["name"],
            "total": total,
            "tasks": group["tasks"],
            "passed": group["passed"],
            "trials": group["valid"],
            "cells": [{"value": value(c), "interval": interval(c)} for c in cells],
        }

    return [*(row(g, total=False) for g in summary["groups"]), row(summary["overall"], total=True)]


def _bar(name: str, share: Mapping[str, Any]) -> dict[str, Any]:
    part = share["share"]
    return {
        "name": name,
        "percent": round(100 * (part or 0.0), 1),
        "value": f"{share['count']} ({percent(part)})" if part is not None else str(share["count"]),
    }


def _failures_shown(summary: Mapping[str, Any]) -> str:
    distinct = len(summary["failures"])
    text = f"{count(summary['failed'], 'failed trial')} show {count(distinct, 'distinct failure')}"
    if distinct > _MOST_FAILURES:
        return f"{text}; the {_MOST_FAILURES} most frequent are here."
    return f"{text}, most frequent first."


def _failure(source: ReportSource, failure: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "task": failure["task"],
        "title": source.titles.get(failure["task"], ""),
        "explanation": failure["explanation"],
        "category": category(failure["category"]),
        "count": failure["count"],
        "trials": failure["trials"],
        "url": source.urls.get(failure["fingerprint"], ""),
    }


def _tasks(source: ReportSource) -> list[dict[str, Any]]:
    rows = [
        {
            "id": task["task"],
            "title": source.titles.get(task["task"], ""),
            "strip": charts.strip(source.statuses.get(task["task"], ())),
            "passed": task["passed"],
            "valid": task["valid"],
            "void": task["void"],
        }
        for task in source.summary["per_task"]
    ]
    return sorted(rows, key=lambda r: (r["passed"] / r["valid"] if r["valid"] else -1.0, r["id"]))


def _void_says(summary: Mapping[str, Any], attempts: Mapping[str, int]) -> str:
    if not summary["void"]:
        return "Every one of these was tried again, and the trial counted then." if attempts else ""
    once, worst = summary["overall"]["pass_at"].get("1"), summary["worst_case"]["pass_at"].get("1")
    return (
        f"{count(summary['void'], 'trial')} of {summary['trials']:,} stayed void. The figures above leave them out: "
        f"pass@1 is {value(once)}. If all of them had failed it would be {value(worst)} ({interval(worst)})."
    )


def _provenance(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    pack, bot = manifest.get("pack", {}), manifest.get("bot", {})
    rows = [
        ("Pack", f"{pack.get('name', '')} {pack.get('version', '')}".strip()),
        ("Content hash", str(pack.get("content_hash", ""))),
        ("Bot", str(bot.get("spec", ""))),
        ("Seed", str(manifest.get("seed", ""))),
        ("Assay", str(manifest.get("assay", ""))),
        ("Plugins", _plugins(manifest.get("plugins"))),
        ("Persona", _persona(manifest.get("persona"))),
        ("Customer", _user(manifest.get("user"))),
        ("Not tried", ", ".join(str(t["id"]) for t in manifest.get("not_tried") or ())),
        ("Faults on purpose", _faults(manifest.get("faults"))),
    ]
    return [(name, text) for name, text in rows if text]


def _plugins(plugins: Any) -> str:
    """Those that took part, with their versions."""
    named = plugins.items() if isinstance(plugins, Mapping) else ()
    return ", ".join(f"{name} {said.get('version', '')}" for name, said in named if isinstance(said, Mapping))


def _user(user: Any) -> str:
    if not isinstance(user, Mapping) or user.get("kind") != "model":
        return "scripted"
    return f"{user.get('spec', '')}, lines audited by {user.get('audit', 'rules')}"


def _persona(persona: Any) -> str:
    if isinstance(persona, Mapping):
        return str(persona.get("title") or persona.get("name") or "")
    return str(persona or "")


def _faults(faults: Any) -> str:
    """The profile and its options as they were in force: flaky (rate 0.15, ...)."""
    if not isinstance(faults, Mapping):
        return ""
    options = dict(faults.get("options") or {})
    said = ", ".join(
        f"{name} {' '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in options.items()
    )
    return f"{faults.get('name', '')} ({said})" if said else str(faults.get("name", ""))
