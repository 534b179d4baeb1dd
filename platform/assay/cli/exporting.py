"""`assay export`."""

from __future__ import annotations

import json
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from assay.cli.codes import OK
from assay.engine.results import ResultsError, iterate, read_beside, read_manifest
from assay.engine.rewards import GIVEN, LINE_SCHEMA, Given, run_line, trial_line


def rewards(folder: Path, out: Path | None, *, void: bool, tools: bool) -> int:
    """Write one JSON line for the run and one for each trial, to `out` or standard output."""
    manifest = read_manifest(folder)
    given = _given(folder)
    written = 0
    with ExitStack() as stack:
        target = stack.enter_context(out.open("w", encoding="utf-8", newline="\n")) if out else sys.stdout

        def write(line: dict[str, Any]) -> None:
            # Escaped beyond ASCII: what a bot said may hold half a character, which UTF-8 cannot.
            target.write(json.dumps(line, separators=(",", ":"), allow_nan=False) + "\n")

        write(run_line(manifest, given))
        for record in iterate(folder):
            if void or record.status != "void":
                write(trial_line(record, given, tools=tools))
                written += 1
    print(f"{written} trials{f' in {out}' if out else ''}.", file=sys.stderr)
    return OK


def rewards_schema() -> int:
    """Print the JSON Schema of a line."""
    print(json.dumps(LINE_SCHEMA, indent=2))
    return OK


def _given(folder: Path) -> Given:
    data = read_beside(folder, GIVEN)
    if data is None:
        raise ResultsError(
            f"{folder} does not hold what the bot was given: there is no {GIVEN}. Repeat the command of the run with "
            f"--out {folder}: it writes the file and tries nothing again."
        )
    try:
        return Given.from_json(data)
    except ValueError as error:
        raise ResultsError(f"{folder / GIVEN} is damaged: {error}.") from None
