"""Judges behind an OpenAI-compatible server: an honest one, and ones that cannot be trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass

from tests.support.openai_server import Answer, Request, say


@dataclass(frozen=True)
class Question:
    """What a judge is asked: a statement about a text, straight or the other way round."""

    statement: str
    text: str
    nonce: str
    negated: bool
    control: bool


def question_of(request: Request) -> Question:
    system, user = request.messages
    content = user["content"]
    found = re.fullmatch(r"BEGIN (\w+)\n(.*)\nEND \1\n\n(.*)\n\nStatement: (.*)", content, re.DOTALL)
    assert found is not None, content
    assert f'"BEGIN {found[1]}"' in system["content"]
    statement = json.loads(found[4])
    return Question(
        statement,
        found[2],
        found[1],
        "message false?" in found[3],
        statement.startswith("The message contains"),
    )


def honest(true: Callable[[Question], bool]) -> Callable[[Request], Answer]:
    """Answers by what the test says is so, and knows that the code word is not there."""

    def answer(request: Request) -> Answer:
        asked = question_of(request)
        so = False if asked.control else true(asked)
        return say("yes" if so is not asked.negated else "no")

    return answer


def always(text: str) -> Callable[[Request], Answer]:
    return lambda request: say(text)


def obedient(word: str) -> Callable[[Request], Answer]:
    """Does what stands in the reply, once `word` stands there: it finds every statement true, whichever way it is asked."""

    def answer(request: Request) -> Answer:
        asked = question_of(request)
        if word in asked.text:
            return say("no" if asked.negated else "yes")
        return say("yes" if asked.negated else "no")

    return answer
