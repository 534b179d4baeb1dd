"""`manage.py serve`: the site and a worker that is started again when it is lost, until Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.packs.models import PackVersion
from assay.runs import services
from tests.conftest import ROOT
from tests.integration.platform.conftest import Installation, wait_until
from tests.support.site import reference_bot

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def serve(installation: Installation, tmp_path: Path) -> Iterator[Callable[[int], subprocess.Popen[bytes]]]:
    """Started on the database and the broker of the tests."""
    started: list[subprocess.Popen[bytes]] = []

    def start(port: int) -> subprocess.Popen[bytes]:
        with (tmp_path / "serve.txt").open("ab") as out:
            command = [
                sys.executable,
                str(ROOT / "manage.py"),
                "serve",
                "--processes",
                "1",
                "--port",
                str(port),
            ]
            started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out))
        return started[-1]

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait(30)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answer(port: int, host: str) -> str | None:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Host": f"{host}:{port}"})
    try:
        with urllib.request.urlopen(request, timeout=20) as page:
            return str(page.read().decode())
    except (urllib.error.URLError, OSError):
        return None


def worker_of(process: subprocess.Popen[bytes]) -> int | None:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    for thread in Path(f"/proc/{process.pid}/task").iterdir():
        children += (thread / "children").read_text().split()
    commands = {int(pid): Path(f"/proc/{pid}/cmdline") for pid in children}
    return next(
        (pid for pid, path in commands.items() if path.exists() and b"celery" in path.read_bytes()), None
    )


def test_the_site_answers_and_runs_are_carried_out_even_when_the_worker_is_lost(
    serve: Callable[[int], subprocess.Popen[bytes]],
    installation: Installation,
    library: PackVersion,
    tmp_path: Path,
) -> None:
    port = free_port()
    process = serve(port)
    wait_until(lambda: answer(port, "acme.localhost"), "the site's first answer", 120)
    assert "password" in (answer(port, "acme.localhost") or "").lower()
    first = wait_until(lambda: worker_of(process), "the worker")
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: worker_of(process) not in (None, first), "another worker", 60)
    run = services.plan_run(library, reference_bot("faithful"), trials=2)
    installation.finished(run)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    said = (tmp_path / "serve.txt").read_text()
    assert f"Acme: http://acme.localhost:{port}" in said and "Stopped." in said


def test_a_port_that_is_taken_is_said_before_anything_starts(
    serve: Callable[[int], subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = int(taken.getsockname()[1])
        assert serve(port).wait(120) == 1
    assert f"Port {port} on 127.0.0.1 is taken" in (tmp_path / "serve.txt").read_text()
