"""The customer who writes Simplified Chinese and reads Chinese and English."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from pydantic import BaseModel, ConfigDict, Field

from assay_personas.chinese_words import CLOSING, FOLLOW_UP, MATTERS, NAMES, OPENING, SAYING, SENTENCES
from assay_sdk import Liberty, PersonaType, Role, Situation, UserLine, UserScript

_LETTERS = re.compile(r"[\u4e00-\u9fff]")
_PARTS = re.compile(r"[^。！？；!?;]+[。！？；!?;]?")
_ITEM = re.compile(r"\s*(?:[-*•]|\d{1,2}[.、)）])\s*")
_ABOUT = re.compile(r"About the (.+?): (.+)")
_LABEL = re.compile(r"([A-Z][^:\n]{0,60}): (.+)")
_TEXT = re.compile(r"[A-Za-z0-9$€£][\w@.,:/+$€£%-]*")

_BOT_NAMES = [
    (said, english)
    for said, english in sorted(
        ((said, english) for english, ways in NAMES.items() for said in ways), key=lambda p: -len(p[0])
    )
]
_QUESTION = re.compile(
    r"[？?]|请问|请(?:您|先)?(?:再)?(?:提供|告诉|告知|给|输入|说明|发送|核对|检查|重新)|需要(?:您的|知道|了解|核实|确认)|麻烦(?:您|提供)|能否|能不能|是什么|是多少"
)
_LIST = re.compile(r"以下|如下|下列|下面")
_FINISHED = re.compile(
    r"还有(?:其他|别的|什么)|其他.{0,6}(?:帮|需要|问题)|还需要.{0,8}(?:帮|其他|别的)|再见|祝您|感谢您的(?:来电|咨询)"
)
_RIGHT = re.compile(r"对吗|是吗|正确吗|对不对|没错吧|是否正确|对吧|是不是")
_CONSENT = re.compile(
    r"是否(?:同意|确认|需要我|要|愿意|继续|接受)|要不要|(?:需要|要)我.*吗|可以(?:吗|接受吗)|好吗|行吗|同意吗|接受吗|确认吗|愿意.*吗|请(?:您)?确认(?:是否|一下)?[。！]?$|想.*吗"
)
_NOT_FOUND = re.compile(
    r"找不到|没(?:有)?(?:找|查)到|未(?:能)?(?:找|查)到|查不到|不存在|没有.{0,8}(?:记录|结果)|不匹配|不符"
)
_REFUSED = re.compile(r"无法|不能|不可以|不允许|不符合|很遗憾|拒绝")
_SETTLED = re.compile(
    r"已经?(?:为您|帮您|成功)?.{0,12}(?:了|完成|办|取消|退|登记|提交|开通|更改|创建|解决|处理|转)|办好|完成"
)
_WAITING = re.compile(r"请稍(?:等|候)|稍等|稍候|我(?:来|先|这就)(?:查|看)")


class ChineseOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    texts: dict[str, str] = Field(
        default_factory=dict,
        description=(
            "Chinese for texts of the tasks (first messages, later requests, what reactions say), by the English text."
        ),
    )


class Chinese:
    """Deterministic: the seed changes nothing."""

    def __init__(self, options: ChineseOptions) -> None:
        self._texts: Mapping[str, str] = options.texts

    def begin(self, script: UserScript) -> Role:
        keeps = any(f.value in script.closing for f in script.facts)
        return Role(
            replace(
                script,
                opening=self._text(script.opening, OPENING, script),
                follow_ups=tuple(self._text(t, FOLLOW_UP, script) for t in script.follow_ups),
                reactions=tuple(
                    replace(r, say=self._text(r.say, SAYING, script)) if r.say else r
                    for r in script.reactions
                ),
                closing=script.closing if keeps else CLOSING,
            ),
            "You write Simplified Chinese in every message, naturally and politely, and understand both Chinese and "
            "English. The values of your facts (numbers, names, addresses, dates, and sentences given as a value) you "
            "write exactly as they are given, untranslated.",
        )

    def shape(self, line: UserLine, situation: Situation) -> UserLine:
        if situation.line == 0:
            return line
        return replace(line, text="\n".join(self._part(part) for part in line.text.split("\n")))

    def _part(self, part: str) -> str:
        if part in SENTENCES:
            return SENTENCES[part]
        if about := _ABOUT.fullmatch(part):
            said = about[2][0].upper() + about[2][1:]
            return f"关于 {about[1]}：{SENTENCES.get(said, said)}"
        if (label := _LABEL.fullmatch(part)) and label[1].lower() in _SAID:
            return f"{_SAID[label[1].lower()]}：{label[2]}"
        return part

    def _text(self, text: str, intro: str, script: UserScript) -> str:
        """The text in Chinese where it is given with every fact in it, else in English behind a sentence."""
        given = self._texts.get(text, "")
        kept = all((f.value in given) == (f.value in text) for f in script.facts)
        return given if given.strip() and kept else f"{intro}\n{text}"


_SAID = {english.lower(): ways[0] for english, ways in NAMES.items()}


def hears(bot_message: str) -> str:
    """What a message of a bot asks and says, in plain English; lines without Chinese stay as they are."""
    return "\n".join(
        _line(line) if _LETTERS.search(line) else line for line in bot_message.replace("\r", "\n").split("\n")
    )


def _line(line: str) -> str:
    item = _ITEM.match(line)
    body = line[item.end() :] if item else line
    found = [_sentence(part, in_list=item is not None) for part in _PARTS.findall(body)]
    text = " ".join(s for s in found if s)
    return f"- {text}" if item else text


def _sentence(part: str, *, in_list: bool) -> str:
    if not _LETTERS.search(part):
        return part.strip()
    names, rest = _names(part)
    matters = [english for said, english in MATTERS.items() if said in rest]
    values = [v.rstrip(".,:") for v in _TEXT.findall(rest)]
    if _FINISHED.search(part):
        return "Is there anything else I can help you with?"
    said: list[str] = []
    if _NOT_FOUND.search(part):
        said.append(f"I could not find {' '.join(values) or 'it'}.")
        values = []
    if _RIGHT.search(part):
        if names and values:
            return f"Your {names[0]} is {values[0]}. Is that right?"
        return " ".join([*said, _noted(names, matters, values), "Is that right?"]).strip()
    if _CONSENT.search(part):
        return " ".join([*said, _noted(names, matters, values), "Shall I go ahead?"]).strip()
    if _QUESTION.search(part) or (in_list and names and not values):
        if names:
            wanted = " and ".join(names)
            return " ".join([*said, wanted if in_list else f"Could you please give me your {wanted}?"])
        if _LIST.search(part):
            return " ".join([*said, "Could you please give me the following:"])
        return " ".join([*said, _noted([], matters, values), "Could you tell me that?"]).strip()
    if in_list and names and not values:
        return names[0]
    if _REFUSED.search(part) and not said:
        said.append("Unfortunately that cannot be done.")
    elif _SETTLED.search(part):
        said.append("It has been completed.")
    elif _WAITING.search(part):
        said.append("One moment.")
    return " ".join([*said, _noted(names, matters, values)]).strip()


def _noted(names: list[str], matters: list[str], values: list[str]) -> str:
    """What a statement is about, for the reactions of the script."""
    words = [*names, *matters, *values]
    return f"It is about {' '.join(words)}." if words else ""


def _names(part: str) -> tuple[list[str], str]:
    """English names of the facts named in a sentence, in order, and the sentence without them."""
    places: list[tuple[int, str]] = []
    for said, english in _BOT_NAMES:
        at = part.find(said)
        if at >= 0:
            places.append((at, english))
            part = part.replace(said, "\u3000" * len(said))
    return list(dict.fromkeys(english for _, english in sorted(places))), part


PERSONA = PersonaType(
    name="chinese",
    title="Writes Chinese",
    changes=(
        "Writes Simplified Chinese and reads Chinese and English. Without a model, what only this task says (its first "
        "message, later requests) stands in English behind a Chinese sentence, unless the option texts has it."
    ),
    stays_true="The values of all facts stay as they are written, and each is told when it is asked for.",
    options=ChineseOptions,
    build=lambda options, seed: Chinese(options),
    liberties=frozenset({Liberty.LANGUAGE}),
    hears=hears,
)
