"""From a finished run to a ticket in a real Request Tracker: by a signed webhook and the receiver, and directly."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.accounts.secrets import set_secret
from assay.integrations import services
from assay.integrations.attempts import attempt
from assay.integrations.models import Delivery, ToldFailure
from assay.plugins.manager import get_manager
from assay.runs.models import Run
from tests.conftest import ROOT
from tests.integration.integrations.conftest import failing_run, finished_run, nobody, only_delivery
from tests.integration.tickets.conftest import PACKAGE
from tests.support.rt import RequestTracker

__all__ = ["failing_run", "finished_run", "nobody"]  # fixtures
pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

Finished = Callable[..., Run]


@dataclass
class ReceiverProcess:
    """The command assay-rt-receiver, running."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path

    def until(self, state: str, count: int, seconds: float = 90.0) -> None:
        """Wait until so many events are in this state."""
        end = time.monotonic() + seconds
        while (counts := httpx.get(f"{self.url}/health", timeout=10).json())[state] < count:
            if time.monotonic() > end:
                pytest.fail(f"{counts}\n{self.log.read_text()}")
            time.sleep(0.05)

    def stop(self) -> None:
        self.process.terminate()
        try:
            self.process.wait(40)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)


@pytest.fixture
def start_receiver(tmp_path: Path, tracker: RequestTracker) -> Iterator[Callable[..., ReceiverProcess]]:
    """start_receiver(secret, url=..., port=...): all of them share one file for what was told."""
    started: list[ReceiverProcess] = []

    def start(secret: str, url: str | None = None, port: int | None = None) -> ReceiverProcess:
        port = port or free_port()
        log = tmp_path / f"receiver-{len(started)}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", "assay_tickets_rt.command", "--url", url or tracker.url, "--queue", tracker.queue,
                 "--memory", str(tmp_path / "told.sqlite3"), "--port", str(port)],
                env={**os.environ, "ASSAY_RT_TOKEN": tracker.token, "ASSAY_WEBHOOK_SECRET": secret,
                     "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(ROOT / "platform")])},
                stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip
        receiver = ReceiverProcess(f"http://127.0.0.1:{port}", process, log)
        started.append(receiver)
        end = time.monotonic() + 60
        while True:
            try:
                httpx.get(f"{receiver.url}/health", timeout=10)
                return receiver
            except httpx.HTTPError:
                if process.poll() is not None or time.monotonic() > end:
                    pytest.fail(f"The receiver does not answer.\n{log.read_text()}")
                time.sleep(0.05)

    yield start
    for receiver in started:
        receiver.stop()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tickets(tracker: RequestTracker, fingerprint: str) -> list[dict[str, Any]]:
    found = tracker.rest(
        "GET", f"/tickets?query=Subject%20LIKE%20'assay:{fingerprint[:16]}'&fields=Subject,Status&orderby=id"
    )
    items: list[dict[str, Any]] = found["items"]
    return items


def test_a_finished_run_becomes_tickets_by_a_signed_webhook(
    tracker: RequestTracker, start_receiver: Callable[..., ReceiverProcess], finished_run: Finished
) -> None:
    port = free_port()
    _, secret = services.create_endpoint(f"http://127.0.0.1:{port}/")
    receiver = start_receiver(secret, port=port)
    one, two = os.urandom(32).hex(), os.urandom(32).hex()

    run = finished_run(one, one, two)
    delivery = only_delivery()
    attempt(delivery.pk)
    logged = delivery.attempts.get()
    assert (logged.status_code, logged.answer) == (202, '{"message": "2 failures taken."}')
    receiver.until("done", 1)
    (first,), (second,) = tickets(tracker, one), tickets(tracker, two)
    (text,) = tracker.texts(first["id"])
    assert "2 of 4 trials" in text
    assert f"refunds.amount is wrong ({one})." in text
    assert f"Run: {run.pk}" in text

    # The same message again, as when the answer was lost: nothing is told twice.
    services.redeliver(delivery)
    attempt(delivery.pk)
    assert delivery.attempts.last().answer == '{"message": "Taken before."}'
    assert len(tickets(tracker, one)) == 1

    # Another run, after a restart, with one ticket resolved meanwhile.
    tracker.resolve(second["id"])
    receiver.stop()
    receiver = start_receiver(secret, port=port)
    later = finished_run(one, two)
    attempt(Delivery.objects.get(event__run=later).pk)
    receiver.until("done", 2)
    assert len(tickets(tracker, one)) == 1
    assert f"Run {later.pk}:" in tracker.texts(first["id"])[1]
    assert [t["Status"] for t in tickets(tracker, two)] == ["resolved", "new"]


def test_while_request_tracker_is_down_the_event_waits_on_the_disk_and_arrives_after_a_restart(
    tracker: RequestTracker, start_receiver: Callable[..., ReceiverProcess], finished_run: Finished
) -> None:
    port, fingerprint = free_port(), os.urandom(32).hex()
    _, secret = services.create_endpoint(f"http://127.0.0.1:{port}/")
    receiver = start_receiver(secret, url="http://127.0.0.1:1", port=port)
    finished_run(fingerprint)
    attempt(only_delivery().pk)
    assert only_delivery().status == "accepted"
    receiver.until("waiting", 1)
    receiver.stop()
    assert tickets(tracker, fingerprint) == []
    start_receiver(secret, port=port).until("done", 1)
    assert len(tickets(tracker, fingerprint)) == 1


def test_a_message_of_somebody_else_is_refused_and_makes_no_ticket(
    tracker: RequestTracker, start_receiver: Callable[..., ReceiverProcess], finished_run: Finished
) -> None:
    port, fingerprint = free_port(), os.urandom(32).hex()
    services.create_endpoint(f"http://127.0.0.1:{port}/")
    start_receiver("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", port=port)
    finished_run(fingerprint)
    attempt(only_delivery().pk)
    assert only_delivery().reason == "The endpoint answered 401."
    assert tickets(tracker, fingerprint) == []


def test_a_connection_opens_the_tickets_without_a_receiver(
    tracker: RequestTracker, finished_run: Finished, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    info = tmp_path / "assay_tickets_rt-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: assay-tickets-rt\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[assay.plugins]\nassay-tickets-rt = assay_tickets_rt\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    get_manager.cache_clear()
    try:
        set_secret("rt-token", tracker.token, by=None)
        options = {"url": tracker.url, "queue": tracker.queue, "token": "secret:rt-token"}
        connection = services.create_connection("RT", "request-tracker", options)
        assert services.check_connection(connection).startswith("Request Tracker 5.")
        fingerprint = os.urandom(32).hex()
        finished_run(fingerprint)
        attempt(only_delivery().pk)
        assert only_delivery().status == "accepted", only_delivery().reason
        told = ToldFailure.objects.get(fingerprint=fingerprint)
        assert [t["id"] for t in tickets(tracker, fingerprint)] == [told.ticket_id]
        assert told.ticket_url == f"{tracker.url}/Ticket/Display.html?id={told.ticket_id}"

        set_secret("rt-token", "1-2-wrong", by=None)
        finished_run(fingerprint)
        failed = Delivery.objects.get(status="pending")
        attempt(failed.pk)
        failed.refresh_from_db()
        assert failed.status == "given_up"
        assert "does not accept the token" in failed.reason
        set_secret("rt-token", tracker.token, by=None)
        services.redeliver(failed)
        attempt(failed.pk)
        failed.refresh_from_db()
        assert failed.status == "accepted"
        assert len(tickets(tracker, fingerprint)) == 1
    finally:
        get_manager.cache_clear()
