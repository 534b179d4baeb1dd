"""The receiver of webhooks: what it takes, what it refuses, and what becomes of what it took."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from standardwebhooks import Webhook

from assay_sdk import FailureReport, TicketRef, TicketSystemError

PACKAGE = Path(__file__).parents[3] / "plugins" / "assay-tickets-rt"
SECRET, OTHER = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"


class Book:
    """A ticket system on paper; what stands in `errors` is raised, one at each call."""

    def __init__(self) -> None:
        self.open: dict[str, str] = {}
        self.comments: list[str] = []
        self.errors: list[Exception] = []

    def find(self, fingerprint: str) -> TicketRef | None:
        if self.errors:
            raise self.errors.pop(0)
        return TicketRef(self.open[fingerprint], None) if fingerprint in self.open else None

    def create(self, failure: FailureReport) -> TicketRef:
        self.open[failure.fingerprint] = f"T{len(self.open) + 1}"
        return TicketRef(self.open[failure.fingerprint], None)

    def comment(self, ticket: TicketRef, text: str) -> None:
        self.comments.append(ticket.id)

    def check(self) -> str:
        return "a book"


class Setting:
    """A receiver with its file; the worker is asked by hand, so that nothing depends on time."""

    def __init__(self, path: Path, *secrets: str) -> None:
        from assay_tickets_rt.inbox import Inbox
        from assay_tickets_rt.receiver import Receiver
        from assay_tickets_rt.worker import Worker

        self.book, self.inbox = Book(), Inbox(path)
        self.worker = Worker(self.inbox, self.book)
        self.receiver = Receiver(secrets or (SECRET,), self.inbox, self.worker)

    async def send(self, method: str, path: str, **options: Any) -> httpx.Response:
        transport = httpx.ASGITransport(self.receiver)
        async with httpx.AsyncClient(transport=transport, base_url="http://receiver") as client:
            return await client.request(method, path, **options)

    async def post(
        self, body: Any, *, event_id: str = "msg_1", secret: str = SECRET, age: float = 0.0, **headers: str
    ) -> httpx.Response:
        text = body if isinstance(body, str) else json.dumps(body)
        at = datetime.now(UTC) - timedelta(seconds=age)
        signed = {
            "webhook-id": event_id,
            "webhook-timestamp": str(int(at.timestamp())),
            "webhook-signature": Webhook(secret).sign(event_id, at, text),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        return await self.send("POST", "/", content=text.encode(), headers=signed)


@pytest.fixture
def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Setting]]:
    monkeypatch.syspath_prepend(str(PACKAGE))
    made: list[Setting] = []

    def make(*secrets: str) -> Setting:
        made.append(Setting(tmp_path / "told.sqlite3", *secrets))
        return made[-1]

    yield make
    for setting in made:
        setting.inbox.close()
    for name in [n for n in sys.modules if n.partition(".")[0] == "assay_tickets_rt"]:
        del sys.modules[name]


def event(*fingerprints: str) -> dict[str, Any]:
    failure = {
        "task": "RET-1", "title": "A refund", "category": "incorrect_state_update", "explanation": "It was 5.",
        "count": 3, "trials": 20, "url": None, "details": {},
    }  # fmt: skip
    return {
        "type": "run.finished",
        "data": {"run": {}, "failures": [{**failure, "fingerprint": f} for f in fingerprints]},
    }


def waiting(setting: Setting) -> dict[str, int]:
    return setting.inbox.counts()


def make_due(setting: Setting) -> None:
    setting.inbox.hurry()


async def test_a_signed_event_is_kept_answered_and_turned_into_tickets(
    set_up: Callable[..., Setting],
) -> None:
    setting = set_up()
    answer = await setting.post(event("a", "b"))
    assert (answer.status_code, answer.json()) == (202, {"message": "2 failures taken."})
    assert setting.book.open == {}  # the answer does not wait for tickets
    assert setting.worker.work() == 1
    assert sorted(setting.book.open) == ["a", "b"]
    assert waiting(setting) == {"waiting": 0, "done": 1, "given_up": 0}
    assert (await setting.send("GET", "/health")).json() == waiting(setting)


async def test_a_repeated_event_is_taken_once(set_up: Callable[..., Setting]) -> None:
    setting = set_up()
    for _ in range(2):
        assert (await setting.post(event("a"))).status_code == 202
        setting.worker.work()
    assert (len(setting.book.open), setting.book.comments) == (1, [])
    await setting.post(event("a"), event_id="msg_2")
    setting.worker.work()
    assert setting.book.comments == ["T1"]


@pytest.mark.parametrize(
    "spoilt",
    [
        {"secret": OTHER},
        {"age": 600},
        {"age": -600},
        {"webhook_signature": ""},
        {"webhook_signature": "v1"},
        {"webhook_signature": "v1,%%%"},
        {"webhook_signature": "v2,abcd"},
        {"webhook_timestamp": "yesterday"},
        {"webhook_id": "msg_other"},
    ],
)
async def test_what_is_not_signed_by_assay_just_now_is_refused(
    set_up: Callable[..., Setting], spoilt: dict[str, Any]
) -> None:
    setting = set_up()
    assert (await setting.post(event("a"), **spoilt)).status_code == 401
    assert waiting(setting)["waiting"] == 0


async def test_a_body_that_was_changed_on_the_way_is_refused(set_up: Callable[..., Setting]) -> None:
    setting = set_up()
    at = datetime.now(UTC)
    headers = {
        "webhook-id": "msg_1",
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(SECRET).sign("msg_1", at, json.dumps(event("a"))),
    }
    for body in (json.dumps(event("b")).encode(), b"\xff\xfe", b""):
        answer = await setting.send("POST", "/", content=body, headers=headers)
        assert answer.status_code == 401
    assert (await setting.send("POST", "/", content=b"{}")).status_code == 401


async def test_either_secret_is_accepted_while_it_is_rotated(set_up: Callable[..., Setting]) -> None:
    setting = set_up(OTHER, SECRET)
    assert (await setting.post(event("a"), secret=SECRET)).status_code == 202
    assert (await setting.post(event("a"), secret=OTHER, event_id="msg_2")).status_code == 202


async def test_other_types_of_events_are_answered_and_make_no_tickets(set_up: Callable[..., Setting]) -> None:
    setting = set_up()
    answer = await setting.post({"type": "endpoint.test", "data": {}})
    assert answer.status_code == 200
    assert waiting(setting)["waiting"] == 0


@pytest.mark.parametrize(
    "body", ["not json", "[]", "7", '{"type": "run.finished"}', '{"type": "run.finished", "data": 1}']
)
async def test_a_signed_event_that_cannot_be_read_is_refused_with_a_sentence(
    set_up: Callable[..., Setting], body: str
) -> None:
    setting = set_up()
    answer = await setting.post(body)
    assert answer.status_code == 422
    assert answer.json()["message"]
    assert waiting(setting)["waiting"] == 0


async def test_an_event_that_is_too_large_is_refused_before_it_is_read(
    set_up: Callable[..., Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = set_up()
    from assay_tickets_rt import receiver

    monkeypatch.setattr(receiver, "LARGEST", 50)
    assert (await setting.post(event("a"))).status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "status"), [("GET", "/", 405), ("POST", "/other", 404), ("PUT", "/", 405)]
)
async def test_events_are_posted_to_one_place(
    set_up: Callable[..., Setting], method: str, path: str, status: int
) -> None:
    assert (await set_up().send(method, path)).status_code == status


@pytest.mark.parametrize(
    "error",
    [
        TicketSystemError("Down.", permanent=False),
        TicketSystemError("Wrong token.", permanent=True),
        ValueError("boom"),
    ],
)
async def test_an_event_waits_until_the_ticket_system_takes_it_whatever_it_said_before(
    set_up: Callable[..., Setting], error: Exception
) -> None:
    setting = set_up()
    await setting.post(event("a"))
    setting.book.errors = [error]
    assert setting.worker.work() == 0
    assert waiting(setting)["waiting"] == 1
    assert setting.worker.work() == 0  # not before its time
    assert setting.book.open == {}
    make_due(setting)
    assert setting.worker.work() == 1
    assert list(setting.book.open) == ["a"]


async def test_an_event_outlives_the_process_that_took_it(set_up: Callable[..., Setting]) -> None:
    first = set_up()
    await first.post(event("a"))
    first.inbox.close()
    second = set_up()
    make_due(second)
    assert second.worker.work() == 1
    assert list(second.book.open) == ["a"]


async def test_after_a_week_an_event_is_given_up_and_starts_again_when_it_is_sent_again(
    set_up: Callable[..., Setting], monkeypatch: pytest.MonkeyPatch
) -> None:
    setting = set_up()
    from assay_tickets_rt import worker

    await setting.post(event("a"))
    monkeypatch.setattr(worker, "LONGEST", -1.0)
    setting.book.errors = [TicketSystemError("Down.", permanent=False)]
    setting.worker.work()
    assert waiting(setting) == {"waiting": 0, "done": 0, "given_up": 1}
    await setting.post(event("a"))
    assert waiting(setting) == {"waiting": 1, "done": 0, "given_up": 0}
    assert setting.worker.work() == 1


async def test_the_application_starts_and_stops_its_worker(set_up: Callable[..., Setting]) -> None:
    setting = set_up()
    await setting.post(event("a"))
    messages = [{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}]
    sent: list[Any] = []

    async def receive() -> Any:
        message = messages.pop(0)
        if message["type"] == "lifespan.shutdown":
            for _ in range(1_000):  # until the worker has done its work, at most ten seconds
                if waiting(setting)["done"]:
                    break
                import asyncio

                await asyncio.sleep(0.01)
        return message

    async def send(message: Any) -> None:
        sent.append(message["type"])

    await setting.receiver({"type": "lifespan"}, receive, send)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    assert list(setting.book.open) == ["a"]


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["--url", "https://rt.example", "--queue", "Bots"], {}, "ASSAY_RT_TOKEN"),
        (["--url", "https://rt.example", "--queue", "Bots"], {"ASSAY_RT_TOKEN": "t"}, "ASSAY_WEBHOOK_SECRET"),
        (["--url", "rt.example", "--queue", "Bots"], {"ASSAY_RT_TOKEN": "t"}, "https://"),
        (
            ["--url", "https://rt.example", "--queue", "Bots"],
            {"ASSAY_RT_TOKEN": "t", "ASSAY_WEBHOOK_SECRET": "whsec_"},
            "whsec_",
        ),
    ],
)
def test_the_command_says_which_setting_is_missing_or_wrong(
    set_up: Callable[..., Setting],
    arguments: list[str],
    environment: dict[str, str],
    said: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("ASSAY_RT_TOKEN", "ASSAY_WEBHOOK_SECRET"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("ASSAY_ALLOW_PRIVATE_TARGETS", "0")
    from assay_tickets_rt.command import main

    assert main([*arguments, "--memory", str(tmp_path / "x.sqlite3")]) == 2
    assert said in capsys.readouterr().err


def test_two_receivers_do_not_share_a_file(
    set_up: Callable[..., Setting],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    import fcntl

    from assay_tickets_rt.command import main

    monkeypatch.setenv("ASSAY_RT_TOKEN", "t")
    monkeypatch.setenv("ASSAY_WEBHOOK_SECRET", SECRET)
    monkeypatch.setenv("ASSAY_ALLOW_PRIVATE_TARGETS", "0")
    with (tmp_path / "x.sqlite3.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert (
            main(["--url", "https://rt.example", "--queue", "B", "--memory", str(tmp_path / "x.sqlite3")])
            == 2
        )
    assert "Another receiver" in capsys.readouterr().err
