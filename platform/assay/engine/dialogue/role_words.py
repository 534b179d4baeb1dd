"""Words by which a simulated user is found to speak as somebody else, and words that decide."""

from __future__ import annotations

import re
from typing import Literal


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.MULTILINE)


_ASSISTANT = _any(
    r"\bas an? (?:ai|language model|assistant|virtual assistant|chat ?bot)\b",
    r"\bi(?:['’]m| am) (?:an? |your )?(?:ai|virtual|automated|customer (?:service|support|care)|support)(?: \w+)? (?:assistant|agent|representative|model|bot)\b",
    r"\bhow (?:can|may|could) (?:i|we) (?:help|assist|be of (?:help|assistance))\b",
    r"\bwhat can (?:i|we) (?:do for|help) you\b",
    r"\b(?:anything|something) else (?:that )?(?:i|we) can (?:help|assist|do for)\b",
    r"\b(?:i(?:['’]d| would)|we(?:['’]d| would)) be (?:happy|glad|delighted|pleased) to (?:help|assist)\b",
    r"\b(?:happy|glad|here) to (?:help|assist)(?: you)?\b(?! me)",
    r"\bthank you for (?:contacting|reaching out|calling|your patience|choosing|providing|confirming|verifying|your (?:inquiry|enquiry|message))\b",
    r"\b(?:i|we) (?:sincerely )?apologi[sz]e for (?:the|any) (?:inconvenience|trouble|delay|confusion)\b",
    r"\bsorry for (?:the|any) inconvenience\b",
    r"\b(?:i|we)(?:['’]ve| have)(?: now| just| successfully| already)* (?:processed|cancel+ed|refunded|issued|updated|located|verified|escalated|initiated|opened (?:a|the|your)|created (?:a|the|your)|scheduled (?:a|the|your)|booked (?:a|the|your))\b[^.?!\n]{0,80}\byour?\b",
    r"\byour (?:refund|return|order|booking|request|account|ticket|claim|policy|reservation|case|appointment|cancel+ation)[^.?!\n]{0,40} (?:has|have) been (?:successfully )?(?:processed|cancel+ed|refunded|issued|updated|opened|created|scheduled|booked|submitted|approved|completed|confirmed|escalated|reset)\b",
    r"\byour [\w']+(?: [\w']+)? (?:has|have) been (?:successfully )?(?:added|credited|restored|corrected|extended|registered|assigned|recorded|refunded|cancel+ed|booked|ordered|activated|unlocked)\b",
    r"\bi(?:['’]m| am) (?:\w+ )?(?:unable|not able) to (?:assist|help|fulfil+|process|provide|find the information|complete your)\b",
    r"\bprovide (?:me )?(?:with )?(?:more|further|additional|some more|any additional) (?:details|information|context)\b|\bprovide (?:it|them) to (?:me|us)\b",
    r"\byou can provide (?:me|us)\b|\bprovide the (?:\w+ ){1,3}again\b|\bi(?:['’]m| am) here to (?:help|assist)\b",
    r"\bfeel free to (?:reach out|contact|ask|message|let)\b",
    r"\blet me (?:check|look|pull|verify|find|see if|look into|get|transfer|connect|escalate)[^.?!\n]{0,60}\b(?:for you|your (?:account|order|request|details|booking|information|policy)|you to)\b",
    r"\b(?:could|can|may|would) you (?:please )?(?:provide|confirm|share|give me|tell me|verify) (?:me )?(?:with )?your\b",
    r"\bplease (?:provide|confirm|share|verify|enter) (?:me )?(?:with )?your\b",
    r"\b(?:may|can|could) i (?:please )?have your (?:\w+ ){0,3}(?:number|name|e-?mail|id|code|address|date)\b",
    r"\b(?:i|we) (?:need|require) (?:to verify )?your (?:\w+ ){0,3}(?:number|name|identity|e-?mail|id|code|date|details) (?:to|before|so|first|please)\b",
    r"\bonce you(?:['’]ve| have)? (?:provide|confirm|share|given|provided|confirmed)\b",
    r"\baccording to (?:our|the company(?:['’]s)?) (?:policy|records|system)\b",
    r"\bour (?:policy|policies|records|system|team) (?:does|do|states?|shows?|allows?|requires?|indicates?|will)\b",
    r"\byou(?:['’]ll| will) (?:receive|get) (?:a|an|the|your) (?:confirmation|e-?mail|refund|label)\b",
    r"\b(?:i|we) can(?:not|['’]t)? (?:offer|process|issue|provide) (?:you|your)\b",
    r"^\s*(?:assistant|agent|support|bot|representative|ai)\s*(?:\([^)\n]*\))?:",
    r"\n\s*(?:assistant|agent|support|bot|representative|customer|user|me|ai)\s*:",
    r"您好[\uff0c,\uff01!]?.{0,12}(?:请问有什么|很高兴|我是.{0,6}(?:客服|助手))|请(?:您)?提供您的|已(?:经)?为您|作为(?:一个)?(?:AI|人工智能|客服)",
    # what tools are called with
    r"<\|?/?(?:tool|function|assistant|system|im_start|im_end)[^>]*>|^\s*```|^\s*\{\s*\"|\bfunction_call\b|\btool_calls?\b",
)
_LEAK = _any(
    r"\b(?:my|the|these|your|following) (?:system )?(?:instructions?|prompt)\b(?! (?:manual|booklet|leaflet|for (?:use|assembly)))",
    r"\bsystem (?:prompt|message)\b",
    r"\b(?:i(?:['’]m| am)|i was|i have been|i['’]ve been|you are|i should|i must) (?:\w+ )?(?:told|asked|instructed|supposed|meant|programmed|here|to)? ?(?:to )?(?:play(?:ing)?|simulat\w+|role-?play\w*|pretend\w*|act(?:ing)? as|stay in character|portray\w*)\b",
    r"\b(?:my|this|the) (?:persona|character|script|role ?play|simulation|scenario|hidden facts?|given facts?|list of facts|known facts)\b",
    r"\b(?:simulated|simulating) (?:user|customer)\b",
    r"\b(?:role-?play|in character|out of character|break(?:ing)? character)\b",
    r"\bi(?:['’]m| am) not (?:allowed|supposed|permitted) to (?:say|tell|reveal|volunteer|mention|share)\b",
    r"\b(?:facts?|details?) (?:that )?i(?:['’]ve| have| was| am|['’]m)? (?:been )?(?:given|allowed to|supposed to)\b",
    r"\b(?:unless|until|only (?:if|when)) (?:i(?:['’]m| am)|they are|it is) asked\b",
    r"###|\[(?:done|end|stop|gives? up|leaves?)\]|^\*(?:\w+ ){0,4}\w+\*\s*$|\bnote to (?:you|self)\b",
    r"\bthe customer['’]s (?:\w+ )?(?:message|request|name|reply|answer|line)|\bthe assistant (?:wrote|said|asked|writes)\b|assistant_message",
    r"指令|提示词|扮演|角色设定|系统提示",
)
_OWN_LABEL = re.compile(r"^\s*(?:customer|user|me)\s*:\s*", re.IGNORECASE)
_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?</\1>\s*", re.IGNORECASE | re.DOTALL)

