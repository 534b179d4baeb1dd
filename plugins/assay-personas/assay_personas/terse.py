"""The terse persona: the customer who writes as little as possible."""

from __future__ import annotations

import re
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from assay_personas.speech import told
from assay_sdk import PersonaType, Role, Situation, UserLine, UserScript

# What politeness adds at the start of a sentence, and what is said instead.
_OPENINGS = [
    (re.compile(rf"^(?:{pattern})", re.IGNORECASE), said)
    for pattern, said in (
        (r"(?:hello|hi|hey|good (?:morning|afternoon|evening))(?: there| all| team)?\b[,.! ]*", ""),
        (r"(?:sure|of course|certainly|okay|ok|well|yes of course)[,.!] +", ""),
        (r"(?:could|can|would|will) you (?:please |kindly )?", ""),
        (r"i(?: would|['’]d) (?:really |very much )?(?:like|love) to ", "want to "),
        (r"i(?: am|['’]m) (?:writing|contacting you|calling) (?:because|since|as) ", ""),
        (r"i (?:just )?(?:wanted|want) to (?:ask|know) (?:if|whether) ", ""),
        (r"(?:please|kindly) ", ""),
        (r"(?:thank you|thanks)(?: (?:so|very) much| a lot)?[,.! ]+", ""),
        (r"it is ", ""),
        (r"my (?=\w)", ""),
        (r"the (?=\w)", ""),
    )
]
_ANYWHERE = re.compile(
    r",? (?:please|kindly|if you don['’]t mind|if possible|thank you(?: (?:so|very) much)?|thanks(?: a lot)?)(?=[.,!?]|$)"
    r"|(?<=,) (?:please|kindly)(?= )",
    re.IGNORECASE,
)
# Whole sentences that say nothing.
_EMPTY = re.compile(
    r"(?:many )?(?:thank you|thanks)(?: (?:so|very) much| a lot| again| in advance| for (?:your|the) help)*[.! ]*"
    r"|(?:i hope (?:you can help|this helps)|have a (?:nice|good|great) day|i appreciate (?:it|your help))[.! ]*",
    re.IGNORECASE,
)
_SENTENCES = re.compile(r"(?<=[.!?])\s+")


class TerseOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    lower_case: bool = Field(default=False, description="Begin lines with a small letter.")


class Terse:
    """Cuts what politeness adds. Deterministic: the seed changes nothing."""

    def __init__(self, options: TerseOptions) -> None:
        self._options = options

    def begin(self, script: UserScript) -> Role:
        return Role(
            script, "You write as little as possible: a few words, no greeting, no thanks, no explanation."
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        """The line with less in it; unchanged where a fact would suffer or nothing would be left."""
        alone = told(line.text, line, situation.script)
        if alone and len(alone[1].split()) <= 3:
            return replace(line, text=alone[1])  # asked for one thing: what it is needs no name
        values = [
            f.value.casefold()
            for f in situation.script.facts
            if f.value and f.value.casefold() in line.text.casefold()
        ]
        sentences = [self._sentence(s, values) for s in _SENTENCES.split(line.text.strip())]
        text = " ".join(s for s in sentences if s).removesuffix(".")
        return replace(line, text=text) if text and _kept(values, line.text, text) else line

    def _sentence(self, sentence: str, values: list[str]) -> str:
        if _EMPTY.fullmatch(sentence) and _kept(values, sentence, ""):
            return ""
        text = sentence
        for pattern, said in ((_ANYWHERE, ""), *_OPENINGS):
            shorter = pattern.sub(said, text)
            if _kept(values, text, shorter):  # otherwise it is part of a value and not politeness
                text = shorter
        text = text.strip()
        if not re.search(r"\w", text):
            return ""
        return text if text == sentence and not self._options.lower_case else self._start(text, values)

    def _start(self, text: str, values: list[str]) -> str:
        """The first letter great or small, unless a value begins there or the word is written in capitals."""
        if any(text.casefold().startswith(v) for v in values) or text[:2].isupper() or re.match(r"I\b", text):
            return text
        first = text[0].lower() if self._options.lower_case else text[0].upper()
        return first + text[1:]


def _kept(values: list[str], before: str, after: str) -> bool:
    """Whether each value stands in both texts equally often."""
    return all(before.casefold().count(v) == after.casefold().count(v) for v in values)


PERSONA = PersonaType(
    name="terse",
    title="Terse",
    changes="Says as little as possible, without greeting or thanks.",
    stays_true="Every fact is told as it is when it is asked for.",
    options=TerseOptions,
    build=lambda options, seed: Terse(options),
)
