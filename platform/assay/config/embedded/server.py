"""One server process of the supervisor: started, watched until it answers, and stopped in order."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path

from assay.config import environment
from assay.config.embedded.unprivileged import Privileges
from assay.config.environment import EnvironmentProblem

_START = 120.0  # seconds; more than a crash recovery of a small database takes
_STOP = 20.0  # seconds for each way of asking
_LONGEST_LOG = 10_000_000  # bytes; a longer one is set aside at the next start


class Server(ABC):
    """A server process with its log. `lock_fd` is inherited by it and holds the supervisor's lock while it lives."""

    name: str  # in messages
    stop_signals: tuple[signal.Signals, ...]  # in this order, each after the one before had no effect

    def __init__(self, lock_fd: int) -> None:
        self._lock_fd = lock_fd
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return environment.state_dir() / "logs" / f"{self.name.lower()}.log"

    def start(self) -> None:
        """Start it unless it runs, and wait until it answers. Raises EnvironmentProblem."""
        if self._process is not None:
            return
        command, privileges = self.prepare()
        self.launch(command, privileges)
        try:
            self._wait()
            self.ready()
        except BaseException:
            self.stop()
            raise

    @abstractmethod
    def prepare(self) -> tuple[Sequence[str], Privileges]:
        """Make what it needs; gives its command line and the rights to run it with. Raises EnvironmentProblem."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether it serves clients now. Bounded; False when not yet; raises EnvironmentProblem when it never will."""

    def ready(self) -> None:
        """What has to be done once it answers."""

    def launch(self, command: Sequence[str], privileges: Privileges) -> None:
        if self.log.exists() and self.log.stat().st_size > _LONGEST_LOG:
            self.log.replace(self.log.with_suffix(".log.1"))
        with self.log.open("ab") as out:
            self._written = out.tell()
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                cwd="/",
                env=clean_environment(),
                pass_fds=[self._lock_fd],
                start_new_session=True,
                preexec_fn=privileges.entering(self.stop_signals[0]),  # noqa: PLW1509 - the supervisor has one thread
            )

    def _wait(self) -> None:
        deadline = time.monotonic() + _START
        while time.monotonic() < deadline:
            if self._process is None or self._process.poll() is not None:
                raise EnvironmentProblem(f"{self.name} ended while it started: {self.last_words()}")
            if self.answers():
                return
            time.sleep(0.03)
        raise EnvironmentProblem(f"{self.name} did not answer within {_START:.0f} s: {self.last_words()}")

    def last_words(self) -> str:
        """The end of what it wrote since it was started, and where the rest is."""
        with self.log.open("rb") as lines:
            lines.seek(self._written)
            said = lines.read().decode(errors="replace").strip().splitlines()
        if any("No space left on device" in line for line in said):
            said.append(f"The disk that holds {environment.state_dir()} is full.")
        return "\n".join([*said[-8:], f"(log: {self.log})"])

    def check(self) -> None:
        """Raises EnvironmentProblem when it runs no more although nobody stopped it."""
        if self._process is not None and self._process.poll() is not None:
            code = self._process.returncode
            self._process = None
            raise EnvironmentProblem(f"{self.name} ended by itself with code {code}: {self.last_words()}")

    def stop(self) -> None:
        """Stop it: in order if it can, at once if it must."""
        process, self._process = self._process, None
        if process is None or process.poll() is not None:
            return
        for number in self.stop_signals:
            process.send_signal(number)
            try:
                process.wait(_STOP)
            except subprocess.TimeoutExpired:
                continue
            return
        os.killpg(process.pid, signal.SIGKILL)
        process.wait(_STOP)


def clean_environment() -> dict[str, str]:
    """An environment in which no setting of the user (PGDATA, LC_ALL, LD_PRELOAD...) changes a server."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}


def installed(package: str) -> Path:
    """The folder of an installed package, without importing it. Raises EnvironmentProblem when it is missing."""
    from importlib.util import find_spec

    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise EnvironmentProblem(
            f"The package {package.replace('_', '-')} is not installed, or has no build for this machine. Install the "
            f"locked packages, or set {environment.DATABASE} and {environment.BROKER} to real services."
        )
    return Path(spec.submodule_search_locations[0])
