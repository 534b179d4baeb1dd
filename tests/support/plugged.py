"""Plugins for tests of the platform: the third-party package `acme-assay` loads besides what ships inside."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from assay.plugins.manager import PIN, get_manager
from tests.conftest import ROOT

SITE = ROOT / "tests" / "support" / "plugins" / "acme"


@pytest.fixture
def plugged(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`acme-assay` is installed and the only plugin that loads besides the built-in one."""
    monkeypatch.syspath_prepend(str(SITE))
    monkeypatch.setenv(PIN, "acme-assay")
    get_manager.cache_clear()
    yield
    get_manager.cache_clear()
    sys.modules.pop("acme_assay", None)
