"""The verdict of one trial, for people."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from assay.cli.terminal import Terminal
from assay.engine.packs.models import Action, Task
from assay.engine.trial import TrialRecord
from assay.reports.money import money
from assay.reports.wording import category, cause, check_name, ending

_COLOURS = {"passed": "green", "failed": "red", "void": "yellow"}


def show_verdict(terminal: Terminal, task: Task, record: TrialRecord) -> None:
    """What came of the trial and why; for one that failed also what was expected."""
    verdict = record.verdict or {}
    ended = f"{ending(record.transcript['termination'])}."
    terminal.say("")
    if record.status == "void":
        says = record.transcript["detail"] or _undecided(record)
        terminal.say(f"{cause(record.void_cause or '')}. {says}".strip(), "VOID", _COLOURS["void"])
        terminal.say("A void trial says nothing about the bot.")
        return
    if record.status == "passed":
        terminal.say(f"{ended} The database is as policy requires.", "PASSED", _COLOURS["passed"])
        for check in verdict.get("checks", ()):
            if check["outcome"] == "fail":  # reported only, or the trial would have failed
                terminal.say(f"\n{check_name(check['name'])}: fail, not required")
                terminal.say("\n".join(f"  - {e['message']}" for e in check["evidence"]))
        return
    terminal.say(category(verdict["category"]), "FAILED", _COLOURS["failed"])
    terminal.say(f"{ended}\n{verdict['explanation']}")
    for check in verdict["checks"]:
        if check["outcome"] == "pass":
            continue
        evidence = [e["message"] for e in check["evidence"]]
        if len(evidence) == 1 and evidence[0][1:].rstrip(".") in verdict["explanation"]:
            continue  # said above
        terminal.say(f"\n{check_name(check['name'])}: {check['outcome'].replace('_', ' ')}")
        terminal.say("\n".join(f"  - {message}" for message in evidence))
    if verdict["costs"]:
        terminal.say("\nMoney:")
        terminal.say("\n".join(f"  - {line}" for cost in verdict["costs"] for line in _cost(cost)))
    terminal.say("\nExpected:")
    terminal.say("\n".join(f"  {line}" for line in _expected(task)))


def _cost(cost: Mapping[str, Any]) -> Iterator[str]:
    """refunded: 17.50 EUR too much, borne by the company"""
    other = {"company": "customer", "customer": "company"}[cost["paid_by"]]
    for amount, says, bearer in (
        (cost["over"], "too much", cost["paid_by"]),
        (cost["under"], "too little", other),
    ):
        if amount:
            yield f"{cost['what']}: {money(amount, cost['currency'])} {says}, borne by the {bearer}"


def _undecided(record: TrialRecord) -> str:
    messages = [
        evidence["message"]
        for check in (record.verdict or {}).get("checks", [])
        if check["outcome"] == "cannot_tell" and check["required"]
        for evidence in check["evidence"]
    ]
    return " ".join(messages)


def _expected(task: Task) -> Iterator[str]:
    if task.expected.no_change:
        yield "nothing is changed"
    yield from (_call(action) for action in task.expected.actions)
    for other in task.expected.also_accept:
        yield f"or, because {other.why.rstrip('.')}:"
        yield from (f"  {_call(action)}" for action in other.actions)
    for rule in task.reply:
        if rule.must is not None:
            yield f"the reply must {rule.must}"
        elif rule.must_not is not None:
            yield f"the reply must not {rule.must_not}"
        else:
            yield f"nothing may be said of: {rule.must_not_contain_from}"


def _call(action: Action) -> str:
    given = ", ".join(f"{key}={_value(value)}" for key, value in action.args.items())
    return f"{action.tool}({given})" + (f"  as {action.as_}" if action.as_ else "")


def _value(value: Any) -> str:
    reference = isinstance(value, str) and value.startswith("$") and not value.startswith("$$")
    return str(value) if reference else json.dumps(value, ensure_ascii=False)
