"""Collect what is wrong with a world, with file and line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from assay.engine.packs.models import Pack, Source
from assay.engine.packs.problems import PackError, Problem
from assay.engine.packs.sources import locate
from assay_sdk import PackFault

#: A broken file can be wrong in every row; nobody reads more than this.
MOST = 500


class ToolFault(PackFault):
    """A tool exceeds its bounds or its SQL cannot run. `tool`: its name."""

    def __init__(self, tool: str, message: str) -> None:
        super().__init__(f"Tool {tool}: {message}")
        self.tool = tool


class Findings:
    """Problems found so far."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def add(self, source: Source, message: str, code: str, task: str | None = None) -> None:
        if len(self.problems) < MOST:
            self.problems.append(Problem(source.path, source.line, message, code, task))

    def raise_if_any(self) -> None:
        if self.problems:
            raise PackError(self.problems)


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """` Did you mean ...?` when some known name is close, else what there is."""
    names = sorted(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f" Did you mean {close[0]}?"
    return f" There are: {', '.join(names[:20])}{', ...' if len(names) > 20 else ''}." if names else ""


def tool_source(pack: Pack, name: str, *keys: str | int) -> Source:
    """Where a tool, or something inside it, is written."""
    return _located(pack, f"tool:{name}", keys, Source("tools", 0))


def task_source(pack: Pack, task: str, *keys: str | int) -> Source:
    """Where a task, or something inside it, is written."""
    return _located(pack, f"task:{task}", keys, Source("tasks", 0))


def fault_source(pack: Pack, fault: PackFault, otherwise: Source) -> Source:
    """Where what is at fault is written: the tool, when a tool is."""
    return tool_source(pack, fault.tool) if isinstance(fault, ToolFault) else otherwise


def comparison_source(pack: Pack, table: str, *keys: str | int) -> Source:
    """Where the comparison rules of a table, or something inside them, are written."""
    return _located(pack, f"comparison:{table}", keys, Source("comparison.yaml", 0))


def ignored_source(pack: Pack, table: str) -> Source:
    """The line of a comparison.yaml that ignores this table."""
    word = re.compile(rf"(?<!\w){re.escape(table)}(?!\w)")
    for path in sorted(p for p in pack.files if p.split("/")[-1] == "comparison.yaml"):
        for number, line in enumerate(pack.files[path].decode("utf-8", "replace").splitlines(), 1):
            if word.search(line):
                return Source(path, number)
    return Source("comparison.yaml", 0)


def _located(pack: Pack, name: str, keys: tuple[str | int, ...], otherwise: Source) -> Source:
    try:
        return locate(pack, name, *keys)
    except KeyError:
        return otherwise
