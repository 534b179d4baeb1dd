"""Personas by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from assay.plugins.manager import get_manager
from assay.plugins.options import pick, read_options
from assay_sdk import Persona, PersonaType, PluginFault


def choose_persona(name: str, options: Mapping[str, Any]) -> tuple[PersonaType, BaseModel]:
    """The persona type of that name and its checked options, from which each trial builds its own. OptionsError."""
    kind = pick("persona", name, get_manager().personas())
    return kind, read_options(f"persona {name!r}", kind.options, options)


def build_persona(name: str, options: Mapping[str, Any], seed: int) -> Persona:
    """One persona for one conversation. Raises OptionsError; PluginFault when the plugin breaks."""
    kind, given = choose_persona(name, options)
    try:
        persona: Persona = kind.build(given, seed)
    except (Exception, SystemExit) as error:
        raise PluginFault(
            f"The persona {name!r} could not be built: {type(error).__name__}: {error}"
        ) from error
    if not callable(getattr(persona, "manner", None)):
        raise PluginFault(f"The persona {name!r} built something that has no manner().")
    return persona
