"""A tenant's site as its members see it: one member of each role, a small pack, and a finished run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from assay.accounts import services as accounts
from assay.accounts.models import User
from assay.bots import services as bots
from assay.bots.models import Bot, BotVersion
from assay.packs.models import PackVersion
from assay.packs.services import upload_pack
from assay.runs.executor import Executor
from assay.runs.finishing import finish_if_done
from assay.runs.models import Run
from assay.runs.services import plan_run
from tests.conftest import ROOT

LIBRARY = ROOT / "tests" / "support" / "packs" / "library"
PASSWORD = "quiet-harbour-17"


@pytest.fixture
def member(acme: None) -> Callable[[str], User]:
    """A member of Acme with that role."""

    def make(role: str) -> User:
        found = User.objects.filter(email=f"{role}@acme.example").first()
        return found or accounts.create_user(email=f"{role}@acme.example", password=PASSWORD, role=role)

    return make


@pytest.fixture
def browser(member: Callable[[str], User]) -> Callable[[str], Client]:
    """A browser in which that member of Acme is signed in."""

    def sign_in(role: str) -> Client:
        client = Client(HTTP_HOST="acme.localhost")
        client.force_login(member(role))
        return client

    return sign_in


@pytest.fixture
def library(acme: None) -> PackVersion:
    """The small library pack, in Acme."""
    return upload_pack(LIBRARY)


def reference_bot(target: str) -> BotVersion:
    """A version of a reference bot in the current schema."""
    found = Bot.objects.filter(name=target).first()
    latest = found.latest() if found is not None else None
    return latest or bots.create_bot(target, spec=f"reference:{target}")


def finish(run: Run) -> Run:
    """Try every trial of the run here, without workers, and bring it to its end."""
    for _ in range(20):
        Executor(run, schema="acme").drain()
        if finish_if_done(run.pk):
            run.refresh_from_db()
            return run
    raise AssertionError("the run did not come to its end")


@pytest.fixture
def finished(library: PackVersion) -> Callable[..., Run]:
    """A finished run of a reference bot on the library pack."""

    def make(target: str = "careless", trials: int = 6, **fields: Any) -> Run:
        return finish(plan_run(library, reference_bot(target), trials=trials, seed=11, **fields))

    return make
