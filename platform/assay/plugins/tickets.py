"""Ticket systems by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from assay.engine.blame import built_in_time
from assay.plugins.manager import get_manager
from assay.plugins.options import env_secret, pick, read_options
from assay_sdk import OptionsError, PluginFault, TicketSystem


def build_ticket_system(
    name: str, options: Mapping[str, Any], secret: Callable[[str], str] = env_secret
) -> TicketSystem:
    """The ticket system of that name, configured. Raises OptionsError; PluginFault when the plugin breaks."""
    kind = pick("ticket system", name, get_manager().ticket_systems())
    given = read_options(f"ticket system {name!r}", kind.options, options)
    try:
        system = built_in_time(f"ticket system {name}", lambda ask: kind.build(given, ask), secret)
    except (OptionsError, PluginFault):
        raise
    except Exception as error:
        raise PluginFault(
            f"The ticket system {name!r} could not be built: {type(error).__name__}: {error}"
        ) from error
    for method in ("find", "create", "comment", "check"):
        if not callable(getattr(system, method, None)):
            raise PluginFault(f"The ticket system {name!r} built something that has no {method}().")
    return system
