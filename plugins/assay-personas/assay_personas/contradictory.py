"""The contradictory persona: the customer whose first message says one thing and the answer another."""

from __future__ import annotations

from dataclasses import replace

from assay_personas.references import misremembered, not_for, reference
from assay_personas.speech import choose, instead_of_leaving, put_right, rather
from assay_sdk import Liberty, NoOptions, PersonaType, Role, Situation, UserLine, UserScript

_AT_FIRST = (
    "The {key} is {wrong}, I think.",
    "You should find it under {key} {wrong}.",
    "It is all under the {key} {wrong}, if you want to look it up.",
)
_SETTLED = (
    "Forget the {wrong} of before, I mixed that up. The {key} is {value}, I have checked.",
    "No, {wrong} was wrong. {value} is the right {key}, I am sure now.",
    "Yes, I wrote {wrong} first. What counts is {value}; that is the {key}.",
)


class Contradictory:
    def __init__(self, options: NoOptions, seed: int) -> None:
        self._seed = seed
        self._key = self._value = self._wrong = ""
        self._settled = False

    def begin(self, script: UserScript) -> Role:
        fact = reference(script)
        wrong = misremembered(fact, script, self._seed) if fact else None
        if fact is None or wrong is None:
            return Role(script)
        self._key, self._value, self._wrong = fact.key, fact.value, wrong
        claim = choose(_AT_FIRST, self._seed).format(key=fact.key, wrong=wrong)
        return Role(
            replace(script, opening=f"{script.opening} {claim}"),
            f"Your first message says that your {fact.key} is {wrong}, which is wrong. Asked for it later you say "
            f"{fact.value}, without remarking on the difference. Only when the assistant points to the first value, "
            f"or finds nothing under it, you say that {fact.value} is the right one, and stay with that.",
            misstates={fact.key: wrong},
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        if line.gave_up or not self._wrong:
            return line
        if situation.line == 0:
            return replace(line, misstated={self._key: self._wrong})
        if self._settled or not (situation.claimed.get(self._key) is False or situation.not_found):
            return line
        self._settled = True
        text = choose(_SETTLED, self._seed).format(key=self._key, value=self._value, wrong=self._wrong)
        if line.done:
            return instead_of_leaving(line, situation.script, text)
        if not situation.asked:
            return rather(line, situation.script, text)
        return put_right(line, situation.script, self._value, text)


PERSONA = PersonaType(
    name="contradictory",
    title="Contradictory",
    changes="Names a wrong number in the first message, one that does not exist, and another one when asked.",
    stays_true=(
        "Asked for it, the customer gives the right one, and settles on it when the bot points to the other or finds "
        "nothing."
    ),
    options=NoOptions,
    build=Contradictory,
    liberties=frozenset({Liberty.MISSTATE, Liberty.STAY}),
    not_for=not_for,
)
