"""Deliveries are rows first: whatever is lost, killed or done twice, each event arrives."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from types import ModuleType
from typing import Any

import pytest
from django.db import DatabaseError, connection, connections, transaction
from django.utils import timezone
from django_tenants.utils import schema_context

from assay.accounts import audit, secrets
from assay.accounts.models import AuditEvent
from assay.integrations import deliveries, payload, services, tasks
from assay.integrations.attempts import attempt
from assay.integrations.deliveries import Attempt
from assay.integrations.models import Delivery, DeliveryAttempt, Event, WebhookEndpoint
from assay.integrations.sweeping import sweep_deliveries
from assay.runs import sweeping
from assay.runs.models import Run
from assay.runs.services import finish_if_done
from assay.tenancy.services import in_tenant
from tests.integration.integrations.conftest import make_due, only_delivery
from tests.integration.platform.conftest import Installation, wait_until
from tests.support.receiving import Answer, Receiver

Finished = Callable[..., Run]


def messages_lost(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The broker takes no more messages; gives the deliveries that it was told of."""
    lost: list[int] = []

    def refuse(*, args: list[Any], **options: Any) -> None:
        lost.append(args[1])
        raise ConnectionError("no broker")

    monkeypatch.setattr(tasks.deliver, "apply_async", refuse)
    return lost


def later(seconds: float) -> None:
    """Let messages that are under way be as old as this."""
    for delivery in Delivery.objects.exclude(queued_until=None):
        delivery.queued_until -= timedelta(seconds=seconds)
        delivery.save(update_fields=["queued_until"])


