"""Models over real HTTP: a scripted server on loopback, and trials of the library pack against it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from assay.engine.agents import AgentOptions, LitellmConnector, connector_type
from assay.engine.dialogue.limits import Limits
from assay.engine.models import LitellmModel, ModelOptions, model_type
from assay.engine.packs import load_pack
from assay.engine.sandbox import World
from assay.engine.trial import Lab, TrialRecord, run_trial
from tests.support.openai_server import OpenAIServer, Status

LIBRARY = Path(__file__).parents[2] / "support" / "packs" / "library"
KEY = "sk-a-key-of-the-tests"

_GROQ = {
    "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
    "type": "invalid_request_error",
    "code": "tool_use_failed",
    "failed_generation": '<function=members_find{"email"',
}
_LLAMA = {
    "code": 500,
    "message": "Failed to parse tool call arguments as JSON: [json.exception.parse_error.101] parse error at line 1",
    "type": "server_error",
}
# As Groq and llama.cpp refuse what the model wrote.
UNREADABLE = [
    Status(400, json.dumps({"error": _GROQ})),
    Status(500, json.dumps({"error": _LLAMA})),
]

BuildModel = Callable[..., LitellmModel]
Try = Callable[..., Awaitable[TrialRecord]]


@pytest.fixture(autouse=True)
def loopback_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")


@pytest.fixture(scope="session")
def world() -> World:
    return World.prepare(load_pack(LIBRARY))


def secret(reference: str) -> str:
    assert reference == "env:KEY"
    return KEY


# Waits are short, so that the tests are quick; that they are kept is shown by what was waited for, not by a clock.
QUICK: dict[str, Any] = {"first_wait": 0.01, "longest_wait": 0.05, "timeout": 20.0}


@pytest.fixture
async def build_model() -> AsyncIterator[BuildModel]:
    built: list[LitellmModel] = []

    def build(server: OpenAIServer, **options: Any) -> LitellmModel:
        given = ModelOptions(base_url=server.base_url, **{"api_key": "env:KEY", **QUICK, **options})
        model = model_type.build("openai/scripted", given, secret)
        assert isinstance(model, LitellmModel)
        built.append(model)
        return model

    yield build
    for model in built:
        await model.aclose()


@pytest.fixture
async def try_task(world: World) -> AsyncIterator[Try]:
    built: list[LitellmConnector] = []

    async def once(
        server: OpenAIServer,
        task: str = "LIB-LOAN-001",
        limits: Limits = Limits(),  # noqa: B008 (frozen)
        **options: Any,
    ) -> TrialRecord:
        given = AgentOptions(base_url=server.base_url, **{"api_key": "env:KEY", **QUICK, **options})
        connector = connector_type.build("openai/scripted", given, secret)
        assert isinstance(connector, LitellmConnector)
        built.append(connector)
        return await run_trial(Lab(world, connector, limits=limits), task, 0, 1, 0)

    yield once
    for connector in built:
        await connector.aclose()
