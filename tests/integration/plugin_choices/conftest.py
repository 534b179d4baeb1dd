from __future__ import annotations

from collections.abc import Iterator

import pytest

from assay.plugin_choices.models import PluginChoice
from assay.tenancy.services import in_tenant
from tests.support.plugged import plugged
from tests.support.site import browser, finished, library, member

__all__ = ["browser", "finished", "library", "member", "plugged"]  # fixtures


@pytest.fixture(autouse=True)
def nothing_chosen(plugged: None, acme: None) -> Iterator[None]:
    """Each test begins with every plugin on, in both companies, and leaves it so."""
    yield
    for schema in ("globex", "acme"):
        with in_tenant(schema):
            PluginChoice.objects.all().delete()
