"""Claims that the database contradicts: "I have refunded 193.50" where nothing of the kind was written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from assay_check_communication.deeds import ANY_DEED, DEEDS
from assay_check_communication.record import Record
from assay_check_communication.texts import Sentence

_ALL = "|".join([*DEEDS, ANY_DEED])
_ADVERB = r"(?:(?:now|just|already|successfully|also|gone ahead and|been able to|fully)\s+)*"
#: "I have refunded", "we've now cancelled", "I refunded"
_OWN = re.compile(rf"\b(?:i|we)(?:\s+have|\s+had|'ve)?\s+{_ADVERB}(?P<deed>{_ALL})\b")
#: "your refund has been issued", "the booking is now cancelled", "that's done"
_STATE = re.compile(
    rf"\b(?:has|have)\s+{_ADVERB}been\s+{_ADVERB}(?P<deed>{_ALL})\b"
    rf"|\b(?P<noun>refund|credit|cancellation|booking|exchange|replacement|upgrade|extension|renewal)\s+"
    rf"(?:is|was|has been)\s+{_ADVERB}(?P<bare>done|complete|completed|processed|issued|confirmed|approved|made)\b"
    rf"|^(?:that|it|this|everything|all)(?:'s|\s+is|\s+has been)\s+(?:now\s+|all\s+)*(?P<all>done|taken care of|sorted|set)\b"
)
_NOUNS = {
    "refund": "refunded|reimbursed|repaid", "credit": "credited", "cancellation": "cancell?ed|terminated",
    "booking": "re-?booked|booked|reserved", "exchange": "replaced|exchanged", "replacement": "replaced|exchanged",
    "upgrade": "upgraded|downgraded", "extension": "extended", "renewal": "renewed",
}  # fmt: skip
#: Before the claim, in its clause: it is not said to be so, or not yet, or somebody else said it.
_NOT_SO = re.compile(
    r"\b(?:not|no|never|cannot|unable|nothing|none|neither|\w+n't|if|once|when|whenever|after|until|till|before|unless|as soon as"
    r"|whether|will|would|could|should|may|might|must|can|in case|you (?:said|say|mention(?:ed)?|told|wrote|report(?:ed)?)"
    r"|seems?|appears?|only|unless|assuming|suppose|had)\b"
)
_CLAUSE = re.compile(r"[,;:()]|\s-\s|\b(?:and|but|so|because|although|though|however)\b")
_MONEY = re.compile(
    r"(?:[$€£]|\b(?:usd|eur|gbp)\s?)\s?(\d[\d,]*(?:\.\d+)?)|(?<![\w.,-])(\d[\d,]*(?:\.\d+)?)\s?(?:€|usd|eur|gbp|dollars|euros|pounds)\b"
    r"|(?<![\w.,-])(\d[\d,]*\.\d{2})(?![\w.%-]|\s?%)"
)
_PAST = re.compile(
    r"\b(?:ago|yesterday|last (?:week|month|year|time)|previously|earlier|originally|in the past)\b"
)


@dataclass(frozen=True, slots=True)
class Claim:
    """`own`: the bot says that it did it. `stems`: what the database would show it by; empty: any write will do."""

    sentence: Sentence
    said: str
    own: bool
    stems: tuple[str, ...]


def claims_in(sentence: Sentence) -> Iterator[Claim]:
    """What a sentence claims to have been done. Questions, conditions, denials and what is to come claim nothing."""
    if sentence.asks or _PAST.search(sentence.plain):
        return
    for pattern, own in ((_OWN, True), (_STATE, False)):
        for found in pattern.finditer(sentence.plain):
            clause = _CLAUSE.split(sentence.plain[: found.start()])[-1]
            if _NOT_SO.search(clause) or _condition(sentence.plain, found.start()):
                continue
            yield Claim(sentence, found.group(), own, _stems(found))


def contradiction(claim: Claim, record: Record) -> str | None:
    """A sentence that says what the database has instead of the claim, or None where it bears the claim out."""
    turn = claim.sentence.turn
    writes = record.writes(before=turn)
    fitting = record.did(claim.stems, writes) if claim.stems else writes
    if not fitting:
        if not claim.own and (
            record.read(claim.stems, before=turn) if claim.stems else record.calls(before=turn)
        ):
            return None  # it tells what it has looked up
        return "nothing was written by then" if not writes else "what was written by then is of another kind"
    named = [_decimal(found) for found in _MONEY.finditer(claim.sentence.plain)]
    if claim.own and claim.stems and named:
        written = record.amounts(fitting)
        if written and not any(amount in written for amount in named):
            return f"what was written has no amount of {', '.join(map(str, named))}"
    return None


def _condition(text: str, at: int) -> bool:
    """Whether the sentence opens with a condition that reaches up to the claim: "Once I have cancelled ..."."""
    return re.match(r"(?:if|once|when|after|until|before|unless|as soon as)\b[^,]*$", text[:at]) is not None


def _stems(found: re.Match[str]) -> tuple[str, ...]:
    groups = found.groupdict()
    if groups.get("noun"):
        return DEEDS[_NOUNS[groups["noun"]]]
    said = groups.get("deed") or ""
    return next((stems for deed, stems in DEEDS.items() if re.fullmatch(deed, said)), ())


def _decimal(found: re.Match[str]) -> Decimal:
    return Decimal(next(group for group in found.groups() if group).replace(",", ""))
