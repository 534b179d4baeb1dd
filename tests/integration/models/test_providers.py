"""Without base_url litellm chooses the address: only hosted providers may be asked, unless the operator says more."""

from __future__ import annotations

from typing import Any

import pytest

from assay.engine.models import model_type
from assay.engine.models.options import ModelOptions
from assay.plugins.bots import build_connector
from assay_sdk import OptionsError
from tests.support.openai_server import OpenAIServer, say

ASK = [{"role": "user", "content": "Who is there?"}]


async def ask(target: str, options: dict[str, Any]) -> None:
    """Build the bot as the platform does, then ask the model, so that a request would be seen."""
    await build_connector(f"litellm:{target}", options).aclose()
    model = model_type.build(target, ModelOptions(attempts=1, timeout=10, **options), lambda reference: "key")
    try:
        await model.complete(ASK)
    finally:
        await model.aclose()


@pytest.mark.parametrize(
    ("target", "parameters"),
    [
        ("oobabooga/http://127.0.0.1:{port}/v1", {}),
        ("openai/http://127.0.0.1:{port}/v1", {}),
        ("ollama/x", {}),
        ("ollama_chat/x", {}),
        ("llamafile/x", {}),
        ("hosted_vllm/x", {}),
        ("lm_studio/x", {}),
        ("openai_like/x", {}),
        ("anthropic.claude-3-sonnet-20240229-v1:0", {}),
        ("claude-sonnet-4-5-20250929-v1:0", {}),
        ("gemini-2.5-flash", {}),
        ("openai/x", {"custom_llm_provider": "ollama"}),
        ("openai/x", {"context_window_fallback_dict": {"openai/x": "ollama/x"}}),
        ("openai/x", {"model_list": [{"model_name": "x", "litellm_params": {"model": "ollama/x"}}]}),
        ("openai/x", {"api_version": "2024-02-01"}),
        ("openai/x", {"azure_ad_token_provider": "x"}),
        ("anthropic/x", {"anthropic_identity_source": "file"}),
        ("openai/x", {"AWS_region_name": "eu-west-1"}),
        ("openai/x", {"vertex_project": "p"}),
    ],
)
@pytest.mark.parametrize("allowed", ["", "0", "127.0.0.0/8"])
async def test_nothing_reaches_a_port_of_this_machine_through_litellm(
    target: str, parameters: dict[str, Any], allowed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAY_ALLOW_PRIVATE_TARGETS", allowed)
    monkeypatch.delenv("ASSAY_MODEL_PROVIDERS", raising=False)
    with OpenAIServer([say("Secret.")]) as server:
        port = server.base_url.split(":")[2].split("/")[0]
        for name in ("OLLAMA", "LLAMAFILE", "HOSTED_VLLM", "LM_STUDIO", "OPENAI_LIKE"):
            monkeypatch.setenv(f"{name}_API_BASE", server.base_url)
        with pytest.raises(OptionsError):
            await ask(target.format(port=port), {"parameters": parameters})
        assert server.requests == []


async def test_parameters_do_not_lead_away_from_base_url() -> None:
    with OpenAIServer([say("Secret.")]) as server, pytest.raises(OptionsError, match="custom_llm_provider"):
        await ask("m", {"base_url": server.base_url, "parameters": {"custom_llm_provider": "ollama"}})
    assert server.requests == []


async def test_the_operator_can_allow_further_providers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_ALLOW_PRIVATE_TARGETS")
    with OpenAIServer([say("Here.")]) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.base_url)
        with pytest.raises(OptionsError, match="ASSAY_MODEL_PROVIDERS"):
            await ask("hosted_vllm/x", {})
        monkeypatch.setenv("ASSAY_MODEL_PROVIDERS", "nvidia_nim, hosted_vllm")
        await ask("hosted_vllm/x", {})
        assert len(server.requests) == 1
    with pytest.raises(OptionsError):
        await ask("ollama/x", {})


@pytest.mark.parametrize(
    "target", ["openai/gpt-4o", "gpt-4o", "o3-mini", "claude-sonnet-4-5", "gemini/gemini-2.5-flash"]
)
async def test_hosted_providers_are_taken(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_ALLOW_PRIVATE_TARGETS")
    connector = build_connector(f"litellm:{target}", {"parameters": {"temperature": 0, "max_tokens": 5}})
    assert connector.describe()
    await connector.aclose()


async def test_whoever_allows_all_private_targets_may_use_any_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ASSAY_ALLOW_PRIVATE_TARGETS", "1")
    with OpenAIServer([say("Here.")]) as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.base_url)
        await ask("hosted_vllm/x", {})
        assert len(server.requests) == 1
        with pytest.raises(OptionsError, match="base_url"):
            await ask(f"oobabooga/{server.base_url}", {})


async def test_every_bare_name_that_is_taken_belongs_to_a_hosted_provider(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By litellm's own list: none of them goes to an account of the machine."""
    monkeypatch.delenv("ASSAY_ALLOW_PRIVATE_TARGETS")
    from assay.engine.models import library, providers

    litellm = await library.loaded()
    taken: dict[str, str] = {}
    for name in litellm.model_cost:
        try:
            if "/" not in name:
                providers.check(name, (), addressed=False)
                taken[name] = litellm.get_llm_provider(name)[1]
        except OptionsError:
            continue
        except litellm.BadRequestError:
            continue  # litellm needs a provider for it, and says so
    assert len(taken) > 50
    assert set(taken.values()) <= {"openai", "text-completion-openai", "anthropic"}
