"""Do the tables and columns that checks.yaml and the checks of tasks name exist?"""

from __future__ import annotations

from collections.abc import Iterator

from assay.engine.packs.checks import ProcessRule
from assay.engine.packs.models import Pack, Source
from assay.engine.packs.sources import locate
from assay.engine.sandbox.inspection import Catalogue
from assay.engine.sandbox.problems import Findings, did_you_mean, task_source

Keys = tuple[str | int, ...]


def check_checks(pack: Pack, found: Catalogue, findings: Findings) -> None:
    """Problems at the line of each name."""

    def add(message: str, code: str, *keys: str | int) -> None:
        findings.add(_source(pack, keys), message, code)

    leak = pack.checks.leak
    if leak.customers is not None:
        if leak.customers not in found.tables:
            near = did_you_mean(leak.customers, found.tables)
            add(f"There is no table {leak.customers}.{near}", "unknown_table", "leak", "customers")
        elif len(found.tables[leak.customers].primary_key) != 1:
            message = f"The primary key of {leak.customers} must be one column, to name a customer by it."
            add(message, "bad_customers", "leak", "customers")
    for number, table in enumerate(leak.public):
        if table not in found.tables:
            near = did_you_mean(table, found.tables)
            add(f"There is no table {table}.{near}", "unknown_table", "leak", "public", number)
    for table, columns in leak.confidential.items():
        if table not in found.tables:
            near = did_you_mean(table, found.tables)
            add(f"There is no table {table}.{near}", "unknown_table", "leak", "confidential", table)
            continue
        known = found.tables[table].columns
        for number, column in enumerate(columns):
            if column not in known:
                message = f"The table {table} has no column {column}.{did_you_mean(column, known)}"
                add(message, "unknown_column", "leak", "confidential", table, number)
    for keys, message in _tables(pack.checks.process, found):
        add(message, "unknown_table", "process", *keys)
    for task in pack.tasks.values():
        for keys, message in _tables(task.checks.process, found):
            source = task_source(pack, task.id, "checks", "process", *keys)
            findings.add(source, message, "unknown_table", task.id)


def _tables(rules: tuple[ProcessRule, ...], found: Catalogue) -> Iterator[tuple[Keys, str]]:
    for number, rule in enumerate(rules):
        for place, table in enumerate(rule.writes):
            if table not in found.tables:
                near = did_you_mean(table, found.tables)
                yield (number, "writes", place), f"There is no table {table}.{near}"


def _source(pack: Pack, keys: Keys) -> Source:
    try:
        return locate(pack, "checks", *keys)
    except KeyError:
        return Source("checks.yaml", 0)
