"""Finished runs, receivers and ticket systems for the tests of deliveries."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from django.utils import timezone

from assay.integrations.models import Delivery, Event, TicketConnection, WebhookEndpoint
from assay.plugins.manager import get_manager
from assay.runs.models import Run, Trial
from assay.runs.services import finish_if_done
from assay_sdk import outgoing
from tests.integration.platform.conftest import installation, use_broker
from tests.support.receiving import Receiver

__all__ = ["installation", "use_broker"]  # fixtures

LEDGER = '''
"""A ticket system in memory, told by the tests when to break."""
from assay_sdk import NoOptions, TicketRef, TicketSystemType, hookimpl

opened, comments, errors = {}, [], []

def _now():
    if errors:
        error = errors.pop(0)
        if error is not None:
            raise error

class Ledger:
    def find(self, fingerprint):
        _now()
        return TicketRef(opened[fingerprint], None) if fingerprint in opened else None
    def create(self, failure):
        _now()
        opened[failure.fingerprint] = f"T{len(opened) + 1}"
        return TicketRef(opened[failure.fingerprint], f"https://ledger.example/T{len(opened)}")
    def comment(self, ticket, text):
        _now()
        comments.append((ticket.id, text))
    def check(self):
        _now()
        return "the ledger"

@hookimpl
def assay_ticket_systems():
    return [TicketSystemType("ledger", "Ledger", NoOptions, lambda options, secret: Ledger())]
'''


@pytest.fixture(autouse=True)
def nobody(acme: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told anything yet, and receivers on loopback are allowed."""
    WebhookEndpoint.objects.all().delete()
    TicketConnection.objects.all().delete()
    Event.objects.all().delete()
    monkeypatch.setenv(outgoing.ALLOW, "127.0.0.1")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    server = Receiver()
    yield server
    server.close()


@pytest.fixture
def failing_run(bare_run: Callable[..., Run]) -> Callable[..., Run]:
    """failing_run("a", "a", "b"): a run that is not finished yet, with a failed trial for each fingerprint."""

    def make(*fingerprints: str, **fields: Any) -> Run:
        run = bare_run(len(fingerprints) + 1, **fields)
        trials = list(Trial.objects.filter(run=run).order_by("index"))
        trials[0].status = "passed"
        for trial, fingerprint in zip(trials[1:], fingerprints, strict=True):
            trial.status, trial.fingerprint, trial.title = "failed", fingerprint, "A refund for a laptop"
            trial.category, trial.explanation = (
                "incorrect_state_update",
                f"refunds.amount is wrong ({fingerprint}).",
            )
            trial.s1, trial.s2, trial.s3 = True, True, False
        Trial.objects.bulk_update(
            trials, ["status", "fingerprint", "title", "category", "explanation", "s1", "s2", "s3"]
        )
        return run

    return make


@pytest.fixture
def finished_run(failing_run: Callable[..., Run]) -> Callable[..., Run]:
    """The same, brought to its end the way the platform does it."""

    def make(*fingerprints: str, **fields: Any) -> Run:
        run = failing_run(*fingerprints, **fields)
        assert finish_if_done(run.pk)
        run.refresh_from_db()
        return run

    return make


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """An installed plugin with the ticket system `ledger`."""
    info = tmp_path / "ledger_plugin-1.0.dist-info"
    info.mkdir()
    (tmp_path / "ledger_plugin.py").write_text(LEDGER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ledger-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[assay.plugins]\nledger-plugin = ledger_plugin\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    get_manager.cache_clear()
    get_manager()
    import ledger_plugin

    yield ledger_plugin
    get_manager.cache_clear()
    sys.modules.pop("ledger_plugin", None)


def only_delivery() -> Delivery:
    """The one delivery that there is, as it stands now."""
    return Delivery.objects.select_related("event", "endpoint", "connection").get()


def make_due(delivery: Delivery) -> None:
    """Let the time until the next attempt be over."""
    Delivery.objects.filter(pk=delivery.pk).update(next_at=timezone.now())
