"""The conformance suite for personas: four conversations of a plain customer, played by the persona.

One with a bot that asks and reads back what it heard, one with a bot whose look-ups find nothing, one with a bot that
brings nothing on, and one that the customer of the script leaves unsatisfied.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from assay_sdk.conforming import need, options_for, within
from assay_sdk.users import (
    Fact,
    Liberty,
    Persona,
    PersonaType,
    Reaction,
    Role,
    Situation,
    UserLine,
    UserScript,
    as_it_is,
)

SECONDS = 5.0  # for one call of a persona, which needs no model and no network
SEEDS = (0, 1, 2**62)
_MOST_STAYING = 2
_FOREIGN = re.compile(r"[\u0370-\u1fff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\ufeff]")

SCRIPT = UserScript(
    opening="Hello, I would like to return the laptop from order ORD-1007, please.",
    goal="A return is opened for the laptop.",
    facts=(
        Fact("order number", "ORD-1007"),
        Fact("amount", "$1,290.01"),
        Fact("name", "Zoë O'Neill"),
        Fact("opened", "the box is open but the laptop was never used"),
        Fact("date", "2026-02-10"),
    ),
    reactions=(Reaction("told about a fee", ("fee",), "accept"),),
)
HIDDEN = UserScript(
    opening="Good morning. My television payment is too early for me this month.",
    goal="The payment is put off.",
    facts=(
        Fact("name", "Nora Okafor"),
        Fact("order number", "ORD-4250", ("order id",)),
        Fact("reason", "My salary comes two weeks later than it should."),
        Fact("postal code", "78704"),
    ),
    reactions=(Reaction("asked why", ("why",), "say", "My salary comes late."),),
    follow_ups=("And could you tell me when the next one is due?",),
    closing="Many thanks, goodbye.",
)


def check_persona(
    kind: PersonaType, options: Mapping[str, Any] | None = None, scripts: Sequence[UserScript] = ()
) -> None:
    """A persona changes how, never what, but for the liberties that it declares.

    `scripts`: your own, in addition to the ones here. Those that `not_for` leaves out are not played.
    """
    given = options_for(kind, options)
    _hears(kind)
    fitting = [s for s in (SCRIPT, HIDDEN, *scripts) if _fits(kind, s)]
    need(bool(fitting), "not_for() leaves out every script; give check_persona one that the persona can play")
    for script in fitting:
        for seed in SEEDS:
            for play in (_answers, _finds_nothing, _dawdles, _leaves):
                first, second = (play(_Played(kind, given, seed, script)) for _ in range(2))
                need(
                    first == second,
                    f"the same seed plays {script.opening[:40]!r} in two ways ({play.__name__})",
                )


class _Played:
    """One persona in one conversation, held to the contract line by line."""

    def __init__(self, kind: PersonaType, options: BaseModel, seed: int, script: UserScript) -> None:
        self.liberties = kind.liberties
        self.script = script
        persona: Persona = within(SECONDS, "build()", lambda: kind.build(options, seed))
        self._persona = persona
        self.role = within(SECONDS, "begin()", lambda: persona.begin(script))
        self._begun()
        self.lines: list[UserLine] = []
        self._open = {f.key for f in script.facts if _in(f.value, script.opening)}
        self.wrong: dict[str, str] = {}
        self._challenged: set[str] = set()
        self._withheld: set[str] = set()
        self._stayed = 0

    @property
    def gone(self) -> bool:
        return any(line.done or line.gave_up for line in self.lines)

    def say(
        self, text: str, message: str = "", *, done: bool = False, gave_up: bool = False, **heard: Any
    ) -> UserLine:
        """The persona's way of saying `text` in answer to `message`, checked."""
        asked = tuple(heard.pop("asked", ()))
        told = asked if self.lines else tuple(f.key for f in self.script.facts if _in(f.value, text))
        line = UserLine(text, done=done, gave_up=gave_up, facts_given=told)
        situation = Situation(self.role.script, message, len(self.lines), asked, **heard)
        said = within(SECONDS, "shape()", lambda: self._persona.shape(line, situation))
        need(isinstance(said, UserLine), f"shape() returned a {type(said).__name__} and no UserLine")
        need(bool(said.text.strip()), f"nothing is left of {text!r}")
        self._open.update(asked)
        left = self._leaves(line, said)
        self._misstates(said, situation)
        strange = set(said.facts_given) - set(told) - self._open
        need(not strange, f"facts_given of {said.text!r} names {sorted(strange)}, which nobody asked for")
        for fact in self.script.facts:
            self._tells(fact, line, said, left)
        self._language(text, said.text)
        self.lines.append(said)
        return said

    def tell(self, key: str, message: str, **heard: Any) -> UserLine:
        value = next(f.value for f in self.script.facts if f.key == key)
        return self.say(f"{key[:1].upper()}{key[1:]}: {value}", message, asked=(key,), **heard)

    def _begun(self) -> None:
        role = self.role
        need(isinstance(role, Role), f"begin() returned a {type(role).__name__} and no Role")
        need(tuple(role.script.facts) == tuple(self.script.facts), "begin() changed the facts")
        need(role.script.goal == self.script.goal, "begin() changed the goal")
        need(bool(role.script.opening.strip() and role.script.closing.strip()), "begin() left nothing to say")
        self._may(Liberty.MISSTATE, not role.misstates, "begin() announces wrong values")
        self._may(Liberty.ADD, not role.extra, "begin() announces more to say")
        facts = {f.key: f.value for f in self.script.facts}
        for key, wrong in role.misstates.items():
            need(key in facts and bool(wrong.strip()), f"begin() has no wrong value for a fact {key!r}")
            need(wrong not in facts.values(), f"the wrong value of {key!r} is a value of the script")

    def _leaves(self, line: UserLine, said: UserLine) -> bool:
        if (said.done, said.gave_up) == (line.done, line.gave_up):
            return False
        if line.done and not line.gave_up and not said.done and not said.gave_up:
            self._may(Liberty.STAY, False, f"done changed in {line.text!r}")
            self._stayed += 1
            need(self._stayed <= _MOST_STAYING, f"the customer stays more than {_MOST_STAYING} times")
            return False
        need(not line.done and not line.gave_up and said.gave_up, f"done or gave_up changed in {line.text!r}")
        self._may(Liberty.LEAVE, False, f"the customer gives up instead of saying {line.text!r}")
        return True

    def _misstates(self, said: UserLine, situation: Situation) -> None:
        self._challenged |= {
            k for k in self.wrong if situation.claimed.get(k) is False or situation.not_found
        }
        for key, wrong in said.misstated.items():
            need(
                self.role.misstates.get(key) == wrong, f"{wrong!r} for {key!r} is not what begin() announced"
            )
            need(_in(wrong, said.text), f"the wrong {key!r} is reported, but not said in {said.text!r}")
            need(key not in self._challenged, f"{key!r} is said wrongly again after it was found to be wrong")
            self.wrong[key] = wrong
        for key, wrong in self.role.misstates.items():
            need(
                key in self.wrong or not _in(wrong, said.text),
                f"{said.text!r} says {key!r} wrongly without reporting it",
            )

    def _tells(self, fact: Fact, line: UserLine, said: UserLine, left: bool) -> None:
        before, after = _in(fact.value, line.text), _in(fact.value, said.text)
        if before and not after and not left and fact.key not in said.misstated:
            self._may(Liberty.WITHHOLD, False, f"{fact.value!r} is lost: {line.text!r} became {said.text!r}")
            need(fact.key not in self._withheld, f"{fact.key!r} is held back twice")
            self._withheld.add(fact.key)
        if after and not before:
            may = self._open | self._challenged
            need(fact.key in may, f"{said.text!r} gives away {fact.value!r} unasked")

    def _language(self, before: str, after: str) -> None:
        foreign = bool(_FOREIGN.search(after)) and not _FOREIGN.search(before)
        if Liberty.ADD not in self.liberties:
            self._may(Liberty.LANGUAGE, not foreign, f"{before!r} became {after!r}")

    def _may(self, liberty: Liberty, holds: bool, what: str) -> None:
        need(holds or liberty in self.liberties, f"{what}, a liberty ({liberty.value}) that is not declared")


