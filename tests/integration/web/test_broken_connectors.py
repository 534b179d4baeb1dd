"""A plugin's connector that breaks or hangs is named, and holds nobody up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from assay.bots import services
from assay.bots.models import Bot, BotVersion
from assay_sdk import ConnectorType, NoOptions, PluginFault


@pytest.fixture
def hang() -> Iterator[Callable[[], None]]:
    """Does not come back before the test is over."""
    over = threading.Event()
    yield lambda: (over.wait(120), None)[1]
    over.set()


@pytest.fixture
def plug_in(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """A plugin with the connector fragile:x, whose methods do what is given."""

    def make(describe: Callable[[], Any] = dict, aclose: Callable[[], Any] = dict) -> None:
        class Fragile:
            synthetic = False

            def open(self, *args: Any, **options: Any) -> Any:
                raise AssertionError("no conversation is opened here")

            def describe(self) -> Any:
                return describe()

            async def aclose(self) -> None:
                aclose()

        kind = ConnectorType("fragile", "Fragile", NoOptions, lambda target, options, secret: Fragile())
        manager = SimpleNamespace(connectors=lambda: {"fragile": kind})
        monkeypatch.setattr("assay.plugins.bots.get_manager", lambda: manager)

    return make


def broken() -> None:
    raise RuntimeError("nothing works")


def leaves() -> None:
    raise SystemExit(3)


@pytest.fixture
def version(acme: None, plug_in: Callable[..., None]) -> BotVersion:
    plug_in()
    return services.create_bot(f"Fragile {uuid4()}", spec="fragile:x")


def test_a_connector_that_works_says_what_it_is(version: BotVersion, plug_in: Callable[..., None]) -> None:
    plug_in(describe=lambda: {"model": "m"})
    assert services.describe(version) == {"spec": "fragile:x", "synthetic": False, "model": "m"}


@pytest.mark.parametrize("does", [broken, leaves, lambda: 7])
def test_a_connector_that_cannot_say_what_it_is_is_the_plugins_fault(
    does: Callable[[], Any], version: BotVersion, plug_in: Callable[..., None]
) -> None:
    plug_in(describe=does)
    with pytest.raises(PluginFault, match=r"describe\(\) of 'fragile:x' broke"):
        services.describe(version)


@pytest.mark.parametrize("does", [broken, leaves])
def test_a_connector_that_cannot_be_closed_makes_no_bot(
    does: Callable[[], Any], acme: None, plug_in: Callable[..., None]
) -> None:
    plug_in(aclose=does)
    with pytest.raises(PluginFault, match=r"aclose\(\) of 'fragile:x' broke"):
        services.create_bot("Unclosed", spec="fragile:x")
    assert not Bot.objects.filter(name="Unclosed").exists()


@pytest.mark.parametrize("method", ["describe", "aclose"])
def test_a_connector_that_hangs_is_given_up(
    method: str,
    version: BotVersion,
    plug_in: Callable[..., None],
    hang: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert services.PLUGIN_SECONDS <= 30
    monkeypatch.setattr(services, "PLUGIN_SECONDS", 0.3)  # the same bound, sooner
    plug_in(**{method: hang})
    with pytest.raises(PluginFault, match=rf"{method}\(\) of 'fragile:x' did not end"):
        services.describe(version)
