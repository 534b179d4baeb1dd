"""One completion over real HTTP: what is sent, what comes back, and what trouble means."""

from __future__ import annotations

import asyncio
import email.utils
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from assay.engine.models import LitellmModel, ModelOptions
from assay.engine.models.chat import ContextExceeded
from assay.engine.models.connecting import LARGEST_ANSWER
from assay.plugins.options import read_options
from assay_sdk import ChatReply, OptionsError, ProviderOutage, ToolCallRequest
from tests.integration.models.conftest import KEY, UNREADABLE, BuildModel
from tests.support.openai_server import (
    Completion,
    Drop,
    OpenAIServer,
    Request,
    Stall,
    Status,
    call,
    error,
    say,
)

ASK = [{"role": "user", "content": "Hello"}]
TOOLS = [
    {
        "type": "function",
        "function": {"name": "f", "description": "F.", "parameters": {"type": "object", "properties": {}}},
    }
]


async def complete(build_model: BuildModel, *answers: Any, **options: Any) -> ChatReply:
    with OpenAIServer(answers) as server:
        reply = await build_model(server, **options).complete(ASK)
        assert not server.unexpected
        return reply


async def outage(build_model: BuildModel, *answers: Any, requests: int, **options: Any) -> str:
    with OpenAIServer(answers) as server:
        with pytest.raises(ProviderOutage) as caught:
            await build_model(server, **options).complete(ASK)
        assert len(server.requests) == requests
        assert caught.value.cause == "provider_outage"
        return str(caught.value)


# --- what is sent and what comes back ---------------------------------------------------------------


async def test_messages_tools_parameters_and_the_trial_s_seed_are_sent(build_model: BuildModel) -> None:
    with OpenAIServer([say("Hi.")]) as server:
        model = build_model(
            server, parameters={"temperature": 0.2, "max_tokens": 50, "extra_body": {"top_k": 3}}
        )
        await model.complete(ASK, tools=TOOLS, seed=2**62 + 5)
    request = server.requests[0]
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body == {
        "model": "scripted",
        "messages": ASK,
        "tools": TOOLS,
        "seed": 5,
        "temperature": 0.2,
        "max_tokens": 50,
        "top_k": 3,
    }


async def test_a_reply_is_read_with_its_usage(build_model: BuildModel) -> None:
    reply = await complete(build_model, say("Hi.", usage=(20, 3)))
    assert reply == ChatReply("Hi.", (), "stop", None, 20, 3, "scripted-2026-01")


async def test_tool_calls_are_read_as_they_are_written(build_model: BuildModel) -> None:
    reply = await complete(build_model, call("f", '{"a": ', ("g", "{}")))
    assert [(c.name, c.arguments) for c in reply.tool_calls] == [("f", '{"a": '), ("g", "{}")]
    assert all(isinstance(c, ToolCallRequest) and c.id for c in reply.tool_calls)
    assert reply.finish_reason == "tool_calls"


@pytest.mark.parametrize(
    ("answer", "text", "finish_reason", "refusal"),
    [
        (say(None), "", "stop", None),
        (say("I will", finish_reason="length"), "I will", "length", None),
        (say("", finish_reason="content_filter"), "", "content_filter", None),
        (say(None, refusal="I won't."), "", "stop", "I won't."),
        (error(400, "Refused by the content management policy."), "", "content_filter", None),
    ],
)
async def test_unusual_endings_are_told_apart(
    build_model: BuildModel, answer: Any, text: str, finish_reason: str, refusal: str | None
) -> None:
    reply = await complete(build_model, answer)
    assert (reply.text, reply.finish_reason, reply.refusal) == (text, finish_reason, refusal)


async def test_tokens_that_a_server_does_not_count_are_estimated(build_model: BuildModel) -> None:
    reply = await complete(build_model, say("x" * 400, usage=None))
    assert reply.prompt_tokens > 0
    assert 100 <= reply.completion_tokens <= 110