def test_a_broker_that_is_down_delays_an_event_and_loses_nothing(
    receiver: Receiver, finished_run: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.create_endpoint(receiver.url)
    lost = messages_lost(monkeypatch)
    finished_run("aaaa")
    delivery = only_delivery()
    assert lost == [delivery.pk]
    assert deliveries.due() == []  # a message may still be under way
    later(60)
    assert deliveries.due() == [delivery.pk]
    assert deliveries.due() == []  # one sweep takes it, the others do not
    assert attempt(delivery.pk)
    later(60)
    assert deliveries.due() == []
    assert len(receiver.received) == 1


def test_a_run_whose_event_was_never_written_is_found_by_the_sweep_and_told_once(
    receiver: Receiver, failing_run: Finished, settings: Any
) -> None:
    services.create_endpoint(receiver.url)
    settings.ASSAY_RUN_FINISHED = []  # as when the process ends between the commit and the call
    run = failing_run("aaaa")
    finish_if_done(run.pk)
    assert not Event.objects.exists()
    assert sweep_deliveries("acme") >= 0
    assert only_delivery().event.run_id == run.pk
    sweep_deliveries("acme")
    services.queue_run_finished(run)
    assert Event.objects.count() == 1


def test_the_platforms_sweep_looks_after_deliveries_too(
    receiver: Receiver, failing_run: Finished, settings: Any
) -> None:
    services.create_endpoint(receiver.url)
    settings.ASSAY_RUN_FINISHED = []
    finish_if_done(failing_run("aaaa").pk)
    sweeping.sweep()
    connection.set_schema("acme")
    assert Event.objects.count() == 1


def test_an_event_is_written_with_all_its_deliveries_or_not_at_all(
    receiver: Receiver, failing_run: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    services.create_endpoint(receiver.url)
    services.create_endpoint("https://second.example/")
    run = failing_run("aaaa")
    queue, calls = deliveries.queue, []

    def fail_at_the_second(*arguments: Any) -> Delivery:
        calls.append(arguments)
        if len(calls) == 2:
            raise RuntimeError("power cut")
        return queue(*arguments)

    with monkeypatch.context() as broken:
        broken.setattr(deliveries, "queue", fail_at_the_second)
        assert finish_if_done(run.pk)  # what listens does not undo the run's own end
    run.refresh_from_db()
    assert run.status == "finished"
    assert (Event.objects.count(), Delivery.objects.count()) == (0, 0)
    sweep_deliveries("acme")
    assert (Event.objects.count(), Delivery.objects.count()) == (1, 2)


def test_an_event_is_written_once_when_two_processes_write_it_at_the_same_moment(
    receiver: Receiver, failing_run: Finished, settings: Any
) -> None:
    services.create_endpoint(receiver.url)
    settings.ASSAY_RUN_FINISHED = []
    run = failing_run("aaaa")
    finish_if_done(run.pk)
    barrier = threading.Barrier(2, timeout=30)
    errors = in_threads(2, lambda: (barrier.wait(), services.queue_run_finished(run)))
    assert errors == []
    assert (Event.objects.count(), Delivery.objects.count()) == (1, 1)


def in_threads(count: int, work: Callable[[], object]) -> list[BaseException]:
    """Do it in so many threads at once, each inside Acme; what they raised."""
    errors: list[BaseException] = []

    def run() -> None:
        try:
            with schema_context("acme"):
                work()
        except BaseException as error:  # noqa: BLE001 (shown by the test)
            errors.append(error)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return errors


def test_two_workers_with_the_same_message_make_one_attempt(
    receiver: Receiver, finished_run: Finished
) -> None:
    services.create_endpoint(receiver.url)
    finished_run("aaaa")
    delivery = only_delivery()
    barrier, made = threading.Barrier(4, timeout=30), []
    errors = in_threads(4, lambda: (barrier.wait(), made.append(attempt(delivery.pk))))
    assert errors == []
    assert sorted(made) == [False, False, False, True]
    assert len(receiver.received) == 1


def test_a_delivery_whose_worker_was_killed_is_made_again(receiver: Receiver, finished_run: Finished) -> None:
    _, secret = services.create_endpoint(receiver.url)
    finished_run("aaaa")
    delivery = only_delivery()
    claimed = deliveries.claim(delivery.pk)
    assert claimed is not None  # and then the worker is gone
    make_due(delivery)
    assert deliveries.due() == []
    assert not attempt(delivery.pk)
    with pytest.raises(services.IntegrationError, match="under way"):
        services.redeliver(delivery)
    Delivery.objects.update(lease_expires_at=timezone.now())
    assert deliveries.due() == [delivery.pk]
    assert attempt(delivery.pk)
    receiver.received[0].verified(secret)

    # It was not gone but slow: what it says now is logged, and changes nothing.
    assert deliveries.write(claimed, Attempt(False, "Too late.")) is False
    assert only_delivery().status == "accepted"
    assert list(DeliveryAttempt.objects.values_list("number", "message")) == [
        (1, "Accepted with 204."),
        (2, "Too late."),
    ]


def test_an_endpoint_that_is_deleted_during_an_attempt_is_no_error(
    receiver: Receiver, finished_run: Finished
) -> None:
    endpoint, _ = services.create_endpoint(receiver.url)
    finished_run("aaaa")
    receiver.answers = [Answer(200, before=lambda: in_threads(1, lambda: services.delete_endpoint(endpoint)))]
    assert attempt(only_delivery().pk)
    assert not Delivery.objects.exists()


def blocked_by_this_connection() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        return bool(cursor.fetchone()[0])


@pytest.mark.parametrize("what", ["endpoint", "connection", "secret"])
def test_deleting_waits_for_who_changes_the_same_and_neither_is_broken_off(
    ledger: ModuleType, what: str
) -> None:
    delete: Callable[[], None]
    if what == "endpoint":
        row: Any = services.create_endpoint("https://receiver.example/")[0]
        delete = partial(services.delete_endpoint, row)
    elif what == "connection":
        row = services.create_connection("Ledger", "ledger", {})
        delete = partial(services.delete_connection, row)
    else:
        row = secrets.set_secret("to-be-deleted", "value", by=None)
        delete = partial(secrets.delete_secret, "to-be-deleted", by=None)
    errors: list[Exception] = []

    def in_a_thread() -> None:
        try:
            with schema_context("acme"):
                delete()
        except DatabaseError as error:
            errors.append(error)
        finally:
            connections.close_all()

    thread = threading.Thread(target=in_a_thread)
    with transaction.atomic():  # a change: first the row, then the audit trail
        type(row).objects.select_for_update().get(pk=row.pk)
        thread.start()
        wait_until(blocked_by_this_connection, "waiting for the row", 20)
        audit.record(f"{what}.changed", target=row)
    thread.join(30)
    assert errors == []
    assert not type(row).objects.filter(pk=row.pk).exists()
    target = f"{type(row)._meta.model_name}:{row.pk}"
    actions = list(AuditEvent.objects.filter(target=target).order_by("id").values_list("action", flat=True))
    assert [action.split(".")[1] for action in actions[1:]] == ["changed", "deleted"]
    assert audit.first_broken() is None


def test_an_endpoint_deleted_by_two_people_at_once_is_deleted_once(receiver: Receiver) -> None:
    endpoint, _ = services.create_endpoint(receiver.url)
    seen_by_another = WebhookEndpoint.objects.get(pk=endpoint.pk)
    services.delete_endpoint(endpoint)
    services.delete_endpoint(seen_by_another)
    deleted = AuditEvent.objects.filter(
        action="webhook_endpoint.deleted", target=f"webhookendpoint:{seen_by_another.pk}"
    )
    assert deleted.count() == 1


def test_a_delivery_accepted_after_the_endpoint_was_switched_off_counts_as_given_up_by_hand(
    receiver: Receiver, finished_run: Finished
) -> None:
    endpoint, _ = services.create_endpoint(receiver.url)
    finished_run("aaaa")
    receiver.answers = [
        Answer(200, before=lambda: in_threads(1, lambda: services.switch_endpoint(endpoint, False)))
    ]
    attempt(only_delivery().pk)
    delivery = only_delivery()
    assert (delivery.status, delivery.lease_token) == ("given_up", None)
    assert delivery.attempts.get().accepted  # the log says what happened


def test_each_company_is_told_of_its_own_runs_only(receiver: Receiver, finished_run: Finished) -> None:
    with in_tenant("globex"):
        services.create_endpoint("https://globex.example/")
    try:
        services.create_endpoint(receiver.url)
        finished_run("aaaa")
        with in_tenant("globex"):
            assert not Delivery.objects.exists()
        delivery = only_delivery()
        tasks.deliver("globex", delivery.pk)
        tasks.deliver("no_such_company", delivery.pk)
        assert receiver.received == []
        tasks.deliver("acme", delivery.pk)
        assert len(receiver.received) == 1
    finally:
        with in_tenant("globex"):
            services.WebhookEndpoint.objects.all().delete()


def test_a_sealed_secret_copied_into_another_company_opens_nothing_there(
    receiver: Receiver, finished_run: Finished
) -> None:
    with in_tenant("globex"):
        foreign, _ = services.create_endpoint(receiver.url)
        stolen = bytes(foreign.sealed_secret)
        foreign.delete()
    endpoint, _ = services.create_endpoint(receiver.url)
    endpoint.sealed_secret = stolen
    endpoint.save()
    finished_run("aaaa")
    attempt(only_delivery().pk)
    assert only_delivery().status == "given_up"
    assert "Rotate" in only_delivery().reason
    assert receiver.received == []


def test_a_run_with_many_distinct_failures_sends_the_most_frequent_and_says_how_many_are_left_out(
    receiver: Receiver, finished_run: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(payload, "MOST_FAILURES", 2)
    _, secret = services.create_endpoint(receiver.url)
    finished_run("a", "b", "b", "c", "c", "c", "d")
    attempt(only_delivery().pk)
    data = receiver.received[0].verified(secret)["data"]
    assert [(f["fingerprint"], f["count"]) for f in data["failures"]] == [("c", 3), ("b", 2)]
    assert data["failures_left_out"] == 2


@pytest.mark.timeout(300)
def test_a_real_worker_delivers_what_it_is_asked_and_what_the_sweep_finds(
    receiver: Receiver, installation: Installation, failing_run: Finished, settings: Any
) -> None:
    _, secret = services.create_endpoint(receiver.url)
    receiver.answers = [Answer(500), Answer(200), Answer(200)]
    first = failing_run("aaaa")
    finish_if_done(first.pk)
    settings.ASSAY_RUN_FINISHED = []
    second = failing_run("bbbb")
    finish_if_done(second.pk)
    installation.start_worker()

    def both() -> bool:
        return Delivery.objects.filter(status="accepted").count() == 2

    try:
        wait_until(both, "the acceptance of both events")
    except pytest.fail.Exception as error:
        pytest.fail(f"{error}\n{list(Delivery.objects.values())}\n{installation.logs()}")
    told = [r.verified(secret)["data"]["run"]["id"] for r in receiver.received]
    assert sorted(set(told)) == [first.pk, second.pk]
    assert len(told) == 3  # one of them twice, because the first answer was a refusal
