"""One trial, from a task to a verdict: open a sandbox, hold the conversation, judge the live world, keep the evidence."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from types import UnionType
from typing import Any

from pydantic import BaseModel

from assay.engine.dialogue.conversation import USER_SECONDS, converse
from assay.engine.dialogue.faulting import mishaps_of
from assay.engine.dialogue.limits import Limits
from assay.engine.dialogue.manners import Part, cast
from assay.engine.dialogue.past import Past, bring_up
from assay.engine.dialogue.recording import plain
from assay.engine.dialogue.scripted import ScriptedUser, user_script
from assay.engine.dialogue.transcript import Termination, Transcript
from assay.engine.grading.checkers import change_as_json, run_checkers_aside, trial_views
from assay.engine.grading.judge import conclude
from assay.engine.grading.judging import Judge, judge_reply
from assay.engine.grading.reply import judged_part
from assay.engine.grading.verdict import Verdict
from assay.engine.packs.models import Task
from assay.engine.replaying import restore
from assay.engine.sandbox import ChangeSet, Sandbox, World
from assay.engine.statistics.outcome import TrialOutcome
from assay.engine.statistics.users import compact
from assay_sdk import (
    Checker,
    Connector,
    FaultProfileType,
    Outcome,
    PersonaType,
    PlatformFault,
    PluginFault,
    SimulatedUser,
    UserScript,
)

#: Void cause of a trial whose required check could not tell (a reply rule that needs a judge, for example).
CANNOT_TELL = "cannot_tell"


@dataclass(frozen=True)
class Lab:
    """What all trials of a run share.

    `faults`: the profile by which tool calls go wrong on purpose. `checkers`: (name, checker, required), as the plugin
    manager builds them. `user` makes the customer of a trial from the script, the persona's part and the seed, and
    `user_seconds` is how long one line of theirs may take: other than the scripted customer when a person types the
    lines.
    """

    world: World
    connector: Connector
    persona: PersonaType | None = None
    persona_options: BaseModel | None = None
    faults: FaultProfileType | None = None
    fault_options: BaseModel | None = None
    checkers: tuple[tuple[str, Checker, bool], ...] = ()
    limits: Limits = field(default_factory=Limits)
    user: Callable[[UserScript, Part | None, int], SimulatedUser] = ScriptedUser
    user_seconds: float | None = None
    judge: Judge | None = None  # for reply rules that a model has to read
    past: Past | None = None  # of a fork: every trial takes this conversation up

    async def aclose(self) -> None:
        """Close the connector, the judge's model and, where the user has any, its models. Raises what they raise, after closing all."""
        try:
            await self.connector.aclose()
        finally:
            try:
                close = getattr(self.user, "aclose", None)
                if callable(close):
                    await close()
            finally:
                if self.judge is not None:
                    await self.judge.aclose()