# --- the conversations ------------------------------------------------------------------------------


def _answers(played: _Played) -> list[UserLine]:
    """The bot asks for each fact, reads back what was said wrongly, asks for a yes, refuses, and says goodbye."""
    played.say(played.role.script.opening)
    for fact in played.script.facts:
        for _ in range(2):  # once more, for what was held back
            played.tell(fact.key, f"Could you please give me your {fact.key}?", new=True)
    for key, wrong in dict(played.wrong).items():
        value = next(f.value for f in played.script.facts if f.key == key)
        message = f"Your {key} is {wrong}. Is that right?"
        said = played.say(
            f"No, that is not right.\n{key[:1].upper()}{key[1:]}: {value}",
            message, asked=(key,), claimed={key: False},
        )  # fmt: skip
        need(_in(value, said.text), f"{key!r} is not put right when the bot reads the wrong value back")
    for fact in played.script.facts:
        said = played.tell(fact.key, f"Once more, what is your {fact.key}?", new=False)
        need(said.gave_up or _in(fact.value, said.text), f"{fact.key!r} is not told when asked for again")
        if said.gave_up:
            return played.lines
    played.say("Yes, please.", "Shall I go ahead?", consent=True, new=True)
    _goodbye(played, "Unfortunately I cannot do that. Is there anything else?")
    return played.lines


