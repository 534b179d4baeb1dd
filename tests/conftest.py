"""What every test stands on: an environment of its own, no network, and services to use.

Settings are read once, when Django is set up (tests/integration/conftest.py, tests/e2e/conftest.py), so the environment is chosen here before that.

Postgres: ASSAY_DATABASE_URL, else a server that answers at the standard port, else the embedded one. The broker: ASSAY_BROKER_URL,
else the embedded one, which nobody else's workers listen on; tests of real brokers ask for `redis_url` or `rabbitmq_url`.
"""

from __future__ import annotations

import atexit
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.companies import acme, bare_run, companies, database, platform_db

# One database for all tests that ask for it, wherever they stand; nothing of Django is set up by these imports.
__all__ = ["acme", "bare_run", "companies", "database", "platform_db"]

ROOT = Path(__file__).resolve().parents[1]


def _own_environment() -> Path:
    """State, home and settings of this test session alone."""
    state = Path(tempfile.mkdtemp(prefix="assay-tests-"))
    atexit.register(shutil.rmtree, state, ignore_errors=True)
    home = state / "home"
    home.mkdir()
    for name in [n for n in os.environ if n.startswith(("ASSAY_", "DJANGO_", "PG", "LITELLM_", "OPENAI_"))]:
        if name not in ("ASSAY_DATABASE_URL", "ASSAY_BROKER_URL"):
            del os.environ[name]
    os.environ.update(
        HOME=str(home),
        ASSAY_STATE_DIR=str(state / "assay"),
        DJANGO_SETTINGS_MODULE="assay.config.settings",
        LITELLM_LOCAL_MODEL_COST_MAP="True",
    )
    return state


def _running_postgres() -> str | None:
    """The URL of a Postgres at the standard port that lets us make databases."""
    url = "postgresql://postgres@127.0.0.1:5432/postgres"
    try:
        with psycopg.connect(url, connect_timeout=3) as connection:
            row = connection.execute(
                "SELECT rolcreatedb FROM pg_roles WHERE rolname = current_user"
            ).fetchone()
    except psycopg.OperationalError:
        return None
    return url if row and row[0] else None


_own_environment()
if not os.environ.get("ASSAY_DATABASE_URL"):
    found = _running_postgres()
    if found:
        os.environ["ASSAY_DATABASE_URL"] = found


#: Folders of tests that start servers and workers: one after the other, whatever runs beside them.
SERVERS = {
    Path("tests/e2e"),
    *(
        Path("tests/integration") / name
        for name in ("api", "embedded", "installation", "integrations", "platform", "tickets", "web")
    ),
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Which tests stay in one process when the suite runs in several (`make test`): those of a file, and all of
    SERVERS. xdist's own groups are written into node ids, which pytest 9 keeps as they are."""
    from xdist.scheduler import LoadScopeScheduling

    class Together(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            path = Path(nodeid.split("::", 1)[0])
            return "servers" if SERVERS.intersection(path.parents) else str(path)

    return Together(config, log)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Any) -> None:
    """Processes that run tests make their own environment before Django reads its settings, as this one did."""
    for name in ("DJANGO_SETTINGS_MODULE", "ASSAY_STATE_DIR"):
        os.environ.pop(name, None)


class NetworkUsed(AssertionError):
    """A test tried to reach another machine."""


@pytest.fixture(autouse=True, scope="session")
def _no_network() -> Iterator[None]:
    """Connections and look-ups go to this machine only; anything else fails the test that tries."""
    patch = pytest.MonkeyPatch()
    look_up = socket.getaddrinfo

    def guarded_look_up(host: Any, *args: Any, **options: Any) -> Any:
        name = host.decode() if isinstance(host, bytes) else host
        if name is None or _is_here(name) or _is_address(name):
            return look_up(host, *args, **options)
        raise socket.gaierror(socket.EAI_NONAME, f"Tests have no network: {name} is not looked up")

    def guard(method: Any) -> Any:
        def connect(self: socket.socket, address: Any) -> Any:
            if self.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(str(address[0])):
                raise NetworkUsed(f"Tests have no network: no connection to {address[0]}")
            return method(self, address)

        return connect

    patch.setattr(socket, "getaddrinfo", guarded_look_up)
    for name in ("connect", "connect_ex"):
        patch.setattr(socket.socket, name, guard(getattr(socket.socket, name)))
    yield
    patch.undo()


def _is_here(host: str) -> bool:
    return (
        host in ("", "localhost", "::1")
        or host.endswith(".localhost")
        or host.startswith(("127.", "::ffff:127."))
    )


def _is_address(host: str) -> bool:
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return True
    return False


@pytest.fixture(scope="session")
def root() -> Path:
    """The folder of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def services() -> Iterator[None]:
    """Postgres and a broker at the URLs that the settings have, for the whole session."""
    from assay.config import embedded

    with embedded.services():
        yield


@pytest.fixture
def redis_url(services: None) -> Iterator[str]:
    """An empty database of a real Redis at its standard port; skips where none answers."""
    import redis

    for number in range(15, 0, -1):
        client = redis.Redis(
            host="127.0.0.1", port=6379, db=number, socket_connect_timeout=2, socket_timeout=5
        )
        try:
            mine = client.set("assay-tests", os.getpid(), nx=True, ex=1800)
        except redis.RedisError:
            pytest.skip("no Redis answers at 127.0.0.1:6379")
        if mine:
            yield f"redis://127.0.0.1:6379/{number}"
            client.flushdb()
            client.close()
            return
    pytest.skip("every database of the Redis at 127.0.0.1:6379 is in use by tests")


@pytest.fixture
def rabbitmq_url() -> str:
    """A real RabbitMQ at its standard port with its standard user; skips where none answers."""
    import kombu

    url = "amqp://guest:guest@127.0.0.1:5672//"
    try:
        with kombu.Connection(url, connect_timeout=3) as connection:
            connection.connect()
    except (OSError, kombu.exceptions.KombuError):
        pytest.skip("no RabbitMQ answers at 127.0.0.1:5672")
    return url
