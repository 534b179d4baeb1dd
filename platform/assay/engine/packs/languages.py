"""Which language a text is in: by its script, and by small common words where many languages share the script.

Small, offline and the same on every machine. It tells the languages of LANGUAGES apart in running text, not in a line of
three words, and it does not know others: Catalan looks like Spanish to it.
"""

from __future__ import annotations

import re

_SCRIPTS = {
    "hiragana": r"[\u3040-\u30ff]",
    "han": r"[\u3400-\u4dbf\u4e00-\u9fff]",
    "hangul": r"[\uac00-\ud7af]",
    "cyrillic": r"[\u0400-\u04ff]",
    "greek": r"[\u0370-\u03ff]",
    "arabic": r"[\u0600-\u06ff]",
    "hebrew": r"[\u0590-\u05ff]",
    "devanagari": r"[\u0900-\u097f]",
    "thai": r"[\u0e00-\u0e7f]",
}
_BY_SCRIPT = {
    "ko": "hangul",
    "ru": "cyrillic",
    "el": "greek",
    "ar": "arabic",
    "he": "hebrew",
    "hi": "devanagari",
    "th": "thai",
}
_WORDS = {
    "en": "the and you your is are to of for with that this have has not we i it be can will on in a an was please my from or would",
    "de": "der die das und sie ihre ihr ist sind zu von für mit dass nicht wir ich es ein eine einen den dem auf im haben hat wird kann bitte wurde auch",
    "fr": "le la les et vous votre vos est sont de des du pour avec que ne pas nous je il un une dans sur avez été sera peut merci au ce cette",
    "es": "el la los las y usted su sus es son de del para con que no hemos yo un una en se ha puede está por gracias lo al tiene este",
    "it": "il lo la gli e lei suo sua è sono di del della per con che non abbiamo io un una in ha può stato grazie si al questo nel",
    "pt": "o os as e você seu sua é são de do da para com que não nós eu um uma em foi pode está obrigado ao por no na este",
    "nl": "de het een en u uw is zijn van voor met dat niet wij ik op in heeft hebben kan wordt er aan te dit deze bent ook",
    "pl": "i w z na do nie jest się to że pan pani za po od dla jak może został są oraz proszę ma czy tego przez już",
}
_COMMON = {language: frozenset(words.split()) for language, words in _WORDS.items()}

#: ISO 639-1 codes of what can be told.
LANGUAGES = frozenset({"zh", "ja", *_BY_SCRIPT, *_WORDS})

#: Letters, and common words, below which nothing is said.
_FEW_LETTERS = 4
_FEW_WORDS = 2
_NO_WORDS = re.compile(r"\S*[@\d]\S*|https?:\S+")


def language_of(text: str) -> str | None:
    """The language that most of the text is in, one of LANGUAGES; None when it cannot be told."""
    words = _NO_WORDS.sub(" ", text)
    letters = sum(character.isalpha() for character in words)
    counts = {name: len(re.findall(script, words)) for name, script in _SCRIPTS.items()}
    # One Chinese character says about as much as two letters.
    latin = (letters - sum(counts.values())) / 2
    name = max(counts, key=lambda script: counts[script])
    east = counts["han"] + counts["hiragana"]
    if max(east, counts[name]) > latin and max(east, counts[name]) >= _FEW_LETTERS:
        if east >= counts[name]:
            return "ja" if counts["hiragana"] * 5 > east else "zh"
        return next(language for language, script in _BY_SCRIPT.items() if script == name)
    found = re.findall(r"[^\W\d_]+", words.casefold())
    score = {language: sum(word in common for word in found) for language, common in _COMMON.items()}
    first, second = sorted(score, key=lambda language: -score[language])[:2]
    if score[first] < _FEW_WORDS or score[first] == score[second]:
        return None
    return first
