"""`assay pack show` and `assay pack lint`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from assay.cli.codes import OK, PROBLEMS
from assay.cli.errors import problem_as_json
from assay.engine.packs import Pack, PackError, load_pack
from assay.engine.packs.lint import check
from assay.reports.wording import count


def lint(path: Path, as_json: bool) -> int:
    """List every problem of a pack; exit code 1 when there is one."""
    try:
        pack, problems = check(path).pack, ()
    except PackError as error:
        pack, problems = None, error.problems
    if as_json:
        shown = {
            "ok": not problems,
            "problems": [problem_as_json(p) for p in problems],
            "pack": pack and _facts(pack),
        }
        print(json.dumps(shown, ensure_ascii=False))
    else:
        for problem in problems:
            print(problem)
        if pack is not None:
            print(
                f"{pack.name} {pack.version}: no problems in {count(len(pack.tools), 'tool')} and "
                f"{count(len(pack.tasks), 'task')}."
            )
        else:
            print(f"{count(len(problems), 'problem')}.", file=sys.stderr)
    return PROBLEMS if problems else OK


def show(path: Path, as_json: bool) -> int:
    """Show what a pack holds. Raises PackError."""
    pack = load_pack(path)
    facts = _facts(pack)
    if as_json:
        print(json.dumps(facts, ensure_ascii=False))
        return OK
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(width=None if sys.stdout.isatty() else 120, highlight=False)
    console.print(Text(f"{facts['title']} ({facts['name']} {facts['version']})", style="bold"))
    console.print(Text(f"content hash {facts['content_hash']}"))
    console.print(
        Text(
            f"{count(facts['tables'], 'table')}, {count(facts['rows'], 'row')}, {count(len(pack.tools), 'tool')}, "
            f"{count(len(pack.clauses), 'clause')} of which tasks exercise {facts['clauses_exercised']}, "
            f"{count(len(pack.sections), 'section')} of knowledge, {count(len(pack.tasks), 'task')}"
        )
    )
    table = Table(box=None, pad_edge=False)
    for column in ("Task", "Group", "Title", "Judged by"):
        table.add_column(column, overflow="fold")
    for task in facts["tasks"]:
        judged = "database and reply" if task["reply_rules"] else "database"
        table.add_row(Text(task["id"]), Text(task["group"]), Text(task["title"]), Text(judged))
    console.print(table)
    return OK


def _facts(pack: Pack) -> dict[str, Any]:
    return {
        "name": pack.name,
        "version": pack.version,
        "title": pack.manifest.title,
        "content_hash": pack.content_hash,
        "locale": pack.manifest.locale,
        "clock": pack.manifest.clock,
        "tables": len({row.table for row in pack.seed}),
        "rows": len(pack.seed),
        "tools": [{"name": t.name, "kind": t.kind, "system": t.system} for t in pack.tools.values()],
        "clauses": sorted(pack.clauses),
        "clauses_exercised": len({clause for task in pack.tasks.values() for clause in task.clauses}),
        "sections": len(pack.sections),
        "groups": dict(Counter(task.group_name for task in pack.tasks.values())),
        "tasks": [
            {
                "id": task.id,
                "group": task.group_name,
                "title": task.title,
                "clauses": list(task.clauses),
                "hardness": [h.value for h in task.hardness],
                "reply_rules": len(task.reply),
            }
            for task in pack.tasks.values()
        ],
    }
