"""Which file of a pack is what."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.engine.packs.bounds import safe_path
from assay.engine.packs.findings import Findings

_SHARED = re.compile(r"_shared/([a-z][a-z0-9_]{1,39})/(.+)")
#: For people; part of the version and its hash, read by nothing.
_NOTES = frozenset({"README.md", "LICENSE", "LICENSE.txt", "LICENSE.md", "CHANGELOG.md"})
_REQUIRED = (
    ("pack.yaml", "what the pack is"),
    ("policy.md", "what the bot is given"),
    ("world/schema.sql", "the tables of the world"),
)


@dataclass(slots=True)
class Layout:
    """The paths of a pack by what they are, each list in the order in which the files are read."""

    schemas: list[str] = field(default_factory=list)
    seeds: list[str] = field(default_factory=list)
    tools: list[str] = field(default_factory=list)
    articles: list[str] = field(default_factory=list)
    comparisons: list[str] = field(default_factory=list)
    checks: list[str] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)
    shared: set[str] = field(default_factory=set)


def sort_files(paths: Iterable[str], shares: Iterable[str], findings: Findings) -> Layout:
    """Tell the files of a pack apart: the pack's own first, then those of shared parts as `shares` lists them.

    Files that are nothing of a pack, and required ones that are not there, become problems.
    """
    there = set(paths)
    layout = Layout()
    for path, what in _REQUIRED:
        if path not in there:
            findings.add(path, 0, f"The file is missing; write {path}: {what}.", "missing_file")
    order = {name: number for number, name in enumerate(shares, start=1)}

    def rank(path: str) -> tuple[int, str]:
        shared = _SHARED.fullmatch(path)
        return (order.get(shared.group(1), len(order) + 1) if shared else 0, path)

    for path in sorted(there, key=rank):
        shared = _SHARED.fullmatch(path)
        if shared:
            layout.shared.add(shared.group(1))
        inside = shared.group(2) if shared else path
        kind = _kind(inside, shared=shared is not None)
        if kind is None:
            findings.add(safe_path(path), 0, _no_part(inside, shared=shared is not None), "unknown_file")
        elif kind:
            getattr(layout, kind).append(path)
    return layout


def _kind(path: str, *, shared: bool) -> str | None:
    """The list of Layout that a path belongs to; empty for a file that is read elsewhere; None for no part."""
    folder, _, name = path.rpartition("/")
    if path == "world/schema.sql":
        return "schemas"
    if path == "comparison.yaml":
        return "comparisons"
    if path == "checks.yaml" and not shared:
        return "checks"
    if folder == "world/seed" and name.endswith((".csv", ".yaml")):
        return "seeds"
    if folder == "tools" and name.endswith(".yaml"):
        return "tools"
    if folder == "knowledge" and name.endswith(".md"):
        return "articles"
    if not shared and folder == "tasks" and name.endswith(".yaml"):
        return "tasks"
    if path in _NOTES or (not shared and path in {"pack.yaml", "policy.md"}):
        return ""
    return None


def _no_part(path: str, *, shared: bool) -> str:
    if path.endswith(".yml"):
        return "The file is not read; its name must end in .yaml."
    if shared and path.startswith("tasks/"):
        return "A shared part has no tasks; move them to tasks/ of the pack."
    if shared and path == "checks.yaml":
        return "A shared part has no checks; move them to checks.yaml of the pack."
    what = "a shared part" if shared else "a pack"
    return f"The file is no part of {what}, by its name or folder; rename or remove it."
