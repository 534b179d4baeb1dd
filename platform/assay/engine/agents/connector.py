"""The connector "litellm": one model with its options, used by all trials of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field

from assay.engine.agents.native import Native
from assay.engine.agents.protocol import Protocol
from assay.engine.agents.session import AgentSession
from assay.engine.agents.text import Text
from assay.engine.models import LitellmModel, ModelOptions
from assay_sdk import BotContext


class AgentOptions(ModelOptions):
    tool_mode: Literal["auto", "native", "text"] = Field(
        "auto",
        description="native: the provider's tool calls; text: calls written into the reply; "
        "auto: text only for a model that litellm lists without native tool calls",
    )
    rounds: Annotated[int, Field(ge=1, le=200)] = Field(
        30, description="Times in a row that the model may call tools before it must answer"
    )
    instructions: str = Field("", description="Added to the pack's instructions and policy, as the bot's own")


class LitellmConnector:
    """See assay_sdk.Connector."""

    synthetic = False
    resumes = True

    def __init__(self, model: LitellmModel, options: AgentOptions) -> None:
        self._model = model
        self._options = options

    def describe(self) -> Mapping[str, Any]:
        return self._model.describe()

    async def open(self, context: BotContext) -> AgentSession:
        await self._model.prepare()
        return AgentSession(
            self._model,
            await self._protocol(),
            context,
            rounds=self._options.rounds,
            instructions=self._options.instructions,
        )

    async def aclose(self) -> None:
        await self._model.aclose()

    async def _protocol(self) -> Protocol:
        mode = self._options.tool_mode
        if mode == "auto":
            mode = "text" if await self._model.knows_tools() is False else "native"
        return Text() if mode == "text" else Native()


def build(target: str, options: AgentOptions, secret: Callable[[str], str]) -> LitellmConnector:
    """Raises OptionsError."""
    return LitellmConnector(LitellmModel.from_options(target, options, secret), options)
