"""One model through litellm: completions with bounded retries."""

from __future__ import annotations

import asyncio
import importlib.metadata
import json
import logging
import random
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from assay.engine.models import library, providers
from assay.engine.models.options import REFERENCE, ModelOptions
from assay.engine.models.trouble import Kind, Trouble, understand
from assay_sdk import ChatReply, OptionsError, ProviderOutage, ToolCallRequest

log = logging.getLogger(__name__)

_NO_KEY = "none"  # the library wants some key for an OpenAI-compatible server, which may want none
_LITELLMS = object()  # stands for the clients that litellm keeps by itself


class ContextExceeded(ProviderOutage):
    """The messages do not fit in the model's context. Whoever chose the model decides whose fault that is."""


class LitellmModel:
    """A `ChatModel`. Used by many conversations at once, in one or several event loops."""

    def __init__(
        self, target: str, options: ModelOptions, api_key: str | None, headers: Mapping[str, str]
    ) -> None:
        self.target = target
        self.options = options
        self._key = api_key
        self._headers = dict(headers)
        self._hide = tuple(v for v in (api_key, *headers.values()) if v and len(v) > 3)
        self._takes_seed: bool | None = None
        self._random = random.Random()  # noqa: S311 (spreads retries, nothing secret)
        # A worker may use one model in several event loops, one after the other.
        self._clients: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Any] = weakref.WeakKeyDictionary()

    @classmethod
    def from_options(cls, target: str, options: ModelOptions, secret: Callable[[str], str]) -> LitellmModel:
        """Resolve the references in `options`. Raises OptionsError."""
        providers.check(target, options.parameters, addressed=options.base_url is not None)
        if options.base_url is not None:
            if "/" not in target:
                target = f"openai/{target}"
            if not target.startswith("openai/"):
                raise OptionsError(
                    f"base_url goes with an OpenAI-compatible server: write openai/{target.partition('/')[2]}, "
                    "or leave base_url out."
                )
            from assay.engine.models import connecting  # httpx takes a while, and is for those who use it

            connecting.check(options.base_url)
        key = secret(options.api_key) if options.api_key is not None else None
        headers = {
            name: secret(value) if REFERENCE.fullmatch(value) else value
            for name, value in options.headers.items()
        }
        return cls(target, options, key, headers)

    def describe(self) -> Mapping[str, Any]:
        """For the manifest: what was asked of which model, by what; without secrets."""
        options = self.options.model_dump(exclude_defaults=True)
        if "headers" in options:
            options["headers"] = sorted(options["headers"])
        return {
            "name": "litellm",
            "model": self.target,
            "options": options,
            "litellm": importlib.metadata.version("litellm"),
        }

    async def prepare(self) -> None:
        """Load the library, which takes seconds the first time. `complete` does it too."""
        litellm = await library.loaded()
        if self._takes_seed is None:
            self._takes_seed = "seed" in _supported(litellm, self.target)

    async def knows_tools(self) -> bool | None:
        """Whether litellm's list of models says that this one makes native tool calls; None: it is not listed."""
        litellm = await library.loaded()
        try:
            information = litellm.get_model_info(self.target)
        except Exception:  # noqa: BLE001 (that is what it raises for a model that is not listed)
            return None
        return bool(information.get("supports_function_calling"))

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        seed: int | None = None,
        lost: Callable[[float], None] | None = None,
    ) -> ChatReply:
        """See assay_sdk.ChatModel. `lost` is told the seconds that failed attempts and waits cost, at once.

        A reply that the provider's content filter took away has finish_reason "content_filter"; one that a server
        refused because it could not read the model's tool call has "malformed_tool_call". Both are empty. Raises
        ContextExceeded, and ProviderOutage when the provider does not answer after `attempts` attempts, or
        refuses in a way that trying again would not change.
        """
        await self.prepare()
        request = self._request(messages, tools, seed)
        for attempt in range(self.options.attempts):
            started = time.monotonic()
            try:
                return await self._attempt(request)
            except _Failed as failed:
                trouble = failed.trouble
            if trouble.kind is Kind.FILTERED:
                return ChatReply("", (), "content_filter", refusal=None)
            if trouble.kind is Kind.MALFORMED:
                return ChatReply("", (), "malformed_tool_call", refusal=None)
            if trouble.kind is Kind.TOO_LONG:
                raise ContextExceeded(trouble.message)
            if trouble.kind is Kind.LASTING:
                raise ProviderOutage(trouble.message)
            if lost is not None:
                lost(time.monotonic() - started)
            if attempt + 1 < self.options.attempts:
                wait = self._wait(attempt, trouble)
                log.info("attempt %d at %s failed; the next one in %.1f s", attempt + 1, self.target, wait)
                if lost is not None:
                    lost(wait)
                await asyncio.sleep(wait)
        raise ProviderOutage(f"{trouble.message} ({self.options.attempts} attempts)")

    async def aclose(self) -> None:
        client = self._clients.pop(asyncio.get_running_loop(), None)
        if client is _LITELLMS:
            await library.release_clients()
        elif client is not None:
            await client.close()

    # --- one attempt ----------------------------------------------------------------------------

    def _request(
        self, messages: Sequence[Mapping[str, Any]], tools: Sequence[Mapping[str, Any]], seed: int | None
    ) -> dict[str, Any]:
        options = self.options
        request: dict[str, Any] = {
            "model": self.target,
            "messages": [dict(m) for m in messages],
            "timeout": options.timeout,
            # Retries are ours: litellm's neither honour Retry-After nor say what they cost.
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": options.drop_unsupported,
        }
        if tools:
            request["tools"] = [dict(t) for t in tools]
        client = self._client()
        if client is not _LITELLMS:
            request["client"] = client
            request["api_base"] = options.base_url
            request["api_key"] = client.api_key
        elif self._key is not None:
            request["api_key"] = self._key
        if self._headers:
            request["extra_headers"] = self._headers
        if seed is not None and self._takes_seed:
            request["seed"] = seed % 2**31  # providers take 32 bits
        return {**request, **options.parameters}

    async def _attempt(self, request: dict[str, Any]) -> ChatReply:
        litellm = await library.loaded()
        try:
            # litellm's own timeout bounds each read, not the whole answer.
            async with asyncio.timeout(self.options.timeout):
                response = await litellm.acompletion(**request)
            return _reply(response, request["messages"])
        except TimeoutError:
            trouble = Trouble(
                Kind.PASSING, f"{self.target} did not answer within {self.options.timeout:g} s."
            )
        except Exception as error:  # noqa: BLE001 (providers fail in every way; each is told apart)
            trouble = understand(error, self.target, self.options.base_url, self._hide)
        raise _Failed(trouble)

    def _wait(self, attempt: int, trouble: Trouble) -> float:
        if trouble.wait is not None:
            return min(trouble.wait, self.options.longest_wait)
        # Half fixed, half drawn, so that trials that failed together do not come back together.
        wait = min(self.options.first_wait * 2.0**attempt, self.options.longest_wait)
        return wait / 2 + self._random.uniform(0, wait / 2)

    def _client(self) -> Any:
        """Our own client when base_url is given, else _LITELLMS: litellm's, one for each provider."""
        loop = asyncio.get_running_loop()
        if loop not in self._clients:
            if self.options.base_url is None:
                library.use_clients()
                self._clients[loop] = _LITELLMS
            else:
                from openai import AsyncOpenAI

                from assay.engine.models import connecting

                self._clients[loop] = AsyncOpenAI(
                    # A key of the environment is for OpenAI and not for whoever listens at base_url.
                    api_key=self._key or _NO_KEY,
                    base_url=self.options.base_url,
                    max_retries=0,
                    timeout=self.options.timeout,
                    # It takes httpx as well as its own successor, whatever its types say.
                    http_client=connecting.client(self.options.timeout),  # type: ignore[arg-type]
                )
        return self._clients[loop]


