"""A tenant's ticket system is told of the failures of a run; a plugin that breaks harms nobody."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import ModuleType

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from assay.accounts.models import AuditEvent
from assay.integrations import deliveries, services
from assay.integrations.attempts import attempt
from assay.integrations.models import Delivery, ToldFailure
from assay.plugins.manager import get_manager
from assay.runs.models import Run
from assay_sdk import TicketSystemError
from tests.integration.integrations.conftest import make_due, only_delivery
from tests.integration.integrations.test_deliveries import in_threads
from tests.support.receiving import Receiver

Finished = Callable[..., Run]


def test_each_distinct_failure_of_a_run_becomes_a_ticket_and_a_later_run_a_comment(
    ledger: ModuleType, finished_run: Finished
) -> None:
    services.create_connection("Ledger", "ledger", {})
    finished_run("aaaa", "bbbb", "aaaa")
    assert attempt(only_delivery().pk)
    delivery = only_delivery()
    assert (delivery.status, delivery.attempts.get().message) == (
        "accepted",
        "Tickets: 2 created, 0 commented.",
    )
    assert sorted(ledger.opened) == ["aaaa", "bbbb"]
    assert set(ToldFailure.objects.values_list("fingerprint", "ticket_id", "created")) == {
        ("aaaa", ledger.opened["aaaa"], True),
        ("bbbb", ledger.opened["bbbb"], True),
    }
    run = finished_run("bbbb")
    attempt(Delivery.objects.get(status="pending").pk)
    ((ticket, text),) = ledger.comments
    assert ticket == ledger.opened["bbbb"]
    assert f"Run {run.pk}" in text


def test_a_delivery_that_broke_off_goes_on_where_it_stopped(
    ledger: ModuleType, finished_run: Finished
) -> None:
    services.create_connection("Ledger", "ledger", {})
    ledger.errors[:] = [None, None, TicketSystemError("Closed for lunch.", permanent=False)]
    finished_run("aaaa", "bbbb")
    delivery = only_delivery()
    attempt(delivery.pk)
    assert (only_delivery().status, only_delivery().reason) == ("pending", "Closed for lunch.")
    assert len(ledger.opened) == 1
    make_due(delivery)
    attempt(delivery.pk)
    assert only_delivery().status == "accepted"
    assert delivery.attempts.last().message == "Tickets: 1 created, 0 commented, 1 told before."
    assert ledger.comments == []


def test_sending_again_by_hand_tells_nothing_twice(ledger: ModuleType, finished_run: Finished) -> None:
    services.create_connection("Ledger", "ledger", {})
    finished_run("aaaa")
    attempt(only_delivery().pk)
    services.redeliver(only_delivery())
    attempt(only_delivery().pk)
    assert only_delivery().attempts.last().message == "Tickets: 0 created, 0 commented, 1 told before."
    assert (len(ledger.opened), ledger.comments) == (1, [])


def test_what_will_not_get_better_by_itself_is_given_up_at_once(
    ledger: ModuleType, finished_run: Finished
) -> None:
    services.create_connection("Ledger", "ledger", {})
    ledger.errors[:] = [TicketSystemError("The key does not fit.", permanent=True)]
    finished_run("aaaa")
    attempt(only_delivery().pk)
    assert (only_delivery().status, only_delivery().reason) == ("given_up", "The key does not fit.")
    services.redeliver(only_delivery())
    attempt(only_delivery().pk)
    assert only_delivery().status == "accepted"


@pytest.mark.parametrize("error", [ZeroDivisionError("boom"), KeyError("x"), RecursionError(), SystemExit(3)])
def test_a_plugin_that_breaks_is_an_attempt_that_failed(
    ledger: ModuleType, finished_run: Finished, error: BaseException
) -> None:
    services.create_connection("Ledger", "ledger", {})
    ledger.errors[:] = [error]
    finished_run("aaaa")
    attempt(only_delivery().pk)
    delivery = only_delivery()
    assert delivery.status == "pending"
    assert f"'ledger' broke: {type(error).__name__}" in delivery.reason


def test_a_plugin_that_takes_too_long_is_broken_off_and_goes_on_later(
    ledger: ModuleType, finished_run: Finished
) -> None:
    """The worker's own bound is raised inside the plugin's code."""
    services.create_connection("Ledger", "ledger", {})
    ledger.errors[:] = [None, None, SoftTimeLimitExceeded()]
    finished_run("aaaa", "bbbb")
    delivery = only_delivery()
    attempt(delivery.pk)
    assert only_delivery().status == "pending"
    assert "too long" in only_delivery().reason
    assert (only_delivery().lease_token, len(ledger.opened)) == (None, 1)
    make_due(delivery)
    attempt(delivery.pk)
    assert only_delivery().status == "accepted"
    assert len(ledger.opened) == 2


def test_a_plugin_that_breaks_does_not_hold_up_the_webhooks(
    ledger: ModuleType, finished_run: Finished, receiver: Receiver
) -> None:
    services.create_connection("Ledger", "ledger", {})
    services.create_endpoint(receiver.url)
    ledger.errors[:] = [RuntimeError("boom")]
    finished_run("aaaa")
    for delivery in Delivery.objects.all():
        attempt(delivery.pk)
    assert Delivery.objects.get(connection=None).status == "accepted"
    assert Delivery.objects.get(endpoint=None).status == "pending"


def test_a_plugin_that_is_no_longer_installed_is_named(
    ledger: ModuleType, finished_run: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.create_connection("Ledger", "ledger", {})
    monkeypatch.setenv("ASSAY_PLUGINS", "")
    get_manager.cache_clear()
    finished_run("aaaa")
    attempt(only_delivery().pk)
    assert only_delivery().status == "given_up"
    assert "no ticket system 'ledger'" in only_delivery().reason


def test_a_ticket_system_is_told_by_one_worker_at_a_time(ledger: ModuleType, finished_run: Finished) -> None:
    """Otherwise two runs with the same failure would both find no ticket and open one each."""
    services.create_connection("Ledger", "ledger", {})
    finished_run("aaaa")
    finished_run("aaaa")
    first, second = Delivery.objects.order_by("pk")
    claimed = deliveries.claim(first.pk)
    assert claimed is not None
    assert not attempt(second.pk)
    assert deliveries.due() == [second.pk]  # it is not forgotten
    assert deliveries.write(claimed, deliveries.Attempt(True, "Told."))
    assert attempt(second.pk)


def test_two_workers_that_take_two_runs_at_the_same_moment_open_one_ticket(
    ledger: ModuleType, finished_run: Finished
) -> None:
    services.create_connection("Ledger", "ledger", {})
    finished_run("aaaa")
    finished_run("aaaa")
    ids = list(Delivery.objects.order_by("pk").values_list("pk", flat=True))
    barrier, left = threading.Barrier(2, timeout=30), list(ids)
    errors = in_threads(2, lambda: (barrier.wait(), attempt(left.pop())))
    assert errors == []
    for pk in ids:
        attempt(pk)
    assert len(ledger.opened) == 1
    assert len(ledger.comments) == 1
    assert ToldFailure.objects.filter(created=True).count() == 1


@pytest.mark.parametrize(
    ("name", "system", "options", "said"),
    [
        ("", "ledger", {}, "name"),
        ("x" * 101, "ledger", {}, "name"),
        ("Taken", "ledger", {}, "already"),
        ("New", "leger", {}, "did you mean ledger"),
        ("New", "ledger", {"colour": "red"}, "no option 'colour'"),
        ("New", "ledger", {"when": object()}, "JSON"),
    ],
)
def test_a_connection_that_cannot_be_made_says_why_and_leaves_nothing(
    ledger: ModuleType, name: str, system: str, options: dict[str, object], said: str
) -> None:
    services.create_connection("Taken", "ledger", {})
    with pytest.raises(services.IntegrationError, match=said):
        services.create_connection(name, system, options)
    assert services.TicketConnection.objects.count() == 1


def test_checking_a_connection_says_who_we_are_or_what_is_wrong(ledger: ModuleType) -> None:
    connection = services.create_connection("Ledger", "ledger", {})
    assert services.check_connection(connection) == "the ledger"
    ledger.errors[:] = [TicketSystemError("Closed.", permanent=False), ValueError("boom")]
    with pytest.raises(services.IntegrationError, match="Closed"):
        services.check_connection(connection)
    with pytest.raises(services.IntegrationError, match="broke: ValueError: boom"):
        services.check_connection(connection)


def test_a_connection_that_is_switched_off_is_told_nothing(
    ledger: ModuleType, finished_run: Finished
) -> None:
    connection = services.create_connection("Ledger", "ledger", {})
    finished_run("aaaa")
    services.switch_connection(connection, False)
    finished_run("bbbb")
    assert only_delivery().status == "given_up"
    assert not attempt(only_delivery().pk)
    services.switch_connection(connection, True)
    services.redeliver(only_delivery())
    assert attempt(only_delivery().pk)
    assert sorted(ledger.opened) == ["aaaa"]
    services.delete_connection(connection)
    actions = list(AuditEvent.objects.order_by("id").values_list("action", flat=True))
    assert actions[-1] == "ticket_connection.deleted"
    assert "ticket_connection.disabled" in actions


def test_a_test_event_makes_no_ticket_even_when_it_reaches_a_ticket_system(ledger: ModuleType) -> None:
    from assay.integrations import events

    connection = services.create_connection("Ledger", "ledger", {})
    delivery = deliveries.queue(events.write_test(), connection)
    attempt(delivery.pk)
    assert only_delivery().status == "given_up"
    assert ledger.opened == {}
