"""Ten manners of simulated customers. docs/reference/personas.md says what each changes and what stays."""

from __future__ import annotations

from assay_personas import (
    changes_mind,
    chinese,
    contradictory,
    forgetful,
    impatient,
    insists,
    prompt_injector,
    rambling,
    social_engineer,
    terse,
)
from assay_sdk import PersonaType, hookimpl

assay_api = 1


@hookimpl
def assay_personas() -> list[PersonaType]:
    return [
        module.PERSONA
        for module in (
            terse,
            rambling,
            impatient,
            forgetful,
            contradictory,
            changes_mind,
            insists,
            social_engineer,
            prompt_injector,
            chinese,
        )
    ]
