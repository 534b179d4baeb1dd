"""The persona formal: greets once, and signs every message."""

from __future__ import annotations

from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from assay_sdk import PersonaType, Role, Situation, UserLine, UserScript


class FormalOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    greeting: str = Field(
        default="Good day.", min_length=1, max_length=80, description="Said before the opening"
    )
    ending: str = Field(
        default="Kind regards.", min_length=1, max_length=80, description="Said after every message"
    )


class Formal:
    """Deterministic: the seed changes nothing."""

    def __init__(self, options: FormalOptions) -> None:
        self._options = options

    def begin(self, script: UserScript) -> Role:
        given = self._options
        return Role(
            replace(script, opening=f"{given.greeting} {script.opening}\n{given.ending}"),
            f'You are formal: no contractions, and every message ends with "{given.ending}".',
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        if situation.line == 0:
            return line  # the opening, which is formal already
        return replace(line, text=f"{line.text}\n{self._options.ending}")


PERSONA = PersonaType(
    name="formal",
    title="Formal",
    changes="Greets once and signs every message.",
    stays_true="What is said stands between greeting and signature, word for word.",
    options=FormalOptions,
    build=lambda options, seed: Formal(options),
)
