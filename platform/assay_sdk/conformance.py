"""Suites to test a plugin with. Each raises NotConforming with a sentence at the first thing that does not fit.

    from assay_sdk import conformance
    from my_plugin import assay_personas

    def test_my_persona_conforms():
        for kind in assay_personas():
            conformance.check_persona(kind)

A plugin that passes is not yet a good one; one that does not will be refused or reported when it is used.
"""

from __future__ import annotations

import copy
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from assay_sdk.bots import BotContext, BotReply, Connector, ConnectorType
from assay_sdk.checks import MOST_PARTS, PART, CheckerType, CheckResult, Evidence, Outcome, TrialView
from assay_sdk.conforming import NotConforming, need, options_for
from assay_sdk.importers import PackImporterType
from assay_sdk.mishaps import CallAhead, FaultKind, FaultProfileType
from assay_sdk.models import ChatReply, ModelType
from assay_sdk.persona_suite import check_persona
from assay_sdk.tickets import FailureReport, TicketRef, TicketSystem
from assay_sdk.tools import ToolResult, ToolSpec

__all__ = [
    "NotConforming",
    "check_checker",
    "check_connector",
    "check_fault_profile",
    "check_importer",
    "check_model",
    "check_persona",
    "check_ticket_system",
]


def check_checker(
    kind: CheckerType, options: Mapping[str, Any] | None = None, trials: Sequence[TrialView] = ()
) -> None:
    """A check gives the same well-formed answer for the same trial and leaves the trial alone.

    `trials`: your own, in addition to the ones here (nothing said, an ordinary one, an error, a broken-off one).
    """
    names = list(kind.parts)
    need(all(PART.fullmatch(name) for name in names), f"the parts {names} are not all named as PART asks")
    need(
        len(set(names)) == len(names) <= MOST_PARTS,
        f"there are more than {MOST_PARTS} parts, or two of a name",
    )
    checker = kind.build(options_for(kind, options))
    for trial in (*_trials(), *trials):
        before = copy.deepcopy(trial)
        result = checker.check(trial)
        need(trial == before, "check() changed the trial")
        if names:
            several = isinstance(result, Sequence) and all(isinstance(one, CheckResult) for one in result)
            need(several, f"a checker with parts returned a {type(result).__name__} and no CheckResults")
            told = [one.name for one in result]
            need(told == names, f"check() gave results for {told} where its parts are {names}")
        for one in result if names else (result,):
            _result(one)
        need(result == checker.check(trial), "the same trial gets two answers")


def _result(result: Any) -> None:
    need(isinstance(result, CheckResult), f"check() returned a {type(result).__name__} and no CheckResult")
    need(isinstance(result.outcome, Outcome), f"the outcome {result.outcome!r} is no Outcome")
    need(0 <= result.reward <= 1, f"the reward {result.reward!r} is not from 0 to 1")
    need(all(isinstance(e, Evidence) and e.message for e in result.evidence), "evidence needs a message")
    _json([asdict(e) for e in result.evidence], "the evidence")


def check_fault_profile(kind: FaultProfileType, options: Mapping[str, Any] | None = None) -> None:
    """A fault profile chooses kinds of faults, the same for the same seed, and leaves what it is shown alone."""
    given = options_for(kind, options)
    need(bool(kind.says.strip()), "`says` must be a sentence about what goes wrong")
    for seed in (0, 1, 2**62):
        first, second = kind.build(given, seed), kind.build(given, seed)
        for number in range(40):
            shown = CallAhead(
                number, "orders_get", number % 3 == 0, {"order_id": "ORD-1007"}, number // 4, number % 2
            )
            before = copy.deepcopy(shown)
            chosen = first.choose(shown)
            need(shown == before, "choose() changed the call that it was shown")
            need(
                isinstance(chosen, Sequence) and all(isinstance(one, FaultKind) for one in chosen),
                f"choose() returned {chosen!r} and no sequence of FaultKind",
            )
            need(list(chosen) == list(second.choose(before)), "the same seed chooses in two ways")


def check_ticket_system(system: TicketSystem) -> None:
    """Finding, opening and commenting, against the real system or one that imitates it. Leaves two tickets there."""
    need(bool(system.check().strip()), "check() must say who we are signed in as")
    made: list[TicketRef] = []
    for title in ("Wrong refund", "Wrong refund, once more: 'quotes', \\ and ünïcode"):
        failure = _failure(title)
        need(system.find(failure.fingerprint) is None, "find() found a ticket that was never made")
        ticket = system.create(failure)
        need(
            isinstance(ticket, TicketRef) and bool(ticket.id),
            f"create() returned {ticket!r} and no TicketRef",
        )
        found = system.find(failure.fingerprint)
        need(
            found is not None and found.id == ticket.id,
            f"find() gave {found!r} for the new ticket {ticket!r}",
        )
        system.comment(ticket, "Seen again.\nIn two lines: <b> & ünïcode.")
        made.append(ticket)
    need(made[0].id != made[1].id, "two failures got one ticket")


async def check_connector(
    kind: ConnectorType, target: str, options: Mapping[str, Any] | None = None, *, message: str = "Hello."
) -> None:
    """A connector describes itself, opens sessions that do not disturb one another, and answers."""
    connector = kind.build(target, options_for(kind, options), _no_secret)
    try:
        need(isinstance(connector.synthetic, bool), "synthetic must be True or False")
        need(not connector.synthetic, "only Assay's reference bots are synthetic")
        _json(dict(connector.describe()), "what describe() gives")
        sessions = [await connector.open(_context(seed)) for seed in (1, 2)]
        for session in sessions:
            reply = await session.respond(message)
            need(isinstance(reply, BotReply), f"respond() returned a {type(reply).__name__} and no BotReply")
            need(isinstance(reply.text, str), "a reply's text must be text")
        for session in sessions:
            await session.close()
            _json(dict(session.notes()), "what notes() gives")
        resumes = getattr(connector, "resumes", False)
        if resumes is not False:
            need(resumes is True, "resumes must be True or left out")
            await _takes_up(connector, message)
    finally:
        await connector.aclose()


