"""Integration tests have Django, Postgres and a broker. Unit tests have none of them."""

from __future__ import annotations

import django
import pytest

django.setup()


@pytest.fixture(autouse=True, scope="session")
def _services(services: None) -> None:
    """Started before the first of them, whatever it asks for."""
