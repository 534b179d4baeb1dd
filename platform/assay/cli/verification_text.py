"""A verification as tables for the terminal."""

from __future__ import annotations

from collections import Counter

from rich.console import Console
from rich.table import Table
from rich.text import Text

from assay.engine.verifier import Verification
from assay.engine.verifier.coverage import CoverageReport
from assay.engine.verifier.coverage import as_text as coverage_text
from assay.engine.verifier.endings import EndingsReport
from assay.engine.verifier.equivalents import KINDS as EQUIVALENTS
from assay.engine.verifier.equivalents import RESULTS, EquivalentsReport
from assay.engine.verifier.gold import GoldReport
from assay.engine.verifier.information import InformationReport
from assay.engine.verifier.leaks import LeaksReport
from assay.engine.verifier.money import MoneyReport
from assay.engine.verifier.mutation import FATES, MutationReport
from assay.engine.verifier.provenance import ProvenanceReport
from assay.engine.verifier.similarity import SimilarityReport
from assay.reports.wording import count


def render(found: Verification, console: Console) -> None:
    """Print every part that was reached: what each task hides, then the checks, then the pack as a whole."""
    if found.gold is not None:
        _gold(found.gold, console)
    if found.provenance is not None:
        _provenance(found.provenance, console)
    if found.leaks is not None:
        _leaks(found.leaks, console)
    if found.information is not None:
        _information(found.information, console)
    if found.mutation is not None:
        _mutation(found.mutation, console)
    if found.equivalents is not None:
        _equivalents(found.equivalents, console)
    if found.money is not None:
        _money(found.money, console)
    if found.coverage is not None:
        _coverage(found.coverage, console)
    if found.endings is not None:
        _endings(found.endings, console)
    if found.similarity is not None:
        _similarity(found.similarity, console)


def _table(*columns: str, numbers: int = 0) -> Table:
    """An empty table; the last `numbers` columns are aligned to the right."""
    made = Table(box=None, pad_edge=False)
    for at, column in enumerate(columns):
        right = at >= len(columns) - numbers
        made.add_column(column, justify="right" if right else "left", overflow="fold", no_wrap=right)
    return made


def _heading(console: Console, text: str) -> None:
    console.print()
    console.print(Text(text, style="bold"))


def _say(console: Console, text: str) -> None:
    console.print(Text(text))


def _gold(gold: GoldReport, console: Console) -> None:
    _heading(console, "Gold")
    nothing = f"; in {gold.no_change} of them nothing may change" if gold.no_change else ""
    actions = f"{count(gold.actions, 'expected action')} of {count(gold.tasks, 'task')}"
    _say(console, f"{actions} {'was' if gold.actions == 1 else 'were'} played twice{nothing}.")
    if gold.needs_judge:
        named = f"{', '.join(gold.needs_judge[:5])}{' and so on' if len(gold.needs_judge) > 5 else ''}"
        _say(
            console,
            f"{count(len(gold.needs_judge), 'task')} ({named}) with a reply rule that only a model can decide: "
            "without a judge their trials are void.",
        )


def _provenance(provenance: ProvenanceReport, console: Console) -> None:
    counts = Counter(trace.how for traces in provenance.traces.values() for trace in traces)
    told = {
        "reference": "taken from an earlier result", "known": "stand where the bot can read or hear them",
        "derived": "derived by a clause", "choice": "a choice of the schema", "wording": "free wording",
        "unknown": "cannot be known",
    }  # fmt: skip
    listed = ", ".join(f"{counts[how]} {words}" for how, words in told.items() if counts[how])
    _heading(console, "Provenance")
    _say(console, f"{count(counts.total(), 'value')} of expected actions: {listed or 'none'}.")


def _leaks(leaks: LeaksReport, console: Console) -> None:
    _heading(console, "Leaks")
    found = len(leaks.leaks)
    read = f"{count(leaks.cells, 'text')} of rows {'was' if leaks.cells == 1 else 'were'} read"
    _say(console, f"{read}; {found} {'gives' if found == 1 else 'give'} an answer away.")


def _information(information: InformationReport, console: Console) -> None:
    _heading(console, "Hidden information, and the questions that a bot has to ask at least")
    if information.routine:
        _say(console, f"Hidden in most tasks: {', '.join(information.routine)}.")
    shown = _table("task", "questions", "hidden", "not needed")
    for task, found in information.tasks.items():
        if found.hidden or found.unneeded:
            shown.add_row(
                Text(task), str(len(found.hidden)), Text(", ".join(found.hidden)), Text(", ".join(found.unneeded))
            )  # fmt: skip
    if shown.row_count:
        console.print(shown)
    else:
        _say(console, "No task hides anything.")


