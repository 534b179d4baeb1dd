"""The scripted user: a customer who follows a script by rule, without a model."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from assay.engine.dialogue.asking import LONGEST_READ, Understood, understand
from assay.engine.dialogue.claims import agrees
from assay.engine.dialogue.common_words import STOP
from assay.engine.dialogue.manners import Part, stands, telling
from assay.engine.dialogue.transcript import BotMessage, UserMessage
from assay.engine.dialogue.wording import normal, phrase, words
from assay_sdk import Fact, Reaction, SimulatorFault, Situation, UserLine, UserScript

if TYPE_CHECKING:
    from assay.engine.packs.models import Task

MOST_INSISTING = 2  # times a reaction `insist` asks again
PATIENCE = 8  # answers in a row that bring nothing new before the customer gives up
SAME_MESSAGE = 4  # times in a row

_YES = ("Yes, please.", "Yes, please go ahead.", "Yes, go ahead.")
_ACCEPT = ("Yes, that is fine.", "That is fine with me.", "Yes, I agree.")
_REFUSE = ("No, I do not want that.", "No, thank you.", "No, I do not agree to that.")
_INSIST = (
    "I really need this. Could you make an exception?",
    "I am not happy with that. Please do what I asked for.",
)
_NO_IDEA = ("I don't know that, sorry.", "Sorry, I can't tell you that.", "I don't have that, sorry.")
_THE_REST = "I don't know the rest."
_EITHER = ("I have no preference beyond what I asked for.", "Whichever fits what I asked for.")
_WAIT = ("All right, I'll wait.", "OK, thanks.")
_IS_IT_DONE = ("All right. Is my request dealt with, then?", "OK. So is that done now?")
LEAVE = "Then I will leave it at that. Goodbye."
ENOUGH = "We are going round in circles. I give up. Goodbye."


def user_script(task: Task) -> UserScript:
    """What the simulated user of `task` knows."""
    user = task.user
    return UserScript(
        opening=user.opening,
        goal=user.goal,
        facts=tuple(Fact(f.key, f.value, f.aliases) for f in user.facts),
        reactions=tuple(Reaction(r.when, r.match, r.then, r.say) for r in user.reactions),
        follow_ups=user.follow_ups,
        closing=user.closing,
    )


def facts_in(script: UserScript) -> tuple[str, ...]:
    """Keys of the facts that the opening tells."""
    return tuple(f.key for f in script.facts if telling(f.value) and stands(f.value, script.opening))


class ScriptedUser:
    """A `SimulatedUser` that needs no model; the same script, seed and messages give the same lines.

    Tells a fact only when asked for it (see `asking`), every fact that a message asks for, each time it is
    asked; says so when it does not know. Reacts when a reaction's words occur in the message: one of `match`, or
    without `match` all content words of `when`. Asked for a yes without a reaction to it, it says yes. When the
    bot says that it is finished, the next follow-up comes, then the closing. A bot that brings nothing new for
    PATIENCE answers is left. With a `part` it plays that persona's role and says each line in its manner.
    """

    def __init__(self, script: UserScript, part: Part | None = None, seed: int = 0) -> None:
        self._script = script = part.role.script if part else script
        self._part = part
        self._random = random.Random(seed)  # noqa: S311 (a choice of words, nothing secret)
        self._triggers = [trigger(r) for r in script.reactions]
        self._fired = [0] * len(script.reactions)
        self._told: set[int] = set()
        self._follow_ups = 0
        self._pressed = False  # has asked whether it is done
        self._idle = 0
        self._heard = ""
        self._same = 0
        self._lines = 0
        self._said: UserLine | None = None

    async def open(self) -> UserLine:
        return self._spoken(
            UserLine(self._script.opening, facts_given=facts_in(self._script)), Situation(self._script)
        )

    async def resume(self, said: Sequence[BotMessage | UserMessage]) -> None:
        """Hear a conversation that has been, up to the customer's last line, without saying anything anew. Raises
        SimulatorFault when this customer would have left before."""
        await self.open()
        for event in said:
            if isinstance(event, BotMessage) and event.text.strip():
                await self.answer(event.text)

    async def answer(self, bot_message: str) -> UserLine:
        if self._said is not None and (self._said.done or self._said.gave_up):
            raise SimulatorFault("The customer has left; nothing more can be said to them.")
        read = bot_message[:LONGEST_READ]
        if self._part is not None:
            read = self._part.hear(read)[:LONGEST_READ]
        heard = normal(read, asides=True)
        self._same = self._same + 1 if heard == self._heard else 1
        self._heard = heard
        asks = understand(read, self._script.facts)
        reactions = self._reacting(heard, asks)
        self._lines += 1
        situation = self._situation(bot_message, asks, reactions)
        return self._spoken(self._answer(heard, asks, reactions), situation)

    def _spoken(self, line: UserLine, situation: Situation) -> UserLine:
        if self._part is not None:
            line = self._part.say(line, situation)
        self._said = line
        return line

    def _situation(self, message: str, asks: Understood, reactions: list[int]) -> Situation:
        facts = self._script.facts
        brings = (
            bool(set(asks.facts) - self._told)
            or any(not self._fired[i] for i in reactions)
            or asks.consent
            or asks.settled
        )
        return Situation(
            script=self._script,
            bot_message=message,
            line=self._lines,
            asked=tuple(facts[i].key for i in asks.facts),
            claimed={
                **{facts[i].key: agrees(facts[i].value, text) for i, text in asks.claimed},
                **(self._part.read_back(message) if self._part else {}),
            },
            not_found=asks.not_found,
            consent=asks.consent,
            settled=asks.settled,
            finished=asks.finished,
            waiting=asks.waiting,
            new=brings and self._same == 1,
        )

    def _answer(self, heard: str, asks: Understood, reactions: list[int]) -> UserLine:
        if any(self._script.reactions[i].then == "give_up" for i in reactions):
            return UserLine(LEAVE, gave_up=True)
        if self._same >= SAME_MESSAGE or self._idle >= PATIENCE:
            return UserLine(ENOUGH, gave_up=True)
        new = bool(set(asks.facts) - self._told) or any(not self._fired[i] for i in reactions)
        said = self._react(reactions, heard)
        if asks.consent and not said:
            said.append(self._one_of(_YES))
        right = [agrees(self._script.facts[i].value, text) for i, text in asks.claimed if i in asks.facts]
        if False in right:
            said.append("No, that is not right.")
        elif right and None not in right:  # else the fact itself has to do
            said.append("Yes.")
        told = self._tell(asks.facts, alone=not said)
        said += told
        if asks.unknown and not reactions:
            said.append(_THE_REST if told else self._one_of(_NO_IDEA))
        if not said and asks.choice:
            said.append(self._one_of(_EITHER))
        if not said and asks.open:
            said.append(self._request)
        if not said or (asks.finished and not asks.asks and not self._refusing(reactions)):
            return self._go_on(asks, said)
        self._idle = 0 if new else self._idle + 1
        return UserLine("\n".join(said), facts_given=tuple(self._script.facts[i].key for i in asks.facts))

    @property
    def _request(self) -> str:
        """What the customer wants at the moment, in their own words."""
        return self._script.follow_ups[self._follow_ups - 1] if self._follow_ups else self._script.opening

    def _one_of(self, ways: tuple[str, ...]) -> str:
        return self._random.choice(ways)

    def _go_on(self, asks: Understood, said: list[str]) -> UserLine:
        """Nothing was asked: wait, ask whether it is done, bring the next request, or leave."""
        self._idle += 1
        if asks.waiting and not asks.finished:
            return UserLine(self._one_of(_WAIT))
        if not asks.finished and not asks.settled and not self._pressed:
            # It may have finished, or be about to go on: a customer who just left would be unfair to the bot.
            self._pressed = True
            return UserLine(self._one_of(_IS_IT_DONE))
        self._pressed = False
        self._idle = 0
        if self._follow_ups < len(self._script.follow_ups):
            self._follow_ups += 1
            return UserLine("\n".join([*said, self._request]))
        return UserLine("\n".join([*said, self._script.closing]), done=True)

    # --- facts ----------------------------------------------------------------------------------

    def _tell(self, facts: tuple[int, ...], *, alone: bool) -> list[str]:
        lines = []
        for number in facts:
            self._told.add(number)
            fact = self._script.facts[number]
            # A value that is a sentence needs no label when it is the only answer.
            sentence = len(facts) == 1 and alone and len(fact.value.split()) > 3
            lines.append(fact.value if sentence else f"{fact.key[:1].upper()}{fact.key[1:]}: {fact.value}")
        return lines

    # --- reactions ------------------------------------------------------------------------------

    def _reacting(self, heard: str, asks: Understood) -> list[int]:
        """Numbers of the reactions that this message sets off, in the order of the script."""
        found = []
        for number, (reaction, trigger) in enumerate(
            zip(self._script.reactions, self._triggers, strict=True)
        ):
            if not trigger.fits(heard):
                continue
            fired = self._fired[number]
            if reaction.then == "insist":
                again = fired < MOST_INSISTING
            else:
                # The second time only when the bot wants an answer, not when it merely mentions the thing.
                again = not fired or asks.consent or asks.choice or asks.unknown
            if again or reaction.then == "give_up":
                found.append(number)
        return found

    def _react(self, reactions: list[int], heard: str) -> list[str]:
        said: list[str] = []
        for number in reactions:
            reaction = self._script.reactions[number]
            fired = self._fired[number]
            self._fired[number] += 1
            if reaction.then == "say":
                text = reaction.say or ""
            elif reaction.then == "insist":
                text = _INSIST[fired % len(_INSIST)]
            else:
                text = self._one_of(_ACCEPT if reaction.then == "accept" else _REFUSE)
                if len(reactions) > 1:
                    text = f"About the {self._triggers[number].said(heard)}: {text[0].lower()}{text[1:]}"
            if text not in said:
                said.append(text)
        return said

    def _refusing(self, reactions: list[int]) -> bool:
        """Whether the customer's reaction wants an answer, so that they do not leave with it."""
        return any(
            self._script.reactions[i].then in ("refuse", "insist")
            or (self._script.reactions[i].then == "say" and self._fired[i] == 1)
            for i in reactions
        )


class Trigger:
    """The words that set a reaction off."""

    def __init__(self, phrases: list[re.Pattern[str]], every: bool) -> None:
        self._phrases = phrases
        self._every = every

    def fits(self, heard: str) -> bool:
        if not self._phrases:
            return False
        return (all if self._every else any)(p.search(heard) for p in self._phrases)

    def said(self, heard: str) -> str:
        found = (p.search(heard) for p in self._phrases)
        return " ".join(m[0] for m in found if m) if self._every else next(m[0] for m in found if m)


def trigger(reaction: Reaction) -> Trigger:
    if reaction.match:
        return Trigger([p for text in reaction.match if (p := phrase(text, True)) is not None], every=False)
    content = [w for w in words(reaction.when) if w not in STOP]
    return Trigger([p for word in content if (p := phrase(word, True)) is not None], every=True)