async def test_a_key_of_the_environment_does_not_go_to_somebody_else_s_server(
    build_model: BuildModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    with OpenAIServer([say("Hi.")]) as server:
        await build_model(server, api_key=None).complete(ASK)
    assert "sk-for-openai-only" not in json.dumps(dict(server.requests[0].headers))


async def test_without_base_url_the_provider_s_own_variables_are_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with OpenAIServer([say("Hi."), say("Hello."), say("Hi again.")]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
        model = LitellmModel.from_options("openai/scripted", ModelOptions(), lambda reference: "")
        another = LitellmModel.from_options("openai/scripted", ModelOptions(), lambda reference: "")
        assert (await model.complete(ASK)).text == "Hi."
        assert (await another.complete(ASK)).text == "Hello."
        await model.aclose()
        assert (await another.complete(ASK)).text == "Hi again."  # what they share is not closed under it
        await another.aclose()
    assert {r.headers["authorization"] for r in server.requests} == {"Bearer sk-of-the-environment"}


async def test_headers_may_hold_references_to_secrets(build_model: BuildModel) -> None:
    with OpenAIServer([say("Hi.")]) as server:
        model = build_model(server, headers={"X-Team": "qa", "X-Api-Key": "env:KEY"})
        await model.complete(ASK)
        described = json.dumps(model.describe())
    assert server.requests[0].headers["x-team"] == "qa"
    assert server.requests[0].headers["x-api-key"] == KEY
    assert KEY not in described and "scripted" in described


async def test_one_model_serves_many_conversations_and_several_event_loops(build_model: BuildModel) -> None:
    def echo(request: Request) -> Completion:
        return say(request.messages[-1]["content"])

    with OpenAIServer(echo) as server:
        model = build_model(server)
        texts = [str(n) for n in range(20)]
        replies = await asyncio.gather(*(model.complete([{"role": "user", "content": t}]) for t in texts))
        assert [r.text for r in replies] == texts

        async def elsewhere() -> str:
            try:
                return (await model.complete(ASK)).text
            finally:
                await model.aclose()

        assert await asyncio.to_thread(asyncio.run, elsewhere()) == "Hello"
        assert (await model.complete(ASK)).text == "Hello"


# --- trouble that passes ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "trouble",
    [
        error(429, "Slow down."),
        error(500, "Oops."),
        error(502, "Bad gateway."),
        error(503, "Busy."),
        error(529, "Overloaded."),
        Drop(),
        Drop(after=120),
        Status(200, "<html>Welcome</html>"),
        Status(200, '{"choices": []}'),
        Status(200, "{}"),
        Status(200, '{"choices": [' + " " * LARGEST_ANSWER),
        Status(200, "{}", {"Content-Encoding": "gzip"}),
    ],
    ids=lambda trouble: repr(trouble)[:40],
)
async def test_what_passes_is_tried_again(build_model: BuildModel, trouble: Any) -> None:
    assert (await complete(build_model, trouble, trouble, say("Now."))).text == "Now."


async def test_what_does_not_pass_ends_as_an_outage_after_a_bounded_number_of_attempts(
    build_model: BuildModel,
) -> None:
    message = await outage(build_model, *[error(503, "Busy.")] * 9, requests=3, attempts=3)
    assert "Busy." in message and "3 attempts" in message


async def test_a_server_that_stalls_is_not_waited_for(build_model: BuildModel) -> None:
    message = await outage(build_model, Stall(60), Stall(60), requests=2, attempts=2, timeout=0.3)
    assert "did not answer" in message


async def test_nobody_listening_is_an_outage(build_model: BuildModel) -> None:
    with OpenAIServer([]) as server:
        model = build_model(server, attempts=2)
    with pytest.raises(ProviderOutage):
        await model.complete(ASK)


class Waits:
    """What a model says that failed attempts cost: the attempt itself, then the wait before the next one."""

    def __init__(self) -> None:
        self.seconds: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.seconds.append(seconds)

    @property
    def between(self) -> list[float]:
        return self.seconds[1::2]


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"Retry_After": "0.2"}, 0.2),
        ({"Retry_After": "3600"}, 0.5),  # never longer than longest_wait
        ({"retry_after_ms": "150"}, 0.15),
        ({"Retry_After": "-5"}, 0.0),
        ({"Retry_After": "Tue, 01 Jan 2019 00:00:00 GMT"}, 0.0),
    ],
)
async def test_the_wait_that_a_server_asks_for_is_kept_up_to_a_bound(
    build_model: BuildModel, headers: dict[str, str], waited: float
) -> None:
    waits = Waits()
    with OpenAIServer([error(429, "Slow down.", **headers), say("Now.")]) as server:
        model = build_model(server, longest_wait=0.5)
        started = time.monotonic()
        assert (await model.complete(ASK, lost=waits)).text == "Now."
        assert time.monotonic() - started >= waited
    assert waits.between == [pytest.approx(waited)]


async def test_a_date_in_retry_after_is_understood(build_model: BuildModel) -> None:
    waits = Waits()
    soon = email.utils.formatdate(time.time() + 100, usegmt=True)
    with OpenAIServer([error(503, "Later.", Retry_After=soon), say("Now.")]) as server:
        await build_model(server, longest_wait=0.1).complete(ASK, lost=waits)
    assert waits.between == [pytest.approx(0.1)]


async def test_without_it_the_waits_double_up_to_a_bound(build_model: BuildModel) -> None:
    waits = Waits()
    with OpenAIServer([error(500, "Oops.")] * 5) as server:
        model = build_model(server, attempts=5, first_wait=0.02, longest_wait=0.1)
        with pytest.raises(ProviderOutage):
            await model.complete(ASK, lost=waits)
    for wait, full in zip(waits.between, (0.02, 0.04, 0.08, 0.1), strict=True):
        assert full / 2 <= wait <= full


