"""The part of a conversation that has been: for taking it up again at one of the bot's replies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.engine.dialogue.transcript import (
    BotMessage,
    Event,
    Termination,
    ToolCall,
    Transcript,
    UserMessage,
)
from assay_sdk import AssayError, SimulatedUser


class CannotResume(AssayError):
    """A conversation that cannot be taken up at that moment or by that side; the message says why."""


@dataclass(frozen=True, slots=True)
class Past:
    """What was said and called before the bot's reply number `turn` (from 1). The last event is the customer's line
    that this reply answers. `seed`: of the trial that it comes from, by which its persona was cast."""

    turn: int
    events: tuple[Event, ...]
    seed: int

    @property
    def line(self) -> str:
        """What the customer has just said."""
        last = self.events[-1]
        assert isinstance(last, UserMessage)
        return last.text

    @property
    def history(self) -> tuple[Mapping[str, Any], ...]:
        """For BotContext.history: everything before that line."""
        return tuple(event.as_json() for event in self.events[:-1])

    @property
    def transcript(self) -> Transcript:
        """The calls so far, for making them again."""
        return Transcript(self.events, Termination.USER_DONE)


def cut(transcript: Transcript, turn: int, seed: int, say: str | None = None) -> Past:
    """The conversation up to the bot's reply number `turn`, from 1; with `say`, the customer says that instead of
    their last line. Raises CannotResume."""
    replies = sum(isinstance(event, BotMessage) for event in transcript.events)
    if not 1 <= turn <= replies:
        raise CannotResume(
            f"There is no turn {turn}: the bot replied {replies} time{'s' if replies != 1 else ''}. Turn 1 is before "
            "its first reply."
        )
    kept: list[Event] = []
    seen = 0
    for event in transcript.events:
        if seen == turn - 1 and isinstance(event, UserMessage):
            kept.append(replace(event, text=say, facts_given=(), misstated={}) if say is not None else event)
            return Past(turn, tuple(kept), seed)
        kept.append(event)
        seen += isinstance(event, BotMessage)
    raise CannotResume(f"The customer said nothing before turn {turn}, so there is nothing to answer.")


async def bring_up(user: SimulatedUser, events: Sequence[Event]) -> None:
    """Let a fresh simulated user know the conversation so far. Raises CannotResume; SimulatorFault when the customer
    would have left before."""
    resume = getattr(user, "resume", None)
    if not callable(resume):
        raise CannotResume(
            "This simulated user cannot take up a conversation: it has no resume(). Use the scripted customer or a "
            "model's."
        )
    await resume([event for event in events if not isinstance(event, ToolCall)])
