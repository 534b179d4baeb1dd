"""A state folder with embedded services of its own, used the way people use them: by processes that come and go."""

from __future__ import annotations

import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from assay.config import environment

ROOT = Path(__file__).resolve().parents[3]
_BOUND = 60.0  # seconds for anything that a test waits for


class Embedded:
    """One state folder. `run` and `hold` start processes that use its services."""

    def __init__(self, state: Path) -> None:
        self.state = state
        self._held: list[subprocess.Popen[str]] = []

    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if k not in ("ASSAY_DATABASE_URL", "ASSAY_BROKER_URL")}
        return {**kept, "ASSAY_STATE_DIR": str(self.state), "PYTHONPATH": str(ROOT / "platform")}

    def run(self, *command: str, before: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
        """Run `command` with the services up; `before` is put before the Python that starts them."""
        return subprocess.run(
            [*before, sys.executable, "-m", "assay.config.embedded", *command],
            env=self.environment(), cwd="/", capture_output=True, text=True, timeout=3 * _BOUND, check=False,
        )  # fmt: skip

    def sql(self, statement: str, before: tuple[str, ...] = ()) -> str:
        done = self.run("psql", "-X", "-At", "-v", "ON_ERROR_STOP=1", "-c", statement, before=before)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def hold(self) -> subprocess.Popen[str]:
        """A process that keeps the services until it is ended; gives it once they are up."""
        user = subprocess.Popen(
            [sys.executable, "-m", "assay.config.embedded", "sh", "-c", "echo up; exec sleep 600"],
            env=self.environment(), cwd="/", stdout=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip
        self._held.append(user)
        assert user.stdout is not None
        assert user.stdout.readline() == "up\n"
        return user

    def processes(self) -> list[psutil.Process]:
        """The supervisor and the servers, found by the one lock that all of them hold open."""
        found = []
        for process in psutil.process_iter():
            try:
                if any(f.path == str(self.state / "embedded.lock") for f in process.open_files()):
                    found.append(process)
            except psutil.Error:
                continue
        return found

    def supervisor(self) -> psutil.Process:
        (found,) = [p for p in self.processes() if "assay.config.embedded.supervisor" in p.cmdline()]
        return found

    def postmaster(self) -> psutil.Process:
        return psutil.Process(int((self.state / "postgres/data/postmaster.pid").read_text().split()[0]))

    def gone(self) -> bool:
        """Whether nothing runs any more: nobody holds the lock."""
        with (self.state / "embedded.lock").open("ab") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            return True

    def close(self) -> None:
        for user in self._held:
            user.poll() is None and os.killpg(user.pid, signal.SIGKILL)
            user.wait(_BOUND)
            assert user.stdout is not None
            user.stdout.close()


def eventually(true: Callable[[], bool]) -> None:
    """Wait until it is so, at most a minute."""
    deadline = time.monotonic() + _BOUND
    while not true():
        assert time.monotonic() < deadline, "it did not become so within a minute"
        time.sleep(0.02)


def _short(name: str) -> Path:
    """A folder whose path leaves room for a socket's name, unlike pytest's own."""
    return Path(f"/tmp/at-{os.getpid()}-{abs(hash(name)) % 10**8}")


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Path], Embedded]]:
    """make(state) gives an Embedded there; ended and deleted after the test, which must leave no process."""
    made: list[Embedded] = []

    def new(state: Path) -> Embedded:
        made.append(Embedded(state))
        return made[-1]

    yield new
    for embedded in made:
        embedded.close()
        if (embedded.state / "embedded.lock").exists():
            eventually(embedded.gone)
        monkeypatch.setenv("ASSAY_STATE_DIR", str(embedded.state))
        if not environment.run_dir().is_relative_to(embedded.state):
            shutil.rmtree(environment.run_dir(), ignore_errors=True)


@pytest.fixture
def place(request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder of the test's own."""
    folder = _short(request.node.nodeid)
    folder.mkdir(mode=0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def embedded(place: Path, make: Callable[[Path], Embedded]) -> Embedded:
    """Embedded services in a state folder that does not exist yet."""
    return make(place / "state")
