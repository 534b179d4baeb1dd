"""What differs between machines: where state is kept, which database and broker to use, the secret key.

Everything here is read from environment variables or derived from the place of the project; nothing is started.
docs/operations.md has the table of variables.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from assay_sdk import AssayError

PROJECT = Path(__file__).resolve().parents[3]  # the folder that holds manage.py

DATABASE = "ASSAY_DATABASE_URL"
BROKER = "ASSAY_BROKER_URL"
STATE_DIR = "ASSAY_STATE_DIR"
SECRET_KEY = "ASSAY_SECRET_KEY"

POSTGRES_SOCKET = ".s.PGSQL.5432"
_LONGEST_SOCKET = 107  # bytes of a Unix socket's path on Linux, without the final zero
_LONGEST_NAME = "/pg/" + POSTGRES_SOCKET


class EnvironmentProblem(AssayError):
    """The machine or its settings do not allow what is asked; the message says what to do."""


def state_dir() -> Path:
    """The folder for everything that Assay writes, absolute: ASSAY_STATE_DIR, or `.assay` in the project. Not made here."""
    return Path(os.environ.get(STATE_DIR) or PROJECT / ".assay").absolute()


def run_dir() -> Path:
    """The folder of the embedded services' sockets.

    In the state folder, unless that makes a path too long for a Unix socket: then a folder below /tmp which is named
    after user and state folder, so that every process finds the same one. Not made here.
    """
    inside = state_dir() / "run"
    if len(os.fsencode(inside)) + len(_LONGEST_NAME) <= _LONGEST_SOCKET:
        return inside
    digest = hashlib.sha256(os.fsencode(state_dir())).hexdigest()[:16]
    return Path(f"/tmp/assay-{os.geteuid()}-{digest}")  # noqa: S108 - own and private: make_private refuses anything else


def database_url() -> str:
    """ASSAY_DATABASE_URL, or the URL of the embedded Postgres (which `embedded.services()` starts)."""
    return (
        os.environ.get(DATABASE)
        or f"postgresql://postgres@/assay?host={quote(str(run_dir() / 'pg'), safe='')}"
    )


def broker_url() -> str:
    """ASSAY_BROKER_URL, or the URL of the embedded broker (which `embedded.services()` starts)."""
    return os.environ.get(BROKER) or f"redis+socket://{quote(str(run_dir() / 'valkey.sock'))}"


def transport_options(url: str) -> dict[str, Any]:
    """Celery's options for the broker at `url`.

    A Redis-like broker gives a lost worker's messages to others by itself. By its defaults that took two minutes;
    with these a few seconds. The visibility timeout stays above the longest task (CELERY_TASK_TIME_LIMIT), or a task
    that still runs would be given to a second worker. AMQP brokers notice a lost worker themselves.

    A Redis-like broker that takes the connection and says nothing would hold a web request or a sweep for ever, so
    every wait for its socket is bounded: well above the second for which a worker asks it to hold a pop. For AMQP
    CELERY_BROKER_CONNECTION_TIMEOUT bounds connecting, the handshake included.
    """
    if not urlsplit(url).scheme.startswith(("redis", "valkey", "sentinel")):
        return {}
    return {
        "visibility_timeout": 7_200,
        "unacked_restore_interval": 2,
        "unacked_restore_throttle": 1,
        "socket_connect_timeout": 5,
        "socket_timeout": 30,
        "socket_keepalive": True,
    }


CELERY_TRANSPORT_OPTIONS = transport_options(broker_url())


def secret_key() -> str:
    """ASSAY_SECRET_KEY, or a key drawn once and kept in the state folder, readable by its owner only.

    Signed cookies and tenants' secrets depend on it: keep it with the backups. Raises EnvironmentProblem when it can
    be neither read nor written.
    """
    given = os.environ.get(SECRET_KEY)
    if given:
        return given
    path = state_dir() / "secret-key"
    try:
        return _read_key(path)
    except (FileNotFoundError, NotADirectoryError):
        pass
    make_private(state_dir(), others=True)
    new = path.with_name(f".secret-key-{os.getpid()}-{secrets.token_hex(4)}")
    try:
        new.touch(mode=0o600, exist_ok=False)
        new.write_text(secrets.token_urlsafe(50) + "\n", encoding="ascii")
        try:
            path.hardlink_to(new)  # unlike a rename it never replaces the key of a process that was faster
        except FileExistsError:
            pass
        finally:
            new.unlink()
    except OSError as error:
        raise EnvironmentProblem(f"The secret key {path} cannot be written: {error.strerror}.") from error
    return _read_key(path)


def _read_key(path: Path) -> str:
    try:
        key = path.read_text(encoding="ascii").strip()
    except PermissionError as error:
        raise EnvironmentProblem(
            f"The secret key {path} belongs to another user. Run as that user, or set {STATE_DIR} to a folder of your own."
        ) from error
    if not key:
        raise EnvironmentProblem(
            f"The secret key {path} is empty. Restore it from a backup, or delete it for a new one."
        )
    return key


def make_private(folder: Path, *, others: bool = False) -> None:
    """Make `folder` if it is not there, for its owner only (`others`: others may look inside).

    Raises EnvironmentProblem when it cannot be made, is no folder, or belongs to somebody else.
    """
    try:
        folder.mkdir(mode=0o755 if others else 0o700, parents=True, exist_ok=True)
        found = folder.lstat() if not others else folder.stat()
    except OSError as error:
        raise EnvironmentProblem(
            f"The folder {folder} cannot be used: {error.strerror}. Set {STATE_DIR} to a folder that you can write to."
        ) from error
    if not stat.S_ISDIR(found.st_mode):
        raise EnvironmentProblem(f"{folder} is no folder. Move it away, or set {STATE_DIR} to another place.")
    if not others and (found.st_uid != os.geteuid() or found.st_mode & 0o077):
        if found.st_uid != os.geteuid():
            raise EnvironmentProblem(
                f"The folder {folder} belongs to another user. Run as that user, or set {STATE_DIR}."
            )
        folder.chmod(0o700)
