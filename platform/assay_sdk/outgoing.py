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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import monotonic
from typing import Any

import httpx

from assay_sdk.faults import AssayError

ALLOW = "ASSAY_ALLOW_PRIVATE_TARGETS"
LARGEST_RESPONSE = 1_000_000  # bytes; what comes after is not read

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


class TargetRefused(AssayError):
    """The request must not be sent there; the message says why. Trying again does not help."""


@dataclass(frozen=True, slots=True)
class Response:
    """An answer, with at most LARGEST_RESPONSE bytes of its body."""

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
    """Send one request and read its answer, both within `timeout` seconds together.

    Raises TargetRefused, and httpx.HTTPError when the other end does not answer properly. Whatever the status
    code is, it is returned.
    """
    check_url(url)
    deadline = monotonic() + timeout
    with (
        httpx.Client(
            transport=_Checked(), trust_env=False, follow_redirects=False, timeout=timeout
        ) as client,
        client.stream(method, url, headers=headers, params=params, content=content, auth=auth) as answer,
    ):
        body = bytearray()
        for chunk in answer.iter_bytes(65_536):
            body += chunk
            if len(body) >= LARGEST_RESPONSE:
                break
            # httpx bounds each wait, not their sum: an answer that drips would never end.
            if monotonic() > deadline:
                raise httpx.ReadTimeout(f"the answer took longer than {timeout:g} s")
        return Response(answer.status_code, dict(answer.headers), bytes(body[:LARGEST_RESPONSE]))


class _Checked(httpx.HTTPTransport):
    """Connects to an address of the host that was checked, under the host's own name (TLS and Host header)."""

    def __init__(self) -> None:
        super().__init__(
            verify=ssl.create_default_context(),
            limits=httpx.Limits(max_connections=1, max_keepalive_connections=0),
            retries=0,
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        failed: httpx.ConnectError | httpx.ConnectTimeout | None = None
        for address in resolve(host, port)[:4]:
            target = httpx.Request(
                request.method,
                request.url.copy_with(host=str(address)),
                headers=request.headers,  # its Host header was set from the name
                stream=request.stream,
                extensions={**request.extensions, "sni_hostname": host},
            )
            try:
                return super().handle_request(target)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failed = error  # nothing was sent, so the next address may be tried
        raise failed or httpx.ConnectError(f"{host} has no address")


def resolve(host: str, port: int) -> Sequence[_Address]:
    """The host's addresses, all of which a request may go to. Raises TargetRefused, httpx.ConnectError."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise httpx.ConnectError(f"the host {host} cannot be found: {error}") from error
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
    raise TargetRefused(
        f"{host} is at {address}, which is not a public address. The operator can allow it with {ALLOW}."
    )


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
