"""Embedded services start for whoever needs them, are shared, and end with their last user however it ends."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.integration.embedded.conftest import Embedded, eventually


def test_a_command_finds_the_database_and_nothing_is_left_running(embedded: Embedded) -> None:
    assert embedded.sql("SELECT current_database(), current_user") == "assay|postgres"
    eventually(embedded.gone)


def test_data_outlive_a_restart(embedded: Embedded) -> None:
    embedded.sql("CREATE TABLE kept AS SELECT 42 AS answer")
    eventually(embedded.gone)
    assert embedded.sql("SELECT answer FROM kept") == "42"


def test_the_database_sorts_and_folds_case_the_same_on_every_machine(embedded: Embedded) -> None:
    assert embedded.sql(
        "SELECT datcollate, datlocprovider, datlocale FROM pg_database WHERE datname = 'assay'"
    ) == ("C|b|C.UTF-8")
    assert embedded.sql("SELECT lower('ÄÉ') || upper('ß') ") == "äéß"


def test_no_network_port_is_opened(embedded: Embedded) -> None:
    embedded.hold()
    listening = [c for p in embedded.processes() for c in p.net_connections("inet")]
    assert len(embedded.processes()) >= 3
    assert listening == []


def test_users_at_the_same_time_share_one_server(embedded: Embedded) -> None:
    with ThreadPoolExecutor(6) as pool:
        holders = list(pool.map(lambda _: embedded.hold(), range(6)))
    assert len({h.pid for h in holders}) == 6
    assert [p for p in embedded.processes() if "supervisor" in " ".join(p.cmdline())] == [
        embedded.supervisor()
    ]
    before = embedded.postmaster()
    for holder in holders[:5]:
        os.killpg(holder.pid, signal.SIGTERM)
        holder.wait(60)
    assert embedded.sql("SELECT 1") == "1"
    assert embedded.postmaster() == before


def test_a_user_killed_outright_leaves_nothing_running(embedded: Embedded) -> None:
    user = embedded.hold()
    os.killpg(user.pid, signal.SIGKILL)
    eventually(embedded.gone)


def test_the_next_user_finds_the_services_warm(embedded: Embedded) -> None:
    user = embedded.hold()
    before = embedded.postmaster()
    os.killpg(user.pid, signal.SIGKILL)
    embedded.hold()
    assert embedded.postmaster() == before


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_when_the_supervisor_is_ended_its_servers_end_and_the_next_start_works(
    embedded: Embedded, number: signal.Signals
) -> None:
    embedded.sql("CREATE TABLE kept AS SELECT 42 AS answer")
    embedded.hold()
    embedded.supervisor().send_signal(number)
    eventually(embedded.gone)
    assert embedded.sql("SELECT answer FROM kept") == "42"


def test_a_database_killed_outright_ends_the_rest_and_recovers_at_the_next_start(embedded: Embedded) -> None:
    embedded.sql("CREATE TABLE kept AS SELECT 42 AS answer")
    embedded.hold()
    embedded.postmaster().kill()
    eventually(embedded.gone)
    assert "Postgres ended by itself with code -9" in (embedded.state / "logs/embedded.log").read_text()
    assert embedded.sql("SELECT answer FROM kept") == "42"


def test_a_pid_file_that_names_a_stranger_is_no_obstacle(embedded: Embedded) -> None:
    embedded.sql("SELECT 1")
    eventually(embedded.gone)
    pid_file = embedded.state / "postgres/data/postmaster.pid"
    pid_file.write_text(f"{os.getpid()}\n{embedded.state}/postgres/data\n1\n5432\n\n\n\nready\n")
    assert embedded.sql("SELECT 1") == "1"
    assert psutil.pid_exists(os.getpid())


def test_sockets_left_by_a_crash_are_no_obstacle(embedded: Embedded) -> None:
    embedded.hold()
    sockets = [f for f in (embedded.state / "run").rglob("*") if f.is_socket()]
    for process in embedded.processes():
        with suppress(psutil.NoSuchProcess):  # a child of one that was killed before
            process.kill()
    eventually(embedded.gone)
    assert {f.name for f in sockets if f.exists()} >= {"control.sock", "valkey.sock"}
    assert embedded.sql("SELECT 1") == "1"


def test_a_start_that_is_killed_half_way_is_done_again_from_nothing(embedded: Embedded) -> None:
    user = subprocess.Popen(
        [sys.executable, "-m", "assay.config.embedded", "true"], env=embedded.environment(), cwd="/",
        start_new_session=True, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    half_done = embedded.state / "postgres"
    eventually(lambda: any(half_done.glob("new-*/global")))
    os.killpg(user.pid, signal.SIGKILL)
    user.wait(60)
    embedded.supervisor().kill()
    eventually(embedded.gone)
    assert not (half_done / "data").exists()
    assert embedded.sql("SELECT 1") == "1"
    assert [f.name for f in half_done.iterdir()] == ["data"]


def test_only_what_is_not_configured_is_started(embedded: Embedded) -> None:
    code = "from assay.config import embedded\nwith embedded.services(): print(embedded.needed())"
    for given, started in (
        ({"ASSAY_DATABASE_URL": "postgresql://h/d", "ASSAY_BROKER_URL": "redis://h"}, "[]"),
        ({"ASSAY_DATABASE_URL": "postgresql://h/d"}, "['valkey']"),
        ({"ASSAY_BROKER_URL": "amqp://h"}, "['postgres']"),
    ):
        said = subprocess.run(
            [sys.executable, "-c", code], env={**embedded.environment(), **given}, cwd="/",
            capture_output=True, text=True, timeout=120, check=True,
        ).stdout  # fmt: skip
        assert said.strip() == started
        assert Path(embedded.state, "embedded.lock").exists() is (started != "[]")
        if started != "[]":
            eventually(embedded.gone)
            assert Path(embedded.state, "valkey").exists() is ("valkey" in started)
            assert Path(embedded.state, "postgres").exists() is ("postgres" in started)
        shutil.rmtree(embedded.state, ignore_errors=True)
