"""`assay pack new`."""

from __future__ import annotations

from pathlib import Path

from assay.cli.codes import OK
from assay.engine.packs.skeleton import make_pack, prefix_of


def new(name: str, into: Path) -> int:
    """Lay out a new pack and say what to do next. Raises OptionsError, OSError."""
    folder = make_pack(name, into)
    task = f"{prefix_of(name)}-CANCEL-001"
    print(f"A new pack is in {folder}: a small example that verifies. Its comments say what each key means.")
    print("Put your own rules, tables, tools and cases in place of the example, and after each step:\n")
    for command, why in (
        (f"assay pack lint {folder}", "is it written correctly?"),
        (f"assay pack verify {folder}", "can its verdicts be trusted?"),
        (f"assay pack try {folder} {task}", "play the bot yourself"),
        (f"assay run {folder} --bot reference:faithful --trials 3", "run it"),
    ):
        print(f"  {command:<58} # {why}")
    return OK
