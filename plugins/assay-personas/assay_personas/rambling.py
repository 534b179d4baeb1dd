"""The rambling persona: the customer who wraps every answer in chatter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from assay_personas.speech import in_turn, told
from assay_sdk import PersonaType, Role, Situation, UserLine, UserScript

# Nothing here may sound like a yes, a no, a request or a fact of any task: weather, tea, a cat, a pair of glasses.
_HELLO = (
    (
        "Hello, good morning, I hope I am right here. I have been meaning to write for days, and then one thing came up "
        "after the other, you know how that is."
    ),
    (
        "Hi there! I hope you are having a better day than I am, it has been raining here without a break and I have not "
        "even had my tea."
    ),
    (
        "Good day to you. I never know how to begin these messages, my neighbour always says that I begin with Adam and "
        "Eve, so I will try to be brief."
    ),
)
_BEFORE = (
    "Let me see, where did I put my glasses. Ah, on my head, of course.",
    "Bear with me, the cat is sitting on the keyboard again.",
    "Oh, I had a feeling that this would come up. I was saying so at breakfast.",
    "Well, I am not the quickest with these things, my fingers are too big for the keys.",
    "Right, right. Where were we? The kettle is whistling in the next room and I cannot hear myself think.",
    "You know, in the old days one simply went to a counter and talked to a person.",
)
_AFTER = (
    "It really is a funny thing with the weather this year, isn't it?",
    "I do hope that I am typing this in the right box.",
    "My neighbour has the radio on so loudly again, it is a wonder that I can think at all.",
    "I always write such things down on the back of an envelope, and then I look for the envelope.",
    "But there I go again, I am rambling.",
    "Anyway, you will know best what to make of it.",
)
# How one fact after the other is told. The value follows a space or a colon and is followed by a full stop.
_LEADS = (
    "So, what you want to know, the {key}: {value}",
    "Then the {key}, wait, here it is: {value}",
    "And as for the {key}, that would be this: {value}",
)
_GOODBYE = (
    "I will go and see about that kettle now. Take good care of yourself, and keep dry if it rains where you are!",
    "Well, I have kept you long enough with my stories.",
)


class RamblingOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    sentences: Annotated[int, Field(ge=1, le=3)] = Field(
        default=1, description="How much chatter stands before and after what matters, from 1 to 3."
    )


class Rambling:
    def __init__(self, options: RamblingOptions, seed: int) -> None:
        self._sentences = options.sentences
        self._hello, self._goodbye = in_turn(_HELLO, seed), in_turn(_GOODBYE, seed)
        self._before, self._after = in_turn(_BEFORE, seed), in_turn(_AFTER, seed + 1)

    def begin(self, script: UserScript) -> Role:
        return Role(
            script,
            "You ramble. Around whatever you have to say you chat about the weather, your cat, your tea, your "
            "glasses or the neighbour's radio, two to four sentences in each message, and the thing that matters "
            "stands somewhere in the middle. The chatter never holds a number, a name, a date or anything that "
            "bears on your request, and you still answer what you are asked.",
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        if line.done or line.gave_up:
            return replace(line, text=f"{line.text} {next(self._goodbye)}")
        before = next(self._hello) if situation.line == 0 else self._some(self._before)
        what = _in_sentences(line, situation.script)
        return replace(line, text=f"{before} {what} {self._some(self._after)}")

    def _some(self, chatter: Iterator[str]) -> str:
        return " ".join(dict.fromkeys(next(chatter) for _ in range(self._sentences)))


def _in_sentences(line: UserLine, script: UserScript) -> str:
    """The text as somebody tells it who does not fill in forms."""
    said, leads = [], iter(_LEADS)
    for part in line.text.split("\n"):
        fact = told(part, line, script)
        if fact is None:
            said.append(part)
        else:
            said.append(next(leads, "And the {key}: {value}").format(key=fact[0], value=fact[1]))
    return " ".join(part if part[-1:] in ".!?" else f"{part}." for part in said if part)


PERSONA = PersonaType(
    name="rambling",
    title="Rambling",
    changes="Wraps every answer in chatter about the weather, the cat and the neighbours.",
    stays_true="What the customer wants and knows stands in each message as it is; the chatter bears on nothing.",
    options=RamblingOptions,
    build=Rambling,
)
