"""The turns of speech by which a scripted customer recognises requests, offers and goodbyes in a bot's English.

All patterns are for text from `wording.normal`.
"""

from __future__ import annotations

import re

# Verbs of giving information.
_GIVE = (
    r"(?:provide|give|share|send (?:me|us|over|through)|tell|let (?:me|us) (?:know|have)|confirm|verify|specify|supply"
    r"|enter|state|type in|submit|reply with|respond with|answer with|say|clarify|remind|double[- ]check|read out)\b"
)
_TO_ME = r"(?: (?:back )?(?:to |with )?(?:me|us)\b)?(?: again)?(?: with| about| more about| a bit about)?(?= |$|[:,.?!])"
_SOFT = r"(?: please| kindly| also| just| first| now| then| quickly| perhaps| maybe| possibly| next| at least| once more)*"

REQUEST = re.compile(
    "|".join(
        (
            rf"\b(?:could|can|would|will) you(?: be able to| mind)?{_SOFT} (?:{_GIVE}|send\b){_TO_ME}",
            rf"\b(?:please|kindly|just) send(?= it\b| them\b| that\b| this\b)",
            rf"\b(?:please|kindly|just|simply)(?: do| also| first| now| then)* {_GIVE}{_TO_ME}",
            rf"^(?:(?:and|also|then|first|next|now|so|great|thanks|ok|okay|sure|hello|hi)[, ]+)*{_GIVE}"
            rf"{_TO_ME}(?= (?:your|the following|these|both|all|which|what|whether|if|where|when|how)\b|:)",
            r"^(?:(?:and|also|then|first|next|now|so)[, ]+)*(?:give|tell|send) (?:me|us)\b(?: about)?",
            rf"\byou(?: will| would| also| first| may| might)* (?:need|have|are required|are asked) to {_GIVE}{_TO_ME}",
            rf"\b(?:need|want|require|ask|asking|would like) you to{_SOFT} {_GIVE}{_TO_ME}",
            rf"\b(?:may|can|could|might) (?:i|we){_SOFT} (?:have|get|ask(?: you)?(?: for)?|know|take|request|verify|confirm)\b",
            rf"\b(?:i|we)(?: will| would| do| am going to| are going to| really| still){_SOFT}"
            r" (?:need|require|lack)(?: to (?:know|have|get|ask(?: you)?(?: for)?|see|verify|confirm|collect))?\b(?! to\b| you to\b)",
            rf"\b(?:i|we){_SOFT} (?:need|require|lack|am missing|are missing)"
            r"(?: to (?:know|have|get|ask(?: you)?(?: for)?|see|verify|confirm|collect))?\b(?! to\b| you to\b)",
            r"\b(?:want|would like|have|wanted|like|must) to (?:know|have|ask(?: you)?(?: for)?|verify|confirm|collect)\b",
            r"\b(?:i|we) must (?:know|have|verify|confirm)\b",
            r"\b(?:what|who)(?: exactly)? (?:is|are|was|were|would be|might be)\b",
            r"\bhow (?:is|are|was|were)\b",
            r"\b(?:what|how) about\b",
            r"\bdo you(?: happen to| still| already| also| by any chance)? (?:have|know|remember|recall)\b",
            r"\bhave you got\b",
            r"\b(?:is|are) there an?y?\b",
            r"\b(?:cannot|unable|not able|not possible|impossible)\b[^?!]*?\bwithout\b",
            r"\b(?:once|as soon as|when|after) (?:i|we) have\b",
            r"\bif (?:i|we) (?:could|can|may) have\b",
            rf"\b(?:if|once|when|after|as soon as) you(?: can| could| would| will| have)?{_SOFT} {_GIVE}{_TO_ME}",
            r"\b(?:still|also) (?:missing|needed|required)\b(?: is| are|:)?",
        )
    )
)

# Requests that can be answered with yes: "please confirm the cancellation".
CHECKS = re.compile(r"\b(?:confirm|verify|double[- ]check)\b")

