"""Outgoing HTTP requests to addresses that a tenant chose: webhooks, ticket systems, bots' endpoints.

Such a request must not reach what only the server can reach (the machine itself, the company's network, a
cloud's metadata service). The host's name is resolved here, every address is checked, and the connection goes
to the address that was checked, so that a name cannot change its address in between. Redirects are not
followed and the environment's proxies are not used, since either would lead elsewhere.

The operator allows private targets with the environment variable ASSAY_ALLOW_PRIVATE_TARGETS: `1` for all of
them, or networks separated by commas, for example `127.0.0.0/8,10.20.0.0/16`.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import Any

import httpcore
import httpx

from assay_sdk.faults import AssayError

ALLOW = "ASSAY_ALLOW_PRIVATE_TARGETS"
LARGEST_RESPONSE = 1_000_000  # bytes; what comes after is not read
_MOST_ADDRESSES = 4  # of one host that are tried

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class TargetRefused(AssayError):
    """The request must not be sent there; the message says why. Trying again does not help."""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, with at most LARGEST_RESPONSE bytes of its body. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")


def check_url(url: str) -> httpx.URL:
    """The URL, when requests may be sent to such a one at all. Does not resolve its host. Raises TargetRefused."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, TypeError, ValueError) as error:
        raise TargetRefused(f"This is not a URL: {error}.") from None
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise TargetRefused("The URL must start with https:// (or http://) and name a host.")
    if parsed.userinfo:
        raise TargetRefused("The URL must not hold a user name or password; store them as secrets.")
    literal = _literal(parsed.host)
    if literal is not None:
        _check(literal, parsed.host)
    return parsed


def request(
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, Any] | None = None,
    content: bytes | None = None,
    timeout: float = 20.0,
    auth: tuple[str, str] | None = None,
) -> Response:
    """Send one request and read its answer, all of it within `timeout` seconds.

    The answer is asked for, and taken, as it is: a compressed one stays compressed, since a small one could unpack
    to any size. Raises TargetRefused, and httpx.HTTPError when the other end does not answer properly. Whatever the
    status code is, it is returned.
    """
    check_url(url)
    sent = {**(headers or {}), "accept-encoding": "identity"}
    with (
        httpx.Client(
            transport=_Transport(monotonic() + timeout),
            trust_env=False,
            follow_redirects=False,
            timeout=timeout,
        ) as client,
        client.stream(method, url, headers=sent, params=params, content=content, auth=auth) as answer,
    ):
        body = bytearray()
        for chunk in answer.iter_raw(65_536):
            body += chunk
            if len(body) >= LARGEST_RESPONSE:
                break
        return Response(answer.status_code, dict(answer.headers), bytes(body[:LARGEST_RESPONSE]))


class _Transport(httpx.BaseTransport):
    """httpx's own transport, but for how it connects (httpx gives no way to choose that)."""

    def __init__(self, deadline: float) -> None:
        self._pool = httpcore.ConnectionPool(
            ssl_context=ssl.create_default_context(),
            max_connections=1,
            max_keepalive_connections=0,
            network_backend=_Backend(deadline),
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        with _as_httpx():
            answer = self._pool.handle_request(
                httpcore.Request(
                    request.method,
                    httpcore.URL(
                        scheme=request.url.raw_scheme,
                        host=request.url.raw_host,
                        port=request.url.port,
                        target=request.url.raw_path,
                    ),
                    headers=request.headers.raw,
                    content=request.stream,
                    extensions=request.extensions,
                )
            )
        return httpx.Response(answer.status, headers=answer.headers, stream=_Body(answer))

    def close(self) -> None:
        self._pool.close()


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response) -> None:
        self._answer = answer

    def __iter__(self) -> Iterator[bytes]:
        with _as_httpx():
            yield from self._answer.iter_stream()

    def close(self) -> None:
        self._answer.close()


class _Backend(httpcore.NetworkBackend):
    """Connects to an address of the host that was checked. TLS and the Host header keep the host's own name."""

    def __init__(self, deadline: float) -> None:
        self._deadline = deadline
        self._inner = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        addresses = resolve(host, port)[:_MOST_ADDRESSES]
        failed: Exception | None = None
        for n, address in enumerate(addresses):
            share = _left(self._deadline, httpcore.ConnectTimeout) / (len(addresses) - n)
            try:
                stream = self._inner.connect_tcp(str(address), port, share, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error  # nothing was sent, so the next address may be tried
            else:
                return _Stream(stream, self._deadline)
        raise failed or httpcore.ConnectError(f"the host {host} has no address")


class _Stream(httpcore.NetworkStream):
    """Holds every wait to one common deadline. httpx bounds each wait by itself, so what drips would never end."""

    def __init__(self, inner: httpcore.NetworkStream, deadline: float) -> None:
        self._inner, self._deadline = inner, deadline

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._inner.read(max_bytes, _left(self._deadline, httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for start in range(0, len(buffer), 16_384):
            left = _left(self._deadline, httpcore.WriteTimeout)
            self._inner.write(buffer[start : start + 16_384], left)

    def close(self) -> None:
        self._inner.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        left = _left(self._deadline, httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._deadline)

    def get_extra_info(self, info: str) -> Any:
        return self._inner.get_extra_info(info)


def _left(deadline: float, late: type[Exception]) -> float:
    left = deadline - monotonic()
    if left <= 0:
        raise late("the time for the whole request is over")
    return left


@contextmanager
def _as_httpx() -> Iterator[None]:
    """httpcore's errors as httpx's, which have the same names."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise getattr(httpx, type(error).__name__)(str(error)) from error


def resolve(host: str, port: int) -> Sequence[_Address]:
    """The host's addresses, all of which a request may go to. Raises TargetRefused, httpcore.ConnectError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpcore.ConnectError(f"the host {host} cannot be found: {error}") from error
    addresses = list(
        dict.fromkeys(ipaddress.ip_address(str(entry[4][0]).partition("%")[0]) for entry in found)
    )
    for address in addresses:
        _check(address, host)
    return addresses


def _check(address: _Address, host: str) -> None:
    inner = _embedded(address)
    if all(a.is_global and not a.is_multicast and not a.is_reserved for a in (address, *inner)):
        return
    if all(_allowed(a) for a in (inner or (address,))):
        return
    # The address itself is not told: to somebody outside it would be a look into the company's own names.
    raise TargetRefused(f"{host} does not lead to a public address. The operator can allow it with {ALLOW}.")


def _embedded(address: _Address) -> tuple[_Address, ...]:
    """IPv4 addresses that an IPv6 address leads to."""
    if isinstance(address, ipaddress.IPv4Address):
        return ()
    if address.ipv4_mapped is not None:
        return (address.ipv4_mapped,)
    if address.sixtofour is not None:
        return (address.sixtofour,)
    if address.teredo is not None:
        return address.teredo
    if address in _NAT64:
        return (ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF),)
    return ()


def _allowed(address: _Address) -> bool:
    setting = os.environ.get(ALLOW, "").strip()
    if setting in ("", "0"):
        return False
    if setting in ("1", "all"):
        return True
    return any(address.version == network.version and address in network for network in _networks(setting))


def _networks(setting: str) -> list[_Network]:
    try:
        return [
            ipaddress.ip_network(part.strip(), strict=False) for part in setting.split(",") if part.strip()
        ]
    except ValueError as error:
        raise TargetRefused(
            f"{ALLOW} must be 1, or networks such as 10.0.0.0/8 with commas between: {error}."
        ) from None


def _literal(host: str) -> _Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
