"""Figures on simulated users and on what was drawn out of them."""

from __future__ import annotations

from typing import Any

from assay.engine.statistics.outcome import TrialOutcome
from assay.engine.statistics.summary import summarise
from assay.engine.statistics.users import compact, disclosures, users

ACCOUNT: dict[str, Any] = {
    "kind": "model",
    "calls": 5,
    "prompt_tokens": 500,
    "completion_tokens": 50,
    "audit": {"by": "rule and model", "model_asked": 3, "model_could_not_tell": 1},
    "rejected": [
        {
            "line": 1,
            "text": "ORD-9 of yesterday",
            "findings": [{"kind": "invented_id"}, {"kind": "invented_date"}],
        },
        {"line": 1, "text": "ORD-9", "findings": [{"kind": "invented_id"}]},
    ],
}


def trial(status: str = "passed", **given: Any) -> TrialOutcome:
    account = {**ACCOUNT, **given.pop("account", {})}
    cause = "simulator_fault" if status == "void" else None
    return TrialOutcome("T-1", "g", status, void_cause=cause, user=compact(account), **given)


def test_refused_lines_are_counted_by_kind_and_tokens_summed_void_trials_included() -> None:
    found = users([trial(), trial("void", account={"fault": "invented_id"}), trial(account={"rejected": []})])
    assert found is not None
    assert found.as_json() == {
        "trials": 3,
        "lines_rejected": 4,
        "trials_with_rejections": 2,
        "rejected": {"invented_id": 4, "invented_date": 2},
        "faults": {"invented_id": 1},
        "calls": 15,
        "prompt_tokens": 1500,
        "completion_tokens": 150,
        "audit_questions": 9,
        "audit_could_not_tell": 3,
    }


def test_the_statistics_keep_no_text_of_what_was_refused() -> None:
    assert "ORD-9" not in str(compact(ACCOUNT))


def test_a_run_of_scripted_users_says_nothing_of_models() -> None:
    plain = TrialOutcome("T-1", "g", "passed", user=compact({}), facts={"hidden": []})
    summary = summarise([plain]).as_json()
    assert summary["users"] is None and summary["disclosures"] == []


def test_a_scripted_user_at_fault_is_counted_by_kind_as_well() -> None:
    void = TrialOutcome("T-1", "g", "void", void_cause="simulator_fault", user=compact({"fault": "late"}))
    found = users([void])
    assert found is not None and found.faults == {"late": 1}


def test_what_came_out_is_counted_by_task_over_valid_trials() -> None:
    def facts(*drawn: str) -> dict[str, Any]:
        return {"hidden": ["name", "order", "reason"], "drawn": [{"fact": key, "turn": 1} for key in drawn]}

    told = disclosures(
        [
            trial(facts=facts("order")),
            trial("failed", facts=facts("order", "name")),
            trial("void", facts=facts("reason")),
            TrialOutcome("T-2", "g", "passed", facts={"hidden": [], "drawn": []}),
            TrialOutcome("T-3", "g", "passed", facts=None),
        ]
    )
    assert [d.as_json() for d in told] == [
        {"task": "T-1", "trials": 2, "drawn": {"name": 1, "order": 2, "reason": 0}, "never": ["reason"]}
    ]


def test_a_damaged_account_counts_nothing() -> None:
    for damaged in ({"rejected": [1, None]}, {"calls": "many"}, {"audit": {"model_asked": None}}):
        assert compact(damaged)["calls"] == 0
