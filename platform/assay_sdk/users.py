"""Simulated users and personas."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
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

    `facts_given`: keys of the facts whose value this line says. `misstated`: facts of which it says another value,
    with that value.
    """

    text: str
    done: bool = False
    gave_up: bool = False
    facts_given: Sequence[str] = ()
    misstated: Mapping[str, str] = field(default_factory=dict)


class SimulatedUser(Protocol):
    """One customer for one conversation. Built for a trial from the script, a persona and a seed."""

    async def open(self) -> UserLine: ...

    async def answer(self, bot_message: str) -> UserLine:
        """Answer the bot. Raises SimulatorFault."""
        ...


class Liberty(StrEnum):
    """What a persona may do beyond the manner of speaking. It declares what it needs; the engine refuses the rest."""

    LEAVE = "leave"  # gives up (`gave_up`) where the script would go on
    MISSTATE = (
        "misstate"  # says another value of a fact first (Role.misstates), the right one once challenged
    )
    WITHHOLD = "withhold"  # says a fact later than asked: once each, asked again it is told
    ADD = "add"  # asks or claims things beyond the script; what it may say stands in Role.extra
    STAY = "stay"  # says one more thing where the script would leave, twice at most
    LANGUAGE = "language"  # speaks another language; the values of facts stay as written


@dataclass(frozen=True, slots=True)
class Role:
    """A script as one persona plays it, for one conversation.

    `script`: opening, follow-ups, reactions and closing may be other than the task's, the goal and the facts not.
    `instructions`: how to play it, for a model, in the second person. `misstates`: fact key to the value that is
    said wrongly at first (MISSTATE). `extra`: texts that may be said beyond the script (ADD); ids, amounts, dates and
    names in them are allowed to this user.
    """

    script: UserScript
    instructions: str = ""
    misstates: Mapping[str, str] = field(default_factory=dict)
    extra: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Situation:
    """What the scripted user understood of the bot's message before it says a line.

    `line`: number of the line, 0 is the opening, for which the rest is empty. `asked`: keys of the facts asked for.
    `claimed`: facts of which the bot named a value, with whether it is the right one (None: cannot be told).
    `not_found`: it says that a look-up found nothing. `consent`: it asks for a yes. `settled`: it says that something
    was done or refused. `finished`: it asks whether there is anything else, or says goodbye. `waiting`: it is about to
    do something. `new`: it brings the matter on (asks for a fact not told yet, sets off a reaction, asks for a yes or
    settles something, and is no repetition).
    """

    script: UserScript
    bot_message: str = ""
    line: int = 0
    asked: Sequence[str] = ()
    claimed: Mapping[str, bool | None] = field(default_factory=dict)
    not_found: bool = False
    consent: bool = False
    settled: bool = False
    finished: bool = False
    waiting: bool = False
    new: bool = False


class Persona(Protocol):
    """How a user plays a script; never what they know or want. One instance for one conversation."""

    def begin(self, script: UserScript) -> Role:
        """The script as this persona plays it. Called once, before anything else."""
        ...

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        """The scripted user's line in this manner. Called for every line in order, the opening included."""
        ...


def fits_every_task(script: UserScript) -> str | None:
    """The `not_for` of a persona that can play any script."""
    return None


def as_it_is(bot_message: str) -> str:
    """The `hears` of a persona that understands what everybody understands."""
    return bot_message


@dataclass(frozen=True, slots=True)
class PersonaType:
    """What `assay_personas` returns. `build(options, seed)` makes a Persona for one conversation.

    `changes` and `stays_true`: one sentence each, shown beside results. `not_for(script)`: why this persona cannot
    play a task (one sentence), or None; such a task is left out of a run with it and listed as not tried.
    `hears(bot_message)`: the gist of a message in the English that the scripted user reads, for a persona of another
    language (LANGUAGE); values stay as they are, and what it cannot read stays as it is.
    """

    name: str
    title: str
    changes: str
    stays_true: str
    options: type[BaseModel]
    build: Callable[[Any, int], Persona]
    liberties: frozenset[Liberty] = frozenset()
    not_for: Callable[[UserScript], str | None] = fits_every_task
    hears: Callable[[str], str] = as_it_is

    def describe(self) -> Mapping[str, Any]:
        return {"name": self.name, "title": self.title}
