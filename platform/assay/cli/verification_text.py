"""A verification as tables for the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.engine.verifier import Verification
from assay.engine.verifier.equivalents import KINDS as EQUIVALENTS
from assay.engine.verifier.equivalents import RESULTS, EquivalentsReport
from assay.engine.verifier.gold import GoldReport
from assay.engine.verifier.money import MoneyReport
from assay.engine.verifier.mutation import FATES, MutationReport


def render(found: Verification, console: Console) -> None:
    """Print every part that was reached."""
    if found.gold is not None:
        _gold(found.gold, console)
    if found.mutation is not None:
        _mutation(found.mutation, console)
    if found.equivalents is not None:
        _equivalents(found.equivalents, console)
    if found.money is not None:
        _money(found.money, console)


def table(title: str, *columns: str, numbers: int = 0) -> Table:
    """An empty table; the last `numbers` columns are aligned to the right."""
    made = Table(title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for at, column in enumerate(columns):
        right = at >= len(columns) - numbers
        made.add_column(column, justify="right" if right else "left", overflow="fold", no_wrap=right)
    return made


def _gold(gold: GoldReport, console: Console) -> None:
    console.print(
        Text(
            f"Gold: {gold.actions} expected actions in {gold.tasks} tasks, played twice; in {gold.no_change} tasks "
            "nothing may change."
        )
    )


def _mutation(mutation: MutationReport, console: Console) -> None:
    shown = table("\nMutants", "kind", "all", *FATES, numbers=1 + len(FATES))
    for kind, counts in mutation.kinds.items():
        shown.add_row(kind, str(sum(counts.values())), *(str(counts.get(fate, 0) or "") for fate in FATES))
    shown.add_row("all", str(mutation.count(*FATES)), *(str(mutation.count(fate) or "") for fate in FATES))
    console.print(shown)
    if mutation.survivors:
        listed = table("\nMutants that pass", "task", "mutant", "let through by", "declared")
        for survivor in mutation.survivors:
            through = ", ".join(survivor.through) or "nothing differs"
            listed.add_row(
                Text(survivor.task), Text(survivor.key), Text(through), Text(survivor.declared or "no")
            )
        console.print(listed)


def _equivalents(equivalents: EquivalentsReport, console: Console) -> None:
    shown = table("\nEquivalents, which must pass", "kind", *RESULTS, numbers=len(RESULTS))
    for kind in EQUIVALENTS:
        counts = equivalents.kinds.get(kind, {})
        shown.add_row(kind, *(str(counts.get(result, 0) or "") for result in RESULTS))
    console.print(shown)


def _money(money: MoneyReport, console: Console) -> None:
    console.print(
        Text(f"\nMoney: the right outcome of {money.tasks} tasks changes amounts that are counted.")
    )
    if money.rules:
        shown = table("", "column", "what", "paid by", "tasks", numbers=1)
        for name, column, what, paid_by, tasks in money.rules:
            shown.add_row(Text(f"{name}.{column}"), Text(what), paid_by, str(tasks))
        console.print(shown)
    if money.uncounted:
        console.print(Text(f"Not counted: {', '.join(money.uncounted)}."))
