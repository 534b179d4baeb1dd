"""What checks say of other parts of the pack: tools, their arguments, clauses; and patterns that must compile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.engine.packs.checks import ChecksFile, ProcessRule
from assay.engine.packs.findings import Findings, listed, shown, suggestion
from assay.engine.packs.languages import LANGUAGES
from assay.engine.packs.models import Task
from assay.engine.packs.references import BUILT_IN, Known
from assay.engine.packs.regexes import pattern_problem
from assay.engine.packs.yamls import Document

Finding = tuple[tuple[str | int, ...], str, str]  # keys, sentence, code


def check_pack_checks(checks: ChecksFile, document: Document, known: Known, findings: Findings) -> None:
    """The process rules of checks.yaml. Tables and columns are for the world to check."""
    for at, message, code in _rules(checks.process, known, set()):
        findings.add(document.path, document.line("process", *at), message, code)


def check_task_checks(
    task: Task, pack: ChecksFile, document: Document, index: int, known: Known, findings: Findings
) -> None:
    """The process rules of a task, the rules that it skips, and the patterns of its reply rules."""

    def add(message: str, code: str, *keys: str | int) -> None:
        findings.add(document.path, document.line(index, *keys), message, code, task=task.id)

    names = {rule.id for rule in pack.process}
    for at, message, code in _rules(task.checks.process, known, names):
        add(message, code, "checks", "process", *at)
    for number, name in enumerate(task.checks.skip):
        if name not in names:
            near = suggestion(name, names)
            add(
                f"checks.yaml has no process rule {shown(name)}{near}",
                "unknown_check",
                "checks",
                "skip",
                number,
            )
    for number, rule in enumerate(task.reply):
        if rule.language is not None and rule.language not in LANGUAGES:
            message = f"Assay cannot tell {shown(rule.language)}; it knows {listed(sorted(LANGUAGES))}."
            add(message, "unknown_language", "reply", number, "language")
        for kind, pattern in (("must_match", rule.must_match), ("must_not_match", rule.must_not_match)):
            wrong = pattern_problem(pattern) if pattern is not None else None
            if wrong is not None:
                add(wrong, "bad_pattern", "reply", number, kind)


def _rules(rules: Sequence[ProcessRule], known: Known, taken: set[str]) -> Iterator[Finding]:
    seen: set[str] = set()
    for number, rule in enumerate(rules):
        if rule.id in seen or rule.id in taken:
            yield (
                (number, "id"),
                f"There is a process rule {shown(rule.id)} already; rename one.",
                "duplicate_check",
            )
        seen.add(rule.id)
        named: list[tuple[tuple[str | int, ...], str | None]] = [
            (("before",), rule.before),
            (("confirm_before",), rule.confirm_before),
            (("never",), rule.never),
            (("tool",), rule.tool),
            *((("calls", place), tool) for place, tool in enumerate(rule.calls)),
        ]
        for keys, tool in named:
            if tool is not None and not _is_tool(tool, known):
                near = suggestion(tool, known.tools)
                yield (number, *keys), f"There is no tool {shown(tool)}{near}", "unknown_tool"
        counted = known.tools.get(rule.tool) if rule.tool is not None else None
        if counted is not None and rule.per is not None:
            arguments = counted.input.get("properties", {})
            if rule.per not in arguments:
                near = suggestion(rule.per, arguments)
                message = f"{rule.tool} has no argument {shown(rule.per)}{near}"
                yield (number, "per"), message, "unknown_argument"
        if rule.clause is not None and known.clauses is not None and rule.clause not in known.clauses:
            near = suggestion(rule.clause, known.clauses)
            message = f"There is no clause {rule.clause} in policy.md{near}"
            yield (number, "clause"), message, "unknown_clause"


def _is_tool(tool: str, known: Known) -> bool:
    """Broken tools have a problem of their own; None for `broken` means that any tool may be there."""
    return (
        tool in known.tools
        or known.broken is None
        or tool in known.broken
        or (tool.startswith(BUILT_IN) and known.articles)
    )
