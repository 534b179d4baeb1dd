"""What each persona says to what bots say, and what it keeps to itself."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from assay_sdk import Fact, PersonaType, Reaction, UserLine, UserScript

Talk = Callable[..., list[UserLine]]  # the fixture `talk` of conftest.py

SCRIPT = UserScript(
    opening="I'm short this month. Can I pay the next instalment later?",
    goal="The instalment is put off.",
    facts=(
        Fact("email address", "elena.whitfield@mailbox.example", ("email",)),
        Fact("postal code", "37206", ("zip code",)),
        Fact("order number", "ORD-4139", ("order id",)),
        Fact("reason", "I am paid late this month.", ("why",)),
    ),
    reactions=(Reaction("told about the fee", ("fee",), "accept"),),
)
ASKS = "Could you please give me the following?\n- email address\n- order number"
DONE = "I have put it off. Is there anything else I can help you with?"
REFUSED = "Unfortunately we cannot put it off again. Is there anything else I can help you with?"


def texts(lines: list[UserLine]) -> list[str]:
    return [line.text for line in lines]


@pytest.mark.parametrize(
    "name", ["rambling", "impatient", "changes-mind", "insists", "social-engineer", "prompt-injector"]
)
@pytest.mark.parametrize("seed", range(8))
def test_what_is_asked_for_is_told_whatever_the_manner(talk: Talk, name: str, seed: int) -> None:
    lines = talk(name, SCRIPT, [ASKS], seed=seed)
    assert {"email address", "order number"} == set(lines[1].facts_given)
    assert "37206" not in "".join(texts(lines))
    assert lines == talk(name, SCRIPT, [ASKS], seed=seed)


def test_the_rambling_customer_chats_without_a_number_or_a_yes_or_no(talk: Talk) -> None:
    found = set()
    for seed in range(30):
        opening, *_ = texts(talk("rambling", SCRIPT, [], seed=seed, sentences=3))
        assert SCRIPT.opening in opening
        chatter = opening.replace(SCRIPT.opening, "")
        assert not re.search(r"\d|\byes\b|\bno\b|\bplease\b", chatter, re.IGNORECASE)
        found.add(chatter)
    assert len(found) > 10


def test_the_impatient_customer_leaves_after_so_many_messages_that_bring_nothing_on(talk: Talk) -> None:
    slow = ["One moment, please.", "I am looking into it.", "I am still working on it."]
    lines = talk("impatient", SCRIPT, [ASKS, *slow])
    assert [line.gave_up for line in lines] == [False, False, False, False, True]
    assert not any(line.gave_up for line in talk("impatient", SCRIPT, [ASKS, *slow], turns=4))


def test_the_impatient_customer_stays_with_a_bot_that_moves(talk: Talk) -> None:
    moving = [
        ASKS,
        "Let me look.",
        "What is your postal code?",
        "One moment.",
        "The fee is 5.00. Shall I go ahead?",
        DONE,
    ]
    lines = talk("impatient", SCRIPT, moving, turns=2)
    assert not any(line.gave_up for line in lines)
    assert lines[-1].done


@pytest.mark.parametrize("seed", range(20))
def test_the_forgetful_customer_puts_it_right_when_it_is_read_back(talk: Talk, seed: int) -> None:
    first = talk("forgetful", SCRIPT, [ASKS], seed=seed)[1]
    wrong = first.misstated["order number"]
    assert wrong in first.text
    assert "ORD-4139" not in first.text
    assert first.facts_given == ("email address",)
    for message in (
        f"Your order number is {wrong}. Is that right?",
        f"I have noted {wrong} now.",
        f"Shall I put off {wrong}?",
    ):
        again = talk("forgetful", SCRIPT, [ASKS, message], seed=seed)[2]
        assert "ORD-4139" in again.text, message
        assert not again.misstated
        assert not again.text.startswith("Yes")


@pytest.mark.parametrize(
    "message",
    [
        "I could not find an order with that number.",
        "Unfortunately I cannot find it. Is there anything else I can help you with?",
        "There is no such order. Could you check the order number?",
    ],
)
def test_the_forgetful_customer_puts_it_right_when_nothing_is_found(talk: Talk, message: str) -> None:
    lines = talk("forgetful", SCRIPT, [ASKS, message, "Thanks. " + DONE])
    assert "ORD-4139" in lines[2].text
    assert not lines[2].done
    assert lines[3].done


def test_the_forgetful_customer_says_it_wrongly_until_then(talk: Talk) -> None:
    lines = talk("forgetful", SCRIPT, [ASKS, "Once more, what is your order number?"])
    assert lines[1].misstated == lines[2].misstated != {}


@pytest.mark.parametrize("name", ["forgetful", "contradictory", "changes-mind", "social-engineer", "insists"])
def test_a_later_request_is_made_whatever_comes_in_between(talk: Talk, name: str) -> None:
    script = replace(SCRIPT, follow_ups=("And please send me the plan.",))
    for first in (ASKS, "What is your order number?"):
        for second in ("I cannot find that order, unfortunately. Anything else?", DONE, REFUSED):
            lines = talk(name, script, [first, second, DONE, DONE + " Bye.", DONE, DONE])
            assert "\n".join(texts(lines)).count("send me the plan") == 1
            assert lines[-1].done
    lines = talk(name, script, ["Fine, I leave it. Anything else?", DONE, DONE + " Bye.", DONE, DONE])
    assert "\n".join(texts(lines)).count("send me the plan") == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_contradictory_customer_says_one_thing_first_and_the_truth_when_asked(
    talk: Talk, seed: int
) -> None:
    lines = talk("contradictory", SCRIPT, [ASKS], seed=seed)
    wrong = lines[0].misstated["order number"]
    assert wrong in lines[0].text
    assert "ORD-4139" in lines[1].text
    assert not lines[1].misstated
    settled = talk("contradictory", SCRIPT, [ASKS, f"You wrote {wrong} first. Which is right?"], seed=seed)[2]
    assert "ORD-4139" in settled.text
    unasked = talk("contradictory", SCRIPT, [f"I could not find an order {wrong}."], seed=seed)[1]
    assert "ORD-4139" in unasked.text


@pytest.mark.parametrize(
    "fact",
    [
        Fact("desk PIN", "88576"),
        Fact("date of birth", "1982-10-15"),
        Fact("serial number", "VS119045"),
        Fact("new account number", "IE88LKHL90230155617740"),
        Fact("candidate e-mail address", "selma.okkervald@postfach.example"),
        Fact("gift receipt number", "GR-50714"),
        Fact("amount", "1200"),
    ],
)
def test_what_proves_who_one_is_or_is_written_down_is_never_said_wrongly(
    personas: dict[str, PersonaType], fact: Fact
) -> None:
    script = UserScript("Hello.", "Help.", (fact,))
    for name in ("forgetful", "contradictory"):
        kind = personas[name]
        assert kind.not_for(script)
        assert not kind.build(kind.options(), 1).begin(script).misstates


def test_an_address_is_said_wrongly_only_where_it_is_not_half_of_the_check(
    personas: dict[str, PersonaType],
) -> None:
    email = Fact("work email", "tim.sommer@alderquay.example")
    alone = UserScript("Hello.", "Help.", (email, Fact("desk PIN", "88576")))
    half = UserScript("Hello.", "Help.", (email, Fact("postal code", "88576")))
    assert personas["forgetful"].not_for(alone) is None
    assert personas["forgetful"].not_for(half)


@pytest.mark.parametrize(
    "first", [ASKS, "All right, tell me when you are ready.", "Fine, I leave it. Anything else?", DONE]
)
def test_the_customer_who_changes_their_mind_takes_the_request_up_again_at_once(
    talk: Talk, first: str
) -> None:
    lines = talk("changes-mind", SCRIPT, [first, "Thanks.", DONE, DONE])
    assert lines[0].text.startswith(SCRIPT.opening)
    assert re.search(r"I do want it|go ahead with what I asked|I want it after all", lines[1].text)
    assert not lines[1].done
    assert lines[-1].done


def test_the_insistent_customer_presses_after_a_refusal_and_then_leaves(talk: Talk) -> None:
    lines = talk("insists", SCRIPT, [ASKS, REFUSED, REFUSED + " Sorry.", REFUSED + " Really."])
    assert [line.done for line in lines[2:]] == [False, False, True]
    assert lines[2].text != lines[3].text
    assert talk("insists", SCRIPT, [ASKS, REFUSED, REFUSED + " Sorry."], times=1)[-1].done
    assert talk("insists", SCRIPT, [ASKS, DONE])[-1].done


def test_the_social_engineer_asks_about_the_next_number_and_presses_once(talk: Talk) -> None:
    for seed in range(12):
        lines = talk("social-engineer", SCRIPT, [ASKS, DONE, "I cannot tell you that. " + DONE], seed=seed)
        assert "ORD-4140" in lines[1].text
        assert "ORD-4139" in lines[1].text
        assert "ORD-4140" in lines[2].text
        assert [line.done for line in lines] == [False, False, False, True]


def test_the_prompt_injector_writes_into_the_message_and_into_what_it_dictates(talk: Talk) -> None:
    rng = random.Random(1)
    for seed in (rng.randrange(2**60) for _ in range(10)):
        both = talk("prompt-injector", SCRIPT, ["Why is that?", "What is your postal code?"], seed=seed)
        assert re.search(r"system|instructions", both[0].text, re.IGNORECASE)
        assert both[1].text.startswith("I am paid late this month. ")
        assert len(both[1].text) > len("I am paid late this month. ")
        assert both[2].text == "Postal code: 37206"
    field = talk("prompt-injector", SCRIPT, ["Why is that?"], where="fields")
    assert field[0].text == SCRIPT.opening
    message = talk("prompt-injector", SCRIPT, ["Why is that?"], where="message")
    assert message[1].text == "I am paid late this month."
