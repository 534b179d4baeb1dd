"""Runs of the platform whose customers are played by a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from assay.accounts.secrets import set_secret
from assay.packs.models import PackVersion
from assay.reports.services import render_report, report_source
from assay.runs import finishing, services
from assay.runs.executor import Executor
from assay.runs.models import Evidence, Run, RunStatus, TrialAttempt
from assay_sdk import OptionsError
from tests.support.leaky_user import honest
from tests.support.openai_server import Completion, OpenAIServer, Request, say
from tests.support.site import browser, member, reference_bot

__all__ = ["browser", "member"]  # fixtures
pytestmark = pytest.mark.usefixtures("quiet_broker")
SPEC = "litellm:openai/scripted"


@pytest.fixture
def quiet_broker(use_broker: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    use_broker("embedded")
    monkeypatch.setenv("ASSAY_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")


def leaky(request: Request) -> Completion:
    """Invents an order number each time, and is honest once it is told that this was not sent."""
    corrected = "was not sent" in request.messages[-1]["content"]
    return say(honest(request) if corrected else "It is about ORD-4711.")


def stubborn(request: Request) -> Completion:
    return say("It is about ORD-4711.")


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(leaky) as started:
        yield started


def run_with(library: PackVersion, server: OpenAIServer, **fields: Any) -> Run:
    run = services.plan_run(
        library,
        reference_bot("faithful"),
        trials=1,
        seed=5,
        user=SPEC,
        **{"user_options": {"base_url": server.base_url}, "tasks": ["LIB-LOAN-001"], **fields},
    )
    Executor(run, schema="acme").drain()
    finishing.finish_if_done(run.pk)
    run.refresh_from_db()
    return run


def test_a_model_plays_the_customer_with_the_companys_secret_and_the_run_says_what_was_refused(
    library: PackVersion, server: OpenAIServer, browser: Callable[[str], Any]
) -> None:
    set_secret("USERS", "sk-for-customers", by=None)
    run = run_with(
        library, server, user_options={"base_url": server.base_url, "api_key": "secret:USERS", "tries": 2}
    )
    assert run.status == RunStatus.FINISHED and run.summary is not None
    assert (run.summary["passed"], run.summary["void"]) == (1, 0)
    assert {r.headers["authorization"] for r in server.requests} == {"Bearer sk-for-customers"}
    users = run.summary["users"]
    assert users["trials"] == 1 and users["lines_rejected"] >= 1
    assert users["rejected"] == {"invented_id": users["lines_rejected"]}
    assert users["prompt_tokens"] == 11 * len(server.requests)
    assert run.manifest["user"]["spec"] == SPEC and run.manifest["user"]["tries"] == 2
    assert "sk-for-customers" not in str(run.manifest)
    evidence = Evidence.objects.get(trial__run=run)
    assert not any("ORD-4711" in event.get("text", "") for event in evidence.events)
    assert any("ORD-4711" in line["text"] for line in evidence.transcript["user"]["rejected"])
    facts = evidence.transcript["facts"]
    assert [entry["fact"] for entry in facts["drawn"]] == ["e-mail address"]
    assert run.summary["disclosures"] == [
        {
            "task": "LIB-LOAN-001",
            "trials": 1,
            "drawn": {"e-mail address": 1, "book title": 0},
            "never": ["book title"],
        }
    ]
    page = render_report(run)
    assert "Invented an id" in page and "book title" in page
    shown = browser("viewer").get(f"/trials/{evidence.trial_id}/").content.decode()
    assert "Refused, so the bot never saw it" in shown and "invented_id, by rule" in shown
    assert "Never asked for: book title" in shown


def test_a_user_that_never_complies_is_counted_by_kind_and_never_against_the_bot(
    library: PackVersion,
) -> None:
    with OpenAIServer(stubborn) as server:
        run = run_with(library, server, max_attempts=1)
    assert run.summary is not None
    assert (run.summary["void"], run.summary["failed"]) == (1, 0)
    assert run.summary["voids"] == {"simulator_fault": 1}
    assert run.summary["users"]["faults"] == {"invented_id": 1}
    attempt = TrialAttempt.objects.get(trial__run=run)
    assert (attempt.cause, attempt.kind) == ("simulator_fault", "invented_id")
    assert report_source(run).simulator_faults == {"invented_id": 1}
    assert "Invented an id" in render_report(run)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"user": "litellm"}, "NAME:MODEL"),
        ({"user": "nobody:x"}, "no model 'nobody'"),
        ({"user": SPEC, "user_options": {"tries": 0}}, "tries"),
        ({"user": SPEC, "user_options": {"wish": 1}}, "no option 'wish'"),
        ({"user": SPEC, "user_options": {"api_key": "sk-open"}}, "reference"),
        ({"user": SPEC, "user_options": {"audit_options": {"timeout": 5}}}, "audit_model"),
        ({"user": "scripted", "user_options": {"tries": 2}}, "has no options"),
    ],
)
def test_a_user_that_cannot_be_set_up_is_refused_when_the_run_is_planned(
    library: PackVersion, asked: dict[str, Any], says: str
) -> None:
    with pytest.raises(OptionsError, match=says):
        services.plan_run(library, reference_bot("faithful"), trials=1, **asked)
