"""Installed plugins for one test: a folder on sys.path with a module and its dist-info."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from assay.plugins.manager import PIN, get_manager

ACME = Path(__file__).parents[2] / "support" / "plugins" / "acme"

Install = Callable[..., None]


@pytest.fixture(autouse=True)
def fresh_manager() -> Iterator[None]:
    """No test sees the manager of another."""
    get_manager.cache_clear()
    yield
    get_manager.cache_clear()


@pytest.fixture
def acme(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The third-party package `acme-assay`, installed and the only one that loads."""
    monkeypatch.syspath_prepend(str(ACME))
    monkeypatch.setenv(PIN, "acme-assay")
    yield
    sys.modules.pop("acme_assay", None)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """install(name, source, version="1.0"): makes an installed plugin of a module's source text."""
    made: list[str] = []

    def make(name: str, source: str, version: str = "1.0") -> None:
        module = name.replace("-", "_")
        site = tmp_path / f"site-{len(made)}"
        info = site / f"{module}-{version}.dist-info"
        info.mkdir(parents=True)
        (site / f"{module}.py").write_text(source, encoding="utf-8")
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", encoding="utf-8"
        )
        (info / "entry_points.txt").write_text(f"[assay.plugins]\n{name} = {module}\n", encoding="utf-8")
        monkeypatch.syspath_prepend(str(site))
        made.append(module)

    yield make
    for module in made:
        sys.modules.pop(module, None)
