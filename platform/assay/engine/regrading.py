"""Verdicts of finished trials under another version of the pack, from the stored evidence and without the bot.

The recorded calls are made again in the new world. When one comes to something else than the bot was told, the bot
might have gone on otherwise, so the trial says nothing about the new version: it is not comparable. No model is
asked: what a judge said of a reply counts again where the same rule asks the same; a rule it never read is undecided.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from assay.engine.dialogue.recording import plain
from assay.engine.dialogue.transcript import Transcript, transcript_from_json
from assay.engine.grading.checkers import Configured, change_as_json, run_checkers, trial_views
from assay.engine.grading.judge import conclude
from assay.engine.grading.judging import kept_judgements
from assay.engine.grading.reply import judged_part
from assay.engine.grading.verdict import Verdict
from assay.engine.packs.models import Task
from assay.engine.replaying import Replay
from assay.engine.sandbox import World
from assay.engine.trial import CANNOT_TELL, TrialRecord
from assay_sdk import Outcome, PlatformFault

NOT_COMPARABLE = "not_comparable"

#: Parts of a task of which a change can change verdicts.
_PARTS = ("world", "user", "expected", "reply", "checks")


@dataclass(frozen=True, slots=True)
class Regraded:
    """One trial. `status`: passed, failed, void, or not_comparable (then `record` is None and `why` says it).

    `why`: sentences on what is judged otherwise than before; empty when nothing is.
    """

    task: str
    index: int
    old_status: str
    old_category: str | None
    old_explanation: str
    status: str
    record: TrialRecord | None
    why: tuple[str, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether it is judged otherwise, or can no longer be."""
        return self.status != self.old_status or self.category != self.old_category

    @property
    def category(self) -> str | None:
        if self.record is None or self.status != "failed":
            return None
        return str((self.record.verdict or {}).get("category"))

    @property
    def explanation(self) -> str:
        return str(((self.record.verdict if self.record else None) or {}).get("explanation", ""))

    def as_json(self) -> dict[str, Any]:
        return {
            "task": self.task,
            "index": self.index,
            "changed": self.changed,
            "old": {
                "status": self.old_status,
                "category": self.old_category,
                "explanation": self.old_explanation,
            },
            "new": {"status": self.status, "category": self.category, "explanation": self.explanation},
            "why": list(self.why),
        }

    def as_trial(self, old: TrialRecord) -> TrialRecord:
        """The trial for a folder of results: one that is not comparable is void."""
        if self.record is not None:
            return self.record
        return replace(old, status="void", void_cause=NOT_COMPARABLE, verdict=None)


@dataclass
class Tally:
    """How many trials went from what to what."""

    moves: Counter[tuple[str, str]] = field(default_factory=Counter)
    changed: int = 0

    def add(self, one: Regraded) -> None:
        self.moves[one.old_status, one.status] += 1
        self.changed += one.changed

    def as_json(self) -> dict[str, Any]:
        return {
            "trials": self.moves.total(),
            "changed": self.changed,
            "not_comparable": sum(n for (_, to), n in self.moves.items() if to == NOT_COMPARABLE),
            "moves": [{"old": old, "new": new, "trials": n} for (old, new), n in sorted(self.moves.items())],
        }


def regrade(
    record: TrialRecord, world: World, checkers: Sequence[Configured] = (), old: World | None = None
) -> Regraded:
    """Judge a trial again in `world`. `old`: the world it was tried in, when at hand, to say what was changed.

    Raises ValueError when the record holds no transcript. Whatever else goes wrong becomes part of the answer.
    """
    task = world.pack.tasks.get(record.task)
    before = old.pack.tasks.get(record.task) if old is not None else None
    if record.status == "void" and record.void_cause != CANNOT_TELL:
        return _answer(record, "void", record, ("The trial was void, so there is nothing to judge.",))
    transcript = transcript_from_json(record.transcript)
    version = f"{world.pack.name} {world.pack.version}"
    if task is None:
        return _answer(record, NOT_COMPARABLE, None, (f"{version} has no task {record.task}.",))
    if before is not None and (strange := _other_customer(before, task)):
        return _answer(record, NOT_COMPARABLE, None, (strange,))
    try:
        return _judge(record, world, task, transcript, checkers, _parts(before, task))
    except PlatformFault as fault:
        return _answer(record, NOT_COMPARABLE, None, (f"It cannot be judged in {version}: {fault}",))


