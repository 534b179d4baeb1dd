"""The site as it runs for people: a web server of its own process, and workers, on the database of the tests."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode

import httpx
import pytest
from django.db import connection

from assay.config.processes import Worker, worker_environment
from tests.conftest import ROOT


@dataclass
class Site:
    """Answers at http://<company>.localhost:<port>."""

    port: int
    folder: Path
    workers: list[Worker] = field(default_factory=list)

    def url(self, company: str, path: str = "/") -> str:
        return f"http://{company}.localhost:{self.port}{path}"

    def start_worker(self) -> Worker:
        """Stopped with the site at the latest."""
        with _environment():
            worker = Worker(1, self.folder / f"worker-{len(self.workers)}.log")
        self.workers.append(worker)
        return worker

    def logs(self) -> str:
        return "\n".join(
            f"{log.name}:\n{log.read_text()[-3000:]}" for log in sorted(self.folder.glob("*.log"))
        )


@contextmanager
def serving(folder: Path) -> Iterator[Site]:
    """The site for the time of the block. Workers are started by whoever wants some."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        site = Site(probe.getsockname()[1], folder)
    log = folder / "site.log"
    command = [
        sys.executable, "-m", "uvicorn", "assay.config.asgi:application",
        "--host", "127.0.0.1", "--port", str(site.port), "--log-level", "warning", "--lifespan", "off",
    ]  # fmt: skip
    with _environment(), log.open("ab") as out:
        server = subprocess.Popen(command, env=worker_environment(), stdout=out, stderr=subprocess.STDOUT)
    try:
        _wait_until_it_answers(site, server)
        yield site
    finally:
        for worker in site.workers:
            worker.kill()
        server.terminate()
        try:
            server.wait(15)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait(5)


@contextmanager
def _environment() -> Iterator[None]:
    """What the processes of the site are given, only while they are started."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_DATABASE_URL", _database_of_the_tests())
        patch.setenv("ASSAY_QUEUE", f"assay-tests-{os.getpid()}-site")
        patch.setenv("DJANGO_SETTINGS_MODULE", "tests.integration.platform.quick_settings")
        patch.setenv(
            "PYTHONPATH", os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
        )
        yield


def _wait_until_it_answers(site: Site, server: subprocess.Popen[bytes], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            httpx.get(f"http://127.0.0.1:{site.port}/static/web/site.css", timeout=5)
        except httpx.TransportError:
            time.sleep(0.1)
        else:
            return
    raise AssertionError(f"the site did not answer within {seconds:.0f} s\n{site.logs()}")


def _database_of_the_tests() -> str:
    """The URL of the database that this process works on."""
    found = connection.settings_dict
    query = {"host": found["HOST"], **({"port": found["PORT"]} if found["PORT"] else {})}
    who = quote(found["USER"]) + (f":{quote(found['PASSWORD'])}" if found["PASSWORD"] else "")
    return f"postgresql://{who}@/{quote(found['NAME'])}?{urlencode(query)}"
