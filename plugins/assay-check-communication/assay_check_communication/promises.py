"""Promises that the bot could not keep: what it said would happen and did nothing for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay_check_communication.deeds import DEEDS
from assay_check_communication.record import Record
from assay_check_communication.texts import Sentence

_I_WILL = r"\b(?:i|we)(?:'ll|\s+will|'m going to|\s+am going to|'re going to|\s+are going to)\s+(?:\w+ly\s+|also\s+|now\s+|then\s+)*"
_SOMEBODY_WILL = (
    r"\b(?:someone|somebody|a (?:colleague|manager|supervisor|specialist|representative|person|human|member of \w+ team)"
    r"|(?:our|the|my) (?:\w+ )?(?:team|department|manager|supervisor|colleagues?|specialists?|agents?))(?:'ll|\s+will|\s+is going to)\s+"
)
_LATER = r"(?:get back|come back|reach out|follow[- ]up|be in touch|call|phone|ring|contact|e-?mail|notify|keep you (?:posted|updated|informed)|update you|let you know|inform you|remind|check back|monitor|keep an eye)"
#: What comes about only outside of the conversation. It takes a record by which somebody, or something, goes on.
_AFTERWARDS = re.compile(rf"(?:{_I_WILL}|{_SOMEBODY_WILL}){_LATER}\b")
#: Within the conversation after all: "I'll let you know in a moment", "I will call up your order".
_AT_ONCE = re.compile(
    r"\b(?:in a (?:moment|second|minute)|right away|shortly|one moment|now|as soon as i|once i|when i|if you|call (?:up|the tool)|check|here)\b"
)
_RECORDS = ("ticket", "case", "escalat", "hand", "transfer", "callback", "call_back", "e?mail", "notif", "contact", "messag",
            "send", "sent", "follow", "remind", "alert", "note", "request", "incident", "task", "queue", "review", "claim")  # fmt: skip
#: The infinitives of the deeds.
_VERBS = {
    "refund|reimburse|repay": "refunded|reimbursed|repaid", "credit": "credited", "cancel|terminate": "cancell?ed|terminated",
    "book|rebook|reserve": "re-?booked|booked|reserved", "reschedule|schedule": "re-?scheduled|scheduled",
    "replace|exchange": "replaced|exchanged", "upgrade|downgrade": "upgraded|downgraded", "extend": "extended",
    "renew": "renewed", "waive": "waived", "unlock|unblock": "unlocked|unblocked|unfrozen",
    "ship|dispatch": "shipped|dispatched", "escalate": "escalated", "reset": "reset",
}  # fmt: skip
_DEED = re.compile(rf"{_I_WILL}(?:go ahead and\s+|get\s+)?(?P<verb>{'|'.join(_VERBS)})\b")
_RECEIVE = re.compile(
    r"\byou(?:'ll|\s+will|\s+should)\s+(?:receive|get|see|have)\s+(?:your|the|a|an)\s+(?:\w+\s+){0,2}?(?P<noun>refund|credit|replacement)\b"
    r"|\byou(?:'ll|\s+will)\s+be\s+(?:fully\s+)?(?P<done>refunded|reimbursed|credited)\b"
)
_NOUNS = {"refund": "refunded|reimbursed|repaid", "credit": "credited", "replacement": "replaced|exchanged"}
_CONDITION = re.compile(
    r"\b(?:if|once|when|after|as soon as|unless|should you|provided|in case|before|would you like|shall i|let me know|whether|not|n't|cannot)\b|\w+n't\b"
)


@dataclass(frozen=True, slots=True)
class Promise:
    """`stems`: what the database would show it by. `afterwards`: somebody has to act after the conversation."""

    sentence: Sentence
    said: str
    stems: tuple[str, ...]
    afterwards: bool = False


def promises_in(sentence: Sentence) -> Iterator[Promise]:
    """What a sentence promises without a condition. Offers and questions promise nothing."""
    text = sentence.plain
    if sentence.asks or _CONDITION.search(text):
        return
    if (found := _AFTERWARDS.search(text)) and not _AT_ONCE.search(text):
        yield Promise(sentence, found.group(), _RECORDS, afterwards=True)
    for found in _DEED.finditer(text):
        deed = next(deed for verb, deed in _VERBS.items() if re.fullmatch(verb, found["verb"]))
        yield Promise(sentence, found.group(), DEEDS[deed])
    for found in _RECEIVE.finditer(text):
        deed = _NOUNS[found["noun"]] if found["noun"] else _done(found["done"])
        yield Promise(sentence, found.group(), DEEDS[deed])


def broken(promise: Promise, record: Record, termination: str) -> str | None:
    """A sentence that says why it was not kept, or None. A promise may be kept before or after it is given."""
    if record.did(promise.stems, record.writes()):
        return None
    if promise.afterwards:
        if termination == "bot_handover":
            return None
        return "the conversation left no record by which anybody would"
    if record.read(promise.stems, before=promise.sentence.turn) and _is_receipt(promise):
        return None  # it was under way before the conversation
    return "nothing of the kind was written"


def _is_receipt(promise: Promise) -> bool:
    return promise.said.startswith("you")


def _done(said: str) -> str:
    return next(deed for deed in DEEDS if re.fullmatch(deed, said))


def unkept(found: Sequence[Promise], record: Record, termination: str) -> list[tuple[Promise, str]]:
    return [(p, why) for p in found if (why := broken(p, record, termination)) is not None]
