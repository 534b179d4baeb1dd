"""The embedded broker behind the URL that Celery is given."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from tests.integration.embedded.conftest import Embedded, eventually

_SEND = """
from kombu import Connection
from assay.config import embedded, environment
with embedded.services(), Connection(environment.broker_url()) as connection:
    queue = connection.SimpleQueue("letters")
    queue.put({"text": "still here"})
    queue.close()
"""
_RECEIVE = """
from kombu import Connection
from assay.config import embedded, environment
with embedded.services(), Connection(environment.broker_url()) as connection:
    queue = connection.SimpleQueue("letters")
    message = queue.get(timeout=30)
    print(message.payload["text"])
    message.ack()
    queue.close()
"""


def _python(embedded: Embedded, code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], env=embedded.environment(), cwd="/", capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_message_outlives_a_restart(embedded: Embedded) -> None:
    _python(embedded, _SEND)
    eventually(embedded.gone)
    assert _python(embedded, _RECEIVE) == "still here"


def test_a_message_outlives_a_broker_killed_outright(embedded: Embedded) -> None:
    embedded.hold()
    _python(embedded, _SEND)
    _python(
        embedded, "import time; time.sleep(1.5)"
    )  # the file is flushed every second: that much may be lost
    (broker,) = [p for p in embedded.processes() if "valkey" in p.name()]
    broker.kill()
    eventually(embedded.gone)
    assert _python(embedded, _RECEIVE) == "still here"


def test_in_a_path_with_spaces_and_percent_signs(place: Path, make: Callable[[Path], Embedded]) -> None:
    embedded = make(place / "a b%20c" / ".assay")
    _python(embedded, _SEND)
    assert _python(embedded, _RECEIVE) == "still here"


def test_a_damaged_queue_file_is_named(embedded: Embedded) -> None:
    _python(embedded, _SEND)
    eventually(embedded.gone)
    (base,) = (embedded.state / "valkey/appendonlydir").glob("*.rdb")
    base.write_bytes(b"rubbish")
    refused = embedded.run("true")
    assert refused.returncode == 1
    assert "Valkey ended while it started" in refused.stderr
    assert f"(log: {embedded.state}/logs/valkey.log)" in refused.stderr
