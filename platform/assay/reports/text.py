"""A summary as tables in a terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from assay.reports.other_checks import check_rows
from assay.reports.recovery import recovery_rows
from assay.reports.users import disclosure_sentence, kind_rows, users_sentence
from assay.reports.wording import (
    CATEGORIES,
    GATES,
    ILLUSIONS,
    category,
    cause,
    columns,
    count,
    interval,
    percent,
    value,
)

_MOST_FAILURES = 10


def text_table(summary: Mapping[str, Any]) -> RenderableType:
    """The tables of a run: groups by pass@k and pass^k with intervals, illusion rates, failure categories."""
    parts: list[RenderableType] = [_groups(summary)]
    if summary["failed"]:
        parts += [Text(), _shares(summary)]
    if summary.get("faults"):
        parts += [Text(), _recoveries(summary)]
    if summary.get("users"):
        kinds = ", ".join(
            f"{row['count']} x {row['name'].lower()}" for row in kind_rows(summary["users"]["rejected"])
        )
        parts += [Text(), Text(users_sentence(summary["users"]) + (f" Refused: {kinds}." if kinds else ""))]
    if told := disclosure_sentence(summary.get("disclosures") or ()):
        parts += [Text(), Text(told)]
    if rows := check_rows(summary):
        parts += [Text(), _other_checks(rows)]
    if summary["void"]:
        causes = ", ".join(f"{n} x {cause(c).lower()}" for c, n in summary["voids"].items())
        if summary.get("users") and summary["users"]["faults"]:
            kinds = ", ".join(
                f"{r['count']} x {r['name'].lower()}" for r in kind_rows(summary["users"]["faults"])
            )
            causes += f"; the simulated user: {kinds}"
        worst = summary["worst_case"]["pass_at"].get("1")
        parts += [
            Text(),
            Text(
                f"{count(summary['void'], 'trial')} void ({causes}) and left out. "
                f"If all of them had failed, pass@1 would be {value(worst)} ({interval(worst)})."
            ),
        ]
    return Group(*parts)


def failures_table(summary: Mapping[str, Any]) -> RenderableType:
    """The most frequent distinct failures."""
    table = Table(
        title="Most frequent failures", title_justify="left", show_lines=False, pad_edge=False, box=None
    )
    table.add_column("Trials", justify="right", no_wrap=True)
    table.add_column("Task", no_wrap=True)
    table.add_column("What went wrong", overflow="fold")
    for failure in summary["failures"][:_MOST_FAILURES]:
        # Text, not str: what a bot or a pack says must not be read as markup
        table.add_row(
            f"{failure['count']} of {failure['trials']}",
            Text(failure["task"]),
            Text(f"{category(failure['category'])}: {failure['explanation']}"),
        )
    return table


def gate_text(answer: Mapping[str, Any]) -> Text:
    """The gate's answer as one line."""
    name, style = GATES[answer.get("met")]
    return Text.assemble((f"{name} ", f"bold {style}"), str(answer.get("says", "")))


def _groups(summary: Mapping[str, Any]) -> Table:
    shown = columns(summary)
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0))
    table.add_column("Group")
    table.add_column("Passed", justify="right", no_wrap=True)
    for heading, _, _ in shown:
        table.add_column(heading, justify="right", no_wrap=True)
    rows = [*((g, g["name"], "") for g in summary["groups"]), (summary["overall"], "All tasks", "bold")]
    for group, name, style in rows:
        cells = []
        for _, family, k in shown:
            estimate = group[family].get(k)
            cells.append(Text.assemble(value(estimate), "\n", (_short(interval(estimate)), "dim")))
        tasks = count(group["tasks"], "task")
        table.add_row(
            Text.assemble(name, "\n", (tasks, "dim")),
            f"{group['passed']}/{group['valid']}",
            *cells,
            style=style,
        )
    return table


def _shares(summary: Mapping[str, Any]) -> Table:
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(f"Of {count(summary['failed'], 'failed trial')}")
    table.add_column("Trials", justify="right")
    table.add_column("Share", justify="right", no_wrap=True)
    table.add_column("95 %", justify="right", no_wrap=True)
    for key, name in ILLUSIONS.items():
        _share(table, name, summary["illusion"][key])
    table.add_row()
    for entry in summary["categories"]:
        _share(table, CATEGORIES[entry["category"]], entry)
    return table


def _other_checks(rows: Sequence[Mapping[str, Any]]) -> Table:
    """Mean rewards stand in the HTML and JSON reports; a terminal is too narrow for them."""
    table = Table(
        pad_edge=False,
        box=None,
        padding=(0, 2, 0, 0),
        title="Other checks (they decide about no trial)",
        title_justify="left",
        title_style="bold",
    )
    table.add_column("Check", min_width=28)
    for heading in ("Passed", "Share", "95 %", "Cannot tell"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            Text(row["name"]),
            row["passed"],
            row["share"],
            Text(_short(row["share_interval"]), style="dim"),
            row["unknown"],
        )
    return table


def _recoveries(summary: Mapping[str, Any]) -> Table:
    table = Table(pad_edge=False, box=None, padding=(0, 2, 0, 0))
    table.add_column("Faults on purpose")
    for heading in ("Injected", "Recovered from", "95 %", "Trials", "Passed", "95 %"):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in recovery_rows(summary["faults"]):
        table.add_row(
            Text(row["name"]),
            row["injected"],
            row["recovered"],
            Text(_short(row["recovered_interval"]), style="dim"),
            row["trials"],
            row["passed"],
            Text(_short(row["passed_interval"]), style="dim"),
            style="bold" if row["total"] else "",
        )
    return table


def _share(table: Table, name: str, share: Mapping[str, Any]) -> None:
    table.add_row(
        name, str(share["count"]), percent(share["share"]), Text(_short(interval(share)), style="dim")
    )


def _short(text: str) -> str:
    return text.replace(" to ", "–").removesuffix("%").rstrip()
