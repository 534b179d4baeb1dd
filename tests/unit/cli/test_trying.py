"""`assay pack try` with lines from a pipe: playing the bot, playing the customer, what is refused and how it ends."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assay.cli import terminal
from assay.cli.main import execute
from assay.engine.packs.skeleton import make_pack

FEE = "ACME-CANCEL-001"
LATE = "ACME-CANCEL-002"
CANCEL = "/call booking_cancel booking_id=B-2002 reason=illness refund=70"


class Done(NamedTuple):
    code: int
    out: str
    err: str


Try = Callable[..., Done]


@pytest.fixture
def attempt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Try]:
    """Try a task of a new pack with lines that are typed, and options."""
    pack = make_pack("acme", tmp_path)
    handlers = logging.root.handlers[:]

    def run(lines: list[str] | bytes, task: str = FEE, *options: str) -> Done:
        typed = lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode()
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8"))
        capsys.readouterr()
        code = execute(["pack", "try", str(pack), task, "--seed", "1", *options])
        return Done(code, *capsys.readouterr())

    yield run
    logging.root.handlers[:] = handlers


def test_a_person_who_does_what_the_policy_says_passes(attempt: Try) -> None:
    done = attempt(
        ["What is your email, which bike is it, and what is the reason?", CANCEL, "Cancelled. Anything else?"]
    )
    assert done.code == 0
    assert "customer> Hi, I have to cancel my booking for next week.\n" in done.out
    assert "Bike: the cargo bike" in done.out and "Reason: my son is in bed with a fever" in done.out
    assert 'booking_cancel: {"cancellation_id": "CAN-9001", "refund": 70}' in done.out
    assert "customer> Thanks, that is all.\n" in done.out
    assert "PASSED The customer had nothing more to ask. The database is as policy requires." in done.out
    assert "FAILED" not in done.out


def test_a_wrong_amount_fails_and_is_shown_beside_the_right_one(attempt: Try) -> None:
    done = attempt([CANCEL.replace("70", "87.5"), "/done All is cancelled."])
    assert done.code == 0  # a failed trial is no error
    verdict = done.out.partition("FAILED ")[2]
    assert verdict.startswith("Incorrect state update\nThe bot closed the conversation.\n")
    assert "with call 0 (booking_cancel): refund is 87.5 and should be 70" in verdict
    assert 'booking_cancel(booking_id=$account.bookings.1.id, reason="illness", refund=70.0)' in verdict
    assert verdict.count("refund is 87.5") == 1  # one row differs, so it is told once
    assert "Money:\n  - refunded: 17.50\u00a0EUR too much, borne by the company\n" in verdict
    nothing = attempt(["/done"])
    assert "refunded: 70.00\u00a0EUR too little, borne by the customer" in nothing.out


def test_each_row_that_differs_is_listed(attempt: Try) -> None:
    done = attempt(["/done"])
    assert "FAILED Missing state change" in done.out
    listed = done.out.partition("Final database: fail\n")[2].partition("\n\n")[0].splitlines()
    assert len(listed) == 2
    assert all(line.startswith("  - ") for line in listed)
    assert "bookings B-2002" in listed[0] and "cancellations" in listed[1]


def test_a_reply_rule_that_is_not_met_is_named(attempt: Try) -> None:
    done = attempt(["/call account_find email=rosa.keller@mail.example", "/done No."], LATE)
    assert "FAILED Incomplete response" in done.out
    assert "The reply must say that it is too late to cancel" in done.out or (
        "the reply must say that it is too late to cancel" in done.out
    )
    assert "Expected:\n  nothing is changed\n" in done.out
    passed = attempt(["/handover It is too late to cancel."], LATE)
    assert "PASSED The bot handed over to a person." in passed.out


def test_looking_things_up_costs_no_turn_and_only_calls_are_calls(attempt: Try) -> None:
    done = attempt(
        [
            "/help",
            "/tools",
            "/tools refund",
            "/tool booking_cancel",
            "/policy reason",
            "/policy",
            "",
            "/more",
            "/search cancellation fee",
            "/read cancellation-fees#by-notice",
            "/done",
        ],
        FEE,
        "--json",
    )
    record = json.loads(done.out)
    events = record["transcript"]["events"]
    assert [e["tool"] for e in events if e["type"] == "tool"] == ["knowledge_search", "knowledge_read"]
    assert (record["transcript"]["turns"], record["notes"]) == (1, {"played_by": "person"})
    assert "/call TOOL key=value" in done.err
    assert "account_find    " in done.err and "booking_cancel  writes  " in done.err
    assert "The reason is recorded" in done.err and "It is now 2026-03-02T10:00:00" in done.err
    assert "7 to 13 days: 20 % of what was paid" in done.err
    assert "(Type what you say to the customer, or /help.)" in done.err
    assert "There is no more." in done.err


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("/cal x", "There is no command /cal; /help lists them."),
        ("/call", "Name a tool"),
        ("/call booking_cancle x=1", "did you mean booking_cancel"),
        ("/call booking_cancel B-1", "'B-1' is no key=value"),
        ("/tool nothing", "There is no tool 'nothing'"),
        ("/tools submarines", "No tool is about 'submarines'"),
        ("/policy submarines", "Nothing in your instructions holds 'submarines'"),
        ("/search", "Say what to look for"),
        ("/call booking_cancel booking_id=B-1", "booking_cancel refused, invalid_arguments: "),
        ("/call booking_cancel booking_id=B-1 reason=plans refund=1", "refused, not_found: No booking B-1."),
        ("/call booking_cancel {oops", "booking_cancel refused, invalid_arguments: "),
        ("/read nothing#there", "knowledge_read refused, not_found: "),
    ],
)
def test_what_does_not_work_is_said_and_the_conversation_goes_on(attempt: Try, line: str, says: str) -> None:
    done = attempt([line, "Which email do you have?", "/done"])
    assert says in done.out
    assert "customer> Email: ida.sommer@mail.example" in done.out or "ida.sommer@mail.example" in done.out


def test_a_person_plays_the_customer_of_a_bot(attempt: Try) -> None:
    options = ("--as", "user", "--bot", "reference:faithful", "--show-calls")
    done = attempt(["/facts", "", "It is ida.sommer@mail.example", "/done Bye."], FEE, *options)
    assert done.code == 0
    assert "What you want:  The cargo bike is cancelled" in done.out
    assert "bike: the cargo bike" in done.out and "told about the fee: you agree" in done.out
    assert "you> Hi, I have to cancel my booking for next week." in done.out
    assert 'call> booking_cancel {"booking_id": "B-2002", "reason": "illness", "refund": 70.0}' in done.out
    assert "PASSED The customer had nothing more to ask." in done.out
    silent = attempt(["Hello", "ida.sommer@mail.example", "/done"], FEE, *options[:-1])
    assert "PASSED" in silent.out and "call>" not in silent.out


def test_facts_that_a_person_gives_away_are_noted(attempt: Try) -> None:
    lines = ["/done", "/nothing", "Hello, I am Ida.Sommer@mail.example", "", "/give_up", "more"]
    done = attempt(lines, FEE, "--as", "user", "--bot", "reference:faithful", "--json")
    record = json.loads(done.out)
    said = [e for e in record["transcript"]["events"] if e["type"] == "user"]
    assert [e["facts_given"] for e in said] == [["email"], []]
    assert said[-1]["text"] == "I give up. Goodbye."
    assert record["transcript"]["termination"] == "user_gave_up"
    assert "Nothing has been said yet" in done.err and "There is no command /nothing" in done.err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("ACME-CANCEL-01",), "did you mean ACME-CANCEL-00"),
        ((FEE, "--as", "user"), "--as user needs --bot SPEC"),
        ((FEE, "--bot", "reference:faithful"), "need --as user"),
        ((FEE, "--show-calls"), "need --as user"),
        ((FEE, "--as", "user", "--bot", "reference:faithfull"), "did you mean faithful"),
        ((FEE, "--as", "user", "--bot", "reference:faithful", "--persona", "terse"), "the customer is you"),
        ((FEE, "--persona", "nobody"), "There is no persona 'nobody'"),
        ((FEE, "--as", "nobody"), "'nobody' is not one of"),
    ],
)
def test_wrong_usage_gets_a_sentence_and_exit_code_2(
    attempt: Try, options: tuple[str, ...], says: str
) -> None:
    done = attempt(["Hello"], *options)
    assert done.code == 2
    assert says in done.err and done.out == ""


def test_a_persona_changes_how_the_customer_talks(attempt: Try) -> None:
    assert "customer> Hi, I have to cancel" in attempt(["/done"], FEE, "--persona", "cooperative").out


def test_input_has_bounds(attempt: Try, monkeypatch: pytest.MonkeyPatch) -> None:
    long = attempt(["x" * 20_001, "/help"])
    assert "A line has more than 20,000 characters; this is the end of the input." in long.out
    assert "The bot closed the conversation." in long.out and "/call TOOL" not in long.out
    assert "The bot closed" not in attempt(["x" * 20_000, "/handover"]).out
    assert "is not UTF-8; this is the end" in attempt(b"Hello\n\xff\xfe\n").out
    monkeypatch.setattr(terminal, "MOST_LINES", 5)
    many = attempt(["/tool booking_cancel"] * 100)
    assert "More than 5 lines were typed" in many.out
    assert many.out.count("  reason: one of") == 5


def test_the_bot_s_limits_hold_for_a_person_as_well(attempt: Try) -> None:
    done = attempt([f"What is your email? ({n})" for n in range(60)])
    assert "FAILED" in done.out and "The customer gave up." in done.out
    calls = attempt(["/call account_find email=ida.sommer@mail.example"] * 200)
    assert "The limit of tool calls was reached." in calls.out


def test_control_characters_do_not_reach_the_terminal(attempt: Try) -> None:
    done = attempt(["Your email\x1b[2J\x07 please?", "/done"])
    assert "\x1b" not in done.out and "\x07" not in done.out
    assert "Your email[2J please?" in done.out


def test_a_tool_at_fault_makes_the_trial_void(attempt: Try, tmp_path: Path) -> None:
    path = tmp_path / "acme/tools/bookings.yaml"
    text = path.read_text(encoding="utf-8")
    forever = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) AS c FROM n"
    path.write_text(
        text + f"\n- name: forever\n  kind: read\n  description: Counts.\n  result: {forever}\n",
        encoding="utf-8",
    )
    done = attempt(["/call forever", "/done"])
    assert done.code == 1
    assert "VOID The pack is at fault. Tool forever: " in done.out
    assert "A void trial says nothing about the bot." in done.out


def test_a_pack_that_cannot_be_used_is_refused(attempt: Try, tmp_path: Path) -> None:
    (tmp_path / "acme/policy.md").unlink()
    done = attempt(["/done"])
    assert done.code == 1
    assert "policy.md: The file is missing" in done.err


def test_the_same_seed_and_words_give_the_same_conversation(attempt: Try) -> None:
    def transcript() -> Any:
        lines = ["There is a fee of 17.50. Is that all right?", "Shall I go on?", "/done"]
        record = json.loads(attempt(lines, FEE, "--json").out)
        return record["transcript"]["events"]

    assert transcript() == transcript()
