"""Everything that can be said about a pack without a bot: files, world, tools and tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.engine.packs.assembly import examine
from assay.engine.packs.loader import read_files
from assay.engine.packs.models import Pack
from assay.engine.packs.problems import PackError, Problem
from assay.engine.sandbox.world import World


@dataclass(frozen=True, slots=True)
class Checked:
    """A pack that can be run, and its world, prepared. `complete`: nothing was left out because it is broken."""

    pack: Pack
    world: World
    complete: bool = True


def check(source: Path | Mapping[str, bytes]) -> Checked:
    """Load a pack (folder, zip, or {path: bytes}), prepare its world and check its tasks.

    A stage is reached as far as the earlier ones allow: a broken task does not hide a tool whose SQL
    does not prepare, a broken seed file does. Raises PackError with every problem of all stages.
    """
    files = source if isinstance(source, Mapping) else read_files(source)
    examined = examine(files)
    problems: list[Problem] = list(examined.problems)
    world: World | None = None
    if examined.sound is not None:
        try:
            world = World.prepare(examined.sound)
        except PackError as error:
            problems += error.problems
        else:
            problems += world.check_tasks()
    if problems or examined.pack is None or world is None:
        raise PackError(list(dict.fromkeys(problems)))
    return Checked(examined.pack, world)
