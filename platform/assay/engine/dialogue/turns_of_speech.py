"""The turns of speech by which a scripted customer recognises requests, offers and goodbyes in a bot's English.

All patterns are for clauses of `wording.normal` text.
"""

from __future__ import annotations

import re


def _any(*ways: str) -> re.Pattern[str]:
    return re.compile("|".join(ways))


# --- requests for information ------------------------------------------------------------------------

_GIVE = r"(?:provide|give|share|send (?:me|us|over|through)|tell|let (?:me|us) (?:know|have)|confirm|verify|specify|supply|enter|state|type in|submit|reply with|respond with|answer with|say|list|clarify|remind|double[- ]check|read out)\b"
_TO_ME = r"(?: (?:back )?(?:to |with )?(?:me|us)\b)?(?: again)?(?: with| about| more about| a bit about)?(?= |$|[:,.?!])"
_SOFT = r"(?: please| kindly| also| just| first| now| then| quickly| perhaps| maybe| possibly| next| at least| once more)*"
_FIRST = r"^(?:(?:and|also|then|first|next|now|so|great|thanks|ok|okay|sure|hello|hi)[, ]+)*"
# Not: "I have all I need now", "I need to look it up".
_HAVE = r"(?: to (?:know|have|get|ask(?: you)?(?: for)?|see|verify|confirm|collect))?\b(?=:| \w)(?! (?:to|you to|now|for|at|right)\b)"

# In a sentence of any kind. The thing asked for follows the match.
REQUEST = _any(
    rf"\b(?:could|can|would|will) you(?: be able to| mind)?{_SOFT} (?:{_GIVE}|send\b){_TO_ME}",
    r"\b(?:please|kindly|just) send(?= it\b| them\b| that\b| this\b)",
    rf"\b(?:please|kindly|just|simply)(?: do| also| first| now| then)* {_GIVE}{_TO_ME}",
    rf"{_FIRST}{_GIVE}{_TO_ME}(?= (?:your|the following|these|both|all|which|what|whether|if|where|when|how)\b|:)",
    rf"{_FIRST}(?:give|tell|send) (?:me|us)\b(?: about)?",
    rf"\bfeel free to{_SOFT} {_GIVE}{_TO_ME}",
    rf"\byou(?: will| would| also| first| may| might)* (?:need|have|are required|are asked) to {_GIVE}{_TO_ME}",
    rf"\b(?:need|want|require|ask|asking|would like) you to{_SOFT} {_GIVE}{_TO_ME}",
    rf"\b(?:may|can|could|might) (?:i|we){_SOFT} (?:have|get|ask(?: you)?(?: for)?|know|take|request|verify|confirm)\b",
    rf"\b(?:i|we)(?: will| would| do| am going to| are going to| really| still)*{_SOFT} (?:need|require|lack|am missing|are missing){_HAVE}",
    r"\b(?:want|would like|have|wanted|like|must) to (?:know|have|ask(?: you)?(?: for)?|verify|confirm|collect)\b",
    r"\b(?:i|we) must (?:know|have|ask(?: you)? for|verify|confirm)\b",
    r"\bhelp(?:s|ful)?(?: me| us)?(?: a lot)?(?: to (?:have|know)| if (?:i|we) (?:had|knew))\b",
    r"\b(?:cannot|unable|not able|not possible|impossible)\b[^?!]*?\bwithout\b",
    r"\b(?:once|as soon as|when|after) (?:i|we) have\b",
    r"\bif (?:i|we) (?:could|can|may) have\b",
    rf"\b(?:if|once|when|after|as soon as) you(?: can| could| would| will| have)?{_SOFT} {_GIVE}{_TO_ME}",
    r"\b(?:still|also) (?:missing|needed|required)\b(?: is| are|:)?",
)
# In a question only.
REQUEST_IN_QUESTION = _any(
    r"\b(?:what|who)(?: exactly)? (?:is|are|was|were|would be|might be)\b",
    r"\bhow (?:is|are|was|were)\b",
    r"\b(?:what|how) about\b",
    r"\bdo you(?: happen to| still| already| also| by any chance)* (?:have|know|remember|recall)\b",
    r"\bhave you got\b",
    r"\b(?:is|are) there (?:a|an|any)\b",
)
# A question although the question mark is missing.
QUESTION = _any(
    rf"{_FIRST}(?:what|whose)\b(?! (?:a|you|we|i|it)\b)",
    rf"{_FIRST}which\b(?! (?:is|are|was|means|you|we|i|it)\b)",
    rf"{_FIRST}(?:who|how|when|where|why) (?:is|are|was|were|do|does|did|will|would|many|much|long|about)\b",
    rf"{_FIRST}how \w+ (?:is|are|was|were|do|does|did|should|shall|will|would|can)\b",
    rf"{_FIRST}(?:to|for|from|on|at|in|by|with|until|under) (?:which|what|whose) \w+ (?:is|are|was|were|do|does|did|should|shall|will|would|can|may)\b",
    rf"{_FIRST}(?:to|for|from|with|by|of) whom (?:is|are|was|were|do|does|did|should|shall|will|would|can|may)\b",
    rf"{_FIRST}(?:do you have|did you|have you|has it|was it)\b",
)
# Asks which of the things named before is wanted.
PREFER = re.compile(
    r"\b(?:which|what)(?: one| option| way| of (?:these|those|them|the two))?(?: \w+){0,4} (?:prefer|like|better|best|suits?|choose)\b"
    r"|\bwhich (?:one|of (?:these|those|them|the two))\b"
)
# Requests that can be answered with yes: "please confirm the cancellation".
CHECKS = re.compile(r"(?:you|please|kindly|just)\b.*\b(?:confirm|verify|double[- ]check)\b")
# "I need a few details": what is asked for comes in the next lines.
ANNOUNCES = _any(
    r":$",
    r"\b(?:following|details?|information|info)\b",
    r"\b(?:few|some|couple of|two|three|several|these) (?:\w+ )?(?:things|questions|pieces|items|bits)\b",
)
# Asks what the matter is.
OPEN = _any(
    r"\b(?:how|what) (?:can|may|could|might) (?:i|we) (?:help|do|assist)\b",
    r"\bwhat (?:is|seems to be|was) (?:the|your) (?:issue|problem|request|question|concern|matter|trouble|enquiry|inquiry)\b",
    r"\bwhat (?:is|was|went|seems to be|exactly is) wrong\b",
    r"\bwhat (?:exactly )?(?:would you like|do you want|do you need|are you looking|are you trying|brings you|happened)\b",
    r"\b(?:describe|explain|clarify|elaborate|rephrase|repeat)\b",
    r"\bmore (?:details?|information|about)\b|\b(?:your|the) (?:issue|problem|request|situation|concern)\b",
)