# --- trouble that stays -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (error(400, "temperature must be below 2"), "check parameters"),
        (error(401, f"Incorrect API key provided: {KEY}"), "check api_key"),
        (error(403, "Not for you."), "check api_key"),
        (error(402, "Pay first."), "nothing left to spend"),
        (error(429, "You exceeded your current quota: insufficient_quota"), "nothing left to spend"),
        (error(404, "No such model."), "check the model's name and base_url"),
        (error(422, "Unknown field."), "check parameters"),
        (Status(307, "", {"Location": "http://127.0.0.1:1/v1"}), "check base_url"),
    ],
)
async def test_what_stays_is_not_tried_again_and_says_what_to_check(
    build_model: BuildModel, answer: Any, says: str
) -> None:
    message = await outage(build_model, answer, requests=1)
    assert says in message
    assert KEY not in message


@pytest.mark.parametrize(
    "answer",
    [
        error(400, "This model's maximum context length is 4096 tokens."),
        Status(
            400,
            '{"error": {"code": 400, "message": "the request exceeds the available context size",'
            ' "type": "exceed_context_size_error", "n_prompt_tokens": 2000, "n_ctx": 512}}',
        ),
    ],
)
async def test_messages_that_do_not_fit_are_a_kind_of_their_own(build_model: BuildModel, answer: Any) -> None:
    with OpenAIServer([answer]) as server, pytest.raises(ContextExceeded) as caught:
        await build_model(server).complete(ASK)
    assert "context" in str(caught.value)


@pytest.mark.parametrize("answer", UNREADABLE)
async def test_a_tool_call_that_the_server_cannot_read_is_an_empty_reply_of_the_model(
    build_model: BuildModel, answer: Any
) -> None:
    with OpenAIServer([answer]) as server:
        lost: list[float] = []
        reply = await build_model(server).complete(ASK, tools=TOOLS, lost=lost.append)
        assert len(server.requests) == 1
    assert reply == ChatReply("", (), "malformed_tool_call")
    assert not lost


async def test_a_provider_that_litellm_does_not_know_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_ALLOW_PRIVATE_TARGETS", "1")
    model = LitellmModel.from_options("nobody/knows", ModelOptions(), lambda reference: "")
    try:
        with pytest.raises(ProviderOutage) as caught:
            await model.complete(ASK)
    finally:
        await model.aclose()
    assert "PROVIDER/MODEL" in str(caught.value)


async def test_private_addresses_are_refused_unless_the_operator_allows_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with OpenAIServer([say("Secret.")]) as server:
        named = server.base_url.replace("127.0.0.1", "localhost")
        model = LitellmModel.from_options("openai/m", ModelOptions(base_url=named), lambda reference: "")
        monkeypatch.delenv("ASSAY_ALLOW_PRIVATE_TARGETS")
        with pytest.raises(ProviderOutage) as caught:
            await model.complete(ASK)
        await model.aclose()
        with pytest.raises(OptionsError):
            LitellmModel.from_options(
                "openai/m", ModelOptions(base_url=server.base_url), lambda reference: ""
            )
        assert server.requests == []
    assert "public address" in str(caught.value)


# --- options ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"api_key": "sk-1234"}, "env:NAME"),
        ({"base_url": "localhost:8080"}, "http"),
        ({"base_url": "http://me:pw@host/v1"}, "password"),
        ({"headers": {"Authorization": "Bearer x"}}, "reference"),
        ({"parameters": {"api_key": "x"}}, "api_key"),
        ({"parameters": {"aws_bedrock_runtime_endpoint": "http://10.0.0.1"}}, "aws_bedrock_runtime_endpoint"),
        ({"timeout": 0}, "timeout"),
        ({"attempts": 100}, "attempts"),
        ({"temperature": 1}, "temperature"),
    ],
)
def test_options_that_cannot_be_meant_are_refused_with_a_sentence(options: dict[str, Any], says: str) -> None:
    with pytest.raises(OptionsError) as caught:
        read_options("model 'litellm'", ModelOptions, options)
    assert says in str(caught.value)
    assert "sk-1234" not in str(caught.value)


def test_with_a_base_url_the_model_is_one_of_an_openai_compatible_server() -> None:
    options = ModelOptions(base_url="http://127.0.0.1:1/v1")
    assert LitellmModel.from_options("llama", options, lambda reference: "").target == "openai/llama"
    with pytest.raises(OptionsError) as caught:
        LitellmModel.from_options("anthropic/claude", options, lambda reference: "")
    assert "openai/claude" in str(caught.value)


def test_naming_a_model_does_not_load_litellm() -> None:
    code = (
        "import sys; from assay.plugins.bots import build_connector;"
        "c = build_connector('litellm:openai/gpt-4o', {}); c.describe(); print('litellm' in sys.modules)"
    )
    platform = Path(__file__).parents[3] / "platform"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True, cwd=platform
    )
    assert done.stdout.strip() == "False"
