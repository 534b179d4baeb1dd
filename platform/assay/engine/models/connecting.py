"""HTTP connections to an OpenAI-compatible server whose address a tenant chose.

They follow the rules of assay_sdk.outgoing: only to addresses that were checked after the name was resolved, no
redirects, no proxies of the environment. httpx takes no resolver, so its connection pool is given one.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterable
from typing import Any

import httpcore
import httpx

from assay_sdk import OptionsError, outgoing


def client(timeout: float) -> httpx.AsyncClient:
    """A client for one event loop. Its requests raise TargetRefused (inside what httpx makes of it)."""
    return httpx.AsyncClient(
        transport=_Transport(),
        timeout=timeout,
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
