"""An example plugin: a persona, a check and a chat model. See docs/writing-a-plugin.md."""

from __future__ import annotations

from assay_sdk import CheckerType, ModelType, PersonaType, hookimpl
from example_library.cards import MODEL
from example_library.due_date import CHECK
from example_library.formal import PERSONA

assay_api = 1


@hookimpl
def assay_personas() -> list[PersonaType]:
    return [PERSONA]


@hookimpl
def assay_checkers() -> list[CheckerType]:
    return [CHECK]


@hookimpl
def assay_models() -> list[ModelType]:
    return [MODEL]
