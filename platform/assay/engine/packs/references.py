"""What a task says of other parts of the pack: clauses, tools and their arguments, results of earlier actions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.packs.findings import Findings, shown, suggestion
from assay.engine.packs.models import Action, Clause, Task, Tool
from assay.engine.packs.schemas import check_arguments, count_values
from assay.engine.packs.seed import check_cell
from assay.engine.packs.yamls import Document

#: Tools that every pack with articles has.
BUILT_IN = "knowledge_"
#: Values in the arguments of one action.
MOST_ARGUMENT_VALUES = 1_000
#: Values of arguments times values of their schema, above which they are not compared while the pack is read.
MOST_COMPARED = 20_000

_REFERENCE = re.compile(r"\$([a-z][a-z0-9_]{0,39})((?:\.[A-Za-z0-9_]+)+)")
#: A kind, the number of an action, what follows; an ending `*` stands for anything.
_MUTANT = re.compile(r"[a-z][a-z_]*:[0-9]+[.=*].*", re.DOTALL)
_KNOWLEDGE_INPUTS: dict[str, dict[str, Any]] = {
    "knowledge_search": {
        "required": ["query"],
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 20},
        },
    },
    "knowledge_read": {"required": ["section"], "properties": {"section": {"type": "string"}}},
}


@dataclass(frozen=True, slots=True)
class Known:
    """What tasks may refer to. `broken` names tools that are there but do not fit; None: some file could not be read."""

    tools: Mapping[str, Tool]
    broken: frozenset[str] | None
    clauses: Mapping[str, Clause] | None
    articles: bool


def check_task(task: Task, document: Document, index: int, known: Known, findings: Findings) -> None:
    """Clauses, tools, arguments, references between actions, and the form of overlay rows."""

    def add(message: str, code: str, *keys: str | int) -> None:
        findings.add(document.path, document.line(index, *keys), message, code, task=task.id)

    if known.clauses is not None:
        for number, clause in enumerate(task.clauses):
            if findings.enough(document.path):
                return
            if clause not in known.clauses:
                near = suggestion(clause, known.clauses)
                add(f"There is no clause {clause} in policy.md{near}", "unknown_clause", "clauses", number)
    for table, rows in task.world.items():
        for number, row in enumerate(rows):
            for column, value in row.items():
                wrong = check_cell(value)
                if wrong is not None:
                    add(f"Column {shown(column)}: {wrong}", "bad_cell", "world", table, number, column)
    outcomes: list[tuple[tuple[str | int, ...], Sequence[Action]]] = [
        (("expected", "actions"), task.expected.actions)
    ]
    outcomes += [
        (("expected", "also_accept", number, "actions"), other.actions)
        for number, other in enumerate(task.expected.also_accept)
    ]
    for keys, actions in outcomes:
        for at, message, code in _check_actions(actions, known):
            add(message, code, *keys, *at)
    for at, message, code in (*_check_decides(task, known), *_check_equivalents(task)):
        add(message, code, *at)


def _check_decides(task: Task, known: Known) -> Iterator[Finding]:
    """`decides` names a clause, or an argument that an action of some accepted outcome is given."""
    actions = [*task.expected.actions, *(a for other in task.expected.also_accept for a in other.actions)]
    arguments = {f"{action.tool}.{name}" for action in actions for name in action.args}
    clauses = () if known.clauses is None else known.clauses
    for number, fact in enumerate(task.user.facts):
        for position, decided in enumerate(fact.decides):
            at = ("user", "facts", number, "decides", position)
            if "." in decided and decided[:1].islower():
                if decided not in arguments:
                    near = suggestion(decided, arguments)
                    yield (
                        at,
                        f"No expected action has the argument {shown(decided)}{near}",
                        "unknown_argument",
                    )
            elif known.clauses is not None and decided not in clauses:
                near = suggestion(decided, {*clauses, *arguments})
                message = f"{shown(decided)} is neither a clause of policy.md nor tool.argument{near}"
                yield at, message, "unknown_clause"


def _check_equivalents(task: Task) -> Iterator[Finding]:
    """The form of the names of mutants; whether there is such a mutant is for the verifier to say."""
    seen: set[str] = set()
    for number, entry in enumerate(task.expected.equivalents):
        at = ("expected", "equivalents", number, "mutant")
        if _MUTANT.fullmatch(entry.mutant) is None:
            message = f"{shown(entry.mutant)} names no mutant; copy the name from `assay pack verify`, as in drop:2.tickets_open."
            yield at, message, "bad_mutant"
        elif entry.mutant in seen:
            yield at, f"{shown(entry.mutant)} is listed already; remove one of the two.", "duplicate_mutant"
        seen.add(entry.mutant)


Finding = tuple[tuple[str | int, ...], str, str]  # keys, sentence, code


def _check_actions(actions: Sequence[Action], known: Known) -> Iterator[Finding]:
    earlier: dict[str, int] = {}
    for number, action in enumerate(actions):
        yield from _check_action(number, action, earlier, known)
        if action.as_ is not None:
            if action.as_ in earlier:
                yield (
                    (number, "as"),
                    f"An earlier action is called {shown(action.as_)}; choose another name.",
                    "name_taken",
                )
            earlier[action.as_] = number


def _check_action(number: int, action: Action, earlier: Iterable[str], known: Known) -> Iterator[Finding]:
    if count_values(action.args) > MOST_ARGUMENT_VALUES:
        message = f"The arguments hold more than {MOST_ARGUMENT_VALUES:,} values; make them smaller."
        yield (number, "args"), message, "bad_arguments"
        return
    for at, text in _texts(action.args):
        if not _is_reference(text):
            continue
        found = _REFERENCE.fullmatch(text)
        if found is None:
            message = (
                f"{shown(text)} begins with a '$' and is no $name.field; write $$ if it is meant as text."
            )
            yield (number, "args", *at), message, "bad_reference"
        elif found.group(1) not in earlier:
            near = suggestion(found.group(1), earlier)
            message = f"{shown(text)} refers to no earlier action; give one 'as: {found.group(1)}', or write $$ for text{near}"
            yield (number, "args", *at), message, "unknown_reference"
    for name, derivation in action.derived.items():
        if name not in action.args:
            message = f"'derived' explains {shown(name)}, but the action has no such argument{suggestion(name, action.args)}"
            yield (number, "derived", name), message, "unknown_argument"
        if (
            derivation.clause is not None
            and known.clauses is not None
            and derivation.clause not in known.clauses
        ):
            near = suggestion(derivation.clause, known.clauses)
            message = f"There is no clause {derivation.clause} in policy.md{near}"
            yield (number, "derived", name, "clause"), message, "unknown_clause"
    schema = _input_of(action.tool, known)
    if schema is None:
        if known.broken is not None and action.tool not in known.broken:
            near = suggestion(action.tool, known.tools)
            yield (number, "tool"), f"There is no tool {shown(action.tool)}{near}", "unknown_tool"
        return
    open_values = frozenset(
        n for n, value in action.args.items() if any(_is_reference(t) for _, t in _texts(value))
    )
    if count_values(schema) * count_values(action.args) > MOST_COMPARED:
        return  # replaying the task checks them all the same
    for at, message in check_arguments(schema, _plain(action.args), open_values):
        yield (number, "args", *at) if at else (number,), message, "bad_arguments"


def _input_of(tool: str, known: Known) -> Mapping[str, Any] | None:
    if tool in known.tools:
        return known.tools[tool].input
    return _KNOWLEDGE_INPUTS.get(tool) if known.articles else None


def _is_reference(text: str) -> bool:
    return text.startswith("$") and not text.startswith("$$")


def _plain(value: Any) -> Any:
    """An argument's value with `$$` read as `$`."""
    if isinstance(value, str):
        return value[1:] if value.startswith("$$") else value
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return value


def _texts(value: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    if isinstance(value, str):
        yield (), value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from (((key, *at), text) for at, text in _texts(inner))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from (((number, *at), text) for at, text in _texts(inner))
