"""Chat models through litellm: any provider that it knows, and any OpenAI-compatible server."""

from __future__ import annotations

from collections.abc import Callable

from assay.engine.models.chat import LitellmModel
from assay.engine.models.options import ModelOptions
from assay_sdk import ModelType

__all__ = ["LitellmModel", "ModelOptions", "model_type"]


def _build(target: str, options: ModelOptions, secret: Callable[[str], str]) -> LitellmModel:
    return LitellmModel.from_options(target, options, secret)


model_type = ModelType(
    name="litellm",
    title="Any model through litellm, or an OpenAI-compatible server (openai/NAME with base_url)",
    options=ModelOptions,
    build=_build,
)