async def _takes_up(connector: Connector, message: str) -> None:
    """A connector with `resumes` answers in a conversation that has been, and makes none of its calls again."""
    door = _Door()
    session = await connector.open(replace(_context(3), tools=door, history=_HISTORY))
    need(not door.made, "open() made calls though the conversation has been held")
    reply = await session.respond(message)
    need(
        isinstance(reply, BotReply), f"respond() returned a {type(reply).__name__} in a conversation taken up"
    )
    await session.close()


_HISTORY: Sequence[Mapping[str, Any]] = (
    {"type": "user", "text": "Where is my order?", "facts_given": []},
    {"type": "bot", "text": "What is its number?", "truncated": False, "ends": None},
    {"type": "user", "text": "ORD-7", "facts_given": ["order number"]},
    {
        "type": "tool",
        "call": 0,
        "tool": "orders_get",
        "kind": "read",
        "arguments": {"order_id": "ORD-7"},
        "ok": True,
        "result": {"order_id": "ORD-7", "status": "delivered"},
        "error": None,
        "message": None,
        "empty": False,
        "wrote": False,
    },
    {"type": "bot", "text": "It was delivered.", "truncated": False, "ends": None},
)


async def check_model(kind: ModelType, target: str, options: Mapping[str, Any] | None = None) -> None:
    """A model describes itself and completes a chat."""
    model = kind.build(target, options_for(kind, options), _no_secret)
    try:
        _json(dict(model.describe()), "what describe() gives")
        reply = await model.complete([{"role": "user", "content": "Say hello."}], seed=1)
        need(isinstance(reply, ChatReply), f"complete() returned a {type(reply).__name__} and no ChatReply")
        need(
            isinstance(reply.text, str) and bool(reply.finish_reason),
            "a reply needs text and a finish_reason",
        )
    finally:
        await model.aclose()


def check_importer(kind: PackImporterType, files: Mapping[str, bytes]) -> None:
    """An importer knows its own format, refuses others, and gives the files of a pack. `files`: one of its own."""
    need(kind.recognises(files) is True, "recognises() does not know its own format")
    need(
        kind.recognises({"photo.jpg": b"\xff\xd8\xff"}) is False, "recognises() takes a photo for its format"
    )
    made = kind.convert(files)
    need(
        all(isinstance(name, str) and isinstance(data, bytes) for name, data in made.items()),
        "convert() must give bytes by relative path",
    )
    need("pack.yaml" in made, "convert() gave no pack.yaml")
    need(
        not any(name.startswith("/") or ".." in name.split("/") for name in made),
        "convert() gave a path outside of the pack",
    )


# --- what the suites work with ------------------------------------------------------------------


def _json(value: Any, what: str) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise NotConforming(f"{what} is not plain JSON: {error}.") from None


def _no_secret(reference: str) -> str:
    return f"the secret behind {reference}"


def _failure(title: str) -> FailureReport:
    return FailureReport(
        fingerprint=secrets.token_hex(32),
        task="RET-RMA-007",
        title=title,
        category="incorrect_state_update",
        explanation="refunds.amount is 193.5 where 150 was expected.",
        count=3,
        trials=20,
        url="https://acme.example/trials/1/",
        details={"group": "returns"},
    )


def _call(number: int, **fields: Any) -> dict[str, Any]:
    return {
        "type": "tool", "call": number, "tool": "refunds_issue", "kind": "write",
        "arguments": {"order_id": "ORD-1007", "amount": 193.5}, "ok": True, "result": {"refund_id": "RF-1"},
        "error": None, "message": None, "empty": False, "wrote": True, **fields,
    }  # fmt: skip


def _trials() -> list[TrialView]:
    user = {"type": "user", "text": "Refund me.", "facts_given": []}
    bot = {"type": "bot", "text": "I have refunded 193.50.", "truncated": False, "ends": None}
    task = {"id": "RET-RMA-007", "title": "A refund"}
    error = {"ok": False, "result": None, "error": "not_found", "message": "No order.", "wrote": False}
    return [
        TrialView(task, [], [], "empty_replies"),
        TrialView(task, [user, _call(0), bot], [], "user_done"),
        TrialView(task, [user, _call(0, **error, arguments="{not json"), bot], [], "bot_closed"),
        TrialView(task, [user, _call(0), {**bot, "text": "", "truncated": True}], [], "time_limit"),
    ]


class _Door:
    """A door with one tool, which always answers the same."""

    specs: Sequence[ToolSpec] = (
        ToolSpec(
            "orders_get", "Read an order.", {"type": "object", "properties": {"id": {"type": "string"}}}
        ),
    )

    def __init__(self) -> None:
        self.made = 0

    async def call(self, name: str, arguments: Mapping[str, Any] | str) -> ToolResult:
        self.made += 1
        return ToolResult(0, ok=True, content={"id": "ORD-1007", "status": "delivered"})


class _Meter:
    def add_tokens(self, prompt: int, completion: int) -> None:
        return None

    def add_outage(self, seconds: float) -> None:
        return None


def _context(seed: int) -> BotContext:
    return BotContext(
        instructions="You are the support of a shop. Be brief.",
        tools=_Door(),
        seed=seed,
        now="2026-02-28T09:00:00+00:00",
        trial_id=f"conformance-{seed}",
        meter=_Meter(),
    )
