"""End-to-end tests have a browser, a running site with its workers, Postgres and a broker."""

from __future__ import annotations

from pathlib import Path

import django
import pytest

django.setup()

_HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(_HERE):
            item.add_marker(pytest.mark.e2e)