@dataclass(frozen=True)
class TrialRecord:
    """A finished trial with its evidence, in plain JSON values.

    `status`: passed, failed, or void with `void_cause`. `notes`: what the bot session said about itself (the fault
    a reference bot drew); kept beside the trial and never shown to grading. `started_at`: ISO 8601, UTC.
    """

    task: str
    group: str
    index: int
    attempt: int
    seed: int
    status: str
    void_cause: str | None
    transcript: dict[str, Any]
    changes: list[dict[str, Any]]
    verdict: dict[str, Any] | None
    notes: dict[str, Any]
    seconds: float
    started_at: str
    # {"part": "check told-result", "sentence"} of each plugin that failed, whether or not the trial is void for it
    plugin_failures: list[dict[str, str]] = field(default_factory=list)

    def outcome(self) -> TrialOutcome:
        """What statistics need of it."""
        verdict = self.verdict or {}
        surface = verdict.get("surface") or {}
        failed = self.status == "failed"
        return TrialOutcome(
            task=self.task,
            group=self.group,
            status=self.status,
            category=verdict.get("category") if failed else None,
            s1=surface.get("s1") if failed else None,
            s2=surface.get("s2") if failed else None,
            s3=surface.get("s3") if failed else None,
            void_cause=self.void_cause,
            fingerprint=verdict.get("fingerprint") if failed else None,
            explanation=verdict.get("explanation") if failed else None,
            costs=verdict.get("costs") if failed else None,
            faults=verdict.get("faults") or () if self.status != "void" else (),
            user=compact(self.transcript.get("user") or {}),
            facts=self.transcript.get("facts"),
            checks=()
            if self.status == "void"
            else [c for c in verdict.get("checks", ()) if not c["required"]],
        )

    def as_json(self) -> dict[str, Any]:
        # A seed has 63 bits, which JavaScript and jq cannot hold as a number.
        return {**asdict(self), "seed": str(self.seed)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> TrialRecord:
        """The record again. Raises ValueError with a sentence when something is missing or of a wrong kind."""
        missing = sorted(_KINDS.keys() - data.keys())
        if missing:
            raise ValueError(f"a trial needs {', '.join(missing)}")
        values = {name: data[name] for name in _KINDS}
        values["seed"] = int(values["seed"]) if str(values["seed"]).isdecimal() else values["seed"]
        for name, kind in _KINDS.items():
            if not isinstance(values[name], kind):
                raise ValueError(f"{name!r} of a trial cannot be {str(values[name])[:40]!r}")  # noqa: TRY004 - bad data
        if values["status"] not in ("passed", "failed", "void"):
            raise ValueError(f"a trial is passed, failed or void, not {values['status']!r}")
        return cls(**values)


_KINDS: dict[str, type | UnionType] = {
    "task": str,
    "group": str,
    "index": int,
    "attempt": int,
    "seed": int,
    "status": str,
    "void_cause": str | None,
    "transcript": dict,
    "changes": list,
    "verdict": dict | None,
    "notes": dict,
    "seconds": int | float,
    "started_at": str,
    "plugin_failures": list,
}


def seed_for(run_seed: int, task_id: str, index: int, attempt: int) -> int:
    """The seed of one attempt at one trial: 63 bits, the same on every machine and in every version of Python."""
    text = f"{run_seed}/{task_id}/{index}/{attempt}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:8], "big") >> 1


async def run_trial(lab: Lab, task_id: str, index: int, run_seed: int, attempt: int) -> TrialRecord:
    """Try `task_id` once. Whatever goes wrong becomes part of the record; raises nothing but CancelledError."""
    started, clock = datetime.now(UTC), time.monotonic()
    seed = seed_for(run_seed, task_id, index, attempt)
    task = lab.world.pack.tasks.get(task_id)
    trial_id = f"{task_id}/{index}/{attempt}"
    if task is None:
        return void_record(
            lab, task_id, index, attempt, seed, "pack_fault", f"The pack has no task {task_id!r}."
        )
    evidence = _Evidence()
    try:
        await _try(lab, task, trial_id, seed, evidence)
        status, cause = evidence.status()
    except PlatformFault as fault:
        status, cause = "void", fault.cause
        evidence.fault(fault.cause, str(fault))
        if isinstance(fault, PluginFault):
            evidence.broke(fault)
    except Exception as error:  # noqa: BLE001 - whatever it is, it is not the bot's doing
        status, cause = "void", "internal_error"
        evidence.fault("internal_error", f"{type(error).__name__}: {error}")
    return TrialRecord(
        task=task_id,
        group=task.group_name,
        index=index,
        attempt=attempt,
        seed=seed,
        status=status,
        void_cause=cause,
        transcript=evidence.transcript.as_json(),
        changes=evidence.changes,
        verdict=plain(evidence.verdict.as_json()) if evidence.verdict else None,
        notes=dict(evidence.transcript.notes),
        seconds=round(time.monotonic() - clock, 6),
        started_at=started.isoformat(timespec="milliseconds"),
        plugin_failures=evidence.plugin_failures(),
    )


def void_record(
    lab: Lab, task_id: str, index: int, attempt: int, seed: int, cause: str, sentence: str
) -> TrialRecord:
    """The record of a trial of which nothing else is known."""
    evidence = _Evidence()
    evidence.fault(cause, sentence)
    task = lab.world.pack.tasks.get(task_id)
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    group = task.group_name if task else ""
    return TrialRecord(
        task_id,
        group,
        index,
        attempt,
        seed,
        "void",
        cause,
        evidence.transcript.as_json(),
        [],
        None,
        {},
        0.0,
        now,
        [],
    )


class _Evidence:
    """What is known of the trial so far; a fault later on does not lose it."""

    def __init__(self) -> None:
        self.transcript = Transcript((), Termination.INTERNAL_ERROR)
        self.changes: list[dict[str, Any]] = []
        self.verdict: Verdict | None = None
        self._broke: list[PluginFault] = []

    def broke(self, fault: PluginFault) -> None:
        """A part of a plugin failed, whether or not the trial is void for it."""
        self._broke.append(fault)

    def plugin_failures(self) -> list[dict[str, str]]:
        found = [{"part": f.part, "sentence": plain(str(f)[:500])} for f in self._broke]
        if self.transcript.part:
            found.insert(0, {"part": self.transcript.part, "sentence": self.transcript.detail[:500]})
        return found

    def status(self) -> tuple[str, str | None]:
        if self.transcript.termination.fault == "platform":
            return "void", self.transcript.termination.value
        assert self.verdict is not None
        if self.verdict.outcome is Outcome.CANNOT_TELL:
            return "void", CANNOT_TELL
        return ("passed" if self.verdict.outcome is Outcome.PASS else "failed"), None

    def fault(self, cause: str, sentence: str) -> None:
        known = {t.value for t in Termination}
        termination = Termination(cause) if cause in known else Termination.INTERNAL_ERROR
        self.transcript = replace(self.transcript, termination=termination, detail=sentence)
        self.verdict = None


async def _try(lab: Lab, task: Task, trial_id: str, seed: int, evidence: _Evidence) -> None:
    script = user_script(task)
    past = lab.past
    casting = seed if past is None else past.seed  # who has spoken already stays who they are
    part = cast(lab.persona, lab.persona_options, casting, script) if lab.persona else None
    user = lab.user(script, part, seed)
    if past is not None:
        async with asyncio.timeout(USER_SECONDS):
            await bring_up(user, past.events)
    key = None
    if lab.connector.synthetic:
        from assay.engine.reference import answer_key

        key = answer_key(lab.world, task.id)
    with lab.world.open(task.id) as sandbox:
        if past is not None:
            restore(sandbox, past.transcript)
        evidence.transcript = await converse(
            task,
            sandbox,
            lab.connector,
            user,
            lab.limits,
            seed=seed,
            trial_id=trial_id,
            answer_key=key,
            user_seconds=lab.user_seconds,
            mishaps=mishaps_of(
                lab.faults, lab.fault_options, sandbox, seed, past.events if past is not None else ()
            ),
            past=past,
        )
        changes = sandbox.changes()
        evidence.changes = plain([change_as_json(change) for change in changes.rows])
        if evidence.transcript.termination.fault != "platform":
            evidence.verdict = await _judge(lab, task, sandbox, changes, evidence, seed)


async def _judge(
    lab: Lab, task: Task, sandbox: Sandbox, changes: ChangeSet, evidence: _Evidence, seed: int
) -> Verdict:
    graded = replace(evidence.transcript, notes={})  # what the bot says about itself is no evidence
    results = await run_checkers_aside(
        lab.checkers, trial_views(task, graded, changes), on_fault=evidence.broke
    )
    judgements = await judge_reply(lab.judge, task, judged_part(graded), seed)
    return conclude(task, lab.world, sandbox, changes, graded, results, judgements)