OFFER = re.compile(
    "|".join(
        (
            rf"\bwould you (?:like|prefer|want|rather)(?: for)? (?:me|us|that|it|to(?!{_SOFT} {_GIVE}))\b",
            rf"\bdo you (?:still )?(?:want|wish|need|prefer)(?: for)? (?:me|us|it|to(?!{_SOFT} {_GIVE}))\b",
            r"\b(?:if|whether|that) you(?: would| still)? (?:like|want|wish|prefer|agree|accept|are (?:ok|okay|happy|fine))\b",
            r"\b(?:shall|should) (?:i|we)\b",
            rf"(?<!how )(?<!what )(?<!where )(?<!when )\b(?:may|can|could|might) (?:i|we)\b(?!{_SOFT} (?:have|get|ask|know|take|request|verify|confirm)\b)(?=[^.]*\?)",
            r"\bare you(?: still| all)? (?:ok|okay|fine|happy|comfortable|alright|all right|sure|ready|willing|interested|certain)\b",
            r"\b(?:is|was|would|will) (?:that|this|it|everything)(?: be| all| look| still)? "
            r"(?:ok|okay|fine|alright|all right|acceptable|right|correct|accurate|good|work|suit)\b",
            r"\b(?:does|do|did) (?:that|this|it|these|everything) (?:work|sound|look|suit|seem)\b",
            r"\bdo (?:you|we) (?:agree|accept|consent|approve|authori[sz]e|mind|acknowledge|understand|have a deal)\b",
            r"\b(?:permission|go-ahead|go ahead|approval|consent|authori[sz]ation) (?:to|for|with)\b(?=[^.]*\?)|\byour (?:permission|go-ahead|approval|consent)\b",
            r"\bconfirm (?:that |if |whether )?(?:you|i|we)\b",
            r"\bconfirm (?:so|to|before|and|by|with a|this|that|it)\b(?! (?:your|the)\b)",
            r"\bplease confirm[.!?]*$|\b(?:yes or no|reply (?:with )?yes|say yes|type yes|answer yes)\b",
            r"[,;] (?:ok|okay|right|correct|alright|yes|agreed)\?$|^(?:ok|okay|right|correct|alright|agreed)\?$",
        )
    )
)
RIGHT = re.compile(r"\b(?:right|correct|accurate|confirm)\b")
OR = re.compile(r"\bor\b(?! (?:no|not|would you|should i|shall i|do you|is there|anything)\b)")

# Something is said of the last mention that looks like a value: "your order number is ORD-7".
CLAIMED = re.compile(r"(?: (?:number|id))? ?(?:is|was|are|as|:|=|-) ?(?:now |still )?\S*[\d@]")

FINISHED = re.compile(
    "|".join(
        (
            r"\banything else\b(?!,? (?:that )?(?:you (?:can|could|remember|know|would like to add|want to add)|i (?:should|need to)"
            r"|we (?:should|need to)|to add|about|that helps))",
            r"\bsomething else\b(?=[^.]*\?)|\b(?:what|how) else (?:can|may|could) (?:i|we)\b",
            r"\b(?:any|with|some) (?:other|more|further|additional) (?:questions?|requests?|issues?|concerns?|help|assistance|matters?)\b",
            r"\b(?:any|have) questions\b|\bfurther (?:help|assistance|questions)\b|\bmore help\b",
            r"\b(?:does|did|has) (?:that|this|it) (?:help|answer|solve|resolve|solved|resolved|helped)\b",
            r"\bis (?:your|the) (?:issue|problem|question|request) (?:now )?(?:solved|resolved|answered)\b",
            r"\bfeel free to\b|\bdo not hesitate\b|\bhappy to help (?:you )?(?:further|again)\b|\bif you need anything\b",
            r"\bhave a (?:great|good|nice|wonderful|lovely|pleasant)\b|\bgood ?bye\b|\bbye\b|\btake care\b",
            r"\bthank you for (?:contacting|reaching|choosing|shopping|calling|chatting)\b",
            r"\byou are all set\b|\bglad (?:i|we|that i) could\b|\bwas there anything\b",
        )
    )
)

OPEN = re.compile(
    "|".join(
        (
            r"\b(?:how|what) (?:can|may|could|might) (?:i|we) (?:help|do|assist)\b",
            r"\bwhat (?:is|seems to be|was) (?:the|your) (?:issue|problem|request|question|concern|matter|trouble|enquiry|inquiry)\b",
            r"\bwhat (?:exactly )?(?:would you like|do you want|do you need|are you looking|are you trying|brings you|happened)\b",
            r"\b(?:describe|explain|clarify|elaborate|rephrase|repeat)\b",
            r"\bmore (?:details?|information|about|detail)\b|\b(?:your|the) (?:issue|problem|request|situation|concern)\b",
        )
    )
)
ANNOUNCES = re.compile(
    r":$|\b(?:following|details?|information|info|(?:few|some|couple of|two|three|several|these) (?:\w+ )?(?:things|questions|pieces|items|bits))\b"
)