def _mutation(mutation: MutationReport, console: Console) -> None:
    _heading(console, "Mutants, which must fail")
    shown = _table("kind", "all", *FATES, numbers=1 + len(FATES))
    for kind, counts in mutation.kinds.items():
        shown.add_row(kind, str(sum(counts.values())), *(str(counts.get(fate, 0) or "") for fate in FATES))
    shown.add_row("all", str(mutation.count(*FATES)), *(str(mutation.count(fate) or "") for fate in FATES))
    console.print(shown)
    if mutation.survivors:
        _heading(console, "Mutants that pass")
        listed = _table("task", "mutant", "let through by", "declared")
        for survivor in mutation.survivors:
            through = ", ".join(survivor.through) or "nothing differs"
            listed.add_row(
                Text(survivor.task), Text(survivor.key), Text(through), Text(survivor.declared or "no")
            )
        console.print(listed)


def _equivalents(equivalents: EquivalentsReport, console: Console) -> None:
    _heading(console, "Equivalents, which must pass")
    shown = _table("kind", *RESULTS, numbers=len(RESULTS))
    for kind in EQUIVALENTS:
        counts = equivalents.kinds.get(kind, {})
        shown.add_row(kind, *(str(counts.get(result, 0) or "") for result in RESULTS))
    console.print(shown)


def _money(money: MoneyReport, console: Console) -> None:
    _heading(console, "Money")
    _say(console, f"The right outcome of {count(money.tasks, 'task')} changes amounts that are counted.")
    if money.rules:
        shown = _table("column", "what", "paid by", "tasks", numbers=1)
        for name, column, what, paid_by, tasks in money.rules:
            shown.add_row(Text(f"{name}.{column}"), Text(what), paid_by, str(tasks))
        console.print(shown)
    if money.uncounted:
        _say(console, f"Not counted: {', '.join(money.uncounted)}.")


def _coverage(coverage: CoverageReport, console: Console) -> None:
    _heading(console, "Clauses and the tasks that exercise them")
    for line in coverage_text(coverage, console.width):
        _say(console, line)
    _say(
        console,
        f"{count(len(coverage.by_clause), 'clause')}, {len(coverage.uncovered)} of them in no task; "
        f"{count(len(coverage.without), 'task')} of {len(coverage.tasks)} without a clause.",
    )
    if not coverage.complete:
        _say(
            console, "Something of the pack could not be read, so a clause without a task is no finding yet."
        )


def _endings(endings: EndingsReport, console: Console) -> None:
    _heading(console, "How the tasks end (a task may end in several ways)")
    shown = _table("ending", "tasks", numbers=1)
    for ending, number in endings.counts().items():
        shown.add_row(ending, str(number))
    console.print(shown)
    _say(
        console,
        f"In {count(len(endings.paperwork_only), 'task')} only the record of the conversation changes.",
    )
    if endings.idle:
        _say(
            console,
            f"A bot that does nothing passes {count(len(endings.idle), 'task')}, in which nothing may change and no "
            f"'reply' judges what is said: {', '.join(endings.idle)}.",
        )
    sizes = Counter(len(group) for group in endings.traps)
    more = sum(number for size, number in sizes.items() if size > 2)
    _say(
        console,
        f"Traps: {sizes[1]} used once, {sizes[2]} twice, {more} more often; "
        f"{count(len(endings.without_trap), 'task')} without one.",
    )
    for group in endings.traps:
        if len(group) > 1:
            _say(console, f"  the same trap: {', '.join(group)}")
    if endings.hardness:
        listed = ", ".join(f"{name} {number}" for name, number in endings.hardness.items())
        _say(console, f"Hardness: {listed}; {count(len(endings.without_hardness), 'task')} without any.")


def _similarity(similarity: SimilarityReport, console: Console) -> None:
    _heading(console, f"The tasks most alike (the limit is {similarity.limit:g})")
    if not similarity.nearest:
        _say(console, "There are no two tasks to compare.")
        return
    names = list(similarity.nearest[0].parts)
    shown = _table("task", "task", "score", *names, numbers=1 + len(names))
    for pair in [*similarity.above, *(p for p in similarity.nearest if p not in similarity.above)]:
        parts = (f"{pair.parts.get(name, 0):.2f}" for name in names)
        shown.add_row(Text(pair.one), Text(pair.other), f"{pair.score:.2f}", *parts)
    console.print(shown)
