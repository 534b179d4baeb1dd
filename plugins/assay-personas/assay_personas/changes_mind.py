"""The persona that changes its mind once, before anything is done."""

from __future__ import annotations

from dataclasses import replace

from assay_personas.speech import choose, instead_of_leaving, rather
from assay_sdk import Liberty, NoOptions, PersonaType, Role, Situation, UserLine, UserScript

_DOUBT = (
    "Oh, hold on. Please don't do anything yet, I am not so sure any more whether I want that.",
    "Hm, on second thoughts, maybe not. Leave everything as it is for the moment, I have to think.",
    "Although, wait a second. Don't start on it yet, I may leave things as they are after all.",
)
_DECIDED = (
    "All right, I have made up my mind: I do want it, just as I wrote at first.",
    "OK, I have thought about it. Please go ahead with what I asked for in the beginning.",
    "Forget what I said about waiting. I want it after all, as I first wrote.",
)


class ChangesMind:
    def __init__(self, options: NoOptions, seed: int) -> None:
        self._doubt, self._decided = choose(_DOUBT, seed), choose(_DECIDED, seed)

    def begin(self, script: UserScript) -> Role:
        return Role(
            replace(script, opening=f"{script.opening} {self._doubt}"),
            "Your first message ends with a doubt: the assistant is not to do anything yet. In your second message, "
            "whatever the assistant says, you have made up your mind and want what you asked for at first; you say "
            "so, and answer what you are asked. After that you do not waver again.",
            extra=(self._doubt, self._decided),
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        if situation.line != 1 or line.gave_up:
            return line
        if line.done:
            return instead_of_leaving(line, situation.script, self._decided)
        if situation.asked or situation.consent or situation.new:
            return replace(line, text=f"{self._decided}\n{line.text}")
        return rather(line, situation.script, self._decided)


PERSONA = PersonaType(
    name="changes-mind",
    title="Changes their mind",
    changes="Calls the request off at the end of the first message and takes it up again in the second.",
    stays_true="What they want in the end is what the script wants, and they say so before a bot may do anything.",
    options=NoOptions,
    build=ChangesMind,
    liberties=frozenset({Liberty.ADD, Liberty.STAY}),
)