_YES = re.compile(
    r"(?:(?:oh|ah|well|ok|okay|alright|all right|great|perfect|good|hi|hello|sure|thanks|thank you)[,.! ]+)*"
    r"(?:yes|yeah|yep|yup|correct|right|exactly|absolutely|definitely|certainly|of course|agreed|i agree|i confirm|confirmed|please do|"
    r"go ahead|that(?:['’]s| is| sounds| works| looks)?(?: all)? (?:right|correct|fine|good|great|perfect|ok|okay|it|me|accurate)|sounds (?:good|right|great|fine)|"
    r"fine(?: with me| by me)?|it is|i do|i accept|sure|ok(?:ay)?|that works|works for me|good|great|perfect|是的|对|好的|可以|没错|同意)(?![\w'’])",
    re.IGNORECASE,
)
_NO = re.compile(
    r"(?:(?:oh|ah|well|sorry|hm+|hi|hello|wait|um|uh)[,.! ]+)*"
    r"(?:no\b(?! (?:problem|worries|rush|hurry))|nope|nah|not |never|i (?:do not|don['’]t|cannot|can['’]t|won['’]t|refuse|disagree)|that(?:['’]s| is) (?:not|wrong|incorrect|un)|"
    r"that isn['’]t|wrong|incorrect|不|没有|不是)",
    re.IGNORECASE,
)
_TURNS = re.compile(
    r"\b(?:but|however|except|although|though|actually|only|instead|rather|not|no|isn['’]t|wrong)\b",
    re.IGNORECASE,
)


def assistants(text: str) -> str | None:
    """The first words that only a support assistant, or no person at all, would write."""
    found = _ASSISTANT.search(text)
    return found[0].strip() if found else None


def leaked(text: str, prompt: str, own: str) -> str | None:
    """The first words of `text` that speak of the instructions, or stand in `prompt`, and not in `own`."""
    found = _LEAK.search(text)
    if found and found[0].casefold() not in own.casefold():
        return found[0].strip()
    said = re.findall(r"\w+", text.casefold())
    shown = " " + " ".join(re.findall(r"\w+", prompt.casefold())) + " "
    allowed = " " + " ".join(re.findall(r"\w+", own.casefold())) + " "
    for start in range(len(said) - _QUOTED + 1):
        piece = " ".join(said[start : start + _QUOTED])
        if f" {piece} " in shown and f" {piece} " not in allowed:
            return piece
    return None


_QUOTED = 7  # words in a row that nobody writes by chance as the prompt does


def plain_line(text: str) -> str:
    """`text` without what some models put around a line: reasoning, a label of the own role, quotes around all."""
    text = _OWN_LABEL.sub("", _THINKING.sub("", text).strip(), count=1).strip()
    if len(text) > 1 and text[0] in '"“' and text[-1] in '"”' and not re.search('["“”]', text[1:-1]):
        text = text[1:-1].strip()
    return text


def decides(text: str) -> Literal["yes", "no"] | None:
    """Whether a line plainly agrees or refuses; None when it does neither, or both."""
    start = text.strip()[:400]
    if _NO.match(start):
        return "no"
    agreed = _YES.match(start)
    if agreed and not _TURNS.search(start[agreed.end() :]):
        return "yes"
    return None