# --- questions that want a yes -----------------------------------------------------------------------

_NO_WH = r"(?<!how )(?<!what )(?<!where )(?<!when )(?<!which )"
OFFER = _any(
    rf"{_NO_WH}\bwould you (?:like|prefer|want|rather)(?: for)? (?:me|us|that|it|to(?!{_SOFT} {_GIVE}))\b",
    rf"{_NO_WH}\bdo you (?:still )?(?:want|wish|need|prefer)(?: for)? (?:me|us|it|to(?!{_SOFT} {_GIVE}))\b",
    r"\b(?:if|whether|that) you(?: would| still)? (?:like|want|wish|prefer|agree|accept|are (?:ok|okay|happy|fine))\b",
    rf"{_NO_WH}\b(?:shall|should) (?:i|we)\b",
    rf"{_NO_WH}\b(?:may|can|could|might) (?:i|we)\b(?!{_SOFT} (?:have|get|ask|know|take|request|verify|confirm)\b)(?=[^.]*\?)",
    r"\bare you(?: still| all)? (?:ok|okay|fine|happy|comfortable|alright|all right|sure|ready|willing|interested|certain)\b",
    r"\b(?:is|was|would|will) (?:that|this|it|everything)(?: be| all| look| still)? (?:ok|okay|fine|alright|all right|acceptable|right|correct|accurate|good|work|suit)\b",
    r"\b(?:does|do|did) (?:that|this|it|these|everything) (?:work|sound|look|suit|seem)\b",
    r"\bdo (?:you|we) (?:agree|accept|consent|approve|authori[sz]e|mind|acknowledge|understand|have a deal)\b",
    r"\b(?:permission|go-ahead|go ahead|approval|consent|authori[sz]ation) (?:to|for|with)\b(?=[^.]*\?)",
    r"\byour (?:permission|go-ahead|approval|consent)\b",
    r"\bconfirm (?:that |if |whether )?(?:you|i|we)\b",
    r"\bconfirm (?:so|to|before|and|this|that|it)\b(?! (?:your|the)\b)",
    r"\bplease confirm[.!?]*$",
    r"\b(?:yes or no|reply (?:with )?yes|say yes|type yes|answer yes)\b",
    r"[,;] (?:ok|okay|right|correct|alright|yes|agreed)\?$",
    r"^(?:ok|okay|right|correct|alright|agreed)\?$",
)
# Matches before what would be an offer, and is part of a question: "To which dates would you like to move it?"
ASKS_WHAT = re.compile(
    rf"{_FIRST}(?:(?:to|for|from|on|at|in|by|with|until|of|about|under) )?"
    r"(?:(?:which|what|whose|who|whom|why)\b|how\b(?! about\b))[^,;:-]*$"
)
OR = re.compile(r"\bor\b(?! (?:no|not|would you|should i|shall i|do you|is there|anything)\b)")
# Asks whether what was said is true.
RIGHT = re.compile(r"\b(?:right|correct|accurate|confirm)\b")
# Matches after a mention of which a value is said: "your order number is ORD-7".
CLAIMED = re.compile(r"(?: (?:number|id))? ?(?:is|was|are|as|:|=|-)? ?(?:now |still )?\S*[\d@]")

