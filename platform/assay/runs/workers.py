"""Who works on a trial, and whether they are still alive."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable
from functools import cache
from multiprocessing import get_context
from pathlib import Path

# Made before the pool forks, so that the worker's main process can tell its children to stop.
_stop = get_context("fork").Value("b", 0, lock=False)


def ask_to_stop() -> None:
    """Tell all processes of this worker to put their trials back and return."""
    _stop.value = 1


class Watch:
    """Whether the process should stop: it was asked to, or its parent is gone."""

    def __init__(self) -> None:
        self._parent = os.getppid()

    def should_stop(self) -> bool:
        return bool(_stop.value) or os.getppid() != self._parent


@cache
def place() -> str:
    """The process-id space this process lives in: ids are only comparable within one place.

    Host name, start of the machine and namespace: two machines may share a name, two containers an id.
    """
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
        space = str(Path("/proc/self/ns/pid").readlink()).strip("pid:[]")
    except OSError:
        boot = space = "0"
    return f"{socket.gethostname()[:50]}/{boot}/{space}"


def name() -> str:
    """This process, as written into `leased_by`."""
    return f"{place()}/{os.getpid()}"


def dead(names: Iterable[str]) -> list[str]:
    """Those of the named workers that certainly are not alive: same place, no such process."""
    return [n for n in names if n.startswith(place() + "/") and not _alive(int(n.rsplit("/", 1)[1]))]


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
