"""The process that owns the embedded services of one state folder.

It starts what a user asks for, and stops everything and ends when no user is left. Three things make it safe:

- One lock on the state folder, taken here and inherited by every server process. Who gets it knows that no server of
  an earlier supervisor still lives, whatever happened to it, and may remove what was left.
- The kernel tells the servers when this process dies (unprivileged.die_with_parent), so that none is orphaned.
- Users are connections, which the kernel closes.
"""

from __future__ import annotations

import json
import logging
import os
import selectors
import signal
import socket
import sys
import time
from typing import Any

from assay.config import environment
from assay.config.embedded.client import control_path, take_lock
from assay.config.embedded.postgres import Postgres
from assay.config.embedded.server import Server
from assay.config.embedded.valkey import Valkey
from assay.config.environment import EnvironmentProblem

_GRACE = (
    1.0  # seconds without a user before everything stops: `make serve` right after `make demo` finds it warm
)
_FIRST_USER = 30.0  # seconds for whoever started this process to connect
_LOCK = 60.0  # seconds for servers of an earlier supervisor to end
_LONGEST_REQUEST = 4_096

log = logging.getLogger("assay.embedded")


class Stop(Exception):
    """Asked to end by a signal."""


class Supervisor:
    """Serves the control socket. `run()` returns when nobody is left, or when a server ended by itself."""

    def __init__(self, lock_fd: int) -> None:
        self._servers: dict[str, Server] = {"postgres": Postgres(lock_fd), "valkey": Valkey(lock_fd)}
        self._selector = selectors.DefaultSelector()
        self._users: dict[socket.socket, bytearray] = {}
        path = control_path()
        path.unlink(missing_ok=True)  # under the lock it can only be a dead one's
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen(64)
        self._listener.setblocking(False)
        self._selector.register(self._listener, selectors.EVENT_READ)

    def run(self) -> None:
        alone_since, patience = time.monotonic(), _FIRST_USER
        while self._users or time.monotonic() - alone_since < patience:
            for key, _ in self._selector.select(timeout=0.2):
                if key.fileobj is self._listener:
                    self._accept()
                elif isinstance(key.fileobj, socket.socket):
                    self._read(key.fileobj)
            if self._users:
                alone_since, patience = time.monotonic(), _GRACE
            for server in self._servers.values():
                server.check()

    def close(self) -> None:
        """Stop taking users, then stop the servers."""
        control_path().unlink(missing_ok=True)
        self._selector.close()
        self._listener.close()
        for user in self._users:
            user.close()
        for server in self._servers.values():
            server.stop()

    def _accept(self) -> None:
        try:
            user, _ = self._listener.accept()
        except OSError:
            return  # gone again
        user.setblocking(False)
        self._users[user] = bytearray()
        self._selector.register(user, selectors.EVENT_READ)

    def _read(self, user: socket.socket) -> None:
        try:
            data = user.recv(_LONGEST_REQUEST)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        received = self._users[user]
        received += data
        if not data or len(received) > _LONGEST_REQUEST:
            self._forget(user)
        elif received.endswith(b"\n"):
            request = bytes(received)
            received.clear()
            try:
                user.sendall(json.dumps(self._answer(request)).encode() + b"\n")
            except OSError:
                self._forget(user)

    def _answer(self, request: bytes) -> dict[str, Any]:
        try:
            names = json.loads(request)["services"]
            for name in names:
                self._servers[name].start()
        except EnvironmentProblem as problem:
            log.error("%s", problem)
            return {"failed": str(problem)}
        except (ValueError, TypeError, KeyError) as error:
            return {"failed": f"The embedded services do not understand the request: {error!r}"}
        except OSError as error:
            log.exception("A service cannot be started")
            return {"failed": f"An embedded service cannot be started: {error}"}
        return {"ready": names}

    def _forget(self, user: socket.socket) -> None:
        self._selector.unregister(user)
        del self._users[user]
        user.close()


def main() -> None:
    logging.basicConfig(format="%(asctime)s %(process)d %(message)s", level=logging.INFO)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, _stop)
    os.umask(0o077)
    path = environment.state_dir() / "embedded.lock"
    try:
        with path.open("ab") as lock:
            take_lock(
                lock,
                time.monotonic() + _LOCK,
                f"other processes still hold {path}; `fuser -v {path}` shows which. End them and try again.",
            )
            _supervise(lock.fileno())
    except Stop:
        log.info("Stopped by a signal")
    except (EnvironmentProblem, OSError) as problem:
        sys.exit(str(problem))


def _supervise(lock_fd: int) -> None:
    supervisor = Supervisor(lock_fd)
    try:
        supervisor.run()
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        supervisor.close()


def _stop(number: int, frame: object) -> None:
    raise Stop


if __name__ == "__main__":
    main()
