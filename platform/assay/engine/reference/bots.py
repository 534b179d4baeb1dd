"""The connector `reference`: synthetic bots that read the answer key of a task."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from assay.engine.reference.calling import Caller
from assay.engine.reference.faults import CATEGORIES, CONTRADICTION, CUT_REPLY
from assay.engine.reference.wording import Wording
from assay_sdk import AnswerKey, BotContext, BotReply, BotSession, ConnectorType, OptionsError, PluginFault

FAITHFUL = "faithful"
CARELESS = "careless"
TARGETS = (FAITHFUL, CARELESS)
NONE = "none"

#: Raised when a change makes the bots act otherwise for the same seed.
BEHAVIOUR = 3


class ReferenceOptions(BaseModel):
    """Options of the reference bots. `fault_rate`: how often the careless bot makes a mistake, the same for every
    task; without it tasks differ, some never fail and some nearly always. `recovery_rate`: how often it tries again
    when a call went wrong that can be repeated; the faithful bot always does."""

    model_config = ConfigDict(extra="forbid")

    fault_rate: Annotated[float, Field(ge=0, le=1)] | None = None
    recovery_rate: Annotated[float, Field(ge=0, le=1)] = 0.5


@dataclass(frozen=True, slots=True)
class Plan:
    """What a bot will do in one conversation. `last`: its last reply that says something; `truncated`: cut off."""

    fault: str
    actions: Sequence[Mapping[str, Any]]
    last: str
    truncated: bool = False


class ReferenceBot:
    """One of the reference bots, as a connector."""

    synthetic = True
    resumes = True

    def __init__(self, target: str, options: ReferenceOptions) -> None:
        self._target = target
        self._options = options

    def describe(self) -> Mapping[str, Any]:
        return {
            "name": f"reference:{self._target}",
            "title": f"Reference bot, {self._target} (synthetic: it reads the expected actions)",
            "synthetic": True,
            "behaviour": BEHAVIOUR,
            "options": self._options.model_dump(exclude_unset=True, exclude_none=True),
        }

    async def open(self, context: BotContext) -> BotSession:
        key = context.answer_key
        if key is None:
            raise PluginFault("A reference bot needs the answer key of the task, and was not given it.")
        wording = Wording(key.reply)
        if self._target == FAITHFUL:
            plan, recovers = Plan(NONE, key.actions, wording.answer()), 1.0
        else:
            plan = careless_plan(key, wording, context.seed, self._options.fault_rate)
            recovers = self._options.recovery_rate
        session = ReferenceSession(
            key, wording, plan, Caller(context.tools, key.writes, context.seed, recovers)
        )
        session.recall(context.history)
        return session

    async def aclose(self) -> None:
        """Nothing is held open."""


def careless_plan(key: AnswerKey, wording: Wording, seed: int, fault_rate: float | None = None) -> Plan:
    """Draw a mistake among those that apply to the task, or none. The same key and seed give the same plan."""
    draw = random.Random(seed)  # noqa: S311 - a draw that can be repeated, nothing secret
    rate = carelessness(key) if fault_rate is None else fault_rate
    careful = draw.random() >= rate
    right = wording.answer()
    if careful:
        return Plan(NONE, key.actions, right)
    replies = {CUT_REPLY: wording.cut(), CONTRADICTION: wording.contradicted()}
    possible = sorted([*key.faults, *(name for name, text in replies.items() if text is not None)])
    if not possible:
        return Plan(NONE, key.actions, right)
    fault = draw.choice(possible)
    text = replies.get(fault)
    if text is not None:
        return Plan(fault, key.actions, text, truncated=fault == CUT_REPLY)
    return Plan(fault, draw.choice(list(key.faults[fault])), right)


def carelessness(key: AnswerKey) -> float:
    """How often the careless bot fails a task: fixed for each task, between never (a quarter of tasks) and 0.9."""
    text = json.dumps([list(key.actions), list(key.facts)], sort_keys=True, default=str)
    share = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big") / 2**48
    return max(0.0, (share - 0.25) * 1.2)


class ReferenceSession:
    """Asks for the facts that the actions need, looks things up, acts, says what the rules ask for, and then
    whether there is anything else."""

    def __init__(self, key: AnswerKey, wording: Wording, plan: Plan, caller: Caller) -> None:
        self._caller = caller
        self._key = key
        self._wording = wording
        self._plan = plan
        self._wanted = wanted_facts(key)
        self._asked = 0
        self._done = False

    def recall(self, history: Sequence[Mapping[str, Any]]) -> None:
        """Take up a conversation: what was asked and told counts, and whoever has called tools has acted."""
        for event in history:
            if event["type"] == "tool":
                self._done = True
                # What it did was drawn then, and not by this seed.
                self._plan = replace(self._plan, fault=NONE)
            elif event["type"] == "bot":
                self._asked += 1
            elif self._asked:
                self._hear(event["text"])

    def _hear(self, message: str) -> None:
        heard = message.casefold()
        self._wanted = [f for f in self._wanted if str(f["value"]).casefold() not in heard]

    async def respond(self, message: str) -> BotReply:
        if self._done:
            return BotReply(self._wording.more())
        if self._asked:
            self._hear(message)
        if self._wanted and self._asked < 2:
            self._asked += 1
            return BotReply(self._wording.ask([str(f["key"]) for f in self._wanted], again=self._asked > 1))
        await self._act()
        self._done = True
        return BotReply(self._plan.last, truncated=self._plan.truncated)

    async def close(self) -> None:
        """Nothing is held open."""

    def notes(self) -> Mapping[str, Any]:
        """`reference_fault` and the category it must be given; no fault when the conversation ended before it acted.
        `left_wrong`: numbers of calls that went wrong on purpose and that it did not repeat; what that leads to is not
        foretold."""
        fault = self._plan.fault if self._done else NONE
        left = self._caller.left_wrong
        category = CATEGORIES[fault].value if fault != NONE and not left else None
        notes = {"reference_fault": fault, "expected_category": category, "acted": self._done}
        return {**notes, "left_wrong": left} if left else notes

    async def _act(self) -> None:
        for call in self._key.look_ups:
            await self._caller.call(call["tool"], call["args"])
        for action in self._plan.actions:
            await self._caller.act(action)


def wanted_facts(key: AnswerKey) -> list[Mapping[str, Any]]:
    """The facts whose values the look-ups and actions use; all of them when it uses none."""
    used = {text.casefold() for call in (*key.look_ups, *key.actions) for text in _texts(call["args"])}
    return [f for f in key.facts if str(f["value"]).casefold() in used] or list(key.facts)


def _texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [text for inner in value.values() for text in _texts(inner)]
    if isinstance(value, list | tuple):
        return [text for inner in value for text in _texts(inner)]
    return [] if value is None or isinstance(value, bool) else [str(value)]


def _build(
    target: str, options: ReferenceOptions | None, resolve_secret: Callable[[str], str]
) -> ReferenceBot:
    if target not in TARGETS:
        raise OptionsError(
            f"There is no reference bot {target!r}: use reference:faithful or reference:careless."
        )
    return ReferenceBot(target, options or ReferenceOptions())


connector_type = ConnectorType(
    name="reference",
    title="Reference bots (synthetic: they read the expected actions)",
    options=ReferenceOptions,
    build=_build,
    targets=TARGETS,
)
