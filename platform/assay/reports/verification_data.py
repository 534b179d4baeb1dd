"""A verification's content, ready to be laid out: every figure is worded here, nothing is computed in a template."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.reports.wording import count, percent

Row = Mapping[str, Any]

#: Findings on one page; a pack that is wrong everywhere makes thousands.
MOST_FINDINGS = 500
_MOST_NAMED = 12
#: Marks in the map of clauses and tasks, and rows of a table; beyond, the page is too large to be read.
_MOST_MARKS = 20_000
_MOST_ROWS = 2_000

FATES = {
    "killed": "Killed",
    "refused": "Refused",
    "same": "Same rows",
    "accepted": "Accepted",
    "declared": "Declared",
    "survived": "Survived",
}
_HOW = {
    "known": "Stand somewhere a bot can read",
    "reference": "Taken from an earlier result",
    "choice": "A choice of the tool's own schema",
    "derived": "Worked out by a clause",
    "wording": "Free wording",
    "unknown": "Cannot be known",
}
_FROM = {
    "opening": "the opening",
    "fact": "a fact",
    "customer": "what the customer says later",
    "result": "a result",
    "policy": "the policy",
    "article": "an article",
    "clock": "the clock",
    "tools": "a tool's description",
}
_ENDINGS = {
    "change": "Something is changed",
    "no_change": "Nothing at all is changed",
    "refusal": "A request is refused",
    "partly": "A request is met in part",
    "escalation": "It is escalated",
    "information": "An explanation is given",
    "withdrawn": "The customer withdraws",
    "unverified": "The identity does not check out",
}


@dataclass(frozen=True, slots=True)
class Matrix:
    """Clauses down, tasks across: a picture in the units of its view box. `marks`: x, y, tooltip.

    `wide`: how wide it is shown, in pixels, so that the smallest text can be read.
    """

    wide: int
    width: int
    height: int
    left: int
    rows: Sequence[Row]
    columns: Sequence[Row]
    marks: Sequence[tuple[int, int, str]]


@dataclass(frozen=True, slots=True)
class VerificationData:
    """What templates/reports/verification_body.html lays out. The names are those used there. A part that was not
    reached is None or empty."""

    title: str
    counts: str
    sound: bool
    verdict: str
    figures: Sequence[Row]
    finding_kinds: Sequence[Row]
    findings: Sequence[Row]
    more_findings: str
    fates: Sequence[str]
    mutants: Sequence[Row]
    survivors: Sequence[Row]
    equivalents: Sequence[Row]
    known: Sequence[Row]
    known_from: str
    questions: str
    information: Sequence[Row]
    only_routine: str
    leaks: Sequence[Row]
    texts_read: int
    matrix: Matrix | None
    clauses: Sequence[Row]
    endings: Sequence[Row]
    idle: str
    hardness: Sequence[Row]
    traps: Sequence[str]
    nearest: Sequence[Row]
    likeness: str
    money: Sequence[Row]
    uncounted: str
    facts: Sequence[tuple[str, str]]


def verification_data(document: Row) -> VerificationData:
    """The report of a verification, from its JSON document."""
    parts = {name: part or {} for name, part in document.get("parts", {}).items()}
    problems = list(document.get("problems", ()))
    tasks = len(document.get("tasks", ()))
    mutation, coverage = parts.get("mutation", {}), parts.get("coverage", {})
    endings, similarity = parts.get("endings", {}), parts.get("similarity", {})
    information, leaks = parts.get("information", {}), parts.get("leaks", {})
    money = parts.get("money", {})
    return VerificationData(
        title=f"{document['pack']} {document['version']}",
        counts=f"{count(tasks, 'task')}, verified in {document.get('seconds', 0):.1f} s",
        sound=not problems,
        verdict=_verdict(problems),
        figures=_figures(problems, parts),
        finding_kinds=[
            {"code": code, "count": n} for code, n in Counter(p["code"] for p in problems).most_common()
        ],
        findings=[_finding(p) for p in problems[:MOST_FINDINGS]],
        more_findings=f"{len(problems) - MOST_FINDINGS} more are not shown; correct these first."
        if len(problems) > MOST_FINDINGS
        else "",
        fates=list(FATES.values()),
        mutants=_mutants(mutation),
        survivors=[
            {
                **s,
                "through": ", ".join(s.get("through", ())) or "nothing differs",
                "declared": s.get("declared") or "",
            }
            for s in mutation.get("survivors", ())[:_MOST_ROWS]
        ],
        equivalents=[
            {"kind": kind.replace("_", " "), **counts}
            for kind, counts in parts.get("equivalents", {}).items()
        ],
        known=_bars(_HOW, parts.get("provenance", {}).get("by_how", {})),
        known_from=", ".join(
            f"{n} in {_FROM.get(kind, kind)}"
            for kind, n in parts.get("provenance", {}).get("known_from", {}).items()
        ),
        questions=_questions(information),
        information=[
            {"task": task, **_information(found, information)}
            for task, found in information.get("tasks", {}).items()
        ],
        only_routine=_named(information.get("only_routine", ())),
        leaks=[{**leak, "where": _where(leak)} for leak in leaks.get("leaks", ())[:_MOST_ROWS]],
        texts_read=int(leaks.get("cells", 0)),
        matrix=_matrix(coverage),
        clauses=[
            {**c, "where": _where(c), "count": len(c["tasks"]), "tasks": " ".join(c["tasks"])}
            for c in coverage.get("clauses", ())
        ],
        endings=_bars(_ENDINGS, endings.get("counts", {}), of=tasks),
        idle=_idle(endings.get("passed_by_doing_nothing", ())),
        hardness=_bars(
            {h: h.replace("_", " ") for h in endings.get("hardness", {})},
            endings.get("hardness", {}),
            of=tasks,
        ),
        traps=_traps(endings.get("traps", {})),
        nearest=[_pair(pair) for pair in similarity.get("nearest", ())],
        likeness=f"{similarity['pairs']} pairs were compared; from {similarity['limit']:.2f} up a pair is a finding."
        if similarity
        else "",
        money=[{**rule, "name": f"{rule['table']}.{rule['column']}"} for rule in money.get("rules", ())],
        uncounted=", ".join(money.get("uncounted", ())),
        facts=[
            ("Pack", f"{document['pack']} {document['version']}"),
            ("Content hash", str(document.get("content_hash", ""))),
            ("Tasks", str(tasks)),
            ("Seconds", f"{document.get('seconds', 0):.1f}"),
            (
                "Parts",
                ", ".join(name for name, part in document.get("parts", {}).items() if part is not None),
            ),
        ],
    )


def _verdict(problems: Sequence[Row]) -> str:
    if not problems:
        return "No finding. The verdicts of these tasks can be trusted as far as the verifier can tell."
    touched = len({p["task"] for p in problems if p.get("task")})
    about = f" in {count(touched, 'task')}" if touched else ""
    return f"{count(len(problems), 'finding')}{about}. Correct them before you rely on a run of this version."


def _figures(problems: Sequence[Row], parts: Mapping[str, Any]) -> list[Row]:
    figures: list[Row] = [
        {
            "says": "Findings",
            "value": str(len(problems)),
            "css": "bad" if problems else "ok",
            "name": "none is allowed",
        }
    ]
    mutation, coverage = parts.get("mutation", {}), parts.get("coverage", {})
    if mutation.get("mutants"):
        caught = int(mutation.get("killed", 0)) + int(mutation.get("refused", 0))
        right = sum(int(mutation.get(fate, 0)) for fate in ("same", "accepted", "declared"))
        judged = int(mutation["mutants"]) - right
        figures.append(
            {
                "says": "Wrong outcomes that are caught",
                "value": percent(caught / judged if judged else None),
                "css": "",
                "name": f"{caught} of {judged} mutants that are wrong",
            }
        )
    if coverage.get("clauses"):
        clauses = coverage["clauses"]
        covered = sum(bool(c["tasks"]) for c in clauses)
        figures.append(
            {
                "says": "Clauses exercised",
                "value": percent(covered / len(clauses)),
                "css": "",
                "name": f"{covered} of {len(clauses)} normative clauses",
            }
        )
    if parts.get("similarity", {}).get("nearest"):
        nearest = parts["similarity"]["nearest"][0]
        figures.append(
            {
                "says": "The two tasks most alike",
                "value": f"{nearest['score']:.2f}",
                "css": "",
                "name": " and ".join(nearest["tasks"]),
            }
        )
    return figures


def _finding(problem: Row) -> Row:
    return {**problem, "where": _where(problem), "task": problem.get("task") or ""}


def _where(item: Row) -> str:
    return f"{item['path']}:{item['line']}" if item.get("line") else str(item["path"])


def _mutants(mutation: Row) -> list[Row]:
    rows: list[Row] = []
    for kind, counts in mutation.get("kinds", {}).items():
        cells = [counts.get(fate, 0) for fate in FATES]
        rows.append(
            {
                "kind": kind.replace("_", " "),
                "all": sum(cells),
                "cells": [c or "" for c in cells],
                "total": False,
            }
        )
    if rows:
        cells = [int(mutation.get(fate, 0)) for fate in FATES]
        rows.append({"kind": "all", "all": sum(cells), "cells": [c or "" for c in cells], "total": True})
    return rows


def _bars(names: Mapping[str, str], counts: Mapping[str, int], of: int | None = None) -> list[Row]:
    """One bar for each name; `of`: what the whole width stands for (default: all counts together)."""
    whole = of or sum(counts.values()) or 1
    return [
        {
            "name": name,
            "count": counts.get(key, 0),
            "width": round(100 * min(1.0, counts.get(key, 0) / whole), 1),
        }
        for key, name in names.items()
        if key in counts
    ]


def _questions(information: Row) -> str:
    numbers = {int(n): tasks for n, tasks in information.get("questions", {}).items()}
    if not numbers:
        return ""
    tasks = sum(numbers.values())
    mean = sum(n * t for n, t in numbers.items()) / tasks
    return (
        f"A bot has to ask for {mean:.1f} facts a task at least, {min(numbers)} to {max(numbers)}; "
        f"{information.get('claimed', 0)} tasks claim hidden information."
    )


def _information(found: Row, information: Row) -> Row:
    routine = set(information.get("routine", ()))
    return {
        "questions": found["questions"],
        "hidden": ", ".join(key for key in found["hidden"] if key not in routine),
        "routine": ", ".join(key for key in found["hidden"] if key in routine),
        "told": ", ".join(key for key in found["needed"] if key not in found["hidden"]),
        "unneeded": ", ".join(found["unneeded"]),
        "claimed": found["claimed"],
    }


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _traps(traps: Row) -> list[str]:
    if not traps:
        return []
    said = [f"{count(int(traps.get('once', 0)), 'trap')} used once."]
    for key, words in (("twice", "used twice"), ("more", "used more than twice")):
        said += [f"One {words}: {', '.join(group)}." for group in traps.get(key, ())]
    never = traps.get("never", ())
    said.append(f"Without a trap: {_named(never)}." if never else "Every task has a trap.")
    return said


def _idle(tasks: Sequence[str]) -> str:
    if not tasks:
        return ""
    what = "nothing may change there, and no reply is judged"
    return f"A bot that does nothing passes {count(len(tasks), 'task')} ({what}): {_named(tasks)}."


def _pair(pair: Row) -> Row:
    parts = [f"{pair[name]:.2f}" for name in ("clauses", "steps", "trap", "hardness") if name in pair]
    return {"tasks": pair["tasks"], "score": f"{pair['score']:.2f}", "parts": parts}


_CELL, _LABELS, _HEAD, _ENLARGED = 7, 74, 62, 1.6


def _matrix(coverage: Row) -> Matrix | None:
    clauses = coverage.get("clauses", ())
    tasks = list(dict.fromkeys(task for c in clauses for task in c["tasks"]))
    if not clauses or not tasks or sum(len(c["tasks"]) for c in clauses) > _MOST_MARKS:
        return None
    # In the order of the ids, so that tasks of one group stand together.
    place = {task: _LABELS + _CELL * n for n, task in enumerate(sorted(tasks))}
    groups: dict[str, int] = {}
    for task in sorted(tasks):
        groups.setdefault(task.rpartition("-")[0], place[task])
    width = _LABELS + _CELL * len(tasks) + 4
    return Matrix(
        wide=round(_ENLARGED * width),
        width=width,
        height=_HEAD + _CELL * len(clauses) + 4,
        left=_LABELS,
        rows=[
            {
                "y": _HEAD + _CELL * n,
                "text_y": _HEAD + _CELL * n + 6,
                "name": c["id"],
                "empty": not c["tasks"],
            }
            for n, c in enumerate(clauses)
        ],
        columns=[{"x": x, "name": group.partition("-")[2] or group} for group, x in groups.items()],
        marks=[
            (place[task], _HEAD + _CELL * n, f"{c['id']}, {task}")
            for n, c in enumerate(clauses)
            for task in c["tasks"]
        ],
    )