def _finds_nothing(played: _Played) -> list[UserLine]:
    """The bot finds nothing with what it was told and asks for nothing by name."""
    played.say(played.role.script.opening)
    for fact in played.script.facts:
        played.tell(fact.key, f"Could you please give me your {fact.key}?", new=True)
    wrong = dict(played.wrong)
    said = played.say(
        "All right. Is my request dealt with, then?", "I could not find anything under that.", not_found=True
    )
    for key in wrong:
        value = next(f.value for f in played.script.facts if f.key == key)
        need(said.gave_up or _in(value, said.text), f"{key!r} is not put right when a look-up finds nothing")
    if not played.gone:
        _goodbye(played, "It is done now. Is there anything else?")
    return played.lines


def _dawdles(played: _Played) -> list[UserLine]:
    """The bot brings nothing on."""
    played.say(played.role.script.opening)
    for _ in range(12):
        if played.say("OK, thanks.", "One moment, please.", waiting=True).gave_up:
            return played.lines
    _goodbye(played, "Goodbye.")
    return played.lines


def _leaves(played: _Played) -> list[UserLine]:
    """The customer of the script leaves unsatisfied."""
    played.say(played.role.script.opening)
    played.say("I give up. Goodbye.", "Who are you?", gave_up=True)
    need(played.lines[-1].gave_up, "a customer who gives up has to leave")
    return played.lines


def _goodbye(played: _Played, message: str) -> None:
    for _ in range(_MOST_STAYING + 1):
        said = played.say(played.role.script.closing, message, done=True, settled=True, finished=True)
        if said.done or said.gave_up:
            return
    need(False, "the customer does not leave")


# --- the type ---------------------------------------------------------------------------------------


def _fits(kind: PersonaType, script: UserScript) -> bool:
    why = within(SECONDS, "not_for()", lambda: kind.not_for(script))
    need(why is None or (isinstance(why, str) and bool(why.strip())), f"not_for() returned {why!r}")
    return why is None


def _hears(kind: PersonaType) -> None:
    if kind.hears is as_it_is:
        return
    need(Liberty.LANGUAGE in kind.liberties, "hears() needs a liberty (language) that is not declared")
    for message in (
        "",
        "Could you give me your order number?",
        "您的订单号是 ORD-1007 吗?",
        "\x00 * | %s {x}",
    ):
        heard = [within(SECONDS, "hears()", lambda m=message: kind.hears(m)) for _ in range(2)]  # type: ignore[misc]
        need(isinstance(heard[0], str) and heard[0] == heard[1], f"hears() makes {heard!r} of {message!r}")


def _in(value: str, text: str) -> bool:
    """Whole: ORD-7 does not stand in ORD-71."""
    before = r"(?<![A-Za-z0-9])" if value[:1].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if value[-1:].isalnum() else ""
    return re.search(before + re.escape(value) + after, text) is not None