class _Failed(Exception):
    def __init__(self, trouble: Trouble) -> None:
        super().__init__(trouble.message)
        self.trouble = trouble


def _supported(litellm: Any, target: str) -> Sequence[str]:
    try:
        return litellm.get_supported_openai_params(model=target) or ()
    except Exception:  # noqa: BLE001 (for a provider it does not know; the first request says so in plain words)
        return ()


def _reply(response: Any, messages: Sequence[Mapping[str, Any]]) -> ChatReply:
    """litellm's response as a ChatReply. Raises ValueError when there is nothing in it."""
    if not response.choices:
        raise ValueError("The answer holds no choices.")
    choice = response.choices[0]
    message = choice.message
    text = message.content if isinstance(message.content, str) else ""
    calls = tuple(
        ToolCallRequest(str(call.id or ""), str(call.function.name or ""), call.function.arguments or "")
        for call in message.tool_calls or ()
    )
    usage = getattr(response, "usage", None)
    prompt, written = (
        int(getattr(usage, "prompt_tokens", 0) or 0),
        int(getattr(usage, "completion_tokens", 0) or 0),
    )
    if not prompt and not written:
        # A server that counts nothing must not give a bot endless tokens: about four characters make one.
        prompt = len(json.dumps(messages, default=str)) // 4
        written = (len(text) + sum(len(c.arguments) for c in calls)) // 4 + 1
    refusal = getattr(message, "refusal", None)
    return ChatReply(
        text=text,
        tool_calls=calls,
        finish_reason=str(choice.finish_reason or "stop"),
        refusal=refusal if isinstance(refusal, str) and refusal else None,
        prompt_tokens=prompt,
        completion_tokens=written,
        model=response.model if isinstance(response.model, str) else None,
    )
