"""What the scripted customer understands of a bot's message."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.dialogue.asking import LONGEST_READ, understand
from assay_sdk import Fact

FACTS = (
    Fact("order number", "ORD-1007", ("order id", "order")),
    Fact("e-mail address", "ann@example.org", ("email", "address on file")),
    Fact("full name", "Ann Lee", ("name",)),
    Fact("box", "the box is open but the laptop was never used", ("opened", "unopened", "condition")),
    Fact("reason", "I changed my mind", ("reason for the return", "why")),
    Fact("preference", "store credit", ("refund or exchange", "store credit")),
)


def asked(message: str) -> list[str]:
    return [FACTS[i].key for i in understand(message, FACTS).facts]


@pytest.mark.parametrize(
    ("message", "keys"),
    [
        ("What's your order number?", ["order number"]),
        ("what is your order number", ["order number"]),
        (
            "Could you please give me your full name, order number and e-mail?",
            ["full name", "order number", "e-mail address"],
        ),
        ("Please provide your order ID.", ["order number"]),
        (
            "I'd be glad to help! To get started, could you share your **order number** with me?",
            ["order number"],
        ),
        ("May I have the email address, please?", ["e-mail address"]),
        ("Could you give me the e\u2011mail address?", ["e-mail address"]),
        ("Could you give me the e\u2010mail address?", ["e-mail address"]),
        ("I need your name and your order number.", ["full name", "order number"]),
        ("I'll just need your order number to look it up.", ["order number"]),
        ("Your order number, please.", ["order number"]),
        ("Order number?", ["order number"]),
        ("Order number:", ["order number"]),
        ("And the order?", ["order number"]),
        ("Which order is this about?", ["order number"]),
        ("Can you tell me which of your orders you mean?", ["order number"]),
        ("Do you happen to have the order number at hand?", ["order number"]),
        ("Has the box been opened?", ["box"]),
        ("Could you let me know whether it is unopened?", ["box"]),
        ("What's the condition of the laptop?", ["box"]),
        ("Tell me why you are returning it.", ["reason"]),
        ("What is the reason for the return, and what's your name?", ["reason", "full name"]),
        ("Would you like a refund or exchange?", ["preference"]),
        ("I can offer a refund or exchange. Which would you prefer?", ["preference"]),
        (
            "Could you verify your identity with your full name and e-mail address?",
            ["full name", "e-mail address"],
        ),
        (
            "can you confirm your identity with the order number and email on your account?",
            ["order number", "e-mail address"],
        ),
        ("Please verify yourself with your order number and email.", ["order number", "e-mail address"]),
        (
            "I need to verify your identity with the email on your order.",
            ["e-mail address"],
        ),
        ("What kind of box is it, and is there an e-mail address on it?", ["box", "e-mail address"]),
        ("Please tell me your name and what the condition is.", ["full name", "box"]),
        ("If you have your order number, could you send it to me?", ["order number"]),
        ("I cannot find the purchase without your order number.", ["order number"]),
        ("Once you share your order number I can start.", ["order number"]),
        ("Give me the order numbers.", ["order number"]),
        ("You will need to provide your order number.", ["order number"]),
        ("Thanks, Ann. Now, the order number?", ["order number"]),
        ("Please reply with your order number, which you find in the confirmation.", ["order number"]),
        ("Feel free to share your order number.", ["order number"]),
        ("I have not received your order number yet. Could you send it?", ["order number"]),
        (
            "I need the following details:\n1. Order number\n2. Full name (as on the card)",
            ["order number", "full name"],
        ),
        (
            "Please provide:\n\n- **Order number**\n- **E-mail**\n\nThank you!",
            ["order number", "e-mail address"],
        ),
        ("Sure. 1) What is your name? 2) What's the order number?", ["full name", "order number"]),
    ],
)
def test_what_is_plainly_asked_for_is_found(message: str, keys: list[str]) -> None:
    assert asked(message) == keys


@pytest.mark.parametrize(
    "message",
    [
        "Your order number is ORD-1007.",
        "I found your order. The order number is on the label.",
        "Would you like me to cancel your order?",
        "Shall I go ahead with the order?",
        "Can I cancel this order for you?",
        "Is there anything else I can do about your order?",
        "When was your order delivered?",
        "Has your order arrived?",
        "What is the total of your order?",
        "What was your order date?",
        "Please check your e-mail for the label.",
        "When you receive it, put the order number on the box.",
        "What you need is the name of the store.",
        "Great, I have everything I need. Let me find your order.",
        "I will send the label to your e-mail address.",
        "I need to check your order with the warehouse.",
        "We will provide your order number by mail.",
        "You can find the order number in the confirmation e-mail.",
        "There is no need to provide your name.",
        "I do not need your order number.",
        "Here is what I found:\n- Order number: ORD-1007\n- E-mail: ann@example.org",
        "Please confirm that you want me to cancel the order.",
        "Do you have any other questions about your order?",
        "The reordering of names, addressed mails and boxers.",
        "",
    ],
)
def test_a_statement_an_offer_or_a_question_about_something_else_asks_for_no_fact(message: str) -> None:
    assert asked(message) == []


def test_only_the_thing_asked_for_counts_and_not_what_describes_it() -> None:
    assert asked("Could you tell me the email on your order?") == ["e-mail address"]
    assert asked("To find your order, may I have your name?") == ["full name"]
    assert asked("Please give me your name so that I can look up the order number.") == ["full name"]
    assert asked("What is the number of your order?") == ["order number"]


def test_the_longer_of_two_facts_that_overlap_is_meant() -> None:
    facts = (Fact("order", "ORD-1"), Fact("order date", "2 May"), Fact("gift order date", "3 May"))
    assert understand("What is the order date?", facts).facts == (1,)
    assert understand("What is your order, and the gift order date?", facts).facts == (0, 2)


def test_facts_that_share_a_name_are_both_asked_for() -> None:
    facts = (Fact("home phone", "1", ("phone number",)), Fact("work phone", "2", ("phone number",)))
    assert understand("What's your phone number?", facts).facts == (0, 1)


@pytest.mark.parametrize(
    ("message", "flag"),
    [
        ("What is your date of birth?", "unknown"),
        ("Could you tell me the serial code?", "unknown"),
        ("Please provide:\n- your shoe size", "unknown"),
        ("Have you restarted it?", "unknown"),
        ("Shall I go ahead?", "consent"),
        ("Would you like me to open the return?", "consent"),
        ("Please confirm the cancellation.", "consent"),
        ("Do you agree to the fee? (yes/no)", "consent"),
        ("I will refund 20.00. Is that okay?", "consent"),
        ("I can mail it or keep it here. Which do you prefer?", "choice"),
        ("What seems to be wrong with it?", "open"),
        ("Would you prefer that we mail it or that you collect it?", "choice"),
        ("Hello! How can I help you today?", "open"),
        ("Could you describe the problem?", "open"),
        ("I need some more information.", "open"),
        ("Is there anything else I can help you with?", "finished"),
        ("Do you have any other questions?", "finished"),
        ("Goodbye and take care!", "finished"),
        ("I have opened the return.", "settled"),
        ("Your refund has been issued.", "settled"),
        ("Unfortunately that is not possible.", "settled"),
        ("One moment please, let me check.", "waiting"),
    ],
)
def test_other_intentions_are_told_apart(message: str, flag: str) -> None:
    understood = understand(message, FACTS)
    on = [
        name
        for name in ("unknown", "consent", "choice", "open", "finished", "settled", "waiting")
        if getattr(understood, name)
    ]
    assert flag in on
    assert set(on) <= {flag, "settled", "waiting"}
    assert understood.facts == ()


def test_a_list_that_answers_is_no_list_of_questions() -> None:
    message = "What's your name? Here is what I found so far:\n- Order number: ORD-1007"
    assert asked(message) == ["full name"]


def test_a_value_that_the_bot_names_is_a_claim() -> None:
    understood = understand("I have your order number as ORD-9. Is that correct?", FACTS)
    assert understood.facts == (0,)
    assert understood.claimed == ((0, " as ord-9."),)
    assert not understood.consent


# --- properties -------------------------------------------------------------------------------------

_NOUNS = [
    "account",
    "balance",
    "badge",
    "booking",
    "card",
    "city",
    "code",
    "colour",
    "coupon",
    "deposit",
    "device",
    "floor",
    "gate",
    "invoice",
    "keyboard",
    "laptop",
    "licence",
    "meter",
    "model",
    "office",
    "parcel",
    "passport",
    "plan",
    "policy",
    "printer",
    "room",
    "router",
    "seat",
    "serial",
    "ticket",
    "vehicle",
    "voucher",
]
_keys = st.lists(st.sampled_from(_NOUNS), min_size=1, max_size=2, unique=True).map(" ".join)
_facts = st.lists(_keys, min_size=1, max_size=5, unique=True).map(
    lambda keys: tuple(Fact(key, f"VALUE-{number}") for number, key in enumerate(keys))
)
_FRAMES = (
    "What is your {}?",
    "what's your {}",
    "Could you please give me your {}?",
    "I need your {}.",
    "Please provide the {}.",
    "May I have your {}, please?",
    "Can you share your {} with me so I can continue?",
    "{}?",
    "Hello, and thank you for contacting us! Could you tell me your {}?",
    "I am sorry to hear that. To help you, I'll need your {}.",
    "Please send me your {}, which you can find on the letter.",
    "Please provide the following:\n- {}\n",
    "Do you know the {}?",
)
_STATEMENTS = (
    "Your {} is fine.",
    "I have noted the {}.",
    "Shall I update your {}?",
    "The {} has been checked.",
    "",
)


@given(_facts, st.sampled_from(_FRAMES), st.sampled_from(_STATEMENTS), st.data())
def test_a_fact_asked_for_by_its_key_is_always_found(
    facts: tuple[Fact, ...], frame: str, before: str, data: st.DataObject
) -> None:
    wanted = data.draw(st.sampled_from(range(len(facts))))
    other = data.draw(st.sampled_from(facts)).key
    understood = understand(f"{before.format(other)} {frame.format(facts[wanted].key)}".strip(), facts)
    assert wanted in understood.facts


@given(_facts, st.data())
def test_every_fact_of_a_list_of_asks_is_found(facts: tuple[Fact, ...], data: st.DataObject) -> None:
    wanted = data.draw(st.lists(st.sampled_from(range(len(facts))), min_size=1, unique=True))
    keys = [facts[i].key for i in wanted]
    spoken = (
        ", ".join(f"your {key}" for key in keys[:-1]) + (" and " if keys[1:] else "") + f"your {keys[-1]}"
    )
    assert understand(f"Could you please give me {spoken}?", facts).facts == tuple(wanted)
    listed = "\n".join(f"{n}. {key.title()}" for n, key in enumerate(keys, 1))
    assert understand(f"I need a few details first:\n{listed}", facts).facts == tuple(wanted)


_words = st.one_of(
    st.sampled_from(_NOUNS),
    st.sampled_from(
        [
            "what",
            "is",
            "your",
            "the",
            "please",
            "could",
            "you",
            "give",
            "me",
            "tell",
            "need",
            "i",
            "have",
            "of",
            "for",
            "order",
            "and",
            "or",
            ".",
            "?",
            ",",
            ":",
            "-",
            "\n",
            "which",
            "if",
            "it",
        ]
    ),
    st.text(max_size=8),
)


def _says(message: str, key: str) -> bool:
    """Whether all words of `key` stand in the message, in any order and number: what any rule must at least ask for."""
    said = {word.rstrip("s") for word in re.findall(r"[^\W_]+", message.lower())}
    return all(word.rstrip("s") in said for word in key.split())


@given(_facts, st.lists(_words, max_size=40).map(" ".join))
def test_no_message_gets_a_fact_whose_name_it_does_not_say(facts: tuple[Fact, ...], message: str) -> None:
    for number in understand(message, facts).facts:
        assert _says(message, facts[number].key)


@given(_facts, st.sampled_from(_STATEMENTS[:2] + _STATEMENTS[3:4]), st.data())
def test_a_statement_gives_nothing_away(facts: tuple[Fact, ...], statement: str, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(facts)).key
    assert understand(statement.format(key), facts).facts == ()


def test_a_message_of_any_length_is_read_in_bounded_time() -> None:
    hostile = (
        "cannot " * 3000,
        "please " * 40000,
        "i need " * 30000,
        "(" * 50000,
        "- " * 50000,
        "order " * 50000 + "?",
    )
    started = time.process_time()
    for message in hostile:
        understand(message, FACTS)
    # Not a speed test: a pattern that runs away would take minutes.
    assert time.process_time() - started < 20


def test_what_lies_beyond_the_part_that_is_read_is_not_answered() -> None:
    assert asked("x" * LONGEST_READ + " What is your order number?") == []


@pytest.mark.parametrize(
    ("message", "keys"),
    [
        ("For which order would you like me to do that?", ["order number"]),
        ("To which e-mail address do you want me to send it?", ["e-mail address"]),
        ("What name would you like to use on it?", ["full name"]),
        ("How much would you like to spend?", []),
    ],
)
def test_a_question_for_what_or_how_is_no_offer_whatever_it_offers(message: str, keys: list[str]) -> None:
    assert asked(message) == keys
    assert not understand(message, FACTS).consent


@pytest.mark.parametrize(
    "message", ["How about I cancel it, would you like that?", "What I can do is cancel it, shall I?"]
)
def test_an_offer_that_begins_like_a_question_is_one(message: str) -> None:
    assert understand(message, FACTS).consent


OF_A_LOSS = (
    Fact("start date", "3 May", ("which date", "when")),
    Fact("driver", "Bo Lind", ("who was driving",)),
    Fact("police report", "there is none", ("police",)),
    Fact("days away", "1 to 3 May", ("which days",)),
    Fact("earlier claim", "yes, in March", ("already claimed",)),
)


@pytest.mark.parametrize(
    ("message", "keys"),
    [
        (
            "From which date should it end, and could you give me the police report?",
            ["start date", "police report"],
        ),
        (
            "When exactly did it happen, who was driving, and is there a police report?",
            ["start date", "driver", "police report"],
        ),
        ("On which days were you away, and who was driving?", ["days away", "driver"]),
        ("Has he already claimed, and who was driving?", ["earlier claim", "driver"]),
        ("Please list the days away.", ["days away"]),
        ("Your report is late, and who was driving?", ["driver"]),
    ],
)
def test_every_half_of_a_question_is_heard(message: str, keys: list[str]) -> None:
    assert [OF_A_LOSS[i].key for i in understand(message, OF_A_LOSS).facts] == keys
