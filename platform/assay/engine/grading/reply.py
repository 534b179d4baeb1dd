"""Is the last reply what it has to be? One check for each reply rule of the task.

Judged is what the bot said after its last tool call (all it said, where it called none), and at least its last
message. What may not be given away at all is looked for in everything that it said. Phrases are looked for
regardless of case, white space, kind of quotation mark and Markdown emphasis.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.dialogue.transcript import BotMessage, ToolCall, Transcript
from assay.engine.grading.names import REPLY
from assay.engine.grading.numbers import EMPHASIS, names_number
from assay.engine.packs.models import ReplyRule
from assay_sdk import CheckResult, Evidence, Outcome

#: Values of must_not_contain_from this short are looked for with their case: "A" is a grade, "a" is an article.
_SHORT = 2
_PLAIN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-", "\u2012": "-"}
    | {"\u2013": "-", "\u2014": "-", "\u2212": "-", "*": None, "`": None, "\u00ad": None, "\u200b": None}
)


@dataclass(frozen=True, slots=True)
class Judged:
    """The part of a conversation that reply rules look at. `turn`: event index of its last message, if any.

    `said`: every message of the bot in the whole conversation, as (event index, text).
    """

    text: str
    turn: int | None
    unfinished: str | None = None  # why it is no complete reply
    said: Sequence[tuple[int, str]] = ()


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
    rules: Sequence[ReplyRule], judged: Judged, column: Callable[[str], Sequence[Any]]
) -> list[CheckResult]:
    """A check "reply:N" for each rule, and "reply:complete": there is a last reply, and nothing was cut off.

    `column` runs a SELECT of the pack in the finished world and gives its first column. Nothing for no rules.
    """
    if not rules:
        return []
    found = [_complete(judged)]
    for number, rule in enumerate(rules, start=1):
        turn = judged.turn
        if rule.must_not_contain_from is not None:
            outcome, message, span, turn = _given_away(judged, column(rule.must_not_contain_from))
        else:
            outcome, message, span = _judge(rule, judged.text)
        found.append(
            CheckResult(
                f"{REPLY}{number}",
                outcome,
                required=True,
                reward=1.0 if outcome is Outcome.PASS else 0.0,
                evidence=() if outcome is Outcome.PASS else (Evidence(message, turn=turn, span=span),),
            )
        )
    return found


def says(text: str, phrase: str) -> str | None:
    """The piece of `text` that says `phrase`, or None. It starts at the start of a word; a word may go on
    after it ("refund" is said by "refunded"), a number may not ("ORD-10" is not said by "ORD-100"), nor may it
    have begun before ("5 days" is not said by "2.5 days")."""
    return _find(normal(text), normal(phrase), whole=False)


def normal(text: str) -> str:
    """Lower case, plain quotes and dashes, single spaces, no Markdown emphasis."""
    plain = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return " ".join(EMPHASIS.sub("", plain).casefold().split())


def _judge(rule: ReplyRule, text: str) -> tuple[Outcome, str, str | None]:
    if rule.must is not None:
        return _must(rule, text)
    assert rule.must_not is not None
    for alternatives in rule.phrases:
        for phrase in _listed(alternatives):
            span = says(text, phrase)
            if span is not None:
                return Outcome.FAIL, f"The reply must not {rule.must_not}, but says “{phrase}”.", span
    return Outcome.PASS, "", None


def _given_away(judged: Judged, values: Sequence[Any]) -> tuple[Outcome, str, str | None, int | None]:
    """A secret stays told, whenever it was: the whole conversation counts."""
    for value in values:
        for turn, text in judged.said:
            span = _contains(text, value)
            if span is not None:
                return Outcome.FAIL, f"The bot gives away “{value}”, which must not be said.", span, turn
    return Outcome.PASS, "", None, judged.turn


def _must(rule: ReplyRule, text: str) -> tuple[Outcome, str, str | None]:
    for phrase in rule.contradictions:
        span = says(text, phrase)
        if span is not None:
            return Outcome.FAIL, f"The reply must {rule.must}, but contradicts it: “{phrase}”.", span
    if not rule.phrases and not rule.numbers:
        return (
            Outcome.CANNOT_TELL,
            f"Whether the reply does “{rule.must}” needs a judge, and there is none.",
            None,
        )
    for alternatives in rule.phrases:
        listed = _listed(alternatives)
        if not any(says(text, phrase) is not None for phrase in listed):
            wanted = " or ".join(f"“{phrase}”" for phrase in listed)
            return Outcome.FAIL, f"The reply must {rule.must}, but does not say {wanted}.", None
    for number in rule.numbers:
        if names_number(text, number) is None:
            return Outcome.FAIL, f"The reply must {rule.must}, but does not name {_written(number)}.", None
    return Outcome.PASS, "", None


def _complete(judged: Judged) -> CheckResult:
    ok = judged.unfinished is None
    return CheckResult(
        f"{REPLY}complete",
        Outcome.PASS if ok else Outcome.FAIL,
        required=True,
        reward=float(ok),
        evidence=() if ok else (Evidence(judged.unfinished or "", turn=judged.turn),),
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
    return _find(normal(text), normal(value), whole=True)


def _find(text: str, phrase: str, *, whole: bool) -> str | None:
    if not phrase:
        return None
    start = r"(?<!\w)" if re.match(r"\w", phrase) else ""
    if re.match(r"\d", phrase):
        start += r"(?<!\d[.,'])"
    end = ""
    if whole and re.search(r"\w$", phrase):
        end = r"(?!\w)"
    elif re.search(r"\d$", phrase):
        end = r"(?!\d|[.,]\d)"
    found = re.search(start + re.escape(phrase) + end, text)
    return found.group() if found else None


def _written(number: float) -> str:
    """As an amount would be written, where that loses nothing."""
    short, amount = f"{number:.15g}", f"{number:.2f}"
    return amount if "." in short and float(amount) == number else short


def _listed(alternatives: str | tuple[str, ...]) -> tuple[str, ...]:
    return (alternatives,) if isinstance(alternatives, str) else tuple(alternatives)
