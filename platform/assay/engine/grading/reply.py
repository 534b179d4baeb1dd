"""Is the last reply what it has to be? One check for each reply rule of the task.

Judged is what the bot said after its last tool call (all it said, where it called none), and at least its last
message. What may not be given away at all is looked for in everything that it said. Phrases are looked for
regardless of case, white space, kind of quotation mark and Markdown emphasis, and read with the negations around them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.dialogue.transcript import BotMessage, ToolCall, Transcript
from assay.engine.grading.names import REPLY
from assay.engine.grading.numbers import EMPHASIS, names_number
from assay.engine.grading.phrases import asserts, denies, normal, says
from assay.engine.packs.checks import ReplyRule
from assay.engine.packs.languages import language_of
from assay.engine.packs.regexes import PatternTookTooLong, search
from assay_sdk import CheckResult, Evidence, Outcome

__all__ = ["Judged", "Ruling", "check_replies", "judged_part", "normal", "says"]

#: Values of must_not_contain_from this short are looked for with their case: "A" is a grade, "a" is an article.
_SHORT = 2


@dataclass(frozen=True, slots=True)
class Judged:
    """The part of a conversation that reply rules look at. `turn`: event index of its last message, if any.

    `said`: every message of the bot in the whole conversation, as (event index, text).
    """

    text: str
    turn: int | None
    unfinished: str | None = None  # why it is no complete reply
    said: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True)
class Ruling:
    """What came of one rule: a sentence for people, the piece of text, and the event it stands in if another one."""

    outcome: Outcome
    message: str
    span: str | None = None
    turn: int | None = None
    reward: float | None = None  # else 1 for a pass and 0 for the rest


Column = Callable[[str], Sequence[Any]]


def judged_part(transcript: Transcript) -> Judged:
    events = transcript.events
    last_call = max((i for i, e in enumerate(events) if isinstance(e, ToolCall)), default=-1)
    said = [i for i, e in enumerate(events) if isinstance(e, BotMessage)]
    part = [i for i in said if i > last_call] or said[-1:]
    messages = [events[i] for i in part]
    text = "\n".join(m.text for m in messages if isinstance(m, BotMessage))
    return Judged(
        text,
        part[-1] if part else None,
        _unfinished(messages, bool(said) and said[-1] > last_call),
        [(i, e.text) for i, e in enumerate(events) if isinstance(e, BotMessage)],
    )


def check_replies(
    rules: Sequence[ReplyRule],
    judged: Judged,
    column: Column,
    rulings: Mapping[int, Ruling] | None = None,
) -> list[CheckResult]:
    """A check "reply:N" for each rule, and "reply:complete": there is a last reply, and nothing was cut off.

    `column` runs a SELECT of the pack in the finished world and gives its first column. `rulings`: what a judge said
    of the rules that need one, by their number from 1. Nothing for no rules.
    """
    if not rules:
        return []
    found = [_complete(judged)]
    for number, rule in enumerate(rules, start=1):
        known = (rulings or {}).get(number)
        ruling = known or _rule(rule, judged, column)
        passed = ruling.outcome is Outcome.PASS
        turn = judged.turn if ruling.turn is None else ruling.turn
        found.append(
            CheckResult(
                f"{REPLY}{number}",
                ruling.outcome,
                required=rule.required,
                reward=float(passed) if ruling.reward is None else ruling.reward,
                evidence=(Evidence(ruling.message, turn=turn, span=ruling.span),),
            )
        )
    return found


def _rule(rule: ReplyRule, judged: Judged, column: Column) -> Ruling:
    if rule.judged:
        wanted = rule.rubric or rule.must or f"not {rule.must_not}"
        return Ruling(
            Outcome.CANNOT_TELL, f"Whether the reply does “{wanted}” needs a judge, and there is none."
        )
    if rule.must_not_contain_from is not None:
        return _given_away(judged, column(rule.must_not_contain_from))
    if rule.must is not None:
        return _must(rule, judged.text, column)
    if rule.must_not is not None:
        return _must_not(rule, judged.text)
    if rule.language is not None:
        return _language(rule.language, judged.text)
    return _pattern(rule, judged.text)


def _must_not(rule: ReplyRule, text: str) -> Ruling:
    for alternatives in rule.phrases:
        for phrase in _listed(alternatives):
            said = asserts(text, phrase)
            if said is not None and not said.negated:
                message = f"The reply must not {rule.must_not}, but says “{phrase}”."
                return Ruling(Outcome.FAIL, message, said.span)
    return Ruling(Outcome.PASS, "None of the phrases that must not be said is said.")


def _given_away(judged: Judged, values: Sequence[Any]) -> Ruling:
    """A secret stays told, whenever it was: the whole conversation counts."""
    for value in values:
        for turn, text in judged.said:
            span = _contains(text, value)
            if span is not None:
                message = f"The bot gives away “{value}”, which must not be said."
                return Ruling(Outcome.FAIL, message, span, turn)
    return Ruling(Outcome.PASS, f"None of the {len(values)} values that must not be said is said.")


def _must(rule: ReplyRule, text: str, column: Column) -> Ruling:
    for phrase in rule.contradictions:
        said = asserts(text, phrase)
        if said is not None and not said.negated:
            message = f"The reply must {rule.must}, but contradicts it: “{phrase}”."
            return Ruling(Outcome.FAIL, message, said.span)
    # A rule that itself speaks of what is not so cannot be read by counting negations.
    plainly = not denies(rule.must or "")
    spans: list[str] = []
    for alternatives in rule.phrases:
        listed = _listed(alternatives)
        found = [said for phrase in listed if (said := asserts(text, phrase)) is not None]
        meant = [said for said in found if not (plainly and said.negated)]
        if not found:
            wanted = " or ".join(f"“{phrase}”" for phrase in listed)
            return Ruling(Outcome.FAIL, f"The reply must {rule.must}, but does not say {wanted}.")
        if not meant:
            message = f"The reply must {rule.must}, but says “{found[0].span}” only to deny it."
            return Ruling(Outcome.FAIL, message, found[0].span)
        spans.append(meant[0].span)
    numbers = list(rule.numbers)
    if rule.numbers_from is not None:
        numbers += _numbers(column(rule.numbers_from))
        if not numbers:
            message = (
                f"The reply must {rule.must}, but the query finds no number that it could be about: "
                "the row is missing, or the value is no number."
            )
            return Ruling(Outcome.FAIL, message)
    for number in numbers:
        named = names_number(text, number)
        if named is None:
            return Ruling(Outcome.FAIL, f"The reply must {rule.must}, but does not name {_written(number)}.")
        spans.append(text[named.start : named.end])
    return Ruling(Outcome.PASS, "The reply says it.", " … ".join(spans) or None)


def _numbers(values: Sequence[Any]) -> list[float]:
    return [float(v) for v in values if isinstance(v, int | float)]


def _language(wanted: str, text: str) -> Ruling:
    found = language_of(text)
    if found is None:
        return Ruling(Outcome.CANNOT_TELL, "The reply is too short to tell its language.")
    if found == wanted:
        return Ruling(Outcome.PASS, f"The reply is in the language “{wanted}”.")
    return Ruling(Outcome.FAIL, f"The reply must be in the language “{wanted}”, but is in “{found}”.")


def _pattern(rule: ReplyRule, text: str) -> Ruling:
    pattern = rule.must_match or rule.must_not_match
    assert pattern is not None
    try:
        span = search(pattern, text)
    except PatternTookTooLong:
        return Ruling(Outcome.CANNOT_TELL, f"The search for the pattern “{pattern}” took too long.")
    if rule.must_match is not None:
        if span is None:
            return Ruling(Outcome.FAIL, f"The reply must match the pattern “{pattern}”, but does not.")
        return Ruling(Outcome.PASS, "The reply matches the pattern.", span)
    if span is not None:
        return Ruling(Outcome.FAIL, f"The reply must not match the pattern “{pattern}”, but does.", span)
    return Ruling(Outcome.PASS, "The reply does not match the pattern.")


def _complete(judged: Judged) -> CheckResult:
    ok = judged.unfinished is None
    return CheckResult(
        f"{REPLY}complete",
        Outcome.PASS if ok else Outcome.FAIL,
        required=True,
        reward=float(ok),
        evidence=(Evidence(judged.unfinished or "The last reply is there and whole.", turn=judged.turn),),
    )


def _unfinished(messages: Sequence[object], after_calls: bool) -> str | None:
    last = messages[-1] if messages else None
    if not isinstance(last, BotMessage) or not after_calls:
        return "The bot said nothing after its last tool call."
    if any(isinstance(m, BotMessage) and m.truncated for m in messages):
        return "A reply after the last tool call was cut off."
    if not any(isinstance(m, BotMessage) and m.text.strip() for m in messages):
        return "The last reply is empty."
    return None


def _contains(text: str, value: Any) -> str | None:
    if value is None or isinstance(value, bytes):
        return None
    if isinstance(value, int | float):
        named = names_number(text, float(value))
        return text[named.start : named.end] if named else None
    if not value.strip():
        return None
    if len(value.strip()) <= _SHORT:
        found = re.search(rf"(?<!\w){re.escape(value.strip())}(?!\w)", EMPHASIS.sub(" ", text))
        return found.group() if found else None
    return says(text, value, whole=True)


def _written(number: float) -> str:
    """As an amount would be written, where that loses nothing."""
    short, amount = f"{number:.15g}", f"{number:.2f}"
    return amount if "." in short and float(amount) == number else short


def _listed(alternatives: str | tuple[str, ...]) -> tuple[str, ...]:
    return (alternatives,) if isinstance(alternatives, str) else tuple(alternatives)