# --- statements --------------------------------------------------------------------------------------

_TO_TELL = r"(?:that )?(?:you (?:can|could|remember|know|would like to add|want to add)|(?:i|we) (?:should|need to)|to add|about|that helps)"
FINISHED = _any(
    rf"\banything else\b(?!,? {_TO_TELL})",
    r"\bsomething else\b(?=[^.]*\?)|\b(?:what|how) else (?:can|may|could) (?:i|we)\b",
    r"\b(?:any|with|some) (?:other|more|further|additional) (?:questions?|requests?|issues?|concerns?|help|assistance|matters?)\b",
    r"\b(?:any|have) questions\b|\bfurther (?:help|assistance|questions)\b|\bmore help\b",
    r"\b(?:does|did|has) (?:that|this|it) (?:help|answer|solve|resolve|solved|resolved|helped)\b",
    r"\bis (?:your|the) (?:issue|problem|question|request) (?:now )?(?:solved|resolved|answered)\b",
    r"\b(?:feel free|do not hesitate) to (?:reach|contact|ask|come|get|message|call|write|let)\b",
    r"\bhappy to help (?:you )?(?:further|again)\b|\bif you need anything\b",
    r"\bhave a (?:great|good|nice|wonderful|lovely|pleasant)\b|\bgood ?bye\b|\bbye\b|\btake care\b",
    r"\byou are all set\b|\bglad (?:i|we|that i) could\b",
)
_LOOKED = r"(?:checked|looked|found|located|verified|reviewed|noted|received|searched|confirmed|identified|noticed|pulled)"
_DONE = r"(?:complete|completed|cancell?ed|opened|booked|scheduled|closed|resolved|processed|registered|updated|refunded|issued|recorded|arranged|created|approved|declined|denied|rejected|changed|extended|submitted|escalated|reset|transferred|forwarded|waived|replaced|removed|added)"
# Something was done, or refused.
SETTLED = _any(
    rf"\b(?:has|have|is|are|was|were) (?:now |just |already |also |all |successfully )*(?:been )?(?:successfully )?{_DONE}\b",
    rf"\bi have (?:now |just |already |successfully |also |gone ahead and )*(?!{_LOOKED}\b)(?:\w+ed|put|set|made|sent|paid|taken|written)\b",
    r"\bsuccessfully\b|\ball done\b|\b(?:is|that is|everything is) done\b|^done\b",
    r"\bunfortunately\b|\b(?:i|we) (?:cannot|am unable|am not able|are unable|are not able|will not be able)\b|\bcannot be\b|\bno exceptions?\b",
    r"\b(?:not eligible|not possible|not allowed|not permitted|does not qualify|do not qualify|against (?:our|the) policy)\b",
    r"\byou will (?:receive|get)\b",
)
# A look-up found nothing.
_SEEK = r"(?:find|locate|see|identify|match|pull up|look up|retrieve|verify)"
NOT_FOUND = _any(
    rf"\b(?:cannot|could not|can not|did not|do not|does not|was not able to|am not able to|were not able to|unable to|not) {_SEEK}\b",
    r"\b(?:was|is|were|are|be) not (?:found|located|recogni[sz]ed|valid|in (?:our|the) (?:system|records?|database))\b",
    r"\b(?:there (?:is|are|was|were) no|(?:i|we) (?:have|see|found|find|get|got)(?: \w+)? no|found no|shows? no|returned no) (?:\w+ ){0,3}?"
    r"(?:record|records|account|order|booking|reservation|policy|ticket|entry|match|matches|result|results|customer|employee|one|such)\b",
    r"\bno (?:match|matches|record|records|results?|such)\b|\bnot found\b|\bdoes not (?:exist|match|appear)\b|\bdo not match\b|\binvalid\b",
)
# Something is about to be done.
WAITING = _any(
    r"\b(?:one|a|just a) (?:moment|second|minute|sec)\b|\bhold on\b|\bbear with\b|\bplease wait\b|\bstand by\b|\bworking on it\b",
    r"\blet me (?:just |quickly |now )?(?!know\b)\w+",
    r"\b(?:i|we) (?:will|am going to|are going to) (?:now |just |quickly |first )?(?:check|look|search|review|get back|find|verify|see|pull|process|proceed|open|start|create|cancel|begin)\b",
    r"\b(?:i|we) (?:am|are) (?:checking|looking|searching|reviewing|processing)\b",
)

