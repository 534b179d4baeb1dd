"""Two companies in a real Postgres, and helpers to plan runs in them.

Everything is committed, because workers and threads with connections of their own must see it; each test makes
the rows it looks at.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

PASSWORD = "quiet-harbour-17"
_numbers = count(1)


@pytest.fixture(scope="session")
def database(django_db_blocker: Any) -> Iterator[str]:
    """A database of this test session's own, migrated; gives its name. Dropped at the end."""
    with django_db_blocker.unblock():
        connection.settings_dict["TEST"]["NAME"] = f"assay_tests_{os.getpid()}"
        before = connection.settings_dict["NAME"]
        name = connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    yield name
    with django_db_blocker.unblock():
        connection.creation.destroy_test_db(before, verbosity=0)


@pytest.fixture(scope="session")
def companies(database: str, django_db_blocker: Any) -> dict[str, str]:
    """Schema by host: acme at acme.localhost, globex at globex.localhost; owners owner@<schema>.example."""
    from assay.tenancy.services import create_tenant, ensure_public

    with django_db_blocker.unblock():
        ensure_public()
        for schema in ("acme", "globex"):
            create_tenant(
                name=schema.title(),
                schema=schema,
                host=f"{schema}.localhost",
                owner_email=f"owner@{schema}.example",
                owner_password=PASSWORD,
            )
    return {"acme.localhost": "acme", "globex.localhost": "globex"}


@pytest.fixture
def platform_db(companies: dict[str, str], django_db_blocker: Any) -> Iterator[None]:
    """Access to the database with real commits."""
    with django_db_blocker.unblock():
        yield
        connection.set_schema_to_public()
        connection.close()


@pytest.fixture
def acme(platform_db: None) -> Iterator[None]:
    """Inside Acme's schema."""
    from assay.tenancy.services import in_tenant

    with in_tenant("acme"):
        yield


@pytest.fixture
def bare_run(acme: None) -> Callable[..., Any]:
    """Plan trial rows by hand, without a pack that could be loaded: for the queue alone."""
    from assay.bots.models import Bot, BotVersion
    from assay.packs.models import Pack, PackVersion
    from assay.runs.models import Run, Trial

    def make(trials: int = 3, **fields: Any) -> Run:
        n = next(_numbers)
        version = PackVersion.objects.create(
            pack=Pack.objects.create(name=f"bare{n}", title="Bare"),
            version="1.0.0",
            title="Bare",
            content_hash=f"{n:064x}",
            bundle=b"",
            locale="en-US",
            task_count=1,
            tool_count=0,
            clause_count=0,
            article_count=0,
        )
        bot = BotVersion.objects.create(
            bot=Bot.objects.create(name=f"bare {n}"), number=1, spec="reference:faithful"
        )
        fields = {"status": "running", "started_at": timezone.now(), **fields}
        run = Run.objects.create(
            pack_version=version,
            bot_version=bot,
            task_ids=["T-1"],
            trials_per_task=trials,
            trial_count=trials,
            seed=7,
            **fields,
        )
        Trial.objects.bulk_create(
            Trial(run=run, task_id="T-1", group="t", index=i, seed=i) for i in range(trials)
        )
        return run

    return make
