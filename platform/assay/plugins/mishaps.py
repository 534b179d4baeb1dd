"""Fault profiles by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from assay.plugins.manager import get_manager
from assay.plugins.options import pick, read_options
from assay_sdk import FaultProfileType, OptionsError


def choose_faults(
    name: str | None, options: Mapping[str, Any]
) -> tuple[FaultProfileType | None, BaseModel | None]:
    """The fault profile of that name and its checked options, from which each trial builds its own; (None, None)
    without a name. Raises OptionsError."""
    if not name:
        if options:
            raise OptionsError("Options of faults were given without a fault profile; name the profile too.")
        return None, None
    kind = pick("fault profile", name, get_manager().fault_profiles())
    return kind, read_options(f"fault profile {name!r}", kind.options, options)


def describe_faults(profile: FaultProfileType | None, options: BaseModel | None) -> dict[str, Any] | None:
    """For the manifest: the name, and every option as it was in force."""
    if profile is None:
        return None
    in_force = options.model_dump(mode="json") if options is not None else {}
    return {**profile.describe(), "options": in_force}