# --- inside a request --------------------------------------------------------------------------------

# "Verify your identity with ...": what is wanted is what it is shown by.
SHOWN_BY = re.compile(
    r"\s*(?:your (?:identity|account|id|profile)|yourself) (?:with|by|against|from|through|via|on)\b"
)
# "Tell me whether ...": a question inside a request.
EMBEDDED = re.compile(r"\s*,? ?(?:if|whether|when|where|what|which|how|why|who|whose)\b")
PRONOUN = re.compile(
    r"\s*(it|them|one|(?:those|these|that|this|both|all)(?=\s*(?:$|[^\w\s]|please\b|to\b|with\b|too\b|as well\b)))\b"
)
_DETERMINER = r"(?:the|your|this|that|these|those|my|our|a|an|any|its|their|each)"
_NO_NAME = r"(?<!\bnumber )(?<!\bid )(?<!\bdetails )(?<!\binformation )(?<!\binfo )(?<!\breference )(?<!\bspelling )(?<!\bone )(?<!\bconfirmation )(?<!\bboth )(?<!\ball )(?<!\banything )"
# Matches before a mention that only describes another thing: the order in "the email for your order", but not
# the one in "the number of your order".
OF_SOMETHING = re.compile(
    rf"{_NO_NAME}\b(?:of|for|on|in|with|from|to|under|at|by|about|regarding|against|inside|behind|without|than)\s+"
    rf"(?:{_DETERMINER}\s+)?(?:(?!and\b|or\b|your\b|the\b)\w+\s+){{0,2}}$"
)
_NO_VERB = r"(?!(?:is|are|was|were|do|does|did|has|have|had|will|would|can|could|should)\b)"
# Matches before a mention that "which" or "what" asks for.
WHICH = re.compile(
    rf"\b(?:which|what|whose)(?: (?:kind|type|sort|one|part)s?)?(?: of)?(?: {_DETERMINER})*(?: {_NO_VERB}\w+){{0,2}} $"
)
# Where the thing asked for ends: before "so that I can ...", "which you ...", "to look it up".
CUT = _any(
    r",? (?:which|that) (?:is|are|was|were|you|we|i|can|should|will|has|starts?|begins?|looks?|appears?)\b",
    r",? (?:so|because|since|unless|although|though|otherwise|in order to)\b|,? as (?:i|we|it|you|that|this|well as i)\b",
    r",? if (?:you|available|possible|known|applicable|any|it)\b|,? before (?:i|we)\b|,? (?:and|then) (?:i|we)\b",
    r"(?<!and)(?<!or)(?<!,) (?:when|where|while|once|after|until|before|whether|if)\b",
    rf"(?<!and) to (?!me\b|us\b|{_DETERMINER}\b|{_GIVE})\w+|; ",
)
_AFTER = "and|or|of|for|on|in|from|with|at|by|to|about|as|please|you|we|i|this|it|so|again|here|first|now|too|used|linked|registered|associated|connected|listed|shown|printed|given"
_VERBS = "is|are|was|were|do|does|did|has|have|had|would|should|will|can|could|needs?"
# Matches behind a short form that stands for the fact and does not describe the next word ("order date").
ENDS_A_NAME = re.compile(rf"\s*(?:$|[^\w\s]|(?:{_AFTER})\b)")
ENDS_OR_DOES = re.compile(rf"\s*(?:$|[^\w\s]|(?:{_AFTER}|{_VERBS})\b)")
NOTHING_ELSE = re.compile(
    rf"(?:\s|[,.!?:&/]|\b(?:{_DETERMINER}|and|or|also|please|then|first|next|just|now|so|thanks|ok|okay|full)\b)*"
)
PREPOSITIONS = frozenset(("of", "for", "on", "in", "to", "from", "with", "at", "by", "about"))
