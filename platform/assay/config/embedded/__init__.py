"""Postgres and a broker that need no installation: what runs when no real ones are configured.

`services()` is all that the rest of Assay calls. Behind it a supervisor process (supervisor.py) starts Postgres
(postgres.py) and Valkey (valkey.py) from their wheels, listening on Unix sockets only, and stops them when the last
process that uses them is gone, however it went. The choice of the wheels is explained in docs/design.md.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from assay.config import environment
from assay.config.embedded.client import connected


def needed() -> list[str]:
    """The embedded services that stand in for real ones: those whose URL is not set in the environment."""
    names = {"postgres": environment.DATABASE, "valkey": environment.BROKER}
    return [name for name, variable in names.items() if not os.environ.get(variable)]


@contextmanager
def services() -> Iterator[None]:
    """The embedded services for the time of the block; nothing to do when real ones are configured.

    Safe to use from several processes at once and nested: they share one Postgres and one broker for each state
    folder. Raises EnvironmentProblem with a sentence and the log's path when they do not come up.
    """
    names = needed()
    if not names:
        yield
        return
    with connected(names):
        yield
