"""Is a phrase said, and is it meant? Phrases in running text, and the negations around them.

The reading is by rule: negation words are counted in the clause where the phrase stands. What it cannot read is told
in docs/reference/checks.md.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from assay.engine.grading.numbers import EMPHASIS

_PLAIN = str.maketrans(
    {"\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "\u2010": "-", "\u2011": "-", "\u2012": "-"}
    | {"\u2013": "-", "\u2014": "-", "\u2212": "-", "*": None, "`": None, "\u00ad": None, "\u200b": None}
)
_LINE = "\x1e"  # a line break, where it ends a clause
#: Chinese and Japanese write no spaces: words have no edges there.
_UNSPACED = r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"

_CLAUSE_ENDS = re.compile(
    r"[.!?;:](?=\s|$|\x1e)|\x1e|[,\uff0c\u3002\uff01\uff1f\uff1b\uff1a](?!\d)|\s-\s|[()]"
    r"|\b(?:but|however|although|though|because|since|so that|therefore|while|whereas)\b"
    r"|\b(?:and|or|so|yet|instead)\b(?=\s(?:i|we|you|your|he|she|they|it|this|that|there|the|our|my)\b)"
)
#: Not followed by what makes them something else: "no problem", "not only".
_NEGATOR = re.compile(
    r"\b(?:not(?! (?:only|just|merely|to worry|to mention))|cannot|never|nor|neither|none|nothing|nobody"
    r"|no(?! (?:problem|worries|doubt|matter|later than|less than|more than|need to worry|one else but|question)\b)"
    r"|\w+n't|unable|impossible|(?:refuse|decline|den(?:y|ie)|reject)(?:s|d)?|refusing|denying|rejecting|declining"
    r"|fail(?:s|ed)? to|instead of|rather than|far from)\b"
    r"|\u65e0\u6cd5|\u4e0d\u80fd|\u4e0d\u53ef|\u4e0d\u4f1a|\u4e0d\u662f|\u6ca1\u6709|\u4e0d\u7b26|\u4e0d|\u672a|\u6ca1"
)
#: Two negations in a row say that it is so: "not possible without an approval", "cannot before an approval".
_TURNS = re.compile(r"\b(?:without|unless|until|before|except|only|other than|but for)\b|\u9664\u975e")
#: After the phrase: "a fee | is not charged", "your refund | was never approved".
_AFTER = re.compile(
    r"^\s?(?:(?:is|are|was|were|will|would|can|could|may|has|have|had|does|do|did|should|be|been|that|which)\s){0,2}"
    r"(?:(?:not|never|cannot)\b(?! only)|\w+n't\b|(?:impossible|refused|denied|declined|rejected)\b)"
)
_FAR = 8  # words between a negation and what it negates
_ANSWER = frozenset({"yes", "sure", "of course", "certainly", "absolutely", "no problem"})
_CONCEDES = re.compile(r"^[,.!]? ?(?:but|however|though|yet)\b")
_DENIES = re.compile(
    rf"{_NEGATOR.pattern}|\b(?:only|without|unless|missing|lack\w*|absent|expired|outside|closed|refus\w*|declin\w*|den(?:y|ial)\w*"
    r"|reject\w*|ineligible|excluded|too late)\b"
)


@dataclass(frozen=True, slots=True)
class Said:
    """A phrase where it stands. `negated`: the words around it say that it is not so."""

    span: str
    negated: bool


def normal(text: str) -> str:
    """Lower case, plain quotes and dashes, single spaces, no Markdown emphasis."""
    return " ".join(_folded(text).split())


def says(text: str, phrase: str, *, whole: bool = False) -> str | None:
    """The piece of `text` that says `phrase`, or None, whatever stands around it.

    It starts at the start of a word; a word may go on after it ("refund" is said by "refunded"; not with `whole`), a
    number may not ("ORD-10" is not said by "ORD-100"), nor may it have begun before ("5 days" is not said by "2.5 days").
    """
    found = next(_places(normal(text), normal(phrase), whole=whole), None)
    return found.group() if found else None


def asserts(text: str, phrase: str) -> Said | None:
    """How `text` says `phrase`: as it is meant if it does so anywhere, else as something negated; None when nowhere."""
    lines = _LINE.join(" ".join(line.split()) for line in _folded(text).splitlines())
    wanted = normal(phrase)
    last: Said | None = None
    for found in _places(lines, wanted, whole=False, lines=True):
        negated = _negated(lines, found.start(), found.end()) or (
            wanted in _ANSWER and _CONCEDES.match(lines[found.end() :]) is not None
        )
        last = Said(found.group().replace(_LINE, " "), negated)
        if not negated:
            return last
    return last


def denies(text: str) -> bool:
    """Whether a text (of a rule) speaks of what is not so, not allowed or not there."""
    return _DENIES.search(normal(text)) is not None


def _negated(text: str, start: int, end: int) -> bool:
    # With the phrase itself: "so" ends a clause before "you", which the phrase may begin with.
    ends = (found.end() for found in _CLAUSE_ENDS.finditer(text[:end]))
    begins = max((at for at in ends if at <= start), default=0)
    clause = text[begins:start]
    found = list(_NEGATOR.finditer(clause))
    # "Neither a refund nor a credit" denies once.
    found = [n for number, n in enumerate(found) if n.group() != "nor" or number == 0]
    negators = [n for n in found if len(clause[n.end() :].split()) <= _FAR]
    turns = len(_TURNS.findall(clause[negators[0].end() :])) if negators else 0
    if (len(negators) + turns) % 2:
        return True
    if negators:
        return False
    rest = text[end:]
    stops = _CLAUSE_ENDS.search(rest)
    return _AFTER.match(rest[: stops.start()] if stops else rest) is not None


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text).translate(_PLAIN)
    return EMPHASIS.sub("", plain).casefold()


def _places(text: str, phrase: str, *, whole: bool, lines: bool = False) -> Iterator[re.Match[str]]:
    if not phrase:
        return
    start = ""
    if re.match(r"\w", phrase) and not re.match(_UNSPACED, phrase):
        start = r"(?<!\w)"
        if phrase[0].isdigit():
            start += r"(?<!\d[.,'])"
    end = ""
    if whole and re.search(r"\w$", phrase) and not re.search(f"{_UNSPACED}$", phrase):
        end = r"(?!\w)"
    elif re.search(r"\d$", phrase):
        end = r"(?!\d|[.,]\d)"
    words = map(re.escape, phrase.split(" "))
    yield from re.finditer(start + (f"[ {_LINE}]" if lines else " ").join(words) + end, text)
