"""The whole contract of a plugin on one page (pluggy, project name `assay`).

A plugin is an installed package with an entry point in the group `assay.plugins` that names a module
or object with functions of these names, each decorated with `@hookimpl`. Every hook returns a list;
the lists of all plugins that a tenant has switched on are joined. A name that two plugins claim is
reported and the first stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import pluggy

from assay_sdk.bots import ConnectorType
from assay_sdk.checks import CheckerType
from assay_sdk.importers import PackImporterType
from assay_sdk.mishaps import FaultProfileType
from assay_sdk.models import ModelType
from assay_sdk.tickets import TicketSystemType
from assay_sdk.users import PersonaType

PROJECT = "assay"
ENTRY_POINT_GROUP = "assay.plugins"
API_VERSION = 1  # a plugin may state `assay_api = 1`; another number is refused with a sentence

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def assay_connectors() -> Sequence[ConnectorType]:  # type: ignore[empty-body]
    """Ways to talk to a bot."""


@hookspec
def assay_models() -> Sequence[ModelType]:  # type: ignore[empty-body]
    """Chat models, for the agent loop, judges and simulated users."""


@hookspec
def assay_personas() -> Sequence[PersonaType]:  # type: ignore[empty-body]
    """Manners of simulated users."""


@hookspec
def assay_checkers() -> Sequence[CheckerType]:  # type: ignore[empty-body]
    """Checks of a finished trial."""


@hookspec
def assay_fault_profiles() -> Sequence[FaultProfileType]:  # type: ignore[empty-body]
    """When tool calls go wrong on purpose, and how."""


@hookspec
def assay_pack_importers() -> Sequence[PackImporterType]:  # type: ignore[empty-body]
    """Readers of other formats of tasks and tools."""


@hookspec
def assay_ticket_systems() -> Sequence[TicketSystemType]:  # type: ignore[empty-body]
    """Systems in which the failures of a run become tickets."""
