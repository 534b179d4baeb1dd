"""Plain English as far as a scripted customer needs it: clean text, sentences, phrases, and turns of speech."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

_LONGEST_SENTENCE = 1_000  # characters; keeps every search below short

ITEM = "\x01"  # stands at the start of a line that is an item of a list

_BULLET = re.compile(r"(?m)^[ \t>]*(?:[-*•–+]|\(?\d{1,2}[.)]|\(?[a-z][.)])[ \t]+")
_ASIDE = re.compile(r"\((?!\s*(?:or|and)\b)[^()\n]{0,200}\)")
_YES_NO = re.compile(r"\(?\b(?:yes ?/ ?no|y/n)\b\)?")
_SPACE = re.compile(r"[^\S\n]+")
_PLAIN = (
    (re.compile(r"[*`|\"“”]+"), " "),
    (re.compile(r"_+"), " "),
    (re.compile(r"(?m)^\s*#+\s+"), ""),
    (re.compile(r"#(?!\w)"), " number"),
    (re.compile(r"\be-mail"), "email"),
    (re.compile(r"\b(e\.g|i\.e|etc|approx)\."), r"\1"),
    (re.compile(r"\bcan(?:'t|not| not)\b"), "cannot"),
    (re.compile(r"\bwon't\b"), "will not"),
    (re.compile(r"n't\b"), " not"),
    (re.compile(r"\blet's\b"), "let us"),
    (re.compile(r"\b(what|who|how|it|that|there|where|here|when)'s\b"), r"\1 is"),
    (re.compile(r"'ll\b"), " will"),
    (re.compile(r"'d\b"), " would"),
    (re.compile(r"'re\b"), " are"),
    (re.compile(r"'ve\b"), " have"),
    (re.compile(r"\bi'm\b"), "i am"),
    (re.compile(r"(?<=\w)'s\b|(?<=s)'(?!\w)"), ""),
)


# HYPHEN, NON-BREAKING HYPHEN and MINUS SIGN, which models like to write.
_HYPHENS = str.maketrans(dict.fromkeys("\u2010\u2011\u2212", "-"))


def normal(text: str, *, asides: bool = False) -> str:
    """`text` in lower case, without markdown and contractions; ITEM marks list items.

    What stands in parentheses is left out unless `asides`: "(you find it in the e-mail)" asks for no e-mail.
    """
    text = (
        text.lower()
        .translate(_HYPHENS)
        .replace("’", "'")
        .replace("\N{LEFT SINGLE QUOTATION MARK}", "'")
        .replace("\r", "\n")
        .replace(ITEM, " ")
    )
    text = _BULLET.sub(ITEM, _YES_NO.sub(" yes or no ", text))
    if not asides:
        text = _ASIDE.sub(" ", text)
    for pattern, plain in _PLAIN:
        text = pattern.sub(plain, text)
    return _SPACE.sub(" ", text)


_WORD = re.compile(r"\d+(?:[.,]\d+)*|\w+|%")


def words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(normal(text)))


@lru_cache(maxsize=4096)
def phrase(text: str, stems: bool = False) -> re.Pattern[str] | None:
    """Finds `text` in normal text: whole words, in singular or plural, and equal numbers (25 is 25.00).

    With `stems`, words of five letters or more may go on: "refund" finds "refunded". None when it has no word.
    """
    parts = [_number(w) if w[0].isdigit() else _stem(w) if stems else _in_number(w) for w in words(text)]
    if not parts:
        return None
    found = r"[\s\-/]+".join(parts).replace(r"[\s\-/]+%", r"\s*%")
    return re.compile(
        rf"(?<![\w.,])(?:{found})(?!\w)" if parts[0][0].isdigit() else rf"(?<!\w)(?:{found})(?!\w)"
    )


def _stem(word: str) -> str:
    return re.escape(word) + r"\w*" if word.isalpha() and len(word) >= 5 else _in_number(word)


def _number(text: str) -> str:
    """193.5 as it may be written: 193.5, 193.50; 1290 also 1,290 and 1290.00."""
    match = re.fullmatch(r"(\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?", text)
    if match is None:
        return re.escape(text)
    whole, cents = match[1].replace(",", ""), (match[2] or "").rstrip("0")
    groups = [whole[max(0, end - 3) : end] for end in range(len(whole), 0, -3)][::-1]
    return ",?".join(groups) + (rf"\.{cents}0*" if cents else r"(?:\.0+)?") + r"(?![.,]?\d)"


def _in_number(word: str) -> str:
    stem = re.escape(word)
    if not word.isalpha() or len(word) < 3:
        return stem
    if word.endswith("ies") and len(word) > 4:
        return re.escape(word[:-3]) + "(?:y|ies)"
    if word.endswith("y") and word[-2] not in "aeiou":
        return re.escape(word[:-1]) + "(?:y|ies)"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return re.escape(word[:-2]) + "(?:es)?"
    if word.endswith(("ss", "x", "ch", "sh", "z")):
        return stem + "(?:es)?"
    if word.endswith(("us", "is")):
        return stem
    return re.escape(word[:-1]) + "s?" if word.endswith("s") else stem + "s?"


# Where a new question or request starts inside a sentence.
_START = (
    r"(?:(?:could|can|would|will|may|shall|should|did|do|have|are) (?:you|i|we)\b|please (?=\w)|kindly "
    r"|what (?!a\b|you\b|we\b|i\b|it\b)\w|(?:is|was|has|are|were) (?:it|that|this|there|the|your)\b"
    r"|(?:i|we) (?:will |would |also |do |just )*need\b|let me know\b|(?:when|where|why)(?: exactly)? (?:did|do|does|was|is|will)\b"
    r"|how (?:did|do|does|was|is|can|may|many|much|long|often|far)\b|who (?:is|was|did|will|has|were|are)\b|which )"
)
_SPLIT = re.compile(
    rf"(?:[,;]|\s[-–—])\s+(?:(?:and|but|also|then|so|or) )*(?={_START})(?!which (?:is|you|was|we|i|can|will|has)\b)"
    rf"|\s(?:and|but|then)\s(?:also |then )*(?={_START})"
)
# The same for the first half of a sentence that ends as a question: "From which day, and do you have ...?"
_STARTS = re.compile(
    rf"\s*(?:(?:and|but|also|then|so|or|well|ok|okay|sure)[, ]+)*(?:{_START}"
    r"|(?:from|to|on|at|in|for|by|with|until|since|under|of|about) (?:which|what|whose|how|when)\b"
    r"|(?:has|have|had|did|does|is|was|are|were) (?:he|she|they|you|any|anybody|anyone|somebody|someone)\b)"
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+")


def clauses(line: str) -> Iterator[tuple[str, bool]]:
    """The clauses of one line of normal text, each with whether it is a question."""
    for whole in _SENTENCE.split(line):
        sentence = whole.strip()[:_LONGEST_SENTENCE]
        if not sentence:
            continue
        asking = sentence.endswith("?")
        parts = _SPLIT.split(sentence)
        for number, part in enumerate(parts, 1):
            # "Your order is late, and what is your name?": only the second half is the question.
            yield part.strip(), asking and (number == len(parts) or bool(_STARTS.match(part)))
