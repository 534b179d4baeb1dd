"""How the tasks of a pack end, and with which traps and hardness: told from the final world where it says so."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.models import Hardness, Task
from assay.engine.packs.problems import Problem
from assay.engine.sandbox import ChangeSet, compare
from assay.engine.sandbox.changes import RowChange
from assay.engine.verifier.knowing import words
from assay.engine.verifier.similarity import LONGEST_TRAP
from assay.engine.verifier.subject import Gold, Subject

#: Endings in the order in which they are shown. A task may have several: one request done and another refused.
ENDINGS = ("change", "no_change", "refusal", "partly", "escalation", "information", "withdrawn", "unverified")

#: Columns whose value says how a matter ended.
_COLUMN = re.compile(
    r"(^|_)(outcome|resolution|status|state|decision|disposition|result)(_|$)|^closed_as$|_code$"
)
_VALUES = {
    "partly": re.compile(r"partly|partial"),
    "refusal": re.compile(
        r"refus|declin|den(y|ied)|reject|not_(allowed|eligible|approved|covered)|ineligible|won_?t_(do|fix)"
    ),
    "escalation": re.compile(
        r"escalat|handed_(over|off)|hand_?off|transferred_to|referred|with_(second|specialist)"
    ),
    "information": re.compile(
        r"^information|_information$|^informed|information_(given|only)|^explained|^answered|advice_given|advised"
    ),
    "withdrawn": re.compile(r"withdrawn|customer_declined|no_longer_(needed|wanted)"),
    "unverified": re.compile(r"unverified|not_verified|identity_(failed|not)|verification_failed"),
}
#: A row in such a table is paperwork about the conversation; a change elsewhere is a change of the business.
_PAPERWORK = re.compile(
    r"ticket|(^|_)(case|incident|interaction|conversation|contact|enquir|inquir)|service_request|helpdesk|identity_check|verification"
)
#: Two traps whose words are alike to this degree are one trap.
SAME_TRAP = 0.6


@dataclass(frozen=True)
class EndingsReport:
    """`by_task`: the endings of each. `told`: whether the world said so ("world") or only 'hardness' ("hardness").
    `paperwork_only`: tasks in which nothing may change but the record of the conversation.

    `idle`: tasks that a bot passes which does nothing: nothing is to change, and no reply rule judges what is said.

    `traps`: groups of tasks with the same trap, the largest first; a group of one is a trap used once.
    """

    by_task: Mapping[str, tuple[str, ...]]
    told: Mapping[str, str]
    paperwork_only: tuple[str, ...]
    idle: tuple[str, ...]
    traps: tuple[tuple[str, ...], ...]
    without_trap: tuple[str, ...]
    hardness: Mapping[str, int]
    without_hardness: tuple[str, ...]
    problems: tuple[Problem, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many tasks end in each way."""
        found = Counter(ending for endings in self.by_task.values() for ending in endings)
        return {ending: found[ending] for ending in ENDINGS}

    def as_json(self) -> dict[str, Any]:
        return {
            "counts": self.counts(),
            "paperwork_only": len(self.paperwork_only),
            "passed_by_doing_nothing": list(self.idle),
            "told_by": dict(sorted(Counter(self.told.values()).items())),
            "tasks": {task: list(endings) for task, endings in self.by_task.items()},
            "traps": {
                "once": sum(len(group) == 1 for group in self.traps),
                "twice": [list(group) for group in self.traps if len(group) == 2],
                "more": [list(group) for group in self.traps if len(group) > 2],
                "never": list(self.without_trap),
            },
            "hardness": dict(self.hardness),
            "hardness_never": [h for h, count in self.hardness.items() if not count],
            "without_hardness": list(self.without_hardness),
        }


def examine_endings(subject: Subject) -> EndingsReport:
    """The endings of the chosen tasks; traps and hardness of the whole pack. Reports, finds nothing wrong."""
    by_task: dict[str, tuple[str, ...]] = {}
    told: dict[str, str] = {}
    for task_id in subject.tasks:
        by_task[task_id], told[task_id] = endings_of(subject, subject.gold(task_id))
    tasks = list(subject.pack.tasks.values())
    counted = Counter(h.value for task in tasks for h in task.hardness)
    return EndingsReport(
        by_task=by_task,
        told=told,
        paperwork_only=tuple(
            t for t, endings in by_task.items() if not {"change", "no_change"} & set(endings)
        ),
        idle=tuple(t for t in by_task if _is_idle(subject.pack.tasks[t])),
        traps=tuple(_same_traps(tasks)),
        without_trap=tuple(t.id for t in tasks if t.trap is None),
        hardness={h.value: counted[h.value] for h in Hardness},
        without_hardness=tuple(t.id for t in tasks if not t.hardness),
    )


def _is_idle(task: Task) -> bool:
    return task.expected.no_change and not task.reply


def endings_of(subject: Subject, gold: Gold) -> tuple[tuple[str, ...], str]:
    """How a task ends, in the order of ENDINGS, and what told so: "world" or "hardness"."""
    world = subject.world
    found: set[str] = set()
    if compare(world.tables, world.pack.comparison, [gold.changes], ChangeSet(())).equal:
        found.add("no_change")
    elif any(_is_business(row, world.pack.comparison.ignore_tables) for row in gold.changes.rows):
        found.add("change")
    said = set(_said(gold.changes.rows))
    if said:
        return _ordered(found | said), "world"
    hardness = set(gold.task.hardness)
    if Hardness.MUST_REFUSE in hardness:
        found.add("refusal")
    if Hardness.PARTLY_ALLOWED in hardness:
        found.add("partly")
    if Hardness.IDENTITY_MISMATCH in hardness and not found - {"no_change"}:
        found.add("unverified")
    if "change" in found:
        return _ordered(found), "world"
    if not found - {"no_change"}:
        found.add("information")  # nothing was done and nothing refused: something was said
    return _ordered(found), "hardness"


def _said(rows: Sequence[RowChange]) -> Iterator[str]:
    """What changed cells of columns like `outcome` and `status` say."""
    for row in rows:
        if row.after is None:
            continue
        for column, value in row.after.items():
            new = row.before is None or row.before.get(column) != value
            if new and isinstance(value, str) and _COLUMN.search(column.casefold()):
                text = re.sub(r"[\s-]+", "_", value.casefold())
                yield from (ending for ending, pattern in _VALUES.items() if pattern.search(text))


def _is_business(row: RowChange, ignored: Iterable[str]) -> bool:
    return row.table not in ignored and not _PAPERWORK.search(row.table.casefold())


def _ordered(found: set[str]) -> tuple[str, ...]:
    return tuple(ending for ending in ENDINGS if ending in found)


def _same_traps(tasks: Sequence[Task]) -> list[tuple[str, ...]]:
    """Tasks whose traps are worded alike, put together; in the pack's order, the largest groups first."""
    groups: list[tuple[list[str], list[frozenset[str]]]] = []
    for task in tasks:
        if task.trap is None:
            continue
        said = words(task.trap[:LONGEST_TRAP])
        for members, texts in groups:
            if any(_alike(said, other) >= SAME_TRAP for other in texts):
                members.append(task.id)
                texts.append(said)
                break
        else:
            groups.append(([task.id], [said]))
    return sorted((tuple(members) for members, _ in groups), key=lambda group: -len(group))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 1.0
