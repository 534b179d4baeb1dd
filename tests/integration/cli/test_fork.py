"""`assay fork` in a process of its own."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from tests.integration.cli.test_commands import LIBRARY, Shell, shell
from tests.support.openai_server import Completion, OpenAIServer, Request, call, say

__all__ = ["shell"]


@pytest.fixture
def failed(shell: Shell) -> str:
    """A failed trial of the careless bot in out/, as TASK/INDEX."""
    shell.document(
        "run", LIBRARY, "--bot", "reference:careless", "--bot-option", "fault_rate=0.6", "--trials", 4, "--seed", 7,
        "--tasks", "LIB-LOAN-*", "--tasks", "LIB-HOLD-*", "--out", "out",
    )  # fmt: skip
    lines = (shell.folder / "out" / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    for trial in map(json.loads, lines):
        first = next(n for n, e in enumerate(trial["transcript"]["events"]) if e["type"] == "tool")
        spoken = [e for e in trial["transcript"]["events"][:first] if e["type"] == "bot"]
        if trial["status"] == "failed" and len(spoken) == 1:
            return f"{trial['task']}/{trial['index']}"
    raise AssertionError("no trial failed")


def test_another_bot_from_the_same_moment_is_told_from_luck(shell: Shell, failed: str) -> None:
    arguments = ("fork", "out", failed, "--pack", LIBRARY, "--turn", 2, "--trials", 30, "--seed", 3)
    alone = shell.document(*arguments)
    assert [arm["name"] for arm in alone["arms"]] == ["as it was"]
    assert 0 < alone["arms"][0]["passed"] < 30
    assert alone["answer"]["because"] == "luck"
    shown = shell.document(*arguments, "--bot", "reference:faithful", "--out", "forked")
    assert [arm["name"] for arm in shown["arms"]] == ["as it was", "the bot reference:faithful"]
    assert shown["arms"][0]["passed"] == alone["arms"][0]["passed"]  # the same seed
    assert shown["arms"][1]["passed"] == shown["arms"][1]["valid"] == 30
    assert shown["arms"][1]["rate"]["low"] > 0.85
    assert shown["answer"]["because"] == "bot"
    assert shown["answer"]["difference"]["low"] > 0
    report = shell.document("report", "forked/changed")
    assert report["summary"]["passed"] == 30
    assert report["manifest"]["forked"] == {"from": failed, "turn": 2, "with": "the bot reference:faithful"}
    text = shell.assay(*arguments)
    assert text.returncode == 0
    assert f"{failed} (failed), taken up at turn 2. The customer has just said:" in text.stdout
    assert "Luck plays a part: from here it passes" in text.stdout


def test_the_customer_can_be_another_and_say_something_else(shell: Shell, failed: str) -> None:
    shown = shell.document(
        "fork",
        "out",
        failed,
        "--pack",
        LIBRARY,
        "--turn",
        1,
        "--trials",
        2,
        "--persona",
        "terse",
        "--say",
        "Hello?",
    )
    assert shown["arms"][1]["name"] == "the persona terse, another line of the customer"
    assert shown["say"] == "Hello?" != shown["line"]
    assert shown["arms"][1]["valid"] == 2


def test_what_cannot_be_forked_is_refused_with_a_sentence(shell: Shell, failed: str) -> None:
    other = shell.folder / "other"
    shutil.copytree(LIBRARY, other)
    (other / "policy.md").write_text("# Another policy {#LIB-1.1}\n", encoding="utf-8")
    (other / "README.md").write_text("changed\n", encoding="utf-8")
    shutil.copy(LIBRARY / "policy.md", other / "policy.md")
    for arguments, code, says in (
        ((failed, "--pack", LIBRARY, "--turn", 40), 1, "There is no turn 40"),
        (("LIB-LOAN-001", "--pack", LIBRARY, "--turn", 1), 2, "names no trial: write TASK/INDEX"),
        (("LIB-LOAN-001/99", "--pack", LIBRARY, "--turn", 1), 2, "hold no trial LIB-LOAN-001/99"),
        ((failed, "--pack", other, "--turn", 1), 2, "is not the version that the run was made on"),
        ((failed, "--pack", LIBRARY, "--turn", 1, "--param", "temperature=0"), 2, "go with --bot"),
    ):
        done = shell.assay("fork", "out", *arguments)
        assert (done.returncode, says in done.stderr) == (code, True), (says, done.stderr)


class Model:
    """A model that looks the member up with its first words and renews with its second, by its parameter."""

    def __init__(self) -> None:
        self.requests: list[Request] = []

    def __call__(self, request: Request) -> Completion:
        self.requests.append(request)
        said = request.body["messages"]
        tools = sum(m["role"] == "tool" for m in said)
        users = sum(m["role"] == "user" for m in said)
        if users == 1:
            return say("Which e-mail address is it?") if not tools else say("Which book?")
        if not any("loans_renew" in json.dumps(m) for m in said):
            return call(
                "loans_renew", {"loan_id": "LN-1", "days": 7 if request.body.get("temperature") else 21}
            )
        if users == 2:
            return say("The book may stay with you for longer.")
        return say("Yes, it is renewed. Is there anything else?")


@pytest.fixture
def server() -> Iterator[tuple[OpenAIServer, Model]]:
    model = Model()
    with OpenAIServer(model) as running:
        yield running, model


def test_a_language_model_is_given_what_has_been_said_and_called(
    shell: Shell, server: tuple[OpenAIServer, Model]
) -> None:
    running, model = server
    bot = ("--bot", "litellm:m", "--base-url", running.base_url)
    shell.document(
        "run", LIBRARY, *bot, "--trials", 1, "--tasks", "LIB-LOAN-001", "--seed", 1, "--out", "out"
    )
    model.requests.clear()
    shown = shell.document(
        "fork",
        "out",
        "LIB-LOAN-001/0",
        "--pack",
        LIBRARY,
        "--turn",
        2,
        "--trials",
        3,
        *bot,
        "--param",
        "temperature=1",
    )
    assert [arm["passed"] for arm in shown["arms"]] == [0, 3]
    first = model.requests[0].body["messages"]
    assert [m["role"] for m in first] == ["system", "user", "assistant", "user"]
    assert first[2]["content"] == "Which e-mail address is it?"
    model.requests.clear()
    later = shell.document("fork", "out", "LIB-LOAN-001/0", "--pack", LIBRARY, "--turn", 3, "--trials", 1)
    assert later["answer"]["because"] == "before"
    roles = [m["role"] for m in model.requests[0].body["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool", "assistant", "user"]
    past = model.requests[0].body["messages"][4:6]
    assert past[0]["tool_calls"][0]["function"]["name"] == "loans_renew"
    assert past[1]["tool_call_id"] == past[0]["tool_calls"][0]["id"]
