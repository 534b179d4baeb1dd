"""The clauses of a pack version's policy, read from its bundle: what a task exercises, in words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.engine.packs.findings import Findings
from assay.engine.packs.markdown import clauses
from assay.engine.packs.models import Clause
from assay.engine.packs.zips import read_zip
from assay.packs.models import PackVersion

_FILE = "policy.md"
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_RULE = re.compile(r"[ \t]*\|[|:\- \t]*-[|:\- \t]*")  # the line between a table's heading and its rows


@dataclass(frozen=True, slots=True)
class Worded:
    """A clause, with the rows of the table or the items of the list that follow it and have no id of their own."""

    id: str
    text: str
    rest: tuple[str, ...] = ()


def policy_of(version: PackVersion) -> tuple[str, dict[str, Worded]]:
    """The text of the policy and its clauses by id. `version` may have its bundle deferred."""
    return _read(version.content_hash, version.pk)


def clauses_named(version: PackVersion, names: Iterable[str]) -> list[Worded]:
    """The clauses with these ids, in the order given."""
    known = policy_of(version)[1]
    return [known.get(name) or Worded(name, "") for name in names]


# By content and row: a row of another company with the same number and content has the same policy.
@lru_cache(maxsize=16)
def _read(content_hash: str, pk: int) -> tuple[str, dict[str, Worded]]:
    bundle = PackVersion.objects.only("bundle").get(pk=pk, content_hash=content_hash).bundle
    text = read_zip(bytes(bundle))[_FILE].decode()
    found = clauses(_FILE, text, Findings())  # the pack was checked when it was stored
    lines = text.split("\n")
    return text, {
        name: Worded(name, clause.text, _following(lines, clause)) for name, clause in found.items()
    }


def _following(lines: Sequence[str], clause: Clause) -> tuple[str, ...]:
    rest: list[str] = []
    for line in lines[clause.source.line :]:
        if not line.strip():
            continue
        if "{#" in line:
            break
        if line.lstrip().startswith("|"):
            if _RULE.fullmatch(line):
                del rest[-1:]  # the table's heading
            else:
                first, *others = (cell.strip() for cell in line.strip().strip("|").split("|"))
                rest.append(f"{first}: {'; '.join(others)}" if others else first)
        elif item := _ITEM.match(line):
            rest.append(line[item.end() :].strip())
        elif rest and line[0] in " \t":
            rest[-1] += f" {line.strip()}"
        else:
            break
    return tuple(rest)
