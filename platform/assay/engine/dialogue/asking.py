"""What a bot's message asks of a customer, found by rule: which facts, consent, whether it is finished.

English. A fact counts as asked for when its key or an alias is what a question or request is about. A
statement that mentions it ("Your order number is ...") asks nothing, nor does an offer ("Shall I cancel your
order?"). A *short form* of a fact, an alias that names less than the fact ("order" beside "order number"),
counts only where it is itself the thing asked for ("Which order?", "your order, please"), since it also stands
in every other question about the matter.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from assay.engine.dialogue import turns_of_speech as speech
from assay.engine.dialogue.wording import ITEM, clauses, normal, phrase, words
from assay_sdk import Fact

LONGEST_READ = 20_000  # characters of a message that the customer reads


@dataclass(frozen=True, slots=True)
class Understood:
    """What a message asks for. `facts`: indices of the facts asked for, in the order of the message."""

    facts: tuple[int, ...] = ()
    claimed: tuple[tuple[int, str], ...] = ()  # facts for which it names a value, with the text that names it
    offered: tuple[int, ...] = ()  # facts that a proposal speaks of: "Shall I use your e-mail address?"
    unknown: bool = False  # asks for something that is none of the facts
    consent: bool = False  # asks for a yes
    choice: bool = False  # asks for one of several
    open: bool = False  # asks what it is all about
    finished: bool = False  # asks whether there is anything else, or says goodbye
    settled: bool = False  # says that something was done, or cannot be done
    waiting: bool = False  # says that it is about to do something
    not_found: bool = False  # says that a look-up found nothing

    @property
    def asks(self) -> bool:
        """Whether anything is asked, but for whether there is more to do."""
        return bool(self.facts) or self.unknown or self.consent or self.choice or self.open


@dataclass(frozen=True, slots=True)
class Mention:
    """A fact's key or alias in a clause."""

    fact: int
    start: int
    end: int
    short: bool


def understand(message: str, facts: Sequence[Fact]) -> Understood:
    """Read one message of a bot, of any length; what comes after LONGEST_READ characters is not read."""
    reading = _Reading(_forms(tuple((f.key, tuple(f.aliases)) for f in facts)))
    text = normal(message[:LONGEST_READ])
    for line in text.split("\n"):
        if line.strip(f" {ITEM}"):
            reading.line(line)
    return Understood(
        facts=tuple(dict.fromkeys(reading.asked)),
        claimed=tuple(reading.claims),
        offered=tuple(dict.fromkeys(reading.offered)),
        unknown=reading.unknown,
        consent=reading.consent,
        choice=reading.choice,
        open=reading.open or (reading.announced and not reading.asked and not reading.unknown),
        finished=reading.finished,
        settled=bool(speech.SETTLED.search(text)),
        waiting=bool(speech.WAITING.search(text)),
        not_found=bool(speech.NOT_FOUND.search(text)),
    )


def mentions_in(clause: str, facts: Sequence[Fact]) -> list[Mention]:
    """Where a clause of normal text names facts, in order; `Mention.fact` is the index in `facts`."""
    return _forms(tuple((f.key, tuple(f.aliases)) for f in facts)).find(clause)


class _Reading:
    """One message while it is read, line by line."""

    def __init__(self, forms: Forms) -> None:
        self._forms = forms
        self.asked: list[int] = []
        self.unknown = self.consent = self.choice = self.open = self.finished = False
        self.announced = False  # "I need some details"
        self.claims: list[tuple[int, str]] = []
        self.offered: list[int] = []
        self._before: list[Mention] = []  # mentions of the clause before
        self._leads = False  # the line before asked for what the list after it names

    def line(self, line: str) -> None:
        item = line.startswith(ITEM)
        leads = self._leads
        for clause, question in clauses(line.lstrip(ITEM)):
            self._leads = item and leads  # of two sentences in a line the last one decides
            mentions = self._forms.find(clause)
            self.claims += _claims(clause, mentions)
            if not (item and leads and self._item(clause, question, mentions)):
                self._clause(clause, question, mentions, item)
            self._before = mentions or self._before

    def _item(self, clause: str, question: bool, mentions: list[Mention]) -> bool:
        """An item of a list that a request has announced: it need not be a sentence."""
        if question or speech.REQUEST.search(clause):
            return False
        if mentions:
            self.asked += [m.fact for m in mentions]
        else:
            self.unknown = True
        return True

    def _clause(self, clause: str, question: bool, mentions: list[Mention], item: bool) -> None:
        if speech.FINISHED.search(clause):
            self.finished = True
            return
        offer = speech.OFFER.search(clause)
        if offer and not speech.ASKS_WHAT.match(clause[: offer.start()]):
            self._offer(clause, offer, mentions, item)
            return
        question = question or bool(speech.QUESTION.match(clause))
        request = speech.REQUEST.search(clause)
        if request is None and question:
            request = speech.REQUEST_IN_QUESTION.search(clause)
        if request is None and not question:
            self.asked += _bare(clause, mentions)
            return
        found = _requested(clause, request, mentions, self._before) if request else []
        if question and not found:
            found = _questioned(clause, mentions)
        if not found and question and speech.PREFER.search(clause):
            # "I can send a label or a van. Which do you prefer?"
            found = [m.fact for m in self._before if not m.short]
            self.choice = self.choice or not found
            self.asked += found
        elif found:
            self.asked += found
            # "I need two things, the order number among them:" may still go on as a list.
            self._leads = self._leads or (not item and clause.endswith(":"))
        elif speech.OPEN.search(clause):
            self.open = True
            self._leads = not item
        elif request and speech.CHECKS.search(request[0]):
            self._confirm()
            self._leads = not item
        elif request and "verify" in request[0]:  # "I need to verify your identity" announces what follows
            self._leads = not item
        elif not item and speech.ANNOUNCES.search(clause):
            self._leads = self.announced = True
        else:
            self._leads = not item
            self.unknown = True

    def _offer(self, clause: str, offer: re.Match[str], mentions: list[Mention], item: bool) -> None:
        self.offered += [m.fact for m in mentions if not m.short]
        if speech.RIGHT.search(clause):
            self._confirm()
        elif speech.OR.search(clause, offer.end()):
            found = [m.fact for m in mentions if not m.short and m.start >= offer.start()]
            self.asked += found
            self.choice = self.choice or not found
            self._leads = not item
        else:
            self.consent = True

    def _confirm(self) -> None:
        """It asks whether what it said is right: the values it named, or the whole of it."""
        self.asked += [fact for fact, _ in self.claims]
        self.consent = self.consent or not self.claims


