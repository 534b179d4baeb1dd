"""Seed rows from CSV and YAML files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from typing import Any

from assay.engine.packs.findings import Findings, shown
from assay.engine.packs.models import SeedRow, Source
from assay.engine.packs.shapes import kind_of
from assay.engine.packs.yamls import Document

#: Characters in a cell of a CSV file; Python's own bound, stated here because it is part of the format's.
LONGEST_CELL = 131_072
#: What a world can hold and still be copied for every trial.
MOST_ROWS = 200_000
MOST_CELLS = 1_000_000
MOST_COLUMNS = 1_000


class RowBudget:
    """How many seed rows and cells may still come; shared by the files of a pack."""

    def __init__(self) -> None:
        self._rows = MOST_ROWS
        self._cells = MOST_CELLS

    def take(self, path: str, line: int, cells: int, findings: Findings) -> bool:
        """Count one row; False, with the problem reported, when it is one too many."""
        self._rows -= 1
        self._cells -= cells
        if self._rows >= 0 and self._cells >= 0:
            return True
        message = (
            f"The seed has more than {MOST_ROWS:,} rows or {MOST_CELLS:,} cells; a world must be smaller."
        )
        findings.add(path, line, message, "too_many_rows")
        return False


def rows_of_csv(path: str, text: str, findings: Findings, budget: RowBudget) -> list[SeedRow]:
    """The rows of `<table>.csv`: text cells, None for an empty one. Problems are reported, their rows left out."""
    table = path.rsplit("/", 1)[-1].removesuffix(".csv")
    rows: list[SeedRow] = []
    header: list[str] | None = None
    for line, cells in _records(path, text, findings):
        if header is None:
            header = [cell.strip() for cell in cells]
            if not _check_header(path, line, header, findings):
                return []
        elif not budget.take(path, line, len(cells), findings):
            break
        elif len(cells) != len(header):
            message = (
                f"The row has {len(cells)} cells, but the header has {len(header)}; check commas and quotes."
            )
            findings.add(path, line, message, "bad_row")
        else:
            values = {name: cell or None for name, cell in zip(header, cells, strict=True)}
            rows.append(SeedRow(table, values, Source(path, line)))
    if header is None:
        findings.add(path, 1, "The file is empty; begin it with a line of column names.", "no_header")
    return rows


def rows_of_yaml(document: Document, findings: Findings, budget: RowBudget) -> list[SeedRow]:
    """The rows of a mapping of table names to lists of rows. Problems are reported, their rows left out."""
    if document.value is None:
        return []
    if not isinstance(document.value, dict):
        message = f"A seed file maps table names to lists of rows, but this is {kind_of(document.value)}."
        findings.add(document.path, document.line(), message, "bad_seed")
        return []
    rows: list[SeedRow] = []
    for table, items in document.value.items():
        if items is None:
            continue
        if not isinstance(items, list):
            message = f"The rows of {shown(table)} must be a list, but this is {kind_of(items)}."
            findings.add(document.path, document.line(table), message, "bad_seed")
            continue
        for number, row in enumerate(items):
            line = document.line(table, number)
            if not budget.take(document.path, line, len(row) if isinstance(row, dict) else 1, findings):
                return rows
            if not isinstance(row, dict) or not row:
                message = f"A row is a mapping of column names to values, but this is {kind_of(row)}."
                findings.add(document.path, line, message, "bad_row")
                continue
            wrong = [(name, check_cell(value)) for name, value in row.items()]
            for name, message_ in wrong:
                if message_ is not None:
                    cell_line = document.line(table, number, name)
                    findings.add(document.path, cell_line, f"Column {shown(name)}: {message_}", "bad_cell")
            if not any(message_ for _, message_ in wrong):
                rows.append(SeedRow(table, cells_of(row), Source(document.path, line)))
    return rows


def check_cell(value: Any) -> str | None:
    """What is wrong with a cell written in YAML, in one sentence; None when nothing is."""
    if isinstance(value, list | dict):
        return f"A cell cannot be {kind_of(value)}; write JSON as text in quotes."
    return None


def cells_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row as SQLite stores it: booleans are 0 and 1."""
    return {name: int(value) if isinstance(value, bool) else value for name, value in row.items()}


def _check_header(path: str, line: int, header: list[str], findings: Findings) -> bool:
    if len(header) > MOST_COLUMNS:
        message = f"The header has {len(header):,} columns; at most {MOST_COLUMNS:,} are allowed."
        findings.add(path, line, message, "bad_header")
        return False
    seen: set[str] = set()
    good = True
    for number, name in enumerate(header, start=1):
        if not name:
            findings.add(path, line, f"Column {number} of the header has no name; give it one.", "bad_header")
            good = False
        elif name.casefold() in seen:
            findings.add(
                path, line, f"The column {shown(name)} appears twice in the header; keep one.", "bad_header"
            )
            good = False
        seen.add(name.casefold())
    return good


def _records(path: str, text: str, findings: Findings) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV text with the line where each begins; blank lines are skipped."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    begin = 1
    while True:
        begin = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            said = str(error)
            if "field larger" in said:
                message = (
                    f"A cell has more than {LONGEST_CELL:,} characters; shorten it, or check the quotes."
                )
            elif "unexpected end of data" in said:
                message = "A quote that opens in this row is not closed."
            else:
                message = 'The quotes of this row do not match; write "" for a quote inside quotes.'
            findings.add(path, begin, message, "bad_csv")
            return
        if cells:
            yield begin, cells
