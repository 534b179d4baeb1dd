"""`assay pack verify`."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from assay.cli.codes import OK, PROBLEMS
from assay.cli.errors import problem_as_json
from assay.engine.packs import PackError, Problem
from assay.engine.verifier import Verification, verify
from assay.engine.verifier.loading import load
from assay.reports.wording import count
from assay_sdk import OptionsError


def verify_pack(
    path: Path, as_json: bool, globs: Sequence[str], seconds: float, html: Path | None = None, jobs: int = 1
) -> int:
    """Verify a pack in `jobs` processes at most and print what was found, with `html` also as a page in that file;
    exit code 1 when there is a finding. Raises PackError, OptionsError, AssayError."""
    chosen = None if not globs else lambda task_id: any(fnmatchcase(task_id, glob) for glob in globs)
    checked, problems = load(path, chosen)
    if checked is None:
        raise PackError(problems)
    if chosen is not None and not any(map(chosen, checked.pack.tasks)) and not problems:
        raise OptionsError(
            f"No task of {checked.pack.name} matches {', '.join(globs)}; `assay pack show {path}` lists the tasks."
        )
    found = verify(checked, tasks=chosen, seconds=seconds, jobs=jobs)
    if html is not None:
        from assay.reports.verification import render_page

        html.write_text(render_page(_document(found, problems)), encoding="utf-8")
        print(f"Report: {html}", file=sys.stderr)
    if as_json:
        print(json.dumps(_document(found, problems), ensure_ascii=False))
    else:
        _print(found, problems, chosen is not None)
    return PROBLEMS if problems or not found.sound else OK


def _document(found: Verification, problems: Sequence[Problem]) -> dict[str, Any]:
    """What the loader found stands first among the problems."""
    document = found.as_json()
    return {
        **document,
        "sound": document["sound"] and not problems,
        "problems": [problem_as_json(p) for p in problems] + document["problems"],
    }


def _print(found: Verification, problems: Sequence[Problem], some: bool) -> None:
    """`some`: tasks were chosen by a pattern."""
    from rich.console import Console

    from assay.cli.verification_text import render

    every = [*problems, *found.problems]
    for problem in every:
        print(problem)
    if every:
        print()
    render(found, Console(width=None if sys.stdout.isatty() else 120, highlight=False))
    print()
    if some:
        print(_about_the_whole(found))
    said = count(len(every), "finding") if every else "no finding"
    print(
        f"{found.pack} {found.version}: {said} in {count(len(found.tasks), 'task')}, {found.seconds:.1f} s."
    )


def _about_the_whole(found: Verification) -> str:
    """What of the report is not about the chosen tasks alone."""
    parts = "Clauses, traps, hardness and likeness are of the whole pack"
    if found.whole:
        return f"{parts}; as the tasks chosen are all there are, findings about the pack as a whole are listed, too."
    return f"{parts}; findings about them are not listed, since only some tasks were chosen."
