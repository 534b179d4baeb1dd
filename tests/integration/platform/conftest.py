"""A small pack, reference bots, brokers, and real Celery workers on the database of the tests."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import kombu.pools
import pytest
from django.db import connection

from assay.config import environment
from assay.config.celery import app
from assay.config.processes import Worker
from assay.runs.models import Run
from assay.runs.progress import Progress, progress
from assay.tenancy.services import in_tenant
from tests.conftest import ROOT
from tests.support.site import library, member

__all__ = ["library", "member"]  # fixtures

BROKERS = ("embedded", "redis", "rabbitmq")
_numbers = count(1)


def wait_until(condition: Callable[[], Any], what: str, seconds: float = 90.0) -> Any:
    """What the condition gives as soon as it is true. Fails after `seconds`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    pytest.fail(f"{what} did not happen within {seconds:.0f} s")


@dataclass
class Installation:
    """Where workers of a test look: the tests' database, one broker, and a queue of the test's own."""

    broker: str
    queue: str
    folder: Path
    workers: list[Worker] = field(default_factory=list)

    def start_worker(self, processes: int = 2) -> Worker:
        """A worker with its pool, stopped at the end of the test at the latest."""
        worker = Worker(processes, self.folder / f"worker-{len(self.workers)}.log")
        self.workers.append(worker)
        return worker

    def logs(self) -> str:
        return "\n".join(f"{w.log.name}:\n{w.log.read_text()[-3000:]}" for w in self.workers)

    def purge(self) -> int:
        """Lose every wake message that nobody has taken."""
        with app.connection_for_write() as to_broker:
            return int(app.amqp.queues[self.queue](to_broker.default_channel).purge() or 0)

    def until(
        self, run: Run, condition: Callable[[Progress], bool], what: str, seconds: float = 90.0
    ) -> Progress:
        """Wait until the run's progress meets the condition; on failure show what the workers said."""
        try:
            return wait_until(lambda: (now := progress(run)) and condition(now) and now, what, seconds)
        except pytest.fail.Exception as error:
            pytest.fail(f"{error}\n{progress(run)}\n{self.logs()}")

    def finished(self, run: Run, seconds: float = 90.0) -> Progress:
        return self.until(run, lambda p: p.status == "finished", "the end of the run", seconds)


def database_of_the_tests() -> str:
    """The URL of the database that this process works on."""
    found = connection.settings_dict
    query = {"host": found["HOST"], **({"port": found["PORT"]} if found["PORT"] else {})}
    who = quote(found["USER"]) + (f":{quote(found['PASSWORD'])}" if found["PASSWORD"] else "")
    return f"postgresql://{who}@/{quote(found['NAME'])}?{urlencode(query)}"


@pytest.fixture
def use_broker(
    request: pytest.FixtureRequest, platform_db: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[str], Installation]]:
    """Point Celery, here and in workers to be started, at one of BROKERS."""
    with ExitStack() as stack:

        def use(name: str) -> Installation:
            if name == "embedded":
                monkeypatch.delenv("ASSAY_BROKER_URL", raising=False)
                url = environment.broker_url()
            else:
                url = request.getfixturevalue(f"{name}_url")
                monkeypatch.setenv("ASSAY_BROKER_URL", url)
            queue = f"assay-tests-{os.getpid()}-{next(_numbers)}"
            monkeypatch.setenv("ASSAY_QUEUE", queue)
            monkeypatch.setenv("ASSAY_DATABASE_URL", database_of_the_tests())
            monkeypatch.setenv("DJANGO_SETTINGS_MODULE", "tests.integration.platform.quick_settings")
            path = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
            monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
            before = _point_celery_at(
                broker_url=url,
                task_default_queue=queue,
                broker_transport_options=environment.transport_options(url),
            )
            installation = Installation(url, queue, tmp_path)
            stack.callback(lambda: _point_celery_at(**before))
            stack.callback(_delete_queue, queue)
            stack.callback(lambda: [w.kill() for w in installation.workers])
            return installation

        yield use


@pytest.fixture
def installation(use_broker: Callable[[str], Installation]) -> Installation:
    """On the embedded broker."""
    return use_broker("embedded")


@pytest.fixture
def globex(platform_db: None) -> Iterator[None]:
    with in_tenant("globex"):
        yield


def _point_celery_at(**conf: Any) -> dict[str, Any]:
    """Give the Celery of this process another broker and queue; gives what it had."""
    before = {name: app.conf[name] for name in conf}
    app.conf.update(conf)
    app.pool.force_close_all()
    app._pool = None
    app.__dict__.pop("amqp", None)  # its next use makes it anew
    kombu.pools.reset()
    return before


def _delete_queue(queue: str) -> None:
    with app.connection_for_write() as to_broker:
        app.amqp.queues[queue](to_broker.default_channel).delete()
