"""What the reference bots say: short, friendly, and such that the task's reply rules hold (or surely do not)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
#: "say that a fee of 5.00 was charged" -> "a fee of 5.00 was charged"
_TELLING = re.compile(
    r"^(?:say|state|explain|mention|confirm|tell (?:the customer|them)|inform the customer|make clear)(?: that)? ",
    re.IGNORECASE,
)

#: Ways to ask whether there is more; the first that the rules do not forbid is used.
CLOSERS = (
    "Is there anything else I can help you with?",
    "Do you have any other questions?",
    "Can I help you with something else?",
)
_OPENERS = (
    "I have taken care of this for you.",
    "I have looked into this for you.",
    "Thank you for your patience.",
)
#: How the last reply begins when it breaks off.
_CUT = (
    "I have now gone through everything, and what I can tell you is that",
    "As for what you asked,",
    "So,",
)


class Wording:
    """The lines for one task. `rules`: its reply rules as in the pack format."""

    def __init__(self, rules: Sequence[Mapping[str, Any]]) -> None:
        self._musts = [r for r in rules if r.get("must") is not None]
        listed = [p for r in rules if r.get("must_not") is not None for p in _alternatives(r)]
        self._forbidden = [*listed, *(c for r in self._musts for c in r.get("contradictions", ()))]
        # A rule without phrases and numbers is for a judge; what it will say is not known here.
        self._known = all(r.get("phrases") or r.get("numbers") for r in self._musts)

    def ask(self, keys: Sequence[str], *, again: bool = False) -> str:
        """The question for some facts. `again`: what was said until now led to nothing, which the customer is told."""
        lead = (
            "I could not find anything with what you gave me"
            if again
            else "Of course, I will help you with that. I need some details first"
        )
        return "\n".join([f"{lead}. Could you please give me the following?", *(f"- {key}" for key in keys)])

    def answer(self) -> str:
        """The reply that the rules ask for."""
        return self._said(self._first_allowed(_OPENERS), *map(self._statement, self._musts))

    def contradicted(self) -> str | None:
        """That reply with the opposite of one of its statements; None when no rule names an opposite."""
        rule = next((r for r in self._musts if r.get("contradictions")), None) if self._known else None
        if rule is None:
            return None
        opposite = str(rule["contradictions"][0])
        return self._said(
            self._first_allowed(_OPENERS), *map(self._statement, self._musts), f"To be exact, {opposite}."
        )

    def cut(self) -> str | None:
        """A reply that breaks off before it says what it must; None when no rule asks for anything."""
        if not self._known:
            return None
        for text in _CUT:
            everything = " ".join((text, *CLOSERS))
            if any(not satisfies(rule, everything) for rule in self._musts) and not self._breaks(everything):
                return text
        return None

    def more(self) -> str:
        """What is said when everything is done."""
        return self._first_allowed(CLOSERS)

    def _said(self, *sentences: str) -> str:
        return " ".join([*sentences, self.more()])

    def _statement(self, rule: Mapping[str, Any]) -> str:
        plain = _TELLING.sub("", str(rule["must"])).strip()
        sentence = f"{plain[:1].upper()}{plain[1:]}."
        if satisfies(rule, sentence) and not self._breaks(sentence):
            return sentence
        phrases = [
            next((p for p in _listed(item) if not self._breaks(p)), _listed(item)[0])
            for item in rule.get("phrases", ())
        ]
        said = ", ".join(phrases) or "The figures"
        numbers = ", ".join(written(n) for n in rule.get("numbers", ()))
        return f"{said[:1].upper()}{said[1:]}{': ' + numbers if numbers else ''}."

    def _first_allowed(self, ways: Sequence[str]) -> str:
        return next((text for text in ways if not self._breaks(text)), ways[-1])

    def _breaks(self, text: str) -> bool:
        plain = _plain(text)
        return any(_plain(phrase) in plain for phrase in self._forbidden)


def satisfies(rule: Mapping[str, Any], text: str) -> bool:
    """Whether a text says every phrase and names every number of a `must` rule, word for word."""
    plain = _plain(text)
    if any(all(_plain(p) not in plain for p in _listed(item)) for item in rule.get("phrases", ())):
        return False
    named = [float(n.replace(",", "")) for n in _NUMBER.findall(text)]
    return all(any(abs(n - wanted) < 1e-9 for n in named) for wanted in rule.get("numbers", ()))


def written(number: float) -> str:
    """A number as a bot would write it: 3, 1.50, 0.125."""
    if float(number).is_integer():
        return f"{number:.0f}"
    return f"{number:.2f}" if round(number, 2) == number else f"{number}"


def _alternatives(rule: Mapping[str, Any]) -> Iterator[str]:
    for item in rule.get("phrases", ()):
        yield from _listed(item)


def _listed(item: Any) -> list[str]:
    return [item] if isinstance(item, str) else [str(p) for p in item]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())
