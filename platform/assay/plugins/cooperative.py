"""The cooperative persona: the customer talks as the task's author wrote it."""

from __future__ import annotations

from assay_sdk import NoOptions, PersonaType, Role, Situation, UserLine, UserScript


class Cooperative:
    def begin(self, script: UserScript) -> Role:
        return Role(
            script,
            "You are friendly and patient. You answer what you are asked, in one or two short sentences, and do what "
            "the assistant asks of you.",
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        return line


def _build(options: NoOptions, seed: int) -> Cooperative:
    return Cooperative()


PERSONA = PersonaType(
    name="cooperative",
    title="Cooperative",
    changes="Nothing: every line is said as the task has it.",
    stays_true="Every fact is told as it is when it is asked for.",
    options=NoOptions,
    build=_build,
)
