"""Asking the supervisor for services, and starting a supervisor where none runs.

A user of the services is an open connection to the supervisor's socket. The kernel closes it when the process ends,
in order or by kill -9, so nobody has to count.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from assay.config import environment
from assay.config.environment import EnvironmentProblem

_PATIENCE = 180.0  # seconds; a first start takes two, recovery after a crash of the machine can take a minute
_PLATFORM = Path(__file__).resolve().parents[3]
_started: list[
    subprocess.Popen[bytes]
] = []  # kept: a supervisor outlives who started it, which Popen warns of


@contextmanager
def connected(names: Sequence[str]) -> Iterator[None]:
    """Hold the services `names` for the time of the block. Raises EnvironmentProblem."""
    connection = _ask(list(names), time.monotonic() + _PATIENCE)
    try:
        yield
    finally:
        connection.close()


def log_path() -> Path:
    return environment.state_dir() / "logs" / "embedded.log"


def _ask(names: list[str], deadline: float) -> socket.socket:
    environment.make_private(environment.state_dir(), others=True)
    environment.make_private(environment.run_dir())
    environment.make_private(log_path().parent, others=True)
    while time.monotonic() < deadline:
        connection = _connect() or _start(deadline)
        answer = _request(connection, names, deadline) if connection else None
        if connection is None or answer is None:
            time.sleep(0.05)  # it was stopping, or never came up: again
            continue
        if "failed" in answer:
            connection.close()
            raise EnvironmentProblem(str(answer["failed"]))
        return connection
    raise EnvironmentProblem(
        f"The embedded services did not come up within {_PATIENCE:.0f} s. The logs are in {log_path().parent}."
    )


def _connect() -> socket.socket | None:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(str(control_path()))
    except OSError:
        connection.close()
        return None
    return connection


def control_path() -> Path:
    return environment.run_dir() / "control.sock"


def _request(connection: socket.socket, names: list[str], deadline: float) -> dict[str, object] | None:
    """The supervisor's answer; None when it ended before it answered. It answers when the services are up."""
    try:
        connection.sendall(json.dumps({"services": names}).encode() + b"\n")
        connection.settimeout(max(0.1, deadline - time.monotonic()))
        with connection.makefile("rb") as lines:
            line = lines.readline()
        connection.settimeout(None)
        if line.endswith(b"\n"):
            return dict(json.loads(line))
    except (OSError, ValueError):
        pass
    connection.close()
    return None


def _start(deadline: float) -> socket.socket | None:
    """A connection to a supervisor that this call started, or that another process started meanwhile."""
    with _starting(deadline):
        connection = _connect()
        if connection is not None:
            return connection
        log = log_path()
        with log.open("ab") as out:
            written = out.tell()
            supervisor = subprocess.Popen(
                [sys.executable, "-m", "assay.config.embedded.supervisor"],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd="/",
                env={
                    **os.environ,
                    environment.STATE_DIR: str(environment.state_dir()),
                    "PYTHONPATH": os.pathsep.join(
                        filter(None, [str(_PLATFORM), os.environ.get("PYTHONPATH")])
                    ),
                },
                start_new_session=True,  # Ctrl-C in the terminal is for its users; it sees them go
            )
        while time.monotonic() < deadline:
            connection = _connect()
            if connection is not None:
                supervisor.returncode = 0  # it may outlive this process, of which Popen would warn
                return connection
            if supervisor.poll() is not None:
                raise EnvironmentProblem(_why(log, written))
            time.sleep(0.02)
        supervisor.terminate()
        return None


def _why(log: Path, start: int) -> str:
    """The last line that a supervisor wrote before it ended."""
    with log.open("rb") as lines:
        lines.seek(start)
        said = lines.read().decode(errors="replace").strip().splitlines()
    return f"The embedded services cannot be started: {said[-1] if said else 'no reason given'} (log: {log})"


@contextmanager
def _starting(deadline: float) -> Iterator[None]:
    """Only one process at a time starts a supervisor."""
    path = environment.run_dir() / "start.lock"
    with path.open("ab") as lock:
        take_lock(
            lock, deadline, f"Another process has been starting the embedded services for too long ({path})."
        )
        yield


def take_lock(lock: IO[bytes], deadline: float, otherwise: str) -> None:
    """Lock the open file, waiting until `deadline` (time.monotonic). Raises EnvironmentProblem(otherwise)."""
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise EnvironmentProblem(otherwise) from None
            time.sleep(0.02)
