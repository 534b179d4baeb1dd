"""What ships inside the platform comes in through the same hooks as everybody's.

The parts are imported inside the hooks: nothing is loaded before somebody asks for it.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from assay_sdk import ConnectorType, ModelType, PersonaType, hookimpl


def _landed(module: str, name: str) -> list[Any]:
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name and module.startswith(error.name):
            return []
        raise
    return [getattr(found, name)]


@hookimpl
def assay_connectors() -> Sequence[ConnectorType]:
    return [
        *_landed("assay.engine.reference", "connector_type"),
        *_landed("assay.engine.agents", "connector_type"),
    ]


@hookimpl
def assay_models() -> Sequence[ModelType]:
    return _landed("assay.engine.models", "model_type")


@hookimpl
def assay_personas() -> Sequence[PersonaType]:
    from assay.plugins.cooperative import PERSONA

    return [PERSONA]
