"""May this line of the simulated user be said? Decided by rule, before the bot sees it.

Each finding has a kind, under which it is counted, and a reason, which the model is given to do better. What a rule
cannot decide is left to a model where one is configured (`arbiter`); findings say which of the two it was.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from assay.engine.dialogue import role_words
from assay.engine.dialogue.asking import LONGEST_READ, Understood, understand
from assay.engine.dialogue.contradiction import contradicts
from assay.engine.dialogue.known import Known
from assay.engine.dialogue.manners import OTHER_LETTERS, stands
from assay.engine.dialogue.scripted import MOST_INSISTING, Trigger, trigger
from assay.engine.dialogue.telling import Hidden
from assay.engine.dialogue.values import found_in
from assay.engine.dialogue.wording import normal
from assay_sdk import Liberty, Role, UserLine, UserScript
from assay_sdk.users import as_it_is

LONGEST_LINE = 1_200  # characters; a longer opening of the script allows as much again
MOST_REPEATS = 3  # times that the same line may be said in a row


class Kind(StrEnum):
    """What is wrong with a line; voids and rejections are counted under these words."""

    VOLUNTEERED_FACT = "volunteered_fact"
    INVENTED_ID = "invented_id"
    INVENTED_AMOUNT = "invented_amount"
    INVENTED_DATE = "invented_date"
    INVENTED_NAME = "invented_name"
    INVENTED_ADDRESS = "invented_address"
    CONTRADICTED_FACT = "contradicted_fact"
    LEFT_EARLY = "left_early"
    EMPTY = "empty"
    OTHER_ROLE = "other_role"
    LEAKED_PROMPT = "leaked_prompt"
    OTHER_LANGUAGE = "other_language"
    TOO_LONG = "too_long"
    REPEATED = "repeated"
    # of void trials only
    LATE = "late"  # no line in time
    BROKEN = "broken"  # the simulated user raised, or gave no line at all


@dataclass(frozen=True, slots=True)
class Finding:
    """`by`: rule, or model where a model had to be asked."""

    kind: Kind
    reason: str
    by: Literal["rule", "model"] = "rule"
    facts: Sequence[str] = ()  # keys, of volunteered or contradicted ones

    def as_json(self) -> dict[str, object]:
        return {"kind": self.kind.value, "reason": self.reason, "by": self.by, "facts": list(self.facts)}


@dataclass(slots=True)
class Scene:
    """The conversation so far, as far as it decides what may be said. One for each conversation.

    `open`: keys of the facts that may be said: those of the opening, those asked for, those already told. `hears`:
    the gist of the bot's messages in English, where the persona speaks another language.
    """

    role: Role
    liberties: frozenset[Liberty] = frozenset()
    prompt: str = ""  # instructions of the model, whose words it must not say
    hears: Callable[[str], str] = as_it_is
    open: set[str] = field(default_factory=set)
    asked: tuple[str, ...] = ()  # by the last message, in its order
    heard: str = ""
    gist: str = ""
    understood: Understood = field(default_factory=Understood)
    lines: list[str] = field(default_factory=list)
    left: list[str] = field(default_factory=list)  # follow-ups not raised yet
    new: bool = False  # the last message brings the matter on
    challenged: set[str] = field(default_factory=set)  # misstated facts that were found to be wrong
    _misstated: set[str] = field(default_factory=set)
    _known: Known = field(default_factory=Known)
    _sayable: Known = field(default_factory=Known)
    _triggers: list[Trigger] = field(default_factory=list)
    _fired: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        script = self.script
        self.left = list(script.follow_ups)
        self._triggers = [trigger(r) for r in script.reactions]
        for text in (script.opening, script.goal, script.closing, *script.follow_ups, *self.role.extra):
            self._known.add(text)
            self._sayable.add(text)
        for text in (
            *self.role.misstates.values(),
            *(f.value for f in script.facts),
            *(n for f in script.facts for n in (f.key, *f.aliases)),
            *(r.say or "" for r in script.reactions),
        ):
            self._known.add(text)
        self.open |= {f.key for f in script.facts if stands(f.value, script.opening)}

    @property
    def script(self) -> UserScript:
        return self.role.script

    @property
    def fired(self) -> frozenset[int]:
        """Numbers of the reactions that some message has set off."""
        return frozenset(self._fired)

    @property
    def decided(self) -> Literal["yes", "no"] | None:
        """What the script's reactions make the customer say to what the last message proposes."""
        if not self.understood.consent:
            return None
        text = normal(self.gist, asides=True)
        set_off = {
            reaction.then
            for number, reaction in enumerate(self.script.reactions)
            if self._triggers[number].fits(text)
            and (reaction.then != "insist" or self._fired[number] <= MOST_INSISTING)
        } & {"accept", "refuse", "insist"}
        if set_off == {"accept"}:
            return "yes"
        return "no" if set_off and "accept" not in set_off else None

    def hear(self, message: str) -> None:
        """The bot's next message."""
        again = _same(message, self.heard)
        self.heard = message
        self.gist = self.hears(message[:LONGEST_READ])
        self.understood = asks = understand(self.gist, self.script.facts)
        self.asked = tuple(self.script.facts[i].key for i in asks.facts)
        self.new = asks.consent or asks.settled or bool(set(self.asked) - self.open)
        self.new |= any(value not in self._known for value in found_in(message[:LONGEST_READ]))
        self.may_say((*self.asked, *(self.script.facts[i].key for i in asks.offered)))
        self._known.add(message[:LONGEST_READ])
        self._sayable.add(message[:LONGEST_READ])
        text = normal(self.gist, asides=True)
        for number, found in enumerate(self._triggers):
            if found.fits(text):
                self.new |= number not in self._fired
                self._fired[number] += 1
                self._sayable.add(self.script.reactions[number].say or "")
        for key in self._misstated:
            if asks.not_found or stands(self.role.misstates[key], message):
                self.challenged.add(key)
        self.new &= not again

    def may_say(self, keys: Iterable[str]) -> None:
        """These facts were asked for."""
        for fact in self.script.facts:
            if fact.key in keys and fact.key not in self.open:
                self.open.add(fact.key)
                self._sayable.add(fact.value)

    def say(self, line: UserLine) -> None:
        """A line that was said to the bot."""
        self.lines.append(line.text)
        self._known.add(line.text)
        self._sayable.add(line.text)
        self._misstated.update(line.misstated)
        self.left = [f for f in self.left if not Hidden.raised(f, line.text)]

    def misstated_in(self, text: str) -> dict[str, str]:
        """Facts for which `text` says the wrong value that the persona may say."""
        return {key: wrong for key, wrong in self.role.misstates.items() if stands(wrong, text)}

    @property
    def known(self) -> Known:
        """All that the user can know of, said or not."""
        return self._known

    @property
    def sayable(self) -> Known:
        """What stands in the conversation and in the texts that the user may say unasked."""
        return self._sayable


