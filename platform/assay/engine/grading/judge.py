"""The verdict of a trial: is the live world what policy requires, and does every required check pass?"""

from __future__ import annotations

from collections.abc import Sequence

from assay.engine.dialogue.transcript import Transcript
from assay.engine.grading.categories import find_cause
from assay.engine.grading.checkers import Configured, run_checkers, trial_views
from assay.engine.grading.cost import costs_of
from assay.engine.grading.explanation import Explainer
from assay.engine.grading.fingerprint import fingerprint
from assay.engine.grading.judging import Judgements, rulings_of
from assay.engine.grading.leaks import check_leaks
from assay.engine.grading.names import ENDING, STATE
from assay.engine.grading.no_return import no_return
from assay.engine.grading.process import check_process
from assay.engine.grading.recovery import faults_met, faults_sentence
from assay.engine.grading.reply import check_replies, judged_part
from assay.engine.grading.surface import surface
from assay.engine.grading.verdict import Verdict
from assay.engine.packs.models import Task
from assay.engine.sandbox import ChangeSet, Sandbox, World, compare
from assay.engine.sandbox.difference import Difference
from assay_sdk import CheckResult, Evidence, Outcome

#: Rows that the state check names; the verdict's difference holds them all.
_MOST_ROWS = 20


def judge(
    task: Task, world: World, sandbox: Sandbox, transcript: Transcript, checkers: Sequence[Configured] = ()
) -> Verdict:
    """Judge a finished trial whose sandbox is still open.

    Not for trials that a platform fault ended: those are void and get no verdict. Raises PackFault when the pack
    cannot be judged by, PlatformFault when a required check of a plugin breaks.
    """
    changes = sandbox.changes()
    results = run_checkers(checkers, trial_views(task, transcript, changes))
    return conclude(task, world, sandbox, changes, transcript, results)


def conclude(
    task: Task,
    world: World,
    sandbox: Sandbox,
    changes: ChangeSet,
    transcript: Transcript,
    plugin_results: Sequence[CheckResult],
    judgements: Judgements | None = None,
) -> Verdict:
    """The verdict, given what the checks of plugins found and a judge said of the reply."""
    accepted = world.expected(task.id)
    difference = compare(world.tables, world.pack.comparison, accepted, changes)
    explainer = Explainer(task, world, transcript, difference, accepted[difference.outcome], changes)
    judged, judgements = judged_part(transcript), judgements or {}
    checks = [
        _state(difference, explainer),
        _ending(transcript),
        *check_replies(task.reply, judged, sandbox.column, rulings_of(task, judged, judgements)),
        check_leaks(world, task, transcript),
        *check_process(world, task, transcript, changes),
        *plugin_results,
    ]
    outcome = _outcome(checks, transcript)
    faults = faults_met(transcript, passed=outcome is Outcome.PASS)
    if outcome is not Outcome.FAIL:
        return Verdict(outcome, checks, difference, faults=faults, judged=tuple(judgements.values()))
    cause = find_cause(task, world, transcript, difference, checks)
    after = None if difference.equal else no_return(task, world, transcript)
    return Verdict(
        outcome,
        checks,
        difference,
        category=cause.category,
        surface=surface(transcript),
        evidence=explainer.evidence(cause),
        explanation=f"{explainer.sentence(cause, after)} {faults_sentence(faults)}".rstrip(),
        clauses=explainer.clauses(cause),
        no_return=after,
        fingerprint=fingerprint(task, cause, difference, checks),
        faults=faults,
        judged=tuple(judgements.values()),
        costs=costs_of(world.pack.comparison, world.pack.manifest.currency, difference),
    )


def _outcome(checks: Sequence[CheckResult], transcript: Transcript) -> Outcome:
    """A bot that broke or ran into a limit failed, whatever else is known. Otherwise one required check that cannot
    tell leaves the trial undecided: were only its failures counted, such a task could fail but never pass."""
    required = [check.outcome for check in checks if check.required]
    if transcript.termination.fault == "bot":
        return Outcome.FAIL
    if Outcome.CANNOT_TELL in required:
        return Outcome.CANNOT_TELL
    return Outcome.FAIL if Outcome.FAIL in required else Outcome.PASS


def _state(difference: Difference, explainer: Explainer) -> CheckResult:
    if difference.equal:
        says = "The database is as an accepted outcome leaves it."
        return CheckResult(STATE, Outcome.PASS, required=True, reward=1.0, evidence=(Evidence(says),))
    return CheckResult(
        STATE,
        Outcome.FAIL,
        required=True,
        reward=0.0,
        evidence=tuple(explainer.row_evidence(row) for row in difference.rows[:_MOST_ROWS]),
    )


def _ending(transcript: Transcript) -> CheckResult:
    if transcript.termination.fault != "bot":
        ended = f"The conversation ended in order: {transcript.termination.value.replace('_', ' ')}."
        return CheckResult(ENDING, Outcome.PASS, required=True, reward=1.0, evidence=(Evidence(ended),))
    says = transcript.detail or f"The conversation ended by {transcript.termination.value.replace('_', ' ')}."
    last = len(transcript.events) - 1
    return CheckResult(
        ENDING,
        Outcome.FAIL,
        required=True,
        reward=0.0,
        evidence=(Evidence(says, turn=last if last >= 0 else None),),
    )
