"""Outgoing requests do not reach what only the server can reach, and end in time. Real servers on loopback."""

from __future__ import annotations

import _socket
import gzip
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest

from assay_sdk import outgoing
from assay_sdk.outgoing import ALLOW, TargetRefused

Handler = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def serve() -> Iterator[Callable[[Handler], str]]:
    """serve(handle) starts a server whose requests go to `handle`, and gives its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(handle: Handler) -> str:
        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                handle(self)

            do_POST = do_GET  # noqa: N815 (http.server's name)

            def log_message(self, *args: Any) -> None:
                return None

        server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=[0.02], daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.fixture
def allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ALLOW, "1")


def answer(status: int, body: bytes = b"ok", **headers: str) -> Handler:
    def handle(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name.replace("_", "-"), value)
        request.send_header("content-length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return handle


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/", "http://127.1/", "http://[::1]/", "http://10.1.2.3/",
        "http://172.16.0.1/", "http://192.168.0.1/", "http://169.254.169.254/latest/meta-data", "http://100.64.0.1/",
        "http://[fd00::1]/", "http://[fe80::1]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "http://0.0.0.0/", "http://255.255.255.255/",
        "http://224.0.0.1/", "http://localhost/",
    ],
)  # fmt: skip
def test_private_addresses_are_refused_however_they_are_written(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ALLOW, raising=False)
    with pytest.raises(TargetRefused, match="public address"):
        outgoing.request("GET", url, timeout=5)


@pytest.mark.parametrize("host", ["2130706433", "0", "0x7f000001", "127.1", "017700000001"])
def test_numbers_that_the_system_reads_as_an_address_are_seen_for_what_they_are(
    host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ALLOW, raising=False)

    def numeric(host: str, port: int, *args: Any, **options: Any) -> Any:
        return _socket.getaddrinfo(host, port, 0, socket.SOCK_STREAM, 0, socket.AI_NUMERICHOST)

    monkeypatch.setattr(socket, "getaddrinfo", numeric)
    with pytest.raises(TargetRefused, match="public address"):
        outgoing.request("GET", f"http://{host}/", timeout=5)


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("ftp://example.com/", "https://"),
        ("example.com", "https://"),
        ("file:///etc/passwd", "https://"),
        ("http://user:pass@example.com/", "user name"),
        ("https://", "host"),
        ("http://[::1", "URL"),
    ],
)
def test_what_is_no_address_of_the_web_is_refused(url: str, said: str) -> None:
    with pytest.raises(TargetRefused, match=said):
        outgoing.check_url(url)


def test_the_operator_can_allow_all_or_some_private_networks(
    serve: Callable[[Handler], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = serve(answer(200))
    for setting in ("1", "127.0.0.0/8", "10.0.0.0/8, 127.0.0.1"):
        monkeypatch.setenv(ALLOW, setting)
        assert outgoing.request("GET", url).status == 200
    for setting in ("0", "", "10.0.0.0/8"):
        monkeypatch.setenv(ALLOW, setting)
        with pytest.raises(TargetRefused):
            outgoing.request("GET", url)
    monkeypatch.setenv(ALLOW, "ten-dot")
    with pytest.raises(TargetRefused, match="networks such as"):
        outgoing.request("GET", url)


def resolver(monkeypatch: pytest.MonkeyPatch, *answers: list[str]) -> list[str]:
    """Look-ups of shop.example give one of `answers` after the other; the names that were asked for."""
    asked: list[str] = []
    left = list(answers)

    def look_up(host: Any, port: Any, *args: Any, **options: Any) -> Any:
        asked.append(host)
        addresses = left.pop(0) if host == "shop.example" else [host]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (a, port)) for a in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


def test_a_name_that_leads_to_a_private_address_is_refused_and_the_address_not_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv(ALLOW, raising=False)
    resolver(monkeypatch, ["10.9.8.7"])
    with pytest.raises(TargetRefused) as caught:
        outgoing.request("GET", "http://shop.example/")
    assert "shop.example" in str(caught.value)
    assert "10.9.8.7" not in str(caught.value)


def test_one_private_address_among_public_ones_is_enough_to_refuse(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ALLOW, raising=False)
    resolver(monkeypatch, ["93.184.215.14", "127.0.0.1"])
    with pytest.raises(TargetRefused):
        outgoing.request("GET", "http://shop.example/")


def test_a_name_cannot_change_its_address_between_the_check_and_the_connection(
    serve: Callable[[Handler], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rebinding: the second look-up would give another address. There is none: the checked one is used."""
    monkeypatch.setenv(ALLOW, "127.0.0.1")
    seen: list[str] = []
    port = serve(lambda request: (seen.append(request.headers["host"]), answer(200)(request))[0]).rpartition(
        ":"
    )[2]  # type: ignore[func-returns-value]
    asked = resolver(monkeypatch, ["127.0.0.1"], ["127.0.0.2"])
    assert outgoing.request("GET", f"http://shop.example:{port}/").status == 200
    assert asked.count("shop.example") == 1
    assert seen == [f"shop.example:{port}"]  # the server is still asked for by its name