def audit(line: UserLine, scene: Scene) -> list[Finding]:
    """What is wrong with `line` as the next one; nothing, when it may be said. The most telling finding first."""
    text = line.text[: LONGEST_LINE + len(scene.script.opening)]
    found = (
        *_form(line, scene),
        *_role(text, scene),
        *_invented(text, scene),
        *_volunteered(text, scene),
        *_contradicted(text, scene),
        *_leaving(line, scene),
    )
    return list(found)


def facts_said(text: str, script: UserScript, asked: Sequence[str] = ()) -> tuple[str, ...]:
    """Keys of the facts that `text` tells; what is told in other words counts when it was asked for just now."""
    plain = Known()
    return tuple(
        f.key
        for f in script.facts
        if Hidden(f, plain).told_by(text) or (f.key in asked and Hidden(f, plain).answered_by(text))
    )


def _form(line: UserLine, scene: Scene) -> list[Finding]:
    text = line.text
    found = []
    if not any(c.isalnum() for c in text):
        found.append(Finding(Kind.EMPTY, "It says nothing. Write what the customer says, in words."))
    most = LONGEST_LINE + len(scene.script.opening)
    if len(text) > most:
        found.append(
            Finding(
                Kind.TOO_LONG, f"It has {len(text):,} characters; at most {most:,} may be said. Say less."
            )
        )
    last = scene.lines[1 - MOST_REPEATS :]
    if len(last) == MOST_REPEATS - 1 and all(_same(text, other) for other in last):
        found.append(
            Finding(Kind.REPEATED, "You have said exactly this before. Answer the last message, or leave.")
        )
    own = scene.script.opening + " ".join(scene.role.extra)
    if (
        Liberty.LANGUAGE not in scene.liberties
        and OTHER_LETTERS.search(text)
        and not OTHER_LETTERS.search(own + scene.heard)
    ):
        found.append(
            Finding(Kind.OTHER_LANGUAGE, "It is in another language than your opening. Keep to that one.")
        )
    return found


