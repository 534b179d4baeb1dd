"""The model cards:customer: plays the simulated customer from what it is told in the system message.

It is no language model. It answers with the facts whose names it finds in the assistant's message, agrees to what is
proposed, and leaves when nothing is asked any more: enough to try a pack and a bot without a network or a key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from assay_sdk import ChatReply, ModelType, OptionsError

_CUSTOMER = re.compile(r"<customer>\n(.*)\n</customer>", re.DOTALL)
_ASSISTANT = re.compile(r"<assistant_message>\n(.*)\n</assistant_message>", re.DOTALL)
_ENDING = re.compile(r'every message ends with "([^"\n]+)"')
_PROPOSES = re.compile(r"\b(?:shall i|should i|may i|do you agree|would you like me to)\b", re.IGNORECASE)


class CardsOptions(BaseModel):
    model_config = ConfigDict(extra="forbid")

    agrees: str = Field(default="Yes, please.", min_length=1, max_length=80, description="Said to a proposal")


class Cards:
    def __init__(self, options: CardsOptions) -> None:
        self._options = options

    async def complete(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        seed: int | None = None,
    ) -> ChatReply:
        """The customer's next message. Deterministic: the seed changes nothing."""
        text = self._line([(str(m["role"]), str(m["content"])) for m in messages])
        return ChatReply(text=text, tool_calls=(), finish_reason="stop", model="cards")

    def describe(self) -> Mapping[str, Any]:
        return {"model": "cards"}

    async def aclose(self) -> None:
        return None

    def _line(self, messages: Sequence[tuple[str, str]]) -> str:
        system = next((text for role, text in messages if role == "system"), "")
        cards = _cards(system)
        if cards is None:
            return "Hello."  # nobody has dealt any: somebody only tries whether it answers
        heard = [found[1] for role, text in messages if role == "user" and (found := _ASSISTANT.search(text))]
        said = [text for role, text in messages if role == "assistant"]
        line = self._answer(cards, heard[-1] if heard else "", "\n".join(said))
        ending = _ENDING.search(system)
        if ending is None:
            return line
        text, mark, _ = line.partition("\n[END]")
        return f"{text}\n{ending[1]}{mark}"

    def _answer(self, cards: Mapping[str, Any], heard: str, said: str) -> str:
        asked = [
            f"{name[:1].upper()}{name[1:]}: {value}"
            for name, value in dict(cards.get("knows", {})).items()
            if name.lower() in heard.lower() and str(value) not in said
        ]
        if asked:
            return "\n".join(asked)
        if _PROPOSES.search(heard):
            return self._options.agrees
        for wish in cards.get("then_ask_for", ()):
            if str(wish) not in said:
                return str(wish)
        return f"{cards.get('last_words', 'Thanks, that is all.')}\n[END]"


def _cards(system: str) -> Mapping[str, Any] | None:
    found = _CUSTOMER.search(system)
    try:
        cards = json.loads(found[1]) if found else None
    except ValueError:
        return None
    return cards if isinstance(cards, dict) else None


def _build(target: str, options: CardsOptions, secret: Callable[[str], str]) -> Cards:
    if target != "customer":
        raise OptionsError(f"cards plays the customer only: write cards:customer, not cards:{target}.")
    return Cards(options)


MODEL = ModelType(name="cards", title="Customer from cards", options=CardsOptions, build=_build)
