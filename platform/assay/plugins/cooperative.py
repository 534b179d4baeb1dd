"""The cooperative persona: the customer talks as the task's author wrote it."""

from __future__ import annotations

from assay_sdk import NoOptions, PersonaType, UserLine, UserScript


class Cooperative:
    def manner(self, line: UserLine, script: UserScript) -> UserLine:
        return line


def _build(options: NoOptions, seed: int) -> Cooperative:
    return Cooperative()


PERSONA = PersonaType(
    name="cooperative",
    title="Cooperative",
    changes="Nothing: every line is said as the task has it.",
    options=NoOptions,
    build=_build,
)
