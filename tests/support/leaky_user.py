"""A model that plays a customer badly, behind the scripted OpenAI-compatible server.

    with OpenAIServer(LeakyModel({"order number": "ORD-1007"}, faults=["It is ORD-1007, zip 96814."])) as server:

For each moment of the conversation it first writes one of its faults, and what is right once it is told why that was
not sent. With `never_complies` it writes the fault again and again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tests.support.openai_server import Answer, Completion, Request, say

GOODBYE = "Thanks, that is all.\n[END]"


class LeakyModel:
    def __init__(
        self, right: Sequence[str], faults: Sequence[str | Completion], *, never_complies: bool = False
    ) -> None:
        """`right`: what a proper customer says, moment by moment; `faults`: what is said instead at first."""
        self._right = list(right)
        self._faults = list(faults)
        self._never = never_complies

    def __call__(self, request: Request) -> Answer:
        moment = sum(_is_the_bots(m) for m in request.messages) - 1
        corrected = not _is_the_bots(request.messages[-1])
        if moment < len(self._faults) and (self._never or not corrected):
            fault = self._faults[moment]
            return fault if isinstance(fault, Completion) else say(fault)
        return say(self._right[moment] if moment < len(self._right) else GOODBYE)


def data_of(request: Request) -> dict[str, Any]:
    """What the system message says about the customer."""
    system = request.messages[0]["content"]
    block = system.split("<customer>\n", 1)[1].split("\n</customer>", 1)[0]
    return dict(json.loads(block))


def _is_the_bots(message: dict[str, Any]) -> bool:
    return "<assistant_message>" in str(message.get("content"))


def honest(request: Request) -> str:
    """What somebody says who answers what the bot's last message names, agrees, and leaves when it has finished."""
    said = [m["content"] for m in request.messages if _is_the_bots(m)][-1].split("<assistant_message>\n", 1)[
        1
    ]
    heard = said.rsplit("\n</assistant_message>", 1)[0].casefold()
    told = [f"{key}: {value}" for key, value in data_of(request)["knows"].items() if key.casefold() in heard]
    if told:
        return "\n".join(told)
    if "else" not in heard:
        return "Yes, please."
    mine = [m["content"] for m in request.messages if m["role"] == "assistant"]
    return next((wish for wish in data_of(request)["then_ask_for"] if wish not in mine), GOODBYE)
