"""Trials judged again under another version of the pack, from their evidence alone."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from assay.engine.dialogue.transcript import transcript_from_json
from assay.engine.grading.judging import text_hash
from assay.engine.grading.reply import judged_part
from assay.engine.grading.rubrics import Judgement, statement_of
from assay.engine.packs import load_pack
from assay.engine.regrading import NOT_COMPARABLE, regrade, regrade_all
from assay.engine.sandbox import World
from assay.engine.trial import TrialRecord, run_trial
from tests.unit.engine.actors import LIBRARY, down, lab_of, library, right, wrong

TASK = "LIB-LOAN-001"
Variant = Callable[..., World]


@pytest.fixture
def variant(tmp_path: Path) -> Variant:
    """The library with a text of one of its files put in the place of another, as version 1.1.0."""

    def make(file: str = "pack.yaml", old: str = "", new: str = "") -> World:
        folder = tmp_path / "library"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(LIBRARY, folder)
        path = folder / file
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        return World.prepare(load_pack(folder))

    return make


def tried(doing: object) -> TrialRecord:
    record = asyncio.run(run_trial(lab_of(doing), TASK, 0, 1, 0))  # type: ignore[arg-type]
    return TrialRecord.from_json(json.loads(json.dumps(record.as_json())))  # as it is kept


def task_file() -> str:
    return next(
        p.relative_to(LIBRARY).as_posix()
        for p in LIBRARY.rglob("tasks/*.yaml")
        if TASK in p.read_text(encoding="utf-8")
    )


def test_under_the_same_version_every_verdict_comes_out_as_it_was() -> None:
    for doing in (right, wrong):
        record = tried(doing)
        again = regrade(record, library())
        assert (again.status, again.changed, again.why) == (record.status, False, ())
        assert again.record == record


def test_a_corrected_expectation_turns_verdicts_round_and_says_why(variant: Variant) -> None:
    world = variant(task_file(), "args: {loan_id: LN-1, days: 7}", "args: {loan_id: LN-1, days: 21}")
    good, bad = tried(right), tried(wrong)
    now_bad = regrade(good, world, old=library())
    assert (now_bad.old_status, now_bad.status, now_bad.category) == (
        "passed",
        "failed",
        "incorrect_state_update",
    )
    assert now_bad.why[0].startswith(
        "The check state was a pass and is a failure. Found now: It left wrong values"
    )
    assert now_bad.why[-1] == "Of the task, expected changed."
    now_good = regrade(bad, world)
    assert (now_good.old_status, now_good.status) == ("failed", "passed")
    assert now_good.why[0].startswith(
        "The check state was a failure and is a pass. Found before: It left wrong"
    )
    assert now_good.old_explanation.startswith("It left wrong values in loans LN-1")
    found, tally = regrade_all([good, bad], world)
    assert tally.as_json() == {
        "trials": 2,
        "changed": 2,
        "not_comparable": 0,
        "moves": [
            {"old": "failed", "new": "passed", "trials": 1},
            {"old": "passed", "new": "failed", "trials": 1},
        ],
    }
    assert [one.as_json()["new"]["status"] for one in found] == ["failed", "passed"]


def test_a_call_that_now_behaves_differently_makes_the_trial_not_comparable(variant: Variant) -> None:
    world = variant("tools/lending.yaml", "minimum: 1, maximum: 60}", "minimum: 1, maximum: 21}")
    long = tried(lambda context: [("loans_renew", {"loan_id": "LN-1", "days": 30})])
    again = regrade(long, world)
    assert (again.status, again.record, again.changed) == (NOT_COMPARABLE, None, True)
    assert again.why[0].startswith(
        "Call 0 (loans_renew) now behaves differently: whether it succeeds was true"
    )
    kept = again.as_trial(long)
    assert (kept.status, kept.void_cause, kept.verdict) == ("void", NOT_COMPARABLE, None)


def test_a_task_that_is_gone_or_has_another_customer_is_not_comparable(variant: Variant) -> None:
    gone = variant(task_file(), f"id: {TASK}", "id: LIB-LOAN-009")
    assert regrade(tried(right), gone).why == ("library 1.0.0 has no task LIB-LOAN-001.",)
    other = variant(task_file(), "I need a little longer", "I should like somewhat longer")
    assert "opens with other words" in regrade(tried(right), other, old=library()).why[0]
    assert regrade(tried(right), other).status == "passed"  # nobody knows what they said before
    book = variant(task_file(), "value: Statistics for Surveyors", "value: Practical Knots")
    assert "another book title" in regrade(tried(right), book, old=library()).why[0]


def test_a_void_trial_stays_void(variant: Variant) -> None:
    record = tried(down)
    assert record.status == "void"
    again = regrade(record, library())
    assert (again.status, again.changed, again.record) == ("void", False, record)


def test_a_trial_without_a_transcript_is_refused() -> None:
    with pytest.raises(ValueError, match="no transcript"):
        regrade(replace(tried(right), transcript={}), library())


def test_what_a_judge_said_counts_again_and_nobody_is_asked(variant: Variant) -> None:
    reply = "expected:\n    actions:\n      - {tool: loans_renew, args: {loan_id: LN-1, days: 7}}\n"
    world = variant(task_file(), reply, f"{reply}  reply:\n    - {{must: sound friendly}}\n")
    task = world.pack.tasks[TASK]
    statement = statement_of(task.reply[0])[0]
    record = tried(right)
    said = judged_part(transcript_from_json(record.transcript)).text

    def judged(true: bool, text: str = said) -> TrialRecord:
        one = Judgement(statement, text_hash(text), true, (), 1.0, "3 of 3 votes", {"name": "a judge"})
        return replace(record, verdict={**(record.verdict or {}), "judged": [one.as_json()]})

    assert regrade(judged(True), world).status == "passed"
    assert regrade(judged(False), world).category == "incomplete_response"
    for unread in (judged(True, "another text"), record):
        again = regrade(unread, world)
        assert again.status == "void"
        assert again.record is not None
        assert again.record.void_cause == "cannot_tell"
