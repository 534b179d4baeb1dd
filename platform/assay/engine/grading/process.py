"""The process rules of a pack and a task, over the transcript and the rows that the calls changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.engine.dialogue.transcript import ToolCall, Transcript
from assay.engine.grading.consent import consent_before
from assay.engine.grading.reach import reach
from assay.engine.packs.checks import ProcessRule
from assay.engine.packs.models import Task
from assay.engine.sandbox import ChangeSet, World
from assay_sdk import CheckResult, Evidence, Outcome

PROCESS = "process:"

#: A call with the index of its event.
Numbered = tuple[int, ToolCall]


def rules_of(world: World, task: Task) -> list[ProcessRule]:
    """The rules that hold for a task: those of checks.yaml that it does not skip, and its own."""
    return [
        *(r for r in world.pack.checks.process if r.id not in task.checks.skip),
        *task.checks.process,
    ]


def check_process(world: World, task: Task, transcript: Transcript, changes: ChangeSet) -> list[CheckResult]:
    """One check "process:ID" for each rule that holds for the task."""
    return [_check(rule, world, transcript, changes) for rule in rules_of(world, task)]


def _check(rule: ProcessRule, world: World, transcript: Transcript, changes: ChangeSet) -> CheckResult:
    calls = [(n, e) for n, e in enumerate(transcript.events) if isinstance(e, ToolCall)]
    # What came of a call in the sandbox counts, whatever a fault on purpose told the bot.
    done = [(n, c) for n, c in calls if c.made and c.truth["ok"]]
    if rule.before is not None:
        found = _before(rule, world, done, changes)
    elif rule.confirm_before is not None:
        found = _confirmed(rule, transcript, done)
    elif rule.at_most is not None:
        found = _at_most(rule, done)
    else:
        found = _never(rule, done)
    outcome, evidence = found
    if rule.clause is not None and outcome is not Outcome.PASS:
        evidence = [
            Evidence(f"{e.message} ({rule.clause})", e.turn, e.call, e.table, e.row, e.span) for e in evidence
        ]
    passed = outcome is Outcome.PASS
    return CheckResult(f"{PROCESS}{rule.id}", outcome, rule.required, float(passed), tuple(evidence))


Found = tuple[Outcome, list[Evidence]]


def _before(rule: ProcessRule, world: World, done: Sequence[Numbered], changes: ChangeSet) -> Found:
    ready: ToolCall | None = None
    doubtful: list[Evidence] = []
    guarded = 0
    for turn, call in done:
        if call.tool == rule.before and _holds(call.truth["result"], rule.with_):
            ready = ready or call
        sure = call.tool in rule.calls
        tables = [] if sure else list(_written(call, rule.writes, world, changes))
        if not sure and not tables:
            continue
        guarded += 1
        if ready is not None:
            continue
        what = f"changed {tables[0][0]}" if tables else "was made"
        outcome = f" with {_listed(rule.with_)}" if rule.with_ else ""
        says = f"Call {call.call} ({call.tool}) {what} before a call of {rule.before} had succeeded{outcome}."
        evidence = Evidence(says, turn=turn, call=call.call, table=tables[0][0] if tables else None)
        if sure or any(certain for _, certain in tables):
            return Outcome.FAIL, [evidence]
        doubtful.append(
            Evidence(f"{says} Whether it changed that table cannot be told.", turn=turn, call=call.call)
        )
    if doubtful:
        return Outcome.CANNOT_TELL, doubtful
    if not guarded:
        return Outcome.PASS, [Evidence("No call was made that asks for it.")]
    assert ready is not None
    says = f"{rule.before} had succeeded (call {ready.call}) before the {guarded} calls that ask for it."
    return Outcome.PASS, [Evidence(says, call=ready.call)]


def _confirmed(rule: ProcessRule, transcript: Transcript, done: Sequence[Numbered]) -> Found:
    unclear: list[Evidence] = []
    agreed: list[Evidence] = []
    for turn, call in done:
        if call.tool != rule.confirm_before:
            continue
        read = consent_before(transcript.events, turn)
        evidence = Evidence(
            read.message,
            turn=turn if read.turn is None else read.turn,
            call=call.call,
            span=read.span,
        )
        if read.outcome is Outcome.FAIL:
            return Outcome.FAIL, [evidence]
        (agreed if read.outcome is Outcome.PASS else unclear).append(evidence)
    if unclear:
        return Outcome.CANNOT_TELL, unclear
    return Outcome.PASS, agreed or [Evidence(f"{rule.confirm_before} was not called.")]


def _at_most(rule: ProcessRule, done: Sequence[Numbered]) -> Found:
    assert rule.at_most is not None
    counted: dict[str, list[Numbered]] = {}
    for turn, call in done:
        if call.tool != rule.tool:
            continue
        value = ""
        if rule.per is not None:
            given = call.arguments.get(rule.per) if isinstance(call.arguments, Mapping) else None
            value = str(given).strip().casefold()
        counted.setdefault(value, []).append((turn, call))
    for value, calls in counted.items():
        if len(calls) > rule.at_most:
            turn, call = calls[rule.at_most]
            per = f" for {rule.per} {value}" if rule.per is not None else ""
            says = f"Call {call.call} is the {_ordinal(rule.at_most + 1)} of {rule.tool}{per}; {rule.at_most} may be made."
            return Outcome.FAIL, [Evidence(says, turn=turn, call=call.call)]
    most = max(map(len, counted.values()), default=0)
    return Outcome.PASS, [Evidence(f"{rule.tool} succeeded {most} times of the {rule.at_most} allowed.")]


def _never(rule: ProcessRule, done: Sequence[Numbered]) -> Found:
    for turn, call in done:
        if call.tool == rule.never:
            says = f"Call {call.call} ({call.tool}) may never be made."
            return Outcome.FAIL, [Evidence(says, turn=turn, call=call.call)]
    return Outcome.PASS, [Evidence(f"{rule.never} was not called.")]


def _written(
    call: ToolCall, tables: Sequence[str], world: World, changes: ChangeSet
) -> Iterator[tuple[str, bool]]:
    """Which of `tables` a call changed, and whether that is certain.

    The change set names the last writer of each row that is other than before; what was written over later, or taken
    back, is known from the tool's own SQL alone.
    """
    tool = world.pack.tools.get(call.tool)
    if not call.wrote or tool is None:
        return
    seen = {row.table for row in changes.rows if row.call == call.call}
    reached = reach(tool)
    could = reached.inserts | reached.deletes | {table for table, _ in reached.updates}
    for table in tables:
        if table in seen:
            yield table, True
        elif table.lower() in could:
            yield table, len(could) == 1


def _holds(result: Any, wanted: Mapping[str, Any]) -> bool:
    if not wanted:
        return True
    return isinstance(result, Mapping) and all(
        name in result and _alike(result[name], value) for name, value in wanted.items()
    )


def _alike(found: Any, wanted: Any) -> bool:
    """SQLite has no booleans: 1 is true."""
    if isinstance(wanted, bool):
        return isinstance(found, int) and bool(found) is wanted and found in (0, 1)
    return bool(found == wanted) and not isinstance(found, bool)


def _listed(wanted: Mapping[str, Any]) -> str:
    return ", ".join(f"{name} {value}" for name, value in wanted.items())


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10 if number % 100 not in (11, 12, 13) else 0, "th")
    return f"{number}{ending}"
