"""Tools and tasks: lists of items in several files, each item checked on its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.engine.packs.check_references import check_task_checks
from assay.engine.packs.checks import ChecksFile
from assay.engine.packs.findings import Findings, shown
from assay.engine.packs.models import Source, Task, Tool
from assay.engine.packs.references import BUILT_IN, Known, check_task
from assay.engine.packs.schemas import check_schema, count_values
from assay.engine.packs.shapes import kind_of, validate
from assay.engine.packs.sources import Sources
from assay.engine.packs.yamls import Document

#: Tools, or tasks, of a pack; and values in one of them.
MOST_ITEMS = 2_000
MOST_VALUES = 5_000


@dataclass(slots=True)
class Tools:
    """What the files of tools hold."""

    good: dict[str, Tool] = field(default_factory=dict)
    broken: set[str] = field(default_factory=set)  # names of tools that do not fit
    unread: bool = False  # something could not be read, so there may be tools of any name


class ItemReader:
    """Reads items and notes in `sources` where each begins, also the broken ones."""

    def __init__(
        self, documents: Mapping[str, Document | None], sources: Sources, findings: Findings
    ) -> None:
        self._documents = documents
        self._sources = sources
        self._findings = findings

    def tools(self, paths: Sequence[str]) -> Tools:
        """The tools of the files, in order."""
        tools = Tools()
        for document, index, value in self._items(paths, "tools"):
            if document is None:
                tools.unread = True
                continue
            before = self._findings.reported
            tool = validate(Tool, document, self._findings, index)
            if tool is not None:
                self._check_tool(tool, document, index)
            name = value.get("name") if isinstance(value, dict) else None
            if tool is not None and self._findings.reported == before:
                tools.good[tool.name] = tool
            elif isinstance(name, str):
                tools.broken.add(name)
            else:
                tools.unread = True
            self._note("tool", name, document, index)
        return tools

    def tasks(self, paths: Sequence[str], known: Known, checks: ChecksFile) -> dict[str, Task]:
        """The tasks of the files, in order: those without a problem, whose tools have none either."""
        tasks: dict[str, Task] = {}
        for document, index, value in self._items(paths, "tasks"):
            if document is None:
                continue
            before = self._findings.reported
            name = value.get("id") if isinstance(value, dict) else None
            if not isinstance(name, str):
                name = None
            task = validate(Task, document, self._findings, index, task=name)
            if task is not None:
                self._check_unique(f"task:{task.id}", "id", document, index, task.id)
                check_task(task, document, index, known, self._findings)
                check_task_checks(task, checks, document, index, known, self._findings)
                if self._findings.reported == before and _can_run(task, known):
                    tasks[task.id] = task
            self._note("task", name, document, index)
        return tasks

    def _items(self, paths: Sequence[str], what: str) -> Iterator[tuple[Document | None, int, Any]]:
        """(document, index, value) of each item; a document of None for items that could not be read."""
        number = 0
        for path in paths:
            document = self._documents.get(path)
            if document is None or not self._is_list(document, what):
                yield None, 0, None
                continue
            for index, value in enumerate(document.value):
                number += 1
                if number > MOST_ITEMS or self._findings.enough(path):
                    if number > MOST_ITEMS:
                        message = (
                            f"The pack has more than {MOST_ITEMS:,} {what}; split it into several packs."
                        )
                        self._findings.add(path, document.line(index), message, f"too_many_{what}")
                    yield None, 0, None
                    break
                if count_values(value) > MOST_VALUES:
                    message = f"The item holds more than {MOST_VALUES:,} values; make it smaller."
                    self._findings.add(path, document.line(index), message, "too_many_values")
                    yield None, 0, None
                    continue
                yield document, index, value
        if not paths:
            self._findings.add(what, 0, f"The pack has no {what}; write them in {what}/*.yaml.", f"no_{what}")

    def _is_list(self, document: Document, what: str) -> bool:
        if document.value is None:
            message = f"The file is empty; write a list of {what}, or remove it."
            self._findings.add(document.path, 0, message, "empty_file")
        elif not isinstance(document.value, list):
            message = f"The file holds a list of {what} ('- ...'), but this is {kind_of(document.value)}."
            self._findings.add(document.path, document.line(), message, "bad_value")
        return isinstance(document.value, list)

    def _check_tool(self, tool: Tool, document: Document, index: int) -> None:
        self._check_unique(f"tool:{tool.name}", "name", document, index, None)
        if tool.name.startswith(BUILT_IN):
            message = (
                f"Names that begin with {BUILT_IN} are those of built-in tools; rename {shown(tool.name)}."
            )
            self._findings.add(document.path, document.line(index, "name"), message, "reserved_name")
        for keys, message in check_schema(tool.input):
            self._findings.add(document.path, document.line(index, "input", *keys), message, "bad_schema")

    def _check_unique(self, source: str, key: str, document: Document, index: int, task: str | None) -> None:
        if source not in self._sources:
            return
        first = self._sources[source]
        what, name = source.split(":", 1)
        message = f"There is a {what} {name} already, in {first.path}:{first.line}; change one of the two."
        self._findings.add(document.path, document.line(index, key), message, f"duplicate_{what}", task=task)

    def _note(self, what: str, name: object, document: Document, index: int) -> None:
        if isinstance(name, str):
            line = document.line(index)
            self._sources.note(f"{what}:{name}", Source(document.path, line), document.place.inside[index])


def _can_run(task: Task, known: Known) -> bool:
    """False for a task whose tool is broken: the tool's own problem is enough."""
    outcomes = [task.expected.actions, *(other.actions for other in task.expected.also_accept)]
    names = {action.tool for actions in outcomes for action in actions}
    return all(n in known.tools or n.startswith(BUILT_IN) for n in names)
