"""The forgetful persona: the customer who first gives a wrong number, and puts it right when it is noticed."""

from __future__ import annotations

from dataclasses import replace

from assay_personas.references import misremembered, not_for, reference
from assay_personas.speech import choose, has_word, instead_of_leaving, put_right, rather
from assay_sdk import Liberty, NoOptions, PersonaType, Role, Situation, UserLine, UserScript

_FROM_MEMORY = (
    "That {key} is from memory.",
    "I hope the {key} is right, I have it in my head only.",
    "I don't have the letter here, so the {key} is as I remember it.",
)
_SORRY = (
    "Sorry, I looked it up now: the {key} is {value}.",
    "Oh, my mistake, I left something out. The {key} is {value}.",
    "Ah, now I have it in front of me. The {key} is {value}, sorry.",
)


class Forgetful:
    def __init__(self, options: NoOptions, seed: int) -> None:
        self._seed = seed
        self._key = self._value = self._wrong = ""
        self._said_wrongly = self._corrected = False

    def begin(self, script: UserScript) -> Role:
        fact = reference(script)
        wrong = misremembered(fact, script, self._seed) if fact else None
        if fact is None or wrong is None:
            return Role(script)
        self._key, self._value, self._wrong = fact.key, fact.value, wrong
        return Role(
            script,
            f"You remember your {fact.key} wrongly. Asked for it, you first say {wrong}, and that you say it from "
            "memory. As soon as the assistant repeats that value, asks whether it is right, or tells you that it "
            f"finds nothing, you apologise and give the right one, {fact.value}, and stay with it.",
            misstates={fact.key: wrong},
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        if line.gave_up or not self._wrong:
            return line
        if self._said_wrongly and not self._corrected:
            if situation.claimed.get(self._key) is False or situation.not_found:
                return self._correct(line, situation)
            if not has_word(line.text, self._value):
                return line
        if self._corrected or not has_word(line.text, self._value):
            return line
        return self._misstate(line)

    def _misstate(self, line: UserLine) -> UserLine:
        text = line.text.replace(self._value, self._wrong)
        if not self._said_wrongly:
            text += "\n" + choose(_FROM_MEMORY, self._seed).format(key=self._key)
        self._said_wrongly = True
        return replace(
            line,
            text=text,
            facts_given=tuple(k for k in line.facts_given if k != self._key),
            misstated={self._key: self._wrong},
        )

    def _correct(self, line: UserLine, situation: Situation) -> UserLine:
        self._corrected = True
        sorry = choose(_SORRY, self._seed).format(key=self._key, value=self._value)
        if line.done:
            return instead_of_leaving(line, situation.script, sorry)
        if not situation.asked:
            return rather(line, situation.script, sorry)  # a yes or a wait would be about the wrong one
        return put_right(line, situation.script, self._value, sorry)


PERSONA = PersonaType(
    name="forgetful",
    title="Forgetful",
    changes="First gives a wrong number for their order, policy or the like: one that does not exist.",
    stays_true=(
        "It is put right as soon as the bot reads it back or says that it finds nothing. What proves who one is "
        "and what a bot writes down is never said wrongly."
    ),
    options=NoOptions,
    build=Forgetful,
    liberties=frozenset({Liberty.MISSTATE, Liberty.STAY}),
    not_for=not_for,
)
