"""What ships inside the platform comes in through the same hooks as everybody's.

The parts are imported inside the hooks: nothing is loaded before somebody asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay_sdk import ConnectorType, FaultProfileType, ModelType, PersonaType, hookimpl


@hookimpl
def assay_connectors() -> Sequence[ConnectorType]:
    from assay.engine import agents, reference

    return [reference.connector_type, agents.connector_type]


@hookimpl
def assay_models() -> Sequence[ModelType]:
    from assay.engine import models

    return [models.model_type]


@hookimpl
def assay_personas() -> Sequence[PersonaType]:
    from assay.plugins.cooperative import PERSONA

    return [PERSONA]


@hookimpl
def assay_fault_profiles() -> Sequence[FaultProfileType]:
    from assay.engine.mishaps import PROFILES

    return PROFILES
