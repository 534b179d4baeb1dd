"""A language model as the bot: the connector "litellm" and its agent loop."""

from __future__ import annotations

from assay.engine.agents.connector import AgentOptions, LitellmConnector, build
from assay_sdk import ConnectorType

__all__ = ["AgentOptions", "LitellmConnector", "connector_type"]

connector_type = ConnectorType(
    name="litellm",
    title="A language model that calls the pack's tools, through litellm",
    options=AgentOptions,
    build=build,
)
