"""Starting and stopping the processes of an installation on one machine."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PLATFORM = Path(__file__).resolve().parents[2]
_LOOK_EVERY = 5.0  # seconds

logger = logging.getLogger(__name__)


def worker_command(processes: int, *, log_level: str = "WARNING") -> list[str]:
    """The command line of a Celery worker with its pool."""
    return [
        sys.executable, "-m", "celery", "--app", "assay.config.celery", "worker",
        "--hostname", f"{secrets.token_hex(4)}@%h",  # several may run on one machine
        "--concurrency", str(processes), "--loglevel", log_level,
        "--without-gossip", "--without-mingle", "--without-heartbeat",
    ]  # fmt: skip


def worker_environment() -> dict[str, str]:
    """The environment of a worker: this one's, with the platform on the path and one thread for linear algebra."""
    path = os.pathsep.join([str(_PLATFORM), *filter(None, [os.environ.get("PYTHONPATH")])])
    one = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    return {"DJANGO_SETTINGS_MODULE": "assay.config.settings", **one, **os.environ, "PYTHONPATH": path}


class Worker:
    """A worker process of ours. It ends by itself when this process is gone."""

    def __init__(self, processes: int, log: Path) -> None:
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("ab") as out:
            self._process = subprocess.Popen(
                worker_command(processes),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**worker_environment(), "ASSAY_STOP_WITH_PARENT": str(os.getpid())},
                # Its own session: Ctrl-C in the terminal reaches us, and we stop it in order.
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def ended(self) -> int | None:
        """The exit code, or None while it lives."""
        return self._process.poll()

    def stop(self, timeout: float = 30.0) -> None:
        """Let it put its trials back and end; after `timeout` seconds kill it with its pool."""
        if self._process.poll() is not None:
            return
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End it and its pool at once, without asking."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(10)


@contextmanager
def working(processes: int, log: Path) -> Iterator[Worker]:
    """A worker for the time of the block."""
    worker = Worker(processes, log)
    try:
        yield worker
    finally:
        worker.stop()


@contextmanager
def kept_working(processes: int, log: Path) -> Iterator[None]:
    """A worker for the time of the block, started again when it ends by itself."""
    done = threading.Event()
    workers = [Worker(processes, log)]

    def watch() -> None:
        while not done.wait(_LOOK_EVERY):
            code = workers[-1].ended()
            if code is not None:
                logger.warning("the worker ended with code %s and is started again; its log is %s", code, log)
                workers.append(Worker(processes, log))

    watching = threading.Thread(target=watch, name="worker", daemon=True)
    watching.start()
    try:
        yield
    finally:
        done.set()
        watching.join(timeout=10)
        workers[-1].stop()


def port_is_free(host: str, port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True
