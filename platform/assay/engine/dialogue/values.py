"""The concrete values in a text: ids, amounts, dates, names and addresses, in a form that can be compared.

English, and the figures of any text: dates, amounts and ids are found in Chinese too, names are not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from assay.engine.dialogue.common_words import CAPITALISED, COMMON, NOT_A_NAME, NUMBER_WORDS

What = Literal["id", "amount", "date", "name", "address"]

MONTHS = (
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
)
_MONTH = "(?:" + "|".join(rf"{m[:3]}(?:{m[3:]}|t)?" if len(m) > 3 else m for m in MONTHS) + r")\b\.?"
DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAY = "(?:" + "|".join(DAYS) + ")"
_ORDINAL = r"(?:st|nd|rd|th)?"
_SMALL = NUMBER_WORDS[:20]
_TENS = NUMBER_WORDS[20:28]
NUMBER_WORD = "(?:" + "|".join(NUMBER_WORDS) + ")"
_MONEY_WORD = r"(?:dollars?|bucks|euros?|pounds?|cents?|usd|eur|gbp|chf|francs?|percent|per cent)"

_FLAGS = re.IGNORECASE | re.ASCII  # ASCII: in Chinese no space parts a figure from the words around it
# Bounded, and begun only where a word begins: a bot may write anything, and a lot of it.
_MAIL = re.compile(
    r"(?<![a-z0-9._%+'-])[a-z0-9._%+'-]{1,64}@[a-z0-9.-]{1,190}\.[a-z]{2,24}(?![a-z0-9])", _FLAGS
)
_LINK = re.compile(r"(?:https?://|www\.)[^\s<>\"')]+", _FLAGS)
_STREET = re.compile(
    r"\b\d{1,5}[a-z]?,? (?:[A-Z][\w'.-]{0,30},? ){1,4}(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Court|Ct|Boulevard|"
    r"Blvd|Way|Place|Pl|Square|Sq|Terrace|Crescent|Parkway|Highway|Close|Row|Alley)\b"
)
_DATES = (
    re.compile(r"\b(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})\b", _FLAGS),
    re.compile(r"(?P<y>\d{4})\s*年\s*(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*日", _FLAGS),
    re.compile(r"(?P<m>\d{1,2})\s*月\s*(?P<d>\d{1,2})\s*[日号]", _FLAGS),
    re.compile(r"\b(?P<a>\d{1,2})[-/.](?P<b>\d{1,2})[-/.](?P<y>\d{4}|\d{2})\b", _FLAGS),
    re.compile(
        rf"\b(?P<d>\d{{1,2}}){_ORDINAL}(?: of)?[ -]+(?P<n>{_MONTH})(?:,?[ -]+(?P<y>\d{{4}}))?", _FLAGS
    ),
    re.compile(
        rf"\b(?P<n>{_MONTH})[ -]+(?:the )?(?P<d>\d{{1,2}}){_ORDINAL}\b(?:,?[ -]+(?P<y>\d{{4}}))?", _FLAGS
    ),
    re.compile(rf"\b(?P<n>{_MONTH})[ ,]+(?:of )?(?P<y>\d{{4}})\b", _FLAGS),
)
_MONTH_LAST = re.compile(
    rf"\b(\d{{1,2}}){_ORDINAL}( ?(?:,|and|or|to|until|through|&|-|–) ?(?:the )?\d{{1,2}}){_ORDINAL}(?: of)? ({_MONTH}(?:,? \d{{4}})?)",
    _FLAGS,
)
_MONTH_FIRST = re.compile(
    rf"\b({_MONTH}) (?:the )?(\d{{1,2}}){_ORDINAL} ?(and|or|to|until|through|&|-|–) ?(?:the )?(\d{{1,2}}){_ORDINAL}(?![\d.])",
    _FLAGS,
)
_DAY_ONLY = re.compile(r"\b(?:the )(\d{1,2})(?:st|nd|rd|th)\b", _FLAGS)
# "May" is a word of its own.
_MONTH_ONLY = re.compile(
    rf"\b(?:(?:in|of|since|until|by|last|next|this|early|late|mid|end of|for|from) (?P<may>may)\b"
    rf"|(?P<n>{'|'.join(m for m in MONTHS if m not in ('may', 'march'))})\b|(?:in|of|since|until|last|next|this) (?P<mar>march)\b)",
    _FLAGS,
)
_WEEKDAY = re.compile(rf"\b(?P<day>{_DAY})s?\b", _FLAGS)
_RELATIVE = re.compile(
    rf"\b(?:yesterday|the day before yesterday|(?:last|next) (?:night|week|weekend|month|year|summer|winter|spring|autumn|fall)"
    rf"|(?:\d+|{NUMBER_WORD}|a|a few|a couple of|several) (?:hours?|days?|weeks?|months?|years?) (?:ago|back|earlier))\b",
    _FLAGS,
)
_CLOCK = re.compile(
    r"\b(?P<h>\d{1,2})(?:[:.](?P<min>\d{2}))? ?(?P<half>[ap])\.?m\b\.?|\b(?P<h2>[01]?\d|2[0-3]):(?P<min2>[0-5]\d)\b",
    _FLAGS,
)
_MONEY_IN_WORDS = re.compile(
    rf"\b(?P<words>{NUMBER_WORD}(?:[ -](?:and )?{NUMBER_WORD}){{0,8}}) {_MONEY_WORD}\b", _FLAGS
)
_PHONE = re.compile(r"(?<![\w+])\+?\(?\d[\d ()./-]{5,}\d(?!\w)", re.ASCII)
_ID = re.compile(
    r"(?<![A-Za-z0-9])(?=[A-Za-z0-9#/_.-]{0,60}\d)(?=[A-Za-z0-9#/_.-]{0,60}[A-Za-z])[A-Za-z0-9]+(?:[#/_.-]?[A-Za-z0-9]+)*"
)
_ORDER = re.compile(
    r"\d+(?:st|nd|rd|th)|\d+s|\d+x|x\d+|\d+-(?:day|night|week|month|year|hour|minute|step|digit|factor)s?",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![A-Za-z0-9.,])(?P<sign>[$€£¥])?\s?(?P<n>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
)
# Small figures that count what is said and not what is known.
_TALK = re.compile(
    r"\b(?:\d|24/7|100 ?%)(?= (?:questions?|things?|points?|requests?|items? (?:i|that)|times?|minutes?|seconds?|more)\b)|24/7|100 ?%"
    r"|(?:number|option|step|point|one of) \d\b|(?m:^\s*\(?\d[.)](?=\s))",
    re.IGNORECASE,
)
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_SENTENCE_END = re.compile(r"(?:^|[.!?:;\n\"“”()*•–—…]|\s-|-\s)\s*$")
_NAMED = re.compile(
    r"\b(?:my|the|his|her|account holder['’]?s?|full|first|last|sur)[ -]?name(?:['’]s| is|:)\s+((?:[^\W\d_]+[ -]?){1,3})"
    r"|^\s*name:\s*((?:[^\W\d_]+[ -]?){1,3})",
    re.IGNORECASE | re.MULTILINE,
)
# What is said of a person.
_AS_A_PERSON = re.compile(
    r" (?:says?|said|told|tells|thinks|wants|knows|knew|drove|promised|approved|agreed|asked|confirmed|signed|wrote|ordered|bought"
    r"|(?:can|could|will|would) (?:confirm|tell|explain|vouch|approve|help|sign)|has (?:approved|confirmed|agreed|said|told|signed|promised))\b"
)
_PLACEHOLDER = re.compile(
    r"[\[<{](?:your|my|the|customer|insert|order|account|name|e-?mail|phone|number|address|date|amount|first|last|full)\b[^\]>}\n]{0,40}[\]>}]"
    r"|\b[xX]{4,}\b|\bX{2,}-?X{2,}\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Value:
    """One concrete value. `key` is equal for the same value written in two ways (but see known.Known)."""

    what: What
    text: str
    key: tuple[str, ...]


@lru_cache(maxsize=2048)
def found_in(text: str) -> tuple[Value, ...]:
    """The concrete values of `text`, each once. Bounded by the length of the text."""
    finding = _Finding(text)
    return tuple(dict.fromkeys(finding.all()))


def without_mails(text: str) -> str:
    """`text` without its e-mail addresses."""
    return _MAIL.sub(" ", text)


class _Finding:
    """One text, of which each part is taken once: what is a date is no number as well."""

    def __init__(self, text: str) -> None:
        text = text.replace("’", "'").replace("\N{NO-BREAK SPACE}", " ")
        # "23 and 24 March 2026" names two dates.
        self._left = _MONTH_FIRST.sub(r"\1 \2 \3 \1 \4", _MONTH_LAST.sub(r"\1 \3 \2 \3", text))
        self._found: list[Value] = []

    def all(self) -> list[Value]:
        self._take(_PLACEHOLDER, lambda m: Value("id", m[0], ("placeholder", m[0].casefold())))
        self._take(_MAIL, lambda m: Value("address", m[0], ("mail", m[0].casefold().rstrip("."))))
        self._take(_LINK, lambda m: Value("address", m[0], ("mail", m[0].casefold().rstrip(".,;"))))
        self._take(_STREET, lambda m: Value("address", m[0], ("street", *m[0].casefold().split())))
        for pattern in _DATES:
            self._take(pattern, _dated)
        self._take(_RELATIVE, lambda m: Value("date", m[0], ("phrase", " ".join(m[0].casefold().split()))))
        self._take(_CLOCK, _clock)
        self._take(_TALK, lambda m: None, keep=True)
        self._take(_MONEY_IN_WORDS, _money_in_words)
        self._take(_DAY_ONLY, lambda m: Value("date", m[0], ("day", m[1])))
        self._take(_MONTH_ONLY, _month)
        self._take(_WEEKDAY, lambda m: Value("date", m[0], ("weekday", m["day"].casefold())))
        self._take(_PHONE, _phone)
        self._take(_ID, _identity)
        self._take(_NUMBER, lambda m: Value("amount", m[0].strip(), ("number", figure(m["n"]))))
        self._names()
        return self._found

    def _take(
        self, pattern: re.Pattern[str], make: Callable[[re.Match[str]], Value | None], *, keep: bool = False
    ) -> None:
        def replace(match: re.Match[str]) -> str:
            value = make(match)
            if value is None and not keep:
                return match[0]
            if value is not None:
                self._found.append(value)
            return "\x00" * len(match[0])

        self._left = pattern.sub(replace, self._left)

    def _names(self) -> None:
        for match in _NAMED.finditer(self._left):
            for word in (match[1] or match[2]).split():
                if word.casefold() in NOT_A_NAME or word.casefold() in COMMON:
                    break
                self._found.append(Value("name", word, ("name", bare(word))))
        shouting = sum(c.isupper() for c in self._left) > 0.6 * max(1, sum(c.isalpha() for c in self._left))
        for match in WORD.finditer(self._left):
            word = match[0]
            if not word[0].isupper() or shouting:
                continue
            plain = bare(word)
            if plain in CAPITALISED or plain in COMMON or plain in NUMBER_WORDS or len(plain) < 2:
                continue
            if _SENTENCE_END.search(self._left[: match.start()][-4:]) and not self._alone(match):
                continue
            self._found.append(Value("name", word, ("name", plain)))

    def _alone(self, match: re.Match[str]) -> bool:
        """Whether the word that begins a sentence is all of it, or is followed by another name."""
        after = self._left[match.end() :]
        if re.match(r"\s*(?:[.!?\n]|$)", after) or _AS_A_PERSON.match(after):
            return True
        following = re.match(r" ([^\W\d_]+(?:['-][^\W\d_]+)*)", after)
        return (
            following is not None
            and following[1][0].isupper()
            and bare(following[1]) not in COMMON | CAPITALISED
        )


# --- reading one value ------------------------------------------------------------------------------


def _dated(match: re.Match[str]) -> Value | None:
    parts = match.groupdict()
    year = parts.get("y")
    if year is not None and len(year) == 2:
        year = ("19" if int(year) > 40 else "20") + year
    if "a" in parts:
        first, second = int(parts["a"]), int(parts["b"])
        if not (1 <= first <= 31 and 1 <= second <= 31) or (first > 12 and second > 12):
            return None
        # 02/10/2026 may be either; both are kept.
        return Value("date", match[0], ("date", year or "", str(first), str(second), "either"))
    month = _month_number(parts["n"]) if "n" in parts else int(parts["m"])
    day = parts.get("d")
    if not 1 <= month <= 12 or (day is not None and not 1 <= int(day) <= 31):
        return None
    return Value("date", match[0].strip(), ("date", year or "", str(month), str(int(day)) if day else ""))


def _month_number(name: str) -> int:
    return next(n for n, m in enumerate(MONTHS, 1) if m.startswith(name.casefold()[:3]))


def _month(match: re.Match[str]) -> Value:
    name = match["n"] or match["may"] or match["mar"]
    return Value("date", match[0], ("month", str(_month_number(name))))


def _clock(match: re.Match[str]) -> Value | None:
    hour = int(match["h"] or match["h2"])
    minute = match["min"] or match["min2"] or "00"
    half = (match["half"] or "").casefold()
    if hour > 24:
        return None
    if half == "p" and hour < 12:
        hour += 12
    return Value("date", match[0], ("time", str(hour), minute))


def _money_in_words(match: re.Match[str]) -> Value | None:
    number = read(match["words"])
    return None if number is None else Value("amount", match[0], ("number", str(number)))


def _phone(match: re.Match[str]) -> Value | None:
    digits = re.sub(r"\D", "", match[0])
    separated = re.search(r"[ ()./-]", match[0].strip()) is not None
    if not separated or len(digits) < 7 or re.search(r"\d\.\d|\d{1,3}(?:,\d{3})+", match[0]):
        return None
    return Value("address", match[0].strip(), ("digits", digits))


def _identity(match: re.Match[str]) -> Value | None:
    if _ORDER.fullmatch(match[0]):
        return None
    return Value("id", match[0], ("id", re.sub(r"[^a-z0-9]", "", match[0].casefold())))


def figure(text: str) -> str:
    whole, _, cents = text.replace(",", "").partition(".")
    cents = cents.rstrip("0")
    return (whole.lstrip("0") or "0") + (f".{cents}" if cents else "")


def read(text: str) -> int | None:
    total = current = 0
    for word in re.split(r"[ -]+", text.casefold()):
        if word == "and":
            continue
        if word in _SMALL:
            current += _SMALL.index(word)
        elif word in _TENS:
            current += (_TENS.index(word) + 2) * 10
        elif word == "hundred":
            current = max(1, current) * 100
        elif word == "thousand":
            total, current = total + max(1, current) * 1000, 0
        else:
            return None
    return total + current


def bare(word: str) -> str:
    return re.sub(r"'s$|'$", "", word.replace("’", "'").casefold())