def _same(one: str, other: str) -> bool:
    return " ".join(one.casefold().split()) == " ".join(other.casefold().split())


def _role(text: str, scene: Scene) -> list[Finding]:
    found = []
    own = " \n ".join((scene.script.opening, *scene.script.follow_ups, *scene.role.extra))
    if (words := role_words.assistants(text)) and words.casefold() not in own.casefold():
        found.append(
            Finding(
                Kind.OTHER_ROLE,
                f"{words!r} is what a support assistant says. You are the customer: answer as one.",
            )
        )
    if words := role_words.leaked(text, scene.prompt, own):
        found.append(
            Finding(
                Kind.LEAKED_PROMPT, f"{words!r} speaks of your instructions. Say only what the customer says."
            )
        )
    return found


_INVENTED = {
    "id": Kind.INVENTED_ID,
    "amount": Kind.INVENTED_AMOUNT,
    "date": Kind.INVENTED_DATE,
    "name": Kind.INVENTED_NAME,
    "address": Kind.INVENTED_ADDRESS,
}


def _invented(text: str, scene: Scene) -> list[Finding]:
    return [
        Finding(
            _INVENTED[value.what],
            f"{value.text!r} is neither among your facts nor in the conversation. Say only what you know, "
            "or that you do not know.",
        )
        for value in found_in(text)
        if value not in scene.known
    ]


def _volunteered(text: str, scene: Scene) -> list[Finding]:
    wrongly = scene.misstated_in(text)
    return [
        Finding(
            Kind.VOLUNTEERED_FACT,
            f"It tells your {fact.key}, which the assistant has not asked for. Leave it out.",
            facts=(fact.key,),
        )
        for fact in scene.script.facts
        if fact.key not in scene.open and (fact.key in wrongly or Hidden(fact, scene.sayable).told_by(text))
    ]


def _contradicted(text: str, scene: Scene) -> list[Finding]:
    """Statements and confirmations of what the facts or the reactions say otherwise."""
    found = []
    values = {f.key: f.value for f in scene.script.facts}
    wrongly = scene.misstated_in(text)  # by the persona's design, until somebody finds out
    found += [
        Finding(
            Kind.CONTRADICTED_FACT,
            f"The wrong {key} was found out. Say the right one: {values[key]}",
            facts=(key,),
        )
        for key in wrongly
        if key in scene.challenged and not stands(values[key], text)
    ]
    for key in contradicts(text, scene.heard, scene.understood, scene.script):
        if key in wrongly:
            continue
        found.append(
            Finding(
                Kind.CONTRADICTED_FACT,
                f"It agrees with, or says, something else than your {key}, which is: {values[key]}",
                facts=(key,),
            )
        )
    wanted = scene.decided
    if wanted and role_words.decides(text) not in (None, wanted):
        says = "agree to" if wanted == "yes" else "refuse"
        found.append(Finding(Kind.CONTRADICTED_FACT, f"You {says} what the assistant proposes; say so."))
    return found


def _leaving(line: UserLine, scene: Scene) -> list[Finding]:
    if not (line.done or line.gave_up):
        return []
    asks = scene.understood
    gives_up = any(scene.script.reactions[n].then == "give_up" for n in scene.fired)
    if line.gave_up and (Liberty.LEAVE in scene.liberties or gives_up):
        return []
    if not scene.heard:
        return [Finding(Kind.LEFT_EARLY, "The conversation has not begun. Say your opening.")]
    refusing = asks.consent and asks.finished and role_words.decides(line.text) == "no"
    if asks.asks and not refusing:
        return [
            Finding(Kind.LEFT_EARLY, "The assistant's last message asks you something. Answer it, and stay.")
        ]
    if asks.waiting and not (asks.finished or asks.settled):
        return [
            Finding(Kind.LEFT_EARLY, "The assistant is about to do something for you. Wait for it, and stay.")
        ]
    if scene.left and not any(Hidden.raised(f, line.text) for f in scene.left[:1]) and not line.gave_up:
        return [Finding(Kind.LEFT_EARLY, f"You have not asked for this yet: {scene.left[0]}")]
    if scene.left and not line.gave_up:
        return [Finding(Kind.LEFT_EARLY, "You have just asked for something. Stay until it is dealt with.")]
    return []
