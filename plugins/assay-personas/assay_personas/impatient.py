"""The impatient persona: the customer who leaves when nothing moves."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from assay_personas.speech import in_turn
from assay_sdk import Liberty, PersonaType, Role, Situation, UserLine, UserScript

_HURRY = ("I am in a hurry.", "Please be quick about it.", "I have five minutes before I have to go.")
_WARNING = (
    "How much longer is this going to take?",
    "I have said all that. Can we get on with it?",
    "Can you do it or not? I do not have all day.",
)
_LEAVES = "This leads nowhere. I have no more time for it. Goodbye."


class ImpatientOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    turns: Annotated[int, Field(ge=1, le=10)] = Field(
        default=3, description="Messages in a row that bring nothing on before the customer leaves."
    )


class Impatient:
    def __init__(self, options: ImpatientOptions, seed: int) -> None:
        self._turns = options.turns
        self._hurry, self._warnings = in_turn(_HURRY, seed), in_turn(_WARNING, seed)
        self._idle = 0

    def begin(self, script: UserScript) -> Role:
        return Role(
            script,
            "You are in a hurry and short with people, never abusive. You answer what you are asked at once and in "
            f"few words. After {self._turns} messages in a row that bring your matter no further (nothing asked that "
            "you have not told, nothing proposed, nothing done), you say that you have no more time and leave.",
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        if situation.line == 0:
            return replace(line, text=f"{line.text} {next(self._hurry)}")
        self._idle = 0 if situation.new else self._idle + 1
        if line.done or line.gave_up or not self._idle:
            return line
        if self._idle >= self._turns:
            return UserLine(_LEAVES, gave_up=True)
        return replace(line, text=f"{line.text} {next(self._warnings)}")


PERSONA = PersonaType(
    name="impatient",
    title="Impatient",
    changes="Presses for speed, and gives up after some messages in a row that bring nothing on.",
    stays_true="A bot that asks for what it needs and acts on the answer meets the customer of the script.",
    options=ImpatientOptions,
    build=Impatient,
    liberties=frozenset({Liberty.LEAVE}),
)