def regrade_all(
    records: Iterable[TrialRecord],
    world: World,
    checkers: Sequence[Configured] = (),
    old: World | None = None,
) -> tuple[list[Regraded], Tally]:
    tally = Tally()
    found = []
    for record in records:
        one = regrade(record, world, checkers, old)
        tally.add(one)
        found.append(one)
    return found, tally


def _judge(
    record: TrialRecord,
    world: World,
    task: Task,
    transcript: Transcript,
    checkers: Sequence[Configured],
    parts: Sequence[str],
) -> Regraded:
    with Replay(world, task.id, transcript) as replay:
        for step in replay.steps():
            if step.unlike is not None:
                return _answer(record, NOT_COMPARABLE, None, (step.unlike.sentence(),))
        changes = replay.sandbox.changes()
        results = run_checkers(checkers, trial_views(task, transcript, changes))
        stored = (record.verdict or {}).get("judged", ())
        judgements = kept_judgements(task, judged_part(transcript), stored)
        verdict = conclude(task, world, replay.sandbox, changes, transcript, results, judgements)
    status, cause = _status(verdict)
    new = replace(
        record,
        group=task.group_name,
        status=status,
        void_cause=cause,
        changes=plain([change_as_json(change) for change in changes.rows]),
        verdict=plain(verdict.as_json()),
    )
    return _answer(record, status, new, _why(record.verdict or {}, new.verdict or {}, parts))


def _status(verdict: Verdict) -> tuple[str, str | None]:
    if verdict.outcome is Outcome.CANNOT_TELL:
        return "void", CANNOT_TELL
    return ("passed" if verdict.outcome is Outcome.PASS else "failed"), None


def _answer(record: TrialRecord, status: str, new: TrialRecord | None, why: Sequence[str]) -> Regraded:
    verdict = record.verdict or {}
    return Regraded(
        record.task,
        record.index,
        record.status,
        verdict.get("category") if record.status == "failed" else None,
        str(verdict.get("explanation", "")) if record.status == "failed" else "",
        status,
        new,
        tuple(why),
    )


def _other_customer(old: Task, new: Task) -> str | None:
    """Why the bot talked to another customer than the new version has."""
    if old.user.opening != new.user.opening:
        return "The customer now opens with other words, to which the bot has not answered."
    values = {fact.key: fact.value for fact in new.user.facts}
    for fact in old.user.facts:
        if fact.key in values and values[fact.key] != fact.value:
            return f"The customer now gives another {fact.key} than the bot was told."
    return None


def _parts(old: Task | None, new: Task) -> list[str]:
    if old is None:
        return []
    return [part for part in _PARTS if getattr(old, part) != getattr(new, part)]


def _why(old: Mapping[str, Any], new: Mapping[str, Any], parts: Sequence[str]) -> list[str]:
    """What is judged otherwise: each check whose outcome is another one, with what it found then and now."""
    checks = {check["name"]: check for check in old.get("checks", [])}
    said: list[str] = []
    for check in new.get("checks", []):
        before = checks.pop(check["name"], None)
        if before is None:
            said.append(f"The check {check['name']} is new: {_words(check['outcome'])}.{_found(check)}")
        elif before["outcome"] != check["outcome"]:
            shown = check if check["outcome"] != "pass" else before
            when = "now" if shown is check else "before"
            said.append(
                f"The check {check['name']} was {_words(before['outcome'])} and is {_words(check['outcome'])}."
                f"{_found(shown, when)}"
            )
    said += [f"The check {name} is no longer there." for name in checks]
    if not said and old.get("explanation") != new.get("explanation"):
        said.append("It fails as before, for another reason or told in other words.")
    if said and parts:
        said.append(f"Of the task, {' and '.join(parts)} changed.")
    return said


def _found(check: Mapping[str, Any], when: str = "now") -> str:
    messages = [item["message"] for item in check.get("evidence", [])[:3]]
    return f" Found {when}: {' '.join(messages)}" if messages else ""


def _words(outcome: str) -> str:
    return {"pass": "a pass", "fail": "a failure"}.get(outcome, "undecided")
