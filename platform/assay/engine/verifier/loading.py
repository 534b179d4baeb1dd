"""Load a pack to verify it: what is broken in one task does not keep the others from being verified."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from assay.engine.packs.assembly import examine
from assay.engine.packs.lint import Checked
from assay.engine.packs.loader import read_files
from assay.engine.packs.problems import PackError, Problem
from assay.engine.sandbox import World


def load(
    source: Path | Mapping[str, bytes], chosen: Callable[[str], bool] | None = None
) -> tuple[Checked | None, list[Problem]]:
    """The pack without its broken tasks, as far as its world can be prepared, and every problem of its files.

    `source`: a folder, a zip, or {path: bytes}. Problems of tasks that are not chosen are left out. Raises PackError
    when there is no pack at `source` at all.
    """
    files = source if isinstance(source, Mapping) else read_files(source)
    examined = examine(files)
    problems = [p for p in examined.problems if p.task is None or chosen is None or chosen(p.task)]
    if examined.sound is None:
        return None, problems or examined.problems
    try:
        world = World.prepare(examined.sound)
    except PackError as error:
        return None, [*problems, *error.problems]
    return Checked(examined.sound, world, complete=not examined.problems), problems
