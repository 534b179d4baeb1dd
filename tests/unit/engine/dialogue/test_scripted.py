"""The customer who follows a script."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.dialogue.scripted import MOST_INSISTING, PATIENCE, ScriptedUser, user_script
from assay.engine.packs.models import Task
from assay_sdk import Fact, Reaction, SimulatorFault, UserLine, UserScript

SCRIPT = UserScript(
    opening="I bought a laptop from you and changed my mind. Can you start the return?",
    goal="A return is opened.",
    facts=(
        Fact("order number", "ORD-1007", ("order id", "order")),
        Fact("box", "the box is open but the laptop was never used", ("opened", "condition")),
        Fact("email", "Ann.Lee+shop@Example.ORG"),
    ),
    closing="Thanks, bye.",
)


def script(**changes: Any) -> UserScript:
    return UserScript(
        **{
            "opening": SCRIPT.opening,
            "goal": SCRIPT.goal,
            "facts": SCRIPT.facts,
            "closing": SCRIPT.closing,
            **changes,
        }
    )


def talk(messages: Sequence[str], told: UserScript = SCRIPT, seed: int = 0) -> list[UserLine]:
    async def lines() -> list[UserLine]:
        user = ScriptedUser(told, None, seed)
        return [await user.open(), *[await user.answer(message) for message in messages]]

    return asyncio.run(lines())


def reply(message: str, told: UserScript = SCRIPT) -> UserLine:
    return talk([message], told)[-1]


def test_the_customer_opens_with_the_opening_and_gives_nothing_away() -> None:
    assert talk([]) == [UserLine(SCRIPT.opening)]


def test_the_customer_answers_what_is_asked_with_the_value_as_it_is_written() -> None:
    line = reply("Could you tell me your email?")
    assert line == UserLine("Email: Ann.Lee+shop@Example.ORG", facts_given=("email",))


def test_several_facts_are_given_at_once_when_several_are_asked_for() -> None:
    line = reply("Please give me your order number and the email, and is the box opened?")
    assert line.facts_given == ("order number", "email", "box")
    for fact in SCRIPT.facts:
        assert fact.value in line.text


def test_a_fact_is_given_again_when_it_is_asked_for_again() -> None:
    first, second = talk(["Your order number?", "Sorry, what was the order number?"])[1:]
    assert first.text == second.text == "Order number: ORD-1007"


def test_what_the_customer_does_not_know_it_says_so() -> None:
    line = reply("What is your date of birth?")
    assert line.facts_given == () and not line.done
    assert "know" in line.text or "can't" in line.text or "don't have" in line.text
    assert reply("What is your order number? What is your date of birth?").text == (
        "Order number: ORD-1007\nI don't know the rest."
    )


def test_the_customer_says_what_it_wants_when_asked_how_it_can_be_helped() -> None:
    assert reply("Hello! Thank you for contacting us. How can I help you today?").text == SCRIPT.opening


def test_a_right_claim_is_confirmed_and_a_wrong_one_corrected() -> None:
    assert (
        reply("I have your order number as ORD-1007. Is that correct?").text == "Yes.\nOrder number: ORD-1007"
    )
    assert reply("Is your order number ORD-9?").text == "No, that is not right.\nOrder number: ORD-1007"


YES, NO = "Yes.\n", "No, that is not right.\n"


@pytest.mark.parametrize(
    ("value", "said", "begins"),
    [
        ("ORD-7", "ORD-7", YES),
        ("ORD-7", "ord\u20117", YES),
        ("ORD-7", "**ORD-7**", YES),
        ("ORD-7", "ORD-71", NO),
        ("ORD-7", "ORD-7-1", ""),
        ("$195", "$195.00", YES),
        ("$195", "195", YES),
        ("$195", "$1950", NO),
        ("$195", "$1,195", NO),
        ("$195", "€195", ""),
        ("1,290.50", "1290.5", YES),
        ("2026-02-10", "2026-02-10", YES),
        ("2026-02-10", "2026-02-11", NO),
        ("2026-02-10", "10 February 2026", ""),
        ("2026-02-10", "10-02-2026", ""),
        ("10/02/2026", "02/10/2026", ""),
        ("Ann.Lee@example.org", "ann.lee@example.org", YES),
        ("ann@example.org", "mary.ann@example.org", NO),
        ("ann@example.org", "ann@example.org.uk", NO),
        ("12 High Street", "12 High Street", YES),
        ("12 High Street", "12 High St", ""),
    ],
)
def test_a_claim_is_judged_by_whole_values_and_only_when_it_can_be(
    value: str, said: str, begins: str
) -> None:
    line = reply(f"Your reference is {said}, is that correct?", script(facts=(Fact("reference", value),)))
    told = f"Reference: {value}"
    assert line.text == begins + told
    assert line.facts_given == ("reference",)


def test_of_several_claims_each_is_judged_by_its_own_value() -> None:
    two = script(facts=(Fact("reference", "R-7"), Fact("last reference", "R-9")))
    right = reply("Your reference is R-7 and your last reference is R-9, is that correct?", two)
    wrong = reply("Your reference is R-9 and your last reference is R-7, is that correct?", two)
    assert right.text == "Yes.\nReference: R-7\nLast reference: R-9"
    assert wrong.text == "No, that is not right.\nReference: R-7\nLast reference: R-9"


def test_without_a_reaction_the_customer_says_yes() -> None:
    line = reply("Shall I open the return now?")
    assert line.text.startswith("Yes") and not line.done


# --- the end ----------------------------------------------------------------------------------------


def test_the_customer_leaves_with_the_closing_when_there_is_nothing_else() -> None:
    assert reply("Your return is open. Is there anything else I can help you with?") == UserLine(
        "Thanks, bye.", done=True
    )
    assert reply("I have opened the return RMA-1.").done
    assert reply("Unfortunately I cannot do that.").done


def test_the_customer_waits_for_a_bot_that_is_about_to_do_something() -> None:
    lines = talk(["One moment please, I will check that.", "I have opened the return."])
    assert not lines[1].done
    assert lines[2].done


def test_a_statement_that_may_be_an_end_is_asked_about_once() -> None:
    lines = talk(["The laptop was delivered on 10 February.", "It was."])
    assert not lines[1].done and lines[1].text.endswith("?")
    assert lines[2].done


def test_follow_ups_come_one_after_the_other_when_the_one_before_is_dealt_with() -> None:
    told = script(follow_ups=("And cancel my newsletter.", "And what do I owe?"))
    lines = talk(
        [
            "Done! Anything else?",
            "What is your email?",
            "I have cancelled it. Anything else?",
            "You owe nothing. Can I help you with anything else?",
        ],
        told,
    )
    assert [line.text for line in lines[1:]] == [
        "And cancel my newsletter.",
        "Email: Ann.Lee+shop@Example.ORG",
        "And what do I owe?",
        "Thanks, bye.",
    ]
    assert [line.done for line in lines] == [False, False, False, False, True]


def test_nobody_can_talk_to_a_customer_who_has_left() -> None:
    with pytest.raises(SimulatorFault) as caught:
        talk(["Anything else?", "Hello?"])
    assert "has left" in str(caught.value)


@pytest.mark.parametrize(
    "message",
    [
        "Can you tell me more?",
        "Let me check.",
        "What is your shoe size?",
        "Shall I go ahead?",
        "What is your order number?",
        "",
        "?",
        "Hmm.",
    ],
)
def test_a_bot_that_goes_round_in_circles_is_left(message: str) -> None:
    async def run() -> int:
        user = ScriptedUser(SCRIPT)
        await user.open()
        for number in range(3 * PATIENCE):
            line = await user.answer(f"Round {number}. {message}")
            if line.done or line.gave_up:
                return number
        raise AssertionError("the customer never left")

    assert asyncio.run(run()) <= PATIENCE + 2


def test_a_bot_that_repeats_itself_is_left_sooner() -> None:
    lines = talk(["What is your shoe size?"] * 4)
    assert [line.gave_up for line in lines] == [False, False, False, False, True]


# --- reactions --------------------------------------------------------------------------------------

FEE = "There is a restocking fee of 193.50. Shall I go ahead?"


def reacting(then: str, match: tuple[str, ...] = ("restocking fee",), **changes: Any) -> UserScript:
    return script(reactions=(Reaction("told about a restocking fee", match, then, **changes),))  # type: ignore[arg-type]


def test_a_reaction_accepts_or_refuses() -> None:
    accepted, refused = reply(FEE, reacting("accept")), reply(FEE, reacting("refuse"))
    assert not accepted.text.startswith("No") and not accepted.done
    assert refused.text.startswith("No") and not refused.done


def test_without_match_all_content_words_of_when_set_a_reaction_off() -> None:
    told = reacting("refuse", match=())
    assert reply("A fee is charged for restocking. Is that okay?", told).text.startswith("No")
    assert reply("A fee is charged. Is that okay?", told).text.startswith("Yes")


@pytest.mark.parametrize(
    ("match", "heard", "reacts"),
    [
        ("restocking fee", "Restocking fees apply.", True),
        ("refund", "It was refunded.", True),
        ("restocking fee", "You get 1,096.51 (after a restocking fee).", True),
        ("combin", "Codes cannot be combined.", True),
        ("fee", "Here is some feedback.", False),
        ("25.00", "It costs $25.", True),
        ("$25", "It costs 25.00 dollars.", True),
        ("25", "It costs 125.00 or 25.50 or 1,025.", False),
        ("1290.5", "That is 1,290.50 in all.", True),
        ("15%", "A fee of 15 % applies.", True),
        ("15 %", "Within 15 days.", False),
        ("don't match", "We do not match prices.", True),
    ],
)
def test_the_words_of_a_reaction_are_found_as_people_write_them(match: str, heard: str, reacts: bool) -> None:
    line = reply(f"{heard} Okay?", reacting("refuse", (match,)))
    assert line.text.startswith("No") == reacts


def test_a_reaction_says_its_text_and_answers_what_is_asked_beside_it() -> None:
    line = reply(
        "There is a restocking fee. What is your order number?",
        reacting("say", say="I will pay that in cash."),
    )
    assert line.text == "I will pay that in cash.\nOrder number: ORD-1007"
    assert line.facts_given == ("order number",)


def test_a_thing_accepted_before_does_not_keep_the_customer_when_it_is_only_mentioned() -> None:
    lines = talk([FEE, "Done, with a restocking fee of 193.50. Is there anything else?"], reacting("accept"))
    assert lines[2] == UserLine("Thanks, bye.", done=True)


def test_a_customer_who_first_hears_of_a_fee_at_the_end_accepts_it_and_leaves() -> None:
    line = reply("I opened the return and charged the restocking fee. Anything else?", reacting("accept"))
    assert line.done and line.text.endswith("Thanks, bye.") and line.text != "Thanks, bye."


def test_a_customer_who_first_hears_of_a_fee_at_the_end_and_refuses_stays() -> None:
    assert not reply("I charged the restocking fee. Anything else?", reacting("refuse")).done


def test_a_customer_with_a_new_wish_waits_for_its_answer_and_leaves_after_that() -> None:
    told = script(reactions=(Reaction("fee", ("restocking fee",), "say", "Then exchange it instead."),))
    refusal = "Sorry, the restocking fee cannot be waived. Is there anything else I can help you with?"
    wish, end = talk([refusal, "I exchanged it, without the restocking fee. Anything else?"], told)[1:]
    assert wish == UserLine("Then exchange it instead.")
    assert end.done


def test_the_customer_insists_at_most_twice() -> None:
    refusals = [f"Sorry, the restocking fee cannot be waived. ({n})" for n in range(4)]
    lines = talk(refusals[: MOST_INSISTING + 1], reacting("insist"))
    assert [line.done for line in lines[1:]] == [False] * MOST_INSISTING + [True]
    assert len({line.text for line in lines[1 : MOST_INSISTING + 1]}) == MOST_INSISTING


def test_a_customer_who_gives_up_leaves_unsatisfied() -> None:
    line = reply(FEE, reacting("give_up"))
    assert line.gave_up and not line.done


def test_two_reactions_at_once_say_what_each_is_about() -> None:
    told = script(
        reactions=(
            Reaction("fee", ("restocking fee",), "refuse"),
            Reaction("gift card", ("gift card",), "accept"),
        )
    )
    line = reply("I would charge a restocking fee and refund to a gift card. Okay?", told)
    assert [text.split(":")[0] for text in line.text.split("\n")] == [
        "About the restocking fee",
        "About the gift card",
    ]


# --- properties -------------------------------------------------------------------------------------

_messages = st.lists(
    st.one_of(
        st.text(max_size=60),
        st.sampled_from(
            [
                "What is your order number?",
                "The email, please.",
                "Is the box opened?",
                "Your order number is ORD-1.",
                FEE,
                "Anything else?",
                "One moment.",
                "I have done it.",
                "Sorry, no restocking fee can be waived.",
            ]
        ),
    ),
    max_size=12,
)
_told = script(
    follow_ups=("And my newsletter.",), reactions=(Reaction("fee", ("restocking fee",), "insist"),)
)


def _heard(messages: Sequence[str], seed: int) -> list[UserLine]:
    lines: list[UserLine] = []

    async def run() -> None:
        user = ScriptedUser(_told, None, seed)
        lines.append(await user.open())
        for message in messages:
            lines.append(await user.answer(message))
            if lines[-1].done or lines[-1].gave_up:
                return

    asyncio.run(run())
    return lines


@given(_messages, st.integers(min_value=0, max_value=2**63))
def test_the_same_seed_and_messages_give_the_same_lines(messages: list[str], seed: int) -> None:
    assert _heard(messages, seed) == _heard(messages, seed)


@given(_messages, st.integers(min_value=0, max_value=2**63))
def test_a_line_holds_exactly_the_values_of_the_facts_it_gives(messages: list[str], seed: int) -> None:
    for line in _heard(messages, seed):
        assert line.text.strip()
        for fact in _told.facts:
            assert (fact.value in line.text) == (fact.key in line.facts_given)


def test_a_task_of_a_pack_becomes_a_script() -> None:
    task = Task.model_validate(
        {
            "id": "RET-1",
            "title": "Return",
            "user": {
                "opening": "Hi.",
                "goal": "A return.",
                "facts": [{"key": "order", "value": "ORD-1", "aliases": ["id"]}],
                "reactions": [{"when": "told no", "then": "say", "say": "Oh."}],
                "follow_ups": ["And more."],
            },
            "expected": {"no_change": True},
        }
    )
    assert user_script(task) == UserScript(
        opening="Hi.",
        goal="A return.",
        facts=(Fact("order", "ORD-1", ("id",)),),
        reactions=(Reaction("told no", (), "say", "Oh."),),
        follow_ups=("And more.",),
        closing="Thanks, that is all.",
    )