def test_the_next_address_is_tried_when_one_refuses_the_connection(
    serve: Callable[[Handler], str], monkeypatch: pytest.MonkeyPatch, allowed: None
) -> None:
    port = serve(answer(200)).rpartition(":")[2]
    resolver(monkeypatch, ["127.0.0.9", "127.0.0.1"])
    assert outgoing.request("GET", f"http://shop.example:{port}/").status == 200


def test_redirects_are_not_followed(serve: Callable[[Handler], str], allowed: None) -> None:
    reached: list[str] = []
    inner = serve(lambda request: (reached.append("inner"), answer(200)(request))[0])  # type: ignore[func-returns-value]
    got = outgoing.request("GET", serve(answer(302, location=inner)))
    assert (got.status, got.headers["location"], reached) == (302, inner, [])


def test_the_environments_proxy_is_not_used(
    serve: Callable[[Handler], str], monkeypatch: pytest.MonkeyPatch, allowed: None
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert outgoing.request("GET", serve(answer(200))).text == "ok"


def test_of_a_large_answer_only_the_beginning_is_read(serve: Callable[[Handler], str], allowed: None) -> None:
    def endless(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.end_headers()
        try:
            while True:
                request.wfile.write(b"x" * 65_536)
        except OSError:
            return

    got = outgoing.request("GET", serve(endless), timeout=60)
    assert len(got.body) == outgoing.LARGEST_RESPONSE


def test_a_compressed_answer_is_not_unpacked(serve: Callable[[Handler], str], allowed: None) -> None:
    packed = gzip.compress(b"0" * 10_000_000)
    asked: list[str] = []

    def handle(request: BaseHTTPRequestHandler) -> None:
        asked.append(request.headers["accept-encoding"])
        answer(200, packed, content_encoding="gzip")(request)

    assert outgoing.request("GET", serve(handle)).body == packed
    assert asked == ["identity"]


@pytest.mark.parametrize("part", ["nothing", "headers", "body"])
def test_an_answer_that_drips_ends_at_the_deadline(
    part: str, serve: Callable[[Handler], str], allowed: None
) -> None:
    """Each byte comes soon enough for a bound on single waits, but the whole never ends."""
    over = threading.Event()

    def drip(request: BaseHTTPRequestHandler) -> None:
        try:
            if part != "nothing":
                request.wfile.write(
                    b"HTTP/1.1 200 OK\r\nx-slow: " + (b"" if part == "headers" else b"1\r\n\r\n")
                )
            while not over.wait(0.05):
                if part != "nothing":
                    request.wfile.write(b"a")
                    request.wfile.flush()
        except OSError:
            return

    with pytest.raises(httpx.TimeoutException):
        outgoing.request("GET", serve(drip), timeout=0.5)
    over.set()


def test_a_server_that_hangs_up_is_an_error_of_httpx(serve: Callable[[Handler], str], allowed: None) -> None:
    with pytest.raises(httpx.HTTPError):
        outgoing.request("GET", serve(lambda request: request.connection.close()))


def test_a_name_that_cannot_be_found_is_an_error_of_httpx(allowed: None) -> None:
    with pytest.raises(httpx.ConnectError, match=r"no-such-host\.invalid"):
        outgoing.request("GET", "http://no-such-host.invalid/")


def test_what_is_sent_arrives(serve: Callable[[Handler], str], allowed: None) -> None:
    got: dict[str, Any] = {}

    def handle(request: BaseHTTPRequestHandler) -> None:
        length = int(request.headers["content-length"])
        got.update(
            method=request.command,
            path=request.path,
            body=request.rfile.read(length),
            kind=request.headers["x-kind"],
        )
        answer(201, "größe".encode())(request)

    body = b"y" * 300_000
    back = outgoing.request(
        "POST", serve(handle) + "/in", headers={"x-kind": "test"}, params={"a": "1 2"}, content=body
    )
    assert (back.status, back.text) == (201, "größe")
    assert got == {"method": "POST", "path": "/in?a=1+2", "body": body, "kind": "test"}
