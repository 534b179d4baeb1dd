"""The plugin manager: loads the built-in plugin and the installed ones, and collects what their hooks return.

A plugin that cannot be imported, was written for another API version, has a hook that raises or returns the
wrong thing is reported in `failures` and left out; the rest goes on.
"""

from __future__ import annotations

import functools
import importlib.metadata
import logging
import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar, cast

import pluggy

from assay import __version__
from assay.plugins import builtin
from assay.plugins.contracts import problem_with
from assay_sdk import (
    API_VERSION,
    ENTRY_POINT_GROUP,
    CheckerType,
    ConnectorType,
    FaultProfileType,
    ModelType,
    PackImporterType,
    PersonaType,
    TicketSystemType,
    hooks,
)

log = logging.getLogger(__name__)

BUILT_IN = "assay"  # the name of the plugin that holds what ships inside the platform
PIN = "ASSAY_PLUGINS"  # environment: which installed plugins to load, separated by commas; unset: all

#: Kinds of parts, by the noun that sentences use, with the hook that brings them.
KINDS = {
    "connector": "assay_connectors",
    "model": "assay_models",
    "persona": "assay_personas",
    "check": "assay_checkers",
    "fault profile": "assay_fault_profiles",
    "pack importer": "assay_pack_importers",
    "ticket system": "assay_ticket_systems",
}

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a plugin, or a part of it, is not there."""

    plugin: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.plugin}: {self.sentence}"


@dataclass(frozen=True, slots=True)
class Installed:
    """A loaded plugin: its distribution and version, what it brings (kind to names), and what of it was left out."""

    name: str
    version: str
    distribution: str
    brings: Mapping[str, tuple[str, ...]]
    failures: tuple[str, ...]


class PluginManager:
    """Everything that the loaded plugins bring, by name. Safe to share between threads once made.

    `pin` is the value of ASSAY_PLUGINS: None loads every installed plugin, "" only the built-in one.
    """

    def __init__(self, pin: str | None = None) -> None:
        self._pluggy = pluggy.PluginManager(hooks.PROJECT)
        self._pluggy.add_hookspecs(hooks)
        self._order: list[str] = []
        self._versions: dict[str, str] = {}
        self._distributions: dict[str, str] = {}
        self._owners: dict[str, dict[str, str]] = {}  # hook -> name -> plugin
        self._failures: list[Failure] = []
        self._register(BUILT_IN, builtin, __version__, BUILT_IN)
        self._load_installed(pin)
        # Everything is collected once and at once: what a hook returns may not change during a run, and a
        # clash is then the same clash for everybody.
        self._connectors = self._collect("assay_connectors", ConnectorType)
        self._models = self._collect("assay_models", ModelType)
        self._personas = self._collect("assay_personas", PersonaType)
        self._checkers = self._collect("assay_checkers", CheckerType)
        self._fault_profiles = self._collect("assay_fault_profiles", FaultProfileType)
        self._importers = self._collect("assay_pack_importers", PackImporterType)
        self._tickets = self._collect("assay_ticket_systems", TicketSystemType)

    def connectors(self) -> Mapping[str, ConnectorType]:
        return self._connectors

    def models(self) -> Mapping[str, ModelType]:
        return self._models

    def personas(self) -> Mapping[str, PersonaType]:
        return self._personas

    def checkers(self) -> Mapping[str, CheckerType]:
        return self._checkers

    def fault_profiles(self) -> Mapping[str, FaultProfileType]:
        return self._fault_profiles

    def importers(self) -> Mapping[str, PackImporterType]:
        return self._importers

    def ticket_systems(self) -> Mapping[str, TicketSystemType]:
        return self._tickets

    @property
    def failures(self) -> tuple[Failure, ...]:
        """What was left out and why, in the order it was found."""
        return tuple(self._failures)

    def versions(self) -> dict[str, str]:
        """Version of each loaded plugin, the built-in one (`assay`) first. For manifests."""
        return dict(self._versions)

    def kinds(self) -> Mapping[str, Mapping[str, Any]]:
        """What there is, by kind (the noun that sentences use) and name."""
        return {
            "connector": self._connectors,
            "model": self._models,
            "persona": self._personas,
            "check": self._checkers,
            "fault profile": self._fault_profiles,
            "pack importer": self._importers,
            "ticket system": self._tickets,
        }

    def owner(self, kind: str, name: str) -> str | None:
        """The plugin that brings it; None when nobody does. `kind`: one of KINDS."""
        return self._owners.get(KINDS[kind], {}).get(name)

    def installed(self) -> tuple[Installed, ...]:
        """The loaded plugins, the built-in one first."""
        return tuple(
            Installed(
                name=plugin,
                version=self._versions[plugin],
                distribution=self._distributions[plugin],
                brings={
                    kind: names
                    for kind, hook in KINDS.items()
                    if (names := tuple(n for n, by in self._owners.get(hook, {}).items() if by == plugin))
                },
                failures=tuple(f.sentence for f in self._failures if f.plugin == plugin),
            )
            for plugin in self._order
        )

    # --- loading --------------------------------------------------------------------------------

    def _load_installed(self, pin: str | None) -> None:
        wanted = None if pin is None else [name.strip() for name in pin.split(",") if name.strip()]
        # By name, so that neither the order of installation nor of sys.path decides a clash.
        found = sorted(
            importlib.metadata.entry_points(group=ENTRY_POINT_GROUP), key=lambda e: (e.name, e.value)
        )
        for point in found:
            if wanted is None or point.name in wanted:
                self._load(point)
        for name in wanted or ():
            if name not in {point.name for point in found}:
                self._report(
                    name, f"{PIN} names this plugin, but it is not installed; install it or take it out."
                )

    def _load(self, point: importlib.metadata.EntryPoint) -> None:
        try:
            plugin = point.load()
        except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever it raises is the plugin's)
            self._report(point.name, f"It cannot be imported from {point.value!r}: {_said(error)}.", error)
            return
        stated = getattr(plugin, "assay_api", API_VERSION)
        if stated != API_VERSION:
            self._report(
                point.name,
                f"It was written for plugin API {stated!r} and this Assay has {API_VERSION}; "
                "install a version of the plugin that fits.",
            )
            return
        known = point.dist
        self._register(
            point.name, plugin, known.version if known else "unknown", known.name if known else "unknown"
        )

    def _register(self, name: str, plugin: Any, version: str, distribution: str) -> None:
        if name in self._versions:
            self._report(
                name, "Another plugin has the same name; the first one stays, uninstall one of them."
            )
            return
        try:
            self._pluggy.register(plugin, name=name)
        except (pluggy.PluginValidationError, ValueError) as error:
            # ValueError: the same object was registered before under another name.
            self._drop(plugin)
            self._report(name, f"Its hooks do not fit: {_one_line(error)}.", error)
            return
        unknown = self._unknown_hooks(name)
        if unknown:
            self._drop(plugin)
            self._report(
                name,
                f"It has hooks that this Assay does not know ({', '.join(unknown)}); correct the names, or mark "
                "them @hookimpl(optionalhook=True) when they are for another version.",
            )
            return
        self._order.append(name)
        self._versions[name] = version
        self._distributions[name] = distribution

    def _drop(self, plugin: Any) -> None:
        if self._pluggy.is_registered(plugin):
            self._pluggy.unregister(plugin)

    def _unknown_hooks(self, plugin: str) -> list[str]:
        return sorted(
            name
            for name, caller in vars(self._pluggy.hook).items()
            if isinstance(caller, pluggy.HookCaller)
            and not caller.has_spec()
            and any(i.plugin_name == plugin and not i.optionalhook for i in caller.get_hookimpls())
        )

    # --- collecting -----------------------------------------------------------------------------

    def _collect(self, hook: str, kind: type[T]) -> Mapping[str, T]:
        """What all plugins return from `hook`, by name. Each plugin is asked by itself, so that one that
        raises does not silence the others, as it would in pluggy's own joint call."""
        implementations = {i.plugin_name: i for i in getattr(self._pluggy.hook, hook).get_hookimpls()}
        found: dict[str, T] = {}
        owner: dict[str, str] = {}
        for plugin in self._order:
            if plugin not in implementations:
                continue
            implementation = implementations[plugin]
            if implementation.wrapper or implementation.hookwrapper:
                self._report(
                    plugin, f"{hook} is a wrapper; Assay asks each plugin by itself, so it wraps nothing."
                )
                continue
            try:
                returned = implementation.function()
                items = list(returned) if returned is not None else []
            except (Exception, SystemExit) as error:  # noqa: BLE001 (whatever it raises is the plugin's)
                self._report(plugin, f"{hook} raised {_said(error)}.", error)
                continue
            for item in items:
                problem = problem_with(item, kind)
                if problem:
                    self._report(plugin, f"{hook} {problem}.")
                    continue
                name = cast(Any, item).name
                if name in found:
                    self._report(
                        plugin,
                        f"{hook} brings {name!r}, which {owner[name]} has already brought; the first stays.",
                    )
                    continue
                found[name], owner[name] = item, plugin
        self._owners[hook] = owner
        return MappingProxyType(found)

    def _report(self, plugin: str, sentence: str, error: BaseException | None = None) -> None:
        self._failures.append(Failure(plugin, sentence))
        log.warning("Plugin %s: %s", plugin, sentence, exc_info=error)


@functools.cache
def get_manager() -> PluginManager:
    """The manager of this process, made at the first call. `get_manager.cache_clear()` makes it anew."""
    return PluginManager(os.environ.get(PIN))


def _said(error: BaseException) -> str:
    text = _one_line(error)
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()).rstrip(".")[:500]
