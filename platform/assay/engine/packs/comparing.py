"""One set of comparison rules from the pack's comparison.yaml and those of its shared parts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, TypeVar

from assay.engine.packs.findings import Findings, shown
from assay.engine.packs.models import ColumnRule, ComparisonFile, CostRule, TableRules
from assay.engine.packs.yamls import Document


def merge(parts: Sequence[tuple[ComparisonFile, Document]], findings: Findings) -> ComparisonFile:
    """The rules of all files together; what is said twice, differently, is a problem of the later file."""
    ignored: dict[str, None] = {}
    keys: dict[str, tuple[str, ...]] = {}
    columns: dict[str, dict[str, ColumnRule]] = {}
    costs: dict[str, dict[str, CostRule | Literal["none"]]] = {}
    for rules, document in parts:
        ignored.update(dict.fromkeys(rules.ignore_tables))
        for table, said in rules.tables.items():
            if said.key and keys.setdefault(table, said.key) != said.key:
                message = f"The key of {shown(table)} is given differently in another file; keep one."
                findings.add(
                    document.path, document.line("tables", table, "key"), message, "conflicting_rules"
                )
            _add(columns.setdefault(table, {}), said.columns, table, "columns", document, findings)
            _add(costs.setdefault(table, {}), said.cost, table, "cost", document, findings)
    tables = {
        table: TableRules(key=keys.get(table, ()), columns=mine, cost=costs[table])
        for table, mine in columns.items()
    }
    return ComparisonFile(ignore_tables=tuple(ignored), tables=tables)


Rule = TypeVar("Rule")


def _add(
    known: dict[str, Rule],
    said: Mapping[str, Rule],
    table: str,
    part: str,
    document: Document,
    findings: Findings,
) -> None:
    for column, rule in said.items():
        if known.setdefault(column, rule) != rule:
            line = document.line("tables", table, part, column)
            message = f"{shown(f'{table}.{column}')} has another rule in another file; keep one."
            findings.add(document.path, line, message, "conflicting_rules")
