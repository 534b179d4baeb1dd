"""A small OpenAI-compatible server over real HTTP that answers from a script.

    with OpenAIServer([call("members_find", '{"email": "a@b.c"}'), say("Done. Anything else?")]) as server:
        ...  # POST server.base_url + /chat/completions

It runs in a thread of its own, so plain tests, asyncio tests and other processes can all talk to it. Each request
takes the next answer; one request too many gets a 500 that says so and is kept in `server.unexpected`.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str]  # names in lower case
    body: Any

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])


@dataclass(frozen=True)
class Completion:
    """A proper chat completion. `calls`: (name, arguments as text)."""

    text: str | None = ""
    calls: Sequence[tuple[str, str]] = ()
    finish_reason: str | None = None
    refusal: str | None = None
    usage: tuple[int, int] | None = (11, 7)


@dataclass(frozen=True)
class Status:
    """Any other answer of HTTP."""

    code: int
    body: str = '{"error": {"message": "scripted", "type": "scripted", "code": null}}'
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Drop:
    """The connection is dropped: at once, or after so many bytes of an answer."""

    after: int = 0


@dataclass(frozen=True)
class Stall:
    """Nothing comes for so many seconds, then an answer that nobody waits for any more."""

    seconds: float = 60.0


Answer = Completion | Status | Drop | Stall


def say(text: str | None, **more: Any) -> Completion:
    return Completion(text, **more)


def call(
    name: str, arguments: str | Mapping[str, Any], *more: tuple[str, str], text: str | None = None
) -> Completion:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return Completion(text, ((name, written), *more))


def error(code: int, message: str, **headers: str) -> Status:
    body = json.dumps({"error": {"message": message, "type": "scripted", "code": None}})
    return Status(code, body, {name.replace("_", "-"): value for name, value in headers.items()})


class OpenAIServer:
    def __init__(self, answers: Iterable[Answer] | Callable[[Request], Answer]) -> None:
        self._answers = answers if callable(answers) else None
        self._script = iter(()) if callable(answers) else iter(answers)
        self._numbers = itertools.count(1)
        self.requests: list[Request] = []
        self.unexpected: list[Request] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[Any]] = set()
        self._thread = threading.Thread(target=self._run, name="openai-server", daemon=True)
        self._ready = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        if not self._ready.wait(10):
            raise RuntimeError("the scripted server did not start")
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    # --- the thread -----------------------------------------------------------------------------

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._start())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self._stop())
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            while (request := await self._read(reader)) is not None:
                self.requests.append(request)
                answer = self._next(request)
                if not await self._write(writer, request, answer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client has gone, as some tests make it; or the test is over
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _read(self, reader: asyncio.StreamReader) -> Request | None:
        head = await reader.readuntil(b"\r\n\r\n") if not reader.at_eof() else b""
        if not head:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        method, path, _ = first.split(" ", 2)
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        return Request(method, path, headers, json.loads(body) if body else None)

    def _next(self, request: Request) -> Answer:
        if request.method != "POST" or request.path != "/v1/chat/completions":
            self.unexpected.append(request)
            return error(404, f"There is no {request.method} {request.path} here.")
        if self._answers is not None:
            return self._answers(request)
        answer = next(self._script, None)
        if answer is None:
            self.unexpected.append(request)
            return error(500, "The script has no answer left.")
        return answer

    async def _write(self, writer: asyncio.StreamWriter, request: Request, answer: Answer) -> bool:
        """Whether the connection stays open."""
        if isinstance(answer, Stall):
            await asyncio.sleep(answer.seconds)
            answer = Completion("Too late.")
        if isinstance(answer, Drop) and not answer.after:
            return False
        if isinstance(answer, Status):
            code, body, headers = answer.code, answer.body.encode(), answer.headers
        else:
            completion = answer if isinstance(answer, Completion) else Completion("cut")
            code, body, headers = 200, json.dumps(self._completion(request, completion)).encode(), {}
        lines = [
            f"HTTP/1.1 {code} Scripted",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        data = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        writer.write(data[: answer.after] if isinstance(answer, Drop) else data)
        with contextlib.suppress(ConnectionError):
            await writer.drain()
        return not isinstance(answer, Drop)

    def _completion(self, request: Request, answer: Completion) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
        if answer.calls:
            message["tool_calls"] = [
                {
                    "id": f"call_{next(self._numbers)}",
                    "type": "function",
                    "function": {"name": name, "arguments": text},
                }
                for name, text in answer.calls
            ]
        completion: dict[str, Any] = {
            "id": f"chatcmpl-{next(self._numbers)}",
            "object": "chat.completion",
            "created": 1_700_000_000,
            "model": f"{request.body.get('model')}-2026-01",
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": answer.finish_reason or ("tool_calls" if answer.calls else "stop"),
                }
            ],
        }
        if answer.usage:
            prompt, written = answer.usage
            completion["usage"] = {
                "prompt_tokens": prompt,
                "completion_tokens": written,
                "total_tokens": prompt + written,
            }
        return completion