# --- facts in a clause ------------------------------------------------------------------------------


def _requested(
    clause: str, request: re.Match[str], mentions: list[Mention], before: list[Mention]
) -> list[int]:
    """Facts that are the object of a request: "could you give me your name and order number?"."""
    shown = speech.SHOWN_BY.match(clause, request.end())
    start = shown.end() if shown else request.end()
    if speech.EMBEDDED.match(clause, start):
        # "Tell me whether the box is open": what follows is a question.
        return _questioned(clause, [m for m in mentions if m.start >= start])
    if pronoun := speech.PRONOUN.match(clause, start):
        # "If you have your order number, could you send it?" One thing, or all of them.
        earlier = [m for m in mentions if m.end <= request.start()] or before
        several = pronoun[1] in ("them", "those", "these", "both", "all")
        return [m.fact for m in (earlier if several else earlier[:1])]
    cut = speech.CUT.search(clause, start)
    end = cut.start() if cut else len(clause)
    found = []
    for m in mentions:
        if start <= m.start < end:
            ahead = clause[start : m.start]
            if speech.WHICH.search(ahead) or not (speech.OF_SOMETHING.search(ahead) or _describes(clause, m)):
                found.append(m.fact)
    return found


def _claims(clause: str, mentions: list[Mention]) -> list[tuple[int, str]]:
    """Facts of which the clause says a value: "your order number is ORD-7"; with what is said up to the next."""
    found = []
    for m in mentions:
        if speech.CLAIMED.match(clause, m.end):
            end = min((o.start for o in mentions if o.start >= m.end), default=len(clause))
            found.append((m.fact, clause[m.end : end]))
    return found


def _questioned(clause: str, mentions: list[Mention]) -> list[int]:
    """Facts that a question is about: any full mention, or a short form behind "which", or standing alone."""
    found = [
        m.fact
        for m in mentions
        if not m.short
        or (speech.WHICH.search(clause[: m.start]) and speech.ENDS_OR_DOES.match(clause, m.end))
    ]
    return found or _alone(clause, mentions)


def _bare(clause: str, mentions: list[Mention]) -> list[int]:
    """Facts asked for without a verb: "Your order number, please." or, as in a form, "Order number:"."""
    if mentions and (clause.rstrip(".!").endswith("please") or clause.endswith(":")):
        return _alone(clause, mentions)
    return []


def _alone(clause: str, mentions: list[Mention]) -> list[int]:
    rest = clause
    for m in reversed(mentions):
        rest = rest[: m.start] + rest[m.end :]
    return [m.fact for m in mentions] if speech.NOTHING_ELSE.fullmatch(rest) else []


def _describes(clause: str, mention: Mention) -> bool:
    """Whether a short form only describes the next word ("order" in "order date") or is a subject."""
    return mention.short and not speech.ENDS_A_NAME.match(clause, mention.end)


@dataclass(frozen=True, slots=True)
class Form:
    """One way in which a fact can be named. `start`: letters that every match begins with."""

    fact: int
    start: str
    pattern: re.Pattern[str]
    short: bool


@dataclass(frozen=True, slots=True)
class Forms:
    each: tuple[Form, ...]

    def find(self, clause: str) -> list[Mention]:
        """Mentions in order. Of two that overlap only the longer counts: "order date" is no "order"."""
        found = {
            Mention(form.fact, m.start(), m.end(), form.short)
            for form in self.each
            if form.start in clause  # a customer may have dozens of aliases, and few of them are ever there
            for m in form.pattern.finditer(clause)
        }
        kept = [
            m
            for m in found
            if not any(
                o.start <= m.start and m.end <= o.end and o.end - o.start > m.end - m.start for o in found
            )
        ]
        return sorted(kept, key=lambda m: (m.start, m.end, m.fact, m.short))


@lru_cache(maxsize=512)
def _forms(facts: tuple[tuple[str, tuple[str, ...]], ...]) -> Forms:
    each = []
    for number, (key, aliases) in enumerate(facts):
        names = [words(name) for name in (key, *aliases)]
        for name, said in zip((key, *aliases), names, strict=True):
            pattern = phrase(name)
            if pattern is not None:
                short = name != key and any(_names_less(said, other) for other in names)
                # The end of a word differs with its number, and a figure may be grouped.
                start = said[0][: max(1, len(said[0]) - 3)] if said[0].isalpha() else said[0][:1]
                each.append(Form(number, start, pattern, short))
    return Forms(tuple(each))


def _names_less(said: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether `said` is part of `other` without what `other` is about: "order" in "order number", where
    "number" would be in it, or "condition" in "box condition"."""
    if not set(said) < set(other):
        return False
    head = other[-1]
    for ahead, word in itertools.pairwise(other):
        if word in speech.PREPOSITIONS:
            head = ahead
            break
    return head not in said
