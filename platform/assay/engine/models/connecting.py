"""HTTP connections to an OpenAI-compatible server whose address a tenant chose.

They follow the rules of assay_sdk.outgoing: only to addresses that were checked after the name was resolved, no
redirects, no proxies of the environment, an answer of bounded size. httpx takes no resolver, so its connection pool
is given one.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from typing import Any

import httpcore
import httpx

from assay_sdk import OptionsError, outgoing

LARGEST_ANSWER = 10_000_000  # bytes; no completion comes near it


def client(timeout: float) -> httpx.AsyncClient:
    """A client for one event loop. Its requests raise TargetRefused (inside what httpx makes of it)."""
    return httpx.AsyncClient(
        transport=_Transport(),
        timeout=timeout,
        # A small compressed answer could unpack to any size.
        headers={"accept-encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
    )


def check(url: str) -> None:
    """Raises OptionsError when requests to `url` are refused whatever its name leads to."""
    try:
        outgoing.check_url(url)
    except outgoing.TargetRefused as error:
        raise OptionsError(f"base_url: {error}") from None


class _Transport(httpx.AsyncHTTPTransport):
    def __init__(self) -> None:
        super().__init__()
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=ssl.create_default_context(),
            # As many as trials at once may need; the executor bounds those.
            max_connections=1000,
            max_keepalive_connections=100,
            keepalive_expiry=30.0,
            network_backend=_Backend(),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        answer = await super().handle_async_request(request)
        if answer.headers.get("content-encoding", "identity") != "identity":
            await answer.aclose()
            raise httpx.DecodingError("the answer is compressed, though none was asked for", request=request)
        assert isinstance(answer.stream, httpx.AsyncByteStream)
        return httpx.Response(
            answer.status_code,
            headers=answer.headers,
            stream=_Bounded(answer.stream, request),
            extensions=answer.extensions,
        )


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, inner: httpx.AsyncByteStream, request: httpx.Request) -> None:
        self._inner, self._request = inner, request

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = LARGEST_ANSWER
        async for chunk in self._inner:
            left -= len(chunk)
            if left < 0:
                raise httpx.ReadError(
                    f"the answer has more than {LARGEST_ANSWER:,} bytes", request=self._request
                )
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Backend(httpcore.AsyncNetworkBackend):
    def __init__(self) -> None:
        self._inner = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (httpcore's signature)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        failed: Exception | None = None
        for address in (await asyncio.to_thread(outgoing.resolve, host, port))[:4]:
            try:
                return await self._inner.connect_tcp(
                    str(address), port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error  # nothing was sent, so the next address may be tried
        raise failed or httpcore.ConnectError(f"the host {host} has no address")

    async def sleep(self, seconds: float) -> None:
        await self._inner.sleep(seconds)
