"""Personas by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from assay.plugins.manager import get_manager
from assay.plugins.options import pick, read_options
from assay_sdk import PersonaType


def choose_persona(name: str, options: Mapping[str, Any]) -> tuple[PersonaType, BaseModel]:
    """The persona type of that name and its checked options, from which each trial builds its own. OptionsError."""
    kind = pick("persona", name, get_manager().personas())
    return kind, read_options(f"persona {name!r}", kind.options, options)
