"""One real Request Tracker for these tests, and the plugin for it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay_sdk import outgoing
from tests.conftest import ROOT
from tests.support import rt

PACKAGE = ROOT / "plugins" / "assay-tickets-rt"


@pytest.fixture(scope="session")
def tracker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[rt.RequestTracker]:
    reason = rt.missing()
    if reason:
        pytest.skip(reason)
    running = rt.start(tmp_path_factory.mktemp("rt"))
    yield running
    running.stop()


@pytest.fixture(autouse=True)
def _plugin(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The plugin's package can be imported, and its addresses on loopback are allowed."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    monkeypatch.setenv(outgoing.ALLOW, "127.0.0.1")
    yield PACKAGE
    for name in [n for n in sys.modules if n.partition(".")[0] == "assay_tickets_rt"]:
        del sys.modules[name]
