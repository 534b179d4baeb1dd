"""The plugin against a real Request Tracker 5."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

import pytest

from assay_sdk import FailureReport, TicketSystem, TicketSystemError, conformance
from tests.support.rt import RequestTracker

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

FAILURE = FailureReport(
    fingerprint="",
    task="RET-RMA-007",
    title="Return of an opened laptop on day 18",
    category="incorrect_state_update",
    explanation="returns.restocking_fee is 0 where 193.50 was expected.",
    count=7,
    trials=20,
    url="https://acme.assay.example/trials/4711/",
    details={"group": "returns"},
)


def new_failure(**fields: Any) -> FailureReport:
    return replace(FAILURE, fingerprint=secrets.token_hex(32), **fields)


def connect(tracker: RequestTracker, token: str | None = None, **options: Any) -> TicketSystem:
    from assay_tickets_rt import assay_ticket_systems

    (kind,) = assay_ticket_systems()
    given = kind.options(**{"url": tracker.url, "queue": tracker.queue, "token": "secret:rt", **options})
    return kind.build(given, lambda reference: {"secret:rt": token or tracker.token}[reference])


def refusal(call: Any, *arguments: Any) -> TicketSystemError:
    with pytest.raises(TicketSystemError) as caught:
        call(*arguments)
    return caught.value


def test_it_conforms(tracker: RequestTracker) -> None:
    conformance.check_ticket_system(connect(tracker))


def test_a_failure_becomes_a_ticket_with_all_that_is_known(tracker: RequestTracker) -> None:
    system, failure = connect(tracker, requestor="assay@assay.test"), new_failure()
    made = system.create(failure)
    assert made.url == f"{tracker.url}/Ticket/Display.html?id={made.id}"
    ticket = tracker.ticket(made.id)
    assert ticket["Subject"].startswith(
        "RET-RMA-007: incorrect state update - Return of an opened laptop on day 18 [assay:"
    )
    assert ticket["Status"] == "new"
    assert [r["id"] for r in ticket["Requestor"]] == ["assay"]
    (text,) = tracker.texts(made.id)
    for part in (
        failure.explanation,
        "7 of 20 trials",
        failure.fingerprint,
        "Group: returns",
        failure.url or "",
    ):
        assert part in text


def test_a_known_failure_is_found_and_commented(tracker: RequestTracker) -> None:
    system, failure = connect(tracker), new_failure()
    assert system.find(failure.fingerprint) is None
    made = system.create(failure)
    assert system.find(failure.fingerprint) == made
    system.comment(made, "Seen again in run 8.\n\nSecond paragraph: <b>, 'quotes', ünïcode, 你好.")
    assert (
        tracker.texts(made.id)[1].rstrip()
        == "Seen again in run 8.\n\nSecond paragraph: <b>, 'quotes', ünïcode, 你好."
    )
    assert connect(tracker).find(failure.fingerprint) == made  # another process finds it too
    assert system.find(new_failure().fingerprint) is None


def test_a_resolved_ticket_counts_as_closed_and_a_new_one_is_found_then(tracker: RequestTracker) -> None:
    system, failure = connect(tracker), new_failure()
    first = system.create(failure)
    tracker.resolve(first.id)
    assert system.find(failure.fingerprint) is None
    second = system.create(failure)
    assert second.id != first.id
    assert system.find(failure.fingerprint) == second


def test_people_may_change_the_subject_around_the_tag(tracker: RequestTracker) -> None:
    system, failure = connect(tracker), new_failure()
    made = system.create(failure)
    subject = tracker.ticket(made.id)["Subject"]
    tracker.rest(
        "PUT", f"/ticket/{made.id}", {"Subject": "URGENT: fees " + subject[subject.index("[assay:") :]}
    )
    assert system.find(failure.fingerprint) == made


@pytest.mark.parametrize(
    "title", ["x" * 400, "两" * 300, "Zeile 1\nZeile 2\r\n\tund 3", "'; DROP TABLE Tickets; --", " "]
)
def test_any_title_gives_a_subject_that_fits_and_is_found(tracker: RequestTracker, title: str) -> None:
    system, failure = connect(tracker), new_failure(title=title)
    made = system.create(failure)
    assert system.find(failure.fingerprint) == made
    assert "\n" not in tracker.ticket(made.id)["Subject"]


@pytest.mark.parametrize("fingerprint", ["short", "with 'quotes' and \\ and %", "é" * 30])
def test_any_fingerprint_can_be_looked_for(tracker: RequestTracker, fingerprint: str) -> None:
    system = connect(tracker)
    unique = fingerprint + secrets.token_hex(8)
    assert system.find(unique) is None
    made = system.create(replace(FAILURE, fingerprint=unique))
    assert system.find(unique) == made


def test_checking_says_which_queue_the_token_opens(tracker: RequestTracker) -> None:
    said = connect(tracker).check()
    assert said.startswith("Request Tracker 5.")
    assert tracker.queue in said and tracker.url in said


def test_a_wrong_token_is_permanent_and_says_what_to_do(tracker: RequestTracker) -> None:
    system = connect(tracker, token="1-2-not-a-token")
    for call, arguments in (
        (system.check, ()),
        (system.find, ("a" * 64,)),
        (system.create, (new_failure(),)),
    ):
        error = refusal(call, *arguments)
        assert error.permanent
        assert "token" in str(error) and "not-a-token" not in str(error)


def test_a_user_without_rights_is_told_which_are_missing(tracker: RequestTracker) -> None:
    system = connect(tracker, token=tracker.reader)
    assert "CreateTicket" in str(refusal(system.check))
    error = refusal(system.create, new_failure())
    assert error.permanent and "permission" in str(error).lower()


def test_a_queue_that_does_not_exist_is_permanent(tracker: RequestTracker) -> None:
    system = connect(tracker, queue="No 'such\\ queue")
    assert "no queue" in str(refusal(system.check))
    assert system.find("a" * 64) is None
    assert refusal(system.create, new_failure()).permanent


def test_what_is_not_request_tracker_is_said_to_be_none(tracker: RequestTracker) -> None:
    error = refusal(connect(tracker, url=f"{tracker.url}/NoAuth").check)
    assert error.permanent


def test_a_server_that_is_down_is_not_permanent(tracker: RequestTracker) -> None:
    error = refusal(connect(tracker, url="http://127.0.0.1:1").check)
    assert not error.permanent
    assert "does not answer" in str(error)


def test_a_private_address_is_refused_unless_it_is_allowed(
    tracker: RequestTracker, monkeypatch: pytest.MonkeyPatch
) -> None:
    system = connect(tracker)
    monkeypatch.delenv("ASSAY_ALLOW_PRIVATE_TARGETS")
    error = refusal(system.check)
    assert error.permanent and "public address" in str(error)
