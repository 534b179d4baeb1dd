"""What is read from the environment, and the secret key that is drawn once."""

from __future__ import annotations

import multiprocessing
import socket
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kombu import Connection
from kombu.exceptions import OperationalError
from kombu.transport.redis import Transport

from assay.config import environment
from assay.config.environment import EnvironmentProblem


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder that does not exist yet, and nothing else configured."""
    folder = tmp_path / "state"
    monkeypatch.setenv("ASSAY_STATE_DIR", str(folder))
    for name in ("ASSAY_DATABASE_URL", "ASSAY_BROKER_URL", "ASSAY_SECRET_KEY"):
        monkeypatch.delenv(name, raising=False)
    return folder


def test_the_secret_key_is_drawn_once_and_readable_by_its_owner_only(state: Path) -> None:
    key = environment.secret_key()
    assert len(key) >= 50
    assert environment.secret_key() == key
    assert stat.S_IMODE((state / "secret-key").stat().st_mode) == 0o600
    assert [p.name for p in state.iterdir()] == ["secret-key"]


def _key(_: int) -> str:
    return environment.secret_key()


def test_processes_that_start_together_agree_on_one_key(state: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        keys = set(pool.map(_key, range(12), chunksize=1))
    assert len(keys) == 1
    assert [p.name for p in state.iterdir()] == ["secret-key"]


def test_a_key_in_the_environment_goes_first_and_is_not_written(
    state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_SECRET_KEY", "given")
    assert environment.secret_key() == "given"
    assert not state.exists()


def test_an_empty_key_file_is_refused_rather_than_used(state: Path) -> None:
    state.mkdir()
    (state / "secret-key").touch()
    with pytest.raises(EnvironmentProblem) as problem:
        environment.secret_key()
    assert str(problem.value) == (
        f"The secret key {state}/secret-key is empty. Restore it from a backup, or delete it for a new one."
    )


@pytest.mark.parametrize(
    ("url", "redis_like"),
    [
        ("redis://h:6379/0", True),
        ("rediss://h", True),
        ("redis+socket:///a/b", True),
        ("valkey://h", True),
        ("amqp://guest@h//", False),
        ("pyamqp://h", False),
    ],
)
def test_options_of_a_redis_are_not_given_to_other_brokers(url: str, redis_like: bool) -> None:
    options = environment.transport_options(url)
    assert (options.get("unacked_restore_interval") == 2) is redis_like
    assert bool(options) is redis_like


def test_a_lost_worker_s_message_is_not_given_away_while_the_longest_task_may_still_run() -> None:
    from assay.config import settings

    options = environment.transport_options("redis://h")
    assert options["visibility_timeout"] > settings.CELERY_TASK_TIME_LIMIT


@pytest.fixture
def mute_port() -> Iterator[int]:
    """A port that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_a_broker_that_takes_the_connection_and_says_nothing_is_given_up(scheme: str, mute_port: int) -> None:
    url = f"{scheme}://127.0.0.1:{mute_port}/"
    options = environment.transport_options(url)
    if scheme == "redis":
        assert 0 < options["socket_timeout"] <= 30
        assert 0 < options["socket_connect_timeout"] <= 10
        options = {**options, "socket_timeout": 0.5}  # the same bound, sooner
    given_up: list[BaseException] = []

    def publish() -> None:
        with Connection(url, transport_options=options, connect_timeout=1) as connection:
            try:
                connection.Producer().publish({"a": 1}, routing_key="assay", retry=False)
            except OperationalError as error:
                given_up.append(error)

    # A thread, so that a wait without end fails this test and does not stop them all.
    thread = threading.Thread(target=publish, daemon=True)
    thread.start()
    thread.join(30)
    assert len(given_up) == 1


def test_a_wait_for_the_broker_is_longer_than_a_worker_asks_it_to_hold_a_pop() -> None:
    assert environment.transport_options("redis://h")["socket_timeout"] > 10 * Transport.brpop_timeout


# A folder's name: any letters, also those that mean something in a URL; no zero, no slash, no surrogates.
_NAMES = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=60)


@given(names=st.lists(_NAMES.filter(lambda n: n not in (".", "..")), min_size=1, max_size=4))
def test_the_urls_of_the_embedded_services_lead_to_short_sockets_from_any_folder(names: list[str]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_STATE_DIR", "/" + "/".join(names))
        patch.delenv("ASSAY_DATABASE_URL", raising=False)
        patch.delenv("ASSAY_BROKER_URL", raising=False)
        run = environment.run_dir()
        database, broker = urlsplit(environment.database_url()), urlsplit(environment.broker_url())
        assert parse_qs(database.query, strict_parsing=True) == {"host": [str(run / "pg")]}
        assert unquote(broker.path) == str(run / "valkey.sock")
        for socket in (run / "pg" / environment.POSTGRES_SOCKET, run / "valkey.sock", run / "control.sock"):
            assert len(str(socket).encode()) <= 107


def test_urls_in_the_environment_are_used_as_they_are(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_DATABASE_URL", "postgresql://a:b@h/d")
    monkeypatch.setenv("ASSAY_BROKER_URL", "amqp://a:b@h/v")
    assert environment.database_url() == "postgresql://a:b@h/d"
    assert environment.broker_url() == "amqp://a:b@h/v"
