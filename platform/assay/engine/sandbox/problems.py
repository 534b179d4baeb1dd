"""Collect what is wrong with a world, with file and line."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Sequence

from assay.engine.packs.models import Pack, Source
from assay.engine.packs.problems import PackError, Problem

#: A broken file can be wrong in every row; nobody reads more than this.
MOST = 500


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


def tool_source(pack: Pack, name: str) -> Source:
    return pack.sources.get(f"tool:{name}", Source("tools", 0))


def task_source(pack: Pack, task: str) -> Source:
    return pack.sources.get(f"task:{task}", Source("tasks", 0))


def comparison_source(pack: Pack, words: Sequence[str]) -> Source:
    """The line of comparison.yaml (the pack's or a shared part's) where these words follow one another."""
    for path in sorted(p for p in pack.files if p == "comparison.yaml" or p.endswith("/comparison.yaml")):
        lines = pack.files[path].decode("utf-8", "replace").splitlines()
        at = 0
        for word in words:
            pattern = re.compile(rf"(?<![\w]){re.escape(word)}(?![\w])")
            found = next((n for n in range(at, len(lines)) if pattern.search(lines[n])), None)
            if found is None:
                break
            at = found
        else:
            return Source(path, at + 1)
    return Source("comparison.yaml", 0)