SETTLED = re.compile(
    "|".join(
        (
            r"\b(?:has|have) (?:now |just |already |also )?been\b",
            r"\bi have (?:now |just |already |successfully |also |gone ahead and )*"
            r"(?:\w+ed|put|set|made|sent|done|paid|taken|written|given)\b",
            r"\b(?:successful|successfully|all done|is done|done\b[.!])",
            r"\b(?:is|are) (?:now )?(?:complete|completed|cancelled|canceled|opened|confirmed|booked|scheduled|closed|resolved|processed"
            r"|registered|updated|refunded|issued|recorded|arranged)\b",
            r"\bunfortunately\b|\b(?:i|we) (?:cannot|am unable|am not able|are unable|are not able|will not be able)\b",
            r"\b(?:not eligible|not possible|not allowed|not permitted|does not qualify|do not qualify|is declined|outside)\b",
            r"\byou will (?:receive|get|be)\b",
        )
    )
)
WAITING = re.compile(
    r"\b(?:one|a|just a) (?:moment|second|minute|sec)\b|\bhold on\b|\bbear with\b|\bplease wait\b|\bstand by\b|\bworking on it\b"
    r"|\blet me (?:just |quickly |now )?(?!know\b)\w+|\b(?:i|we) (?:will|am going to|are going to) (?:now |just |quickly |first )?"
    r"(?:check|look|search|review|get back|find|verify|see|pull|process|proceed|open|start|create|cancel|begin)\b"
    r"|\b(?:i|we) (?:am|are) (?:checking|looking|searching|reviewing|processing)\b"
)

# --- inside a clause ---------------------------------------------------------------------------------

EMBEDDED = re.compile(r"\s*,? ?(?:if|whether|when|where|what|which|how|why|who|whose)\b")
PRONOUN = re.compile(
    r"\s*(it|them|(?:those|these|that|this|both|all)(?=\s*(?:$|[^\w\s]|please\b|to\b|with\b|too\b|as well\b)))\b"
)
_DETERMINER = r"(?:the|your|this|that|these|those|my|our|a|an|any|its|their|each)"
# "the email for your order": not the order is asked for. But: "the number of your order".
OF_SOMETHING = re.compile(
    r"(?<!\bnumber )(?<!\bid )(?<!\bdetails )(?<!\binformation )(?<!\binfo )(?<!\breference )(?<!\bspelling )(?<!\bone )"
    r"(?<!\bconfirmation )(?<!\bboth )(?<!\ball )(?<!\banything )"
    r"\b(?:of|for|on|in|with|from|to|under|at|by|about|regarding|against|inside|behind|without|than)\s+"
    rf"(?:{_DETERMINER}\s+)?(?:(?!and\b|or\b|your\b|the\b)\w+\s+){{0,2}}$"
)
WHICH = re.compile(
    rf"\b(?:which|what|whose)(?: (?:kind|type|sort|one|part)s?)?(?: of)?(?: {_DETERMINER})*"
    r"(?: (?!is\b|are\b|was\b|were\b|do\b|does\b|did\b|has\b|have\b|had\b|will\b|would\b|can\b|could\b|should\b)\w+){0,2} $"
)
_CUTS = re.compile(
    r",? (?:which|that) (?:is|are|was|were|you|we|i|can|should|will|has|starts?|begins?|looks?|appears?)\b"
    r"|,? (?:so|because|since|unless|although|though|otherwise|in order to)\b|,? as (?:i|we|it|you|that|this|well as i)\b"
    r"|,? if (?:you|available|possible|known|applicable|any|it)\b|,? before (?:i|we)\b|,? (?:and|then) (?:i|we)\b"
    r"|(?<!and)(?<!or)(?<!,) (?:when|where|while|once|after|until|before|whether|if)\b"
    rf"|(?<!and) to (?!me\b|us\b|{_DETERMINER}\b|{_GIVE})\w+|; "
)
_AFTER_A_NAME = (
    "and|or|of|for|on|in|from|with|at|by|to|about|as|please|you|we|i|this|it|so|again|here|first|now|too"
)
_VERBS = "is|are|was|were|do|does|did|has|have|had|would|should|will|can|could|needs?"
ENDS_A_NAME = re.compile(rf"\s*(?:$|[^\w\s]|(?:{_AFTER_A_NAME})\b)")
ENDS_OR_DOES = re.compile(rf"\s*(?:$|[^\w\s]|(?:{_AFTER_A_NAME}|{_VERBS})\b)")
NOTHING_ELSE = re.compile(
    rf"(?:\s|[,.!?:&/]|\b(?:{_DETERMINER}|and|or|also|please|then|first|next|just|now|so|thanks|ok|okay|full)\b)*"
)
PREPOSITIONS = frozenset(("of", "for", "on", "in", "to", "from", "with", "at", "by", "about"))


def cut(clause: str, start: int) -> int:
    """Where the object of a request that begins at `start` ends: before "so that I can ...", "which you ..."."""
    found = _CUTS.search(clause, start)
    return found.start() if found else len(clause)
