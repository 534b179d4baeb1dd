"""Simulated users and personas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from pydantic import BaseModel


@dataclass(frozen=True, slots=True)
class Fact:
    key: str
    value: str
    aliases: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Reaction:
    when: str
    match: Sequence[str]
    then: Literal["accept", "refuse", "insist", "give_up", "say"]
    say: str | None = None


@dataclass(frozen=True, slots=True)
class UserScript:
    """All that a simulated user knows. Never the policy, the tools or the expected outcome."""

    opening: str
    goal: str
    facts: Sequence[Fact] = ()
    reactions: Sequence[Reaction] = ()
    follow_ups: Sequence[str] = ()
    closing: str = "Thanks, that is all."


@dataclass(frozen=True, slots=True)
class UserLine:
    """One message of the user. `done`: the user leaves with this line; `gave_up`: unsatisfied.

    `facts_given`: keys of the facts this line gives away.
    """

    text: str
    done: bool = False
    gave_up: bool = False
    facts_given: Sequence[str] = ()


class SimulatedUser(Protocol):
    """One customer for one conversation. Built for a trial from the script, a persona and a seed."""

    async def open(self) -> UserLine: ...

    async def answer(self, bot_message: str) -> UserLine:
        """Answer the bot. Raises SimulatorFault."""
        ...


class Persona(Protocol):
    """Changes how a user talks, never what they know or want. One instance for one conversation."""

    def manner(self, line: UserLine, script: UserScript) -> UserLine:
        """The line as this persona would say it. Must keep every fact value and `done`/`gave_up`."""
        ...


@dataclass(frozen=True, slots=True)
class PersonaType:
    """What `assay_personas` returns. `build(options, seed)` makes a Persona for one conversation."""

    name: str
    title: str
    changes: str  # what it changes, and what stays true
    options: type[BaseModel]
    build: Any  # Callable[[BaseModel, int], Persona]

    def describe(self) -> Mapping[str, Any]:
        return {"name": self.name, "title": self.title}
