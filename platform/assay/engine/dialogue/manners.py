"""A persona playing a script, held to the liberties it declares.

A persona changes how something is said. What is said stays the script's, but for the liberties of its `PersonaType`:
taking one that was not declared is a fault of the plugin and never of the bot.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache

from pydantic import BaseModel

from assay.engine.blame import blamed, in_time
from assay.engine.dialogue.asking import LONGEST_READ
from assay.engine.dialogue.known import known
from assay.engine.dialogue.values import found_in
from assay_sdk import Liberty, Persona, PersonaType, PluginFault, Role, Situation, UserLine, UserScript
from assay_sdk.users import as_it_is

MOST_WITHHELD = 1  # times that one fact may be held back; asked again it is told
MOST_STAYING = 2  # times in a conversation that a persona may say one more thing instead of leaving

# Values that a bot could take for the customer's own.
_FIRM = frozenset(("id", "placeholder", "number", "date", "mail", "street", "digits"))
# Letters of writing systems that no English text is written in.
OTHER_LETTERS = re.compile(r"[\u0370-\u1fff\u2e80-\ud7ff\uf900-\ufdff\ufe70-\ufeff]")


def cast(kind: PersonaType, options: BaseModel | None, seed: int, script: UserScript) -> Part:
    """`kind` built for one conversation and given its script. Raises PluginFault."""
    with blamed(f"persona {kind.name}"):
        return _cast(kind, options, seed, script)


def _cast(kind: PersonaType, options: BaseModel | None, seed: int, script: UserScript) -> Part:
    try:
        persona: Persona = in_time(f"persona {kind.name}", lambda: kind.build(options, seed))
    except PluginFault:
        raise
    except Exception as error:
        raise PluginFault(
            f"The persona {kind.name!r} could not be built: {type(error).__name__}: {error}"
        ) from error
    for method in ("begin", "shape"):
        if not callable(getattr(persona, method, None)):
            raise PluginFault(f"The persona {kind.name!r} built something that has no {method}().")
    return Part(kind.name, persona, kind.liberties, script, kind.hears)


def misfit(kind: PersonaType, script: UserScript) -> str | None:
    """Why `kind` cannot play `script`, in one sentence, or None. Raises PluginFault when the plugin breaks."""
    part = f"persona {kind.name}"
    try:
        why = in_time(part, lambda: kind.not_for(script))
    except PluginFault as fault:
        fault.part = part
        raise
    except Exception as error:
        raise PluginFault(
            f"not_for() of the persona {kind.name!r} raised {type(error).__name__}: {error}", part=part
        ) from error
    if why is not None and not (isinstance(why, str) and why.strip()):
        raise PluginFault(
            f"not_for() of the persona {kind.name!r} returned {why!r}, not a sentence or None.", part=part
        )
    return why


class Part:
    """One persona in one conversation. `role`: the script as it plays it. Raises PluginFault, also when made."""

    def __init__(
        self,
        name: str,
        persona: Persona,
        liberties: frozenset[Liberty],
        script: UserScript,
        hears: Callable[[str], str] = as_it_is,
    ) -> None:
        self.name = name
        self._part = f"persona {name}"
        self.liberties = liberties
        self._persona = persona
        self._script = script
        self._hears = hears
        self._stayed = 0
        if hears is not as_it_is and Liberty.LANGUAGE not in liberties:
            raise self._fault("reads the bot's messages its own way", Liberty.LANGUAGE)
        # Facts whose value this user may say: those of the opening, and those asked for until now.
        self._open = {f.key for f in script.facts if stands(f.value, script.opening)}
        self._withheld: dict[str, int] = {}
        self._wrong: set[str] = set()  # misstated and not yet challenged
        self._challenged: set[str] = set()
        self.role = self._begin()
        # What stands in the script, in the conversation, or is named beforehand: other values are made up.
        self._known = known(
            (
                *(text for fact in script.facts for text in (fact.key, fact.value, *fact.aliases)),
                *_texts(script),
                *_texts(self.role.script),
                *self.role.misstates.values(),
                *self.role.extra,
            )
        )

    def say(self, line: UserLine, situation: Situation) -> UserLine:
        """`line` as the persona says it. `facts_given` of the result tells whose values stand in the text."""
        with blamed(self._part):
            return self._say(line, situation)

    def _say(self, line: UserLine, situation: Situation) -> UserLine:
        try:
            said = in_time(self._part, lambda: self._persona.shape(line, situation))
        except PluginFault:
            raise
        except Exception as error:
            raise PluginFault(f"The persona {self.name} raised {type(error).__name__}: {error}") from error
        if not isinstance(said, UserLine) or not isinstance(said.text, str):
            raise self._fault(f"returned a {type(said).__name__}, not a UserLine")
        if line.text.strip() and not said.text.strip():
            raise self._fault(f"made an empty line of {line.text!r}")
        self._open.update((*situation.asked, *line.facts_given))
        self._known.add(situation.bot_message[:LONGEST_READ])
        self._known.add(line.text)
        left = self._leaves(line, said)
        misstated = self._misstated(said, situation)
        for fact in self._script.facts:
            self._fact(fact.key, fact.value, line, said, left=left, wrongly=fact.key in misstated)
        self._language(line.text, said.text)
        # Chatter may name a neighbour or a weekday; what could pass for a fact may not be made up.
        made_up = next(
            (v.text for v in found_in(said.text) if v.key[0] in _FIRM and v not in self._known), None
        )
        if made_up is not None:
            raise self._fault(f"says {made_up!r}, which stands neither in the script nor in Role.extra")
        given = self._given(line, said)
        return replace(said, facts_given=given, misstated=misstated)

    def read_back(self, bot_message: str) -> dict[str, bool]:
        """Facts that this user has said wrongly and whose wrong value the bot repeats, each with False."""
        return {
            key: False
            for key, wrong in self.role.misstates.items()
            if key in self._wrong and stands(wrong, bot_message)
        }

    def hear(self, bot_message: str) -> str:
        """The bot's message in the English that the scripted user reads."""
        if self._hears is as_it_is:
            return bot_message
        try:
            heard = in_time(self._part, lambda: self._hears(bot_message))
        except PluginFault as fault:
            fault.part = self._part
            raise
        except Exception as error:
            raise PluginFault(
                f"hears() of the persona {self.name} raised {type(error).__name__}: {error}", part=self._part
            ) from error
        if not isinstance(heard, str):
            raise self._fault(f"returned a {type(heard).__name__} from hears(), not text")
        return heard

    # --- the role -------------------------------------------------------------------------------

    def _begin(self) -> Role:
        try:
            role = in_time(self._part, lambda: self._persona.begin(self._script))
        except PluginFault:
            raise
        except Exception as error:
            raise PluginFault(f"The persona {self.name} raised {type(error).__name__}: {error}") from error
        if not isinstance(role, Role) or not isinstance(role.script, UserScript):
            raise self._fault(f"returned a {type(role).__name__} from begin(), not a Role")
        if tuple(role.script.facts) != tuple(self._script.facts) or role.script.goal != self._script.goal:
            raise self._fault("changed the facts or the goal of the script; a persona may change neither")
        if not role.script.opening.strip() or not role.script.closing.strip():
            raise self._fault("left the opening or the closing of the script empty")
        self._role_facts(role)
        self._role_liberties(role)
        return role

    def _role_facts(self, role: Role) -> None:
        for fact in self._script.facts:
            before = stands(fact.value, self._script.opening)
            after = stands(fact.value, role.script.opening)
            if before and not after and Liberty.WITHHOLD not in self.liberties:
                raise self._fault(f"dropped {fact.key!r} from the opening", Liberty.WITHHOLD)
            if after and not before and telling(fact.value):
                raise self._fault(f"gave away {fact.key!r} in the opening")

    def _role_liberties(self, role: Role) -> None:
        values = {fact.key: fact.value for fact in self._script.facts}
        if role.misstates and Liberty.MISSTATE not in self.liberties:
            raise self._fault("wants to say facts wrongly", Liberty.MISSTATE)
        for key, wrong in role.misstates.items():
            if key not in values:
                raise self._fault(f"wants to say {key!r} wrongly, which is no fact of the script")
            if not wrong.strip() or stands(values[key], wrong):
                raise self._fault(f"gives no other value for {key!r}")
        if role.extra and Liberty.ADD not in self.liberties:
            raise self._fault("wants to say things beyond the script", Liberty.ADD)
        self._language(self._script.opening, role.script.opening)
        self._language(self._script.closing, role.script.closing)

    # --- a line ---------------------------------------------------------------------------------

    def _leaves(self, line: UserLine, said: UserLine) -> bool:
        """Whether the persona gives up here, which the script would not."""
        if (bool(said.done), bool(said.gave_up)) == (line.done, line.gave_up):
            return False
        if line.done and not line.gave_up and not said.done and not said.gave_up:
            if Liberty.STAY not in self.liberties:
                raise self._fault("stays where the customer would leave", Liberty.STAY)
            if self._stayed >= MOST_STAYING:
                raise self._fault(f"stays where the customer would leave for more than {MOST_STAYING} times")
            self._stayed += 1
            return False
        if line.done or line.gave_up or not said.gave_up:
            raise self._fault("changed whether the customer leaves; it may only give up early")
        if Liberty.LEAVE not in self.liberties:
            raise self._fault("changed whether the customer leaves", Liberty.LEAVE)
        return True

    def _misstated(self, said: UserLine, situation: Situation) -> dict[str, str]:
        """What the line says wrongly, checked."""
        for key in list(self._wrong):
            if situation.claimed.get(key) is False or situation.not_found:
                self._challenged.add(key)
                self._open.add(key)  # the right value may be said, although nobody asked for it by name
        misstated = dict(said.misstated)
        for key, wrong in misstated.items():
            if self.role.misstates.get(key) != wrong:
                raise self._fault(f"says {key!r} wrongly in a way that its role does not name")
            if not stands(wrong, said.text):
                raise self._fault(f"reports a wrong value of {key!r} that is not in its line")
            if key in self._challenged:
                raise self._fault(f"says {key!r} wrongly again after it was found to be wrong")
            self._wrong.add(key)
        for key, wrong in self.role.misstates.items():
            if (
                key not in misstated
                and stands(wrong, said.text)
                and telling(wrong)
                and key not in self._wrong
            ):
                raise self._fault(f"says {key!r} wrongly without reporting it in `misstated`")
        return misstated

    def _fact(
        self, key: str, value: str, line: UserLine, said: UserLine, *, left: bool, wrongly: bool
    ) -> None:
        before, after = stands(value, line.text), stands(value, said.text)
        told = before and (key in line.facts_given or telling(value))  # a "Yes." may stand there by chance
        if told and not after and not left and not wrongly:
            if Liberty.WITHHOLD not in self.liberties:
                raise self._fault(
                    f"dropped the value of {key!r}; it must stand in the line as it is", Liberty.WITHHOLD
                )
            if line.done or line.gave_up or self._withheld.get(key, 0) >= MOST_WITHHELD:
                raise self._fault(f"held {key!r} back again, though it was asked for twice")
            self._withheld[key] = self._withheld.get(key, 0) + 1
        if after and not before and key not in self._open and telling(value):
            raise self._fault(f"gave away {key!r}, which the line does not tell")

    def _given(self, line: UserLine, said: UserLine) -> tuple[str, ...]:
        """Keys of the facts that the said line tells, those of the plain line first."""
        strange = set(said.facts_given) - set(line.facts_given) - self._open
        if strange:
            raise self._fault(f"changed which facts the line gives: {', '.join(sorted(strange))}")
        told = {f.key for f in self._script.facts if stands(f.value, said.text)}
        sure = {f.key for f in self._script.facts if telling(f.value)} & self._open
        return tuple(
            dict.fromkeys(k for k in (*line.facts_given, *said.facts_given, *sorted(sure)) if k in told)
        )

    def _language(self, before: str, after: str) -> None:
        if Liberty.LANGUAGE in self.liberties or Liberty.ADD in self.liberties:
            return
        if OTHER_LETTERS.search(after) and not OTHER_LETTERS.search(before):
            raise self._fault("speaks another language", Liberty.LANGUAGE)

    def _fault(self, what: str, liberty: Liberty | None = None) -> PluginFault:
        undeclared = f", a liberty ({liberty.value}) that it has not declared" if liberty else ""
        return PluginFault(f"The persona {self.name} {what}{undeclared}.", part=self._part)


def _texts(script: UserScript) -> tuple[str, ...]:
    said = (reaction.say or "" for reaction in script.reactions)
    return (script.opening, script.goal, script.closing, *script.follow_ups, *said)


def stands(value: str, text: str) -> bool:
    """Whether `value` stands whole in `text`, letter by letter: ORD-7 does not stand in ORD-71."""
    return bool(value) and _whole(value).search(text) is not None


@lru_cache(maxsize=4096)
def _whole(value: str) -> re.Pattern[str]:
    # ASCII only: in Chinese no space parts a value from the words around it.
    before = r"(?<![A-Za-z0-9])" if value[:1].isalnum() else ""
    after = r"(?![A-Za-z0-9])" if value[-1:].isalnum() else ""
    return re.compile(before + re.escape(value) + after)


def telling(value: str) -> bool:
    """Whether the value cannot stand in a line by chance, as "no" or "blue" can."""
    return len(value) > 8 or any(c.isdigit() for c in value)
