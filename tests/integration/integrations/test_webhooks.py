"""A finished run is posted, signed, until it is accepted. Real receivers on loopback, rows in a real Postgres."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from standardwebhooks import WebhookVerificationError

from assay.accounts import audit, secrets
from assay.accounts.models import AuditEvent
from assay.integrations import sending, services
from assay.integrations.attempts import attempt
from assay.integrations.deliveries import WAITS
from assay.integrations.models import Delivery, WebhookEndpoint
from assay.runs.models import Run, Trial
from assay_sdk import outgoing
from assay_sdk.ticketing import failures_of
from tests.integration.integrations.conftest import make_due, only_delivery
from tests.support.receiving import Answer, Receiver

Finished = Callable[..., Run]


def test_a_finished_run_is_posted_with_a_signature_that_the_library_accepts(
    receiver: Receiver, finished_run: Finished
) -> None:
    _, secret = services.create_endpoint(receiver.url)
    run = finished_run(
        "aaaa", "bbbb", "aaaa", gate={"metric": "pass_hat", "k": 1, "at_least": 0.9, "in_every_group": False}
    )
    delivery = only_delivery()
    assert attempt(delivery.pk)

    (got,) = receiver.received
    event = got.verified(secret)
    assert got.headers["webhook-id"] == delivery.event.uid
    assert got.headers["content-type"] == "application/json"
    assert event["type"] == "run.finished"
    data = event["data"]
    assert data["tenant"] == "acme"
    assert data["run"]["id"] == run.pk
    assert data["run"]["url"] == f"http://acme.localhost:8000/runs/{run.pk}/"
    assert data["run"]["seed"] == "7"
    assert data["run"]["pack"]["version"] == "1.0.0"
    assert data["run"]["bot"]["version"] == "v1"
    assert (data["summary"]["trials"], data["summary"]["passed"], data["summary"]["failed"]) == (4, 1, 3)
    assert data["summary"]["overall"]["pass_at"]["1"]["value"] == pytest.approx(0.25)
    assert data["gate"] == json.loads(json.dumps(run.gate_answer))
    assert data["gate"]["met"] is not True
    assert [(f["fingerprint"], f["count"], f["trials"]) for f in data["failures"]] == [
        ("aaaa", 2, 4),
        ("bbbb", 1, 4),
    ]
    shown = Trial.objects.filter(run=run, fingerprint="aaaa").order_by("pk").first()
    assert shown is not None
    first = data["failures"][0]
    assert first["url"] == f"http://acme.localhost:8000/trials/{shown.pk}/"
    assert (first["title"], first["category"]) == ("A refund for a laptop", "incorrect_state_update")
    assert data["failures_left_out"] == 0
    assert len(failures_of(event)) == 2  # what the SDK's receivers read

    delivery = only_delivery()
    assert (delivery.status, delivery.tries) == ("accepted", 1)
    logged = delivery.attempts.get()
    assert (logged.number, logged.accepted, logged.status_code) == (1, True, 204)
    assert logged.seconds >= 0


def test_a_signature_does_not_fit_another_secret_or_another_body(
    receiver: Receiver, finished_run: Finished
) -> None:
    _, secret = services.create_endpoint(receiver.url)
    other = services.create_endpoint("https://receiver.example/")[1]
    finished_run("aaaa")
    attempt(Delivery.objects.get(endpoint__url=receiver.url).pk)
    (got,) = receiver.received
    with pytest.raises(WebhookVerificationError):
        got.verified(other)
    with pytest.raises(WebhookVerificationError):
        type(got)(got.path, got.headers, got.body.replace(b"aaaa", b"aaab")).verified(secret)


def test_what_is_not_accepted_is_tried_again_under_the_same_identifier_until_it_is(
    receiver: Receiver, finished_run: Finished
) -> None:
    _, secret = services.create_endpoint(receiver.url)
    receiver.answers = [Answer(500, b"out of order"), Answer(503), Answer(200, b"thanks")]
    finished_run("aaaa")
    before = timezone.now()
    delivery = only_delivery()
    assert attempt(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.reason) == ("pending", "The endpoint answered 500.")
    assert timedelta(seconds=WAITS[0]) <= delivery.next_at - before <= timedelta(seconds=60)
    assert not attempt(delivery.pk)  # not before it is due
    for _ in range(2):
        make_due(delivery)
        assert attempt(delivery.pk)
    delivery.refresh_from_db()
    assert delivery.status == "accepted"
    assert [(a.number, a.status_code, a.accepted, a.answer) for a in delivery.attempts.all()] == [
        (1, 500, False, "out of order"),
        (2, 503, False, ""),
        (3, 200, True, "thanks"),
    ]
    assert {r.headers["webhook-id"] for r in receiver.received} == {delivery.event.uid}
    assert len({r.body for r in receiver.received}) == 1
    for received in receiver.received:
        received.verified(secret)
    assert not attempt(delivery.pk)  # accepted once is enough


def test_after_three_days_it_is_given_up_and_can_be_sent_again_by_hand(
    receiver: Receiver, finished_run: Finished
) -> None:
    services.create_endpoint(receiver.url)
    receiver.answers = [Answer(500)] * 10
    finished_run("aaaa")
    delivery = only_delivery()
    waited = 0.0
    for _ in range(10):
        make_due(delivery)
        start = timezone.now()
        assert attempt(delivery.pk)
        delivery.refresh_from_db()
        waited += max(0.0, (delivery.next_at - start).total_seconds())
    assert (delivery.status, delivery.tries) == ("given_up", 10)
    assert 2.9 * 86_400 < waited < 3.6 * 86_400
    assert delivery.finished_at is not None
    make_due(delivery)
    assert not attempt(delivery.pk)

    services.redeliver(delivery)
    assert attempt(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.tries, delivery.attempts.count()) == ("accepted", 1, 11)
    assert len({r.headers["webhook-id"] for r in receiver.received}) == 1


def test_410_switches_the_endpoint_off_and_gives_up_what_is_pending(
    receiver: Receiver, finished_run: Finished
) -> None:
    endpoint, _ = services.create_endpoint(receiver.url)
    finished_run("aaaa")
    finished_run("bbbb")
    first, second = Delivery.objects.order_by("pk")
    receiver.answers = [Answer(410)]
    attempt(first.pk)
    endpoint.refresh_from_db()
    assert not endpoint.enabled
    assert "410" in endpoint.disabled_reason
    for delivery in (first, second):
        delivery.refresh_from_db()
        assert delivery.status == "given_up"
    assert not attempt(second.pk)
    finished_run("cccc")
    assert Delivery.objects.count() == 2
    assert len(receiver.received) == 1
    with pytest.raises(services.IntegrationError, match="switched off"):
        services.redeliver(first)


def test_a_redirect_is_not_followed(receiver: Receiver, finished_run: Finished) -> None:
    elsewhere = Receiver()
    services.create_endpoint(receiver.url)
    receiver.answers = [Answer(307, headers={"location": elsewhere.url})]
    finished_run("aaaa")
    attempt(only_delivery().pk)
    delivery = only_delivery()
    assert delivery.status == "pending"
    assert "redirects are not followed" in delivery.reason
    assert elsewhere.received == []
    elsewhere.close()


def test_a_receiver_that_does_not_answer_is_left_after_a_bounded_time(
    receiver: Receiver, finished_run: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sending, "TIMEOUT", 0.3)
    over = threading.Event()
    services.create_endpoint(receiver.url)
    receiver.answers = [Answer(200, before=lambda: over.wait(30))]
    finished_run("aaaa")
    attempt(only_delivery().pk)
    over.set()
    delivery = only_delivery()
    assert delivery.status == "pending"
    assert delivery.reason.startswith("No answer within 0.3 s")
    assert delivery.attempts.get().status_code is None


def test_nobody_listening_is_an_attempt_like_another(finished_run: Finished) -> None:
    services.create_endpoint("http://127.0.0.1:1/")
    finished_run("aaaa")
    attempt(only_delivery().pk)
    assert "Connection refused" in only_delivery().reason


def test_an_attempt_that_breaks_in_an_unforeseen_way_is_logged_and_in_the_end_given_up(
    receiver: Receiver, finished_run: Finished
) -> None:
    endpoint, _ = services.create_endpoint(receiver.url)
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(sealed_secret=secrets.seal("not base64!"))
    finished_run("aaaa")
    delivery = only_delivery()
    for _ in range(10):
        make_due(delivery)
        assert attempt(delivery.pk)
    delivery.refresh_from_db()
    assert (delivery.status, delivery.attempts.count()) == ("given_up", 10)
    assert delivery.reason == "It broke: Error." and receiver.received == []


def test_of_a_large_or_strange_answer_only_the_beginning_is_kept(
    receiver: Receiver, finished_run: Finished
) -> None:
    services.create_endpoint(receiver.url)
    receiver.answers = [Answer(500, b"\0\xff<script>" + b"x" * 3_000_000)]
    finished_run("aaaa")
    attempt(only_delivery().pk)
    kept = only_delivery().attempts.get().answer
    assert kept.startswith("\ufffd\ufffd<script>xxx")
    assert len(kept) == 1000


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("1800", 1800, 1801),
        ("999999999", 86_400, 86_401),
        ("1", 5, 6),
        ("soon", 5, 6),
        ("²", 5, 6),
        ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", 5, 6),
        ("Fri, 01 Jan 9999 00:00:00 GMT", 86_400, 86_401),
    ],
)
def test_a_receiver_may_ask_for_more_time_but_for_no_more_than_a_day(
    receiver: Receiver, finished_run: Finished, header: str, least: float, most: float
) -> None:
    services.create_endpoint(receiver.url)
    receiver.answers = [Answer(429, headers={"retry-after": header.encode().decode("latin-1")})]
    finished_run("aaaa")
    delivery = only_delivery()
    attempt(delivery.pk)
    logged = delivery.attempts.get()
    wait = round((only_delivery().next_at - logged.at).total_seconds() - logged.seconds, 1)
    assert least <= wait <= most


def test_a_private_address_is_refused_when_the_endpoint_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(outgoing.ALLOW)
    for url in (
        "http://127.0.0.1/",
        "http://169.254.169.254/",
        "http://[::1]/",
        "ftp://x.example/",
        "https://a:b@x.example/",
    ):
        with pytest.raises(services.IntegrationError):
            services.create_endpoint(url)
    assert not WebhookEndpoint.objects.exists()


def test_a_name_that_leads_to_a_private_address_is_refused_when_it_is_posted_to(
    receiver: Receiver, finished_run: Finished, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was public when the endpoint was made, or looked so; the address that counts is the one connected to."""
    monkeypatch.delenv(outgoing.ALLOW)
    look_up = socket.getaddrinfo
    looked: list[str] = []

    def rebound(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        if host != "receiver.example":
            return look_up(host, port, *args, **options)
        looked.append(host)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    monkeypatch.setattr(socket, "getaddrinfo", rebound)
    services.create_endpoint(f"http://receiver.example:{receiver.port}/")
    finished_run("aaaa")
    attempt(only_delivery().pk)
    delivery = only_delivery()
    assert delivery.status == "given_up"  # trying again by itself would not help
    assert "public address" in delivery.reason
    assert "127.0.0.1" not in delivery.reason
    assert receiver.received == []
    assert len(looked) == 1


def test_the_secret_is_stored_encrypted_and_shown_once(receiver: Receiver) -> None:
    endpoint, secret = services.create_endpoint(receiver.url)
    assert secret.startswith("whsec_")
    endpoint.refresh_from_db()
    stored = bytes(endpoint.sealed_secret)
    assert secret.encode() not in stored
    assert secret.removeprefix("whsec_").encode() not in stored


def test_a_rotated_secret_is_valid_beside_the_old_one_for_a_day(
    receiver: Receiver, finished_run: Finished
) -> None:
    endpoint, old = services.create_endpoint(receiver.url)
    new = services.rotate_secret(endpoint)
    assert new != old
    finished_run("aaaa")
    attempt(only_delivery().pk)
    received = receiver.received[-1]
    received.verified(old)
    received.verified(new)

    WebhookEndpoint.objects.update(previous_secret_until=timezone.now() - timedelta(seconds=1))
    delivery = services.redeliver(only_delivery())
    attempt(delivery.pk)
    received = receiver.received[-1]
    received.verified(new)
    with pytest.raises(WebhookVerificationError):
        received.verified(old)


def test_a_receiver_may_bring_its_own_secret(receiver: Receiver, finished_run: Finished) -> None:
    mine = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    assert services.create_endpoint(receiver.url, secret=mine)[1] == mine
    finished_run("aaaa")
    attempt(only_delivery().pk)
    receiver.received[0].verified(mine)


@pytest.mark.parametrize("secret", ["", "hunter2", "whsec_", "whsec_c2hvcnQ=", "whsec_!!!"])
def test_a_secret_that_is_none_is_refused(receiver: Receiver, secret: str) -> None:
    with pytest.raises(services.IntegrationError, match="whsec_") as caught:
        services.create_endpoint(receiver.url, secret=secret)
    assert "hunter2" not in str(caught.value)


def test_a_test_event_is_sent_once_to_this_endpoint_alone(receiver: Receiver) -> None:
    endpoint, secret = services.create_endpoint(receiver.url)
    services.create_endpoint("https://other.example/")
    receiver.answers = [Answer(500)]
    delivery = services.send_test(endpoint)
    attempt(delivery.pk)
    assert receiver.received[0].verified(secret)["type"] == "endpoint.test"
    assert only_delivery().status == "given_up"
    services.switch_endpoint(endpoint, False)
    with pytest.raises(services.IntegrationError, match="switched off"):
        services.send_test(endpoint)


def test_only_what_finishes_while_an_endpoint_is_on_is_told(
    receiver: Receiver, finished_run: Finished
) -> None:
    finished_run("aaaa")
    endpoint, _ = services.create_endpoint(receiver.url)
    services.switch_endpoint(endpoint, False)
    finished_run("bbbb")
    services.switch_endpoint(endpoint, True)
    run = finished_run("cccc")
    assert [d.event.run for d in Delivery.objects.all()] == [run]
    services.switch_endpoint(endpoint, False)
    assert only_delivery().status == "given_up"


def test_what_is_changed_is_in_the_audit_trail_without_the_address_that_may_hold_a_token(
    receiver: Receiver,
) -> None:
    start = AuditEvent.objects.count()
    endpoint, secret = services.create_endpoint("https://hooks.example/services/T0/very-secret")
    services.update_endpoint(endpoint, description="Chat", url="https://hooks.example/other-secret")
    services.rotate_secret(endpoint)
    services.delete_endpoint(endpoint)
    written = AuditEvent.objects.order_by("id")[start:]
    assert [e.action for e in written] == [
        "webhook_endpoint.created",
        "webhook_endpoint.changed",
        "webhook_endpoint.secret_rotated",
        "webhook_endpoint.deleted",
    ]
    text = json.dumps([e.data for e in written])
    assert "hooks.example" in text
    assert "secret" not in text.replace("secret_rotated", "") and secret not in text
    assert audit.first_broken() is None


def test_an_unknown_event_is_refused_with_the_list(receiver: Receiver) -> None:
    with pytest.raises(services.IntegrationError, match=r"run\.finished; there is no run\.started"):
        services.create_endpoint(receiver.url, types=["run.started"])
