"""The check communication: each part on conversations of which a person can say at once what is right."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk import CheckResult, Outcome, TrialView, conformance

PACKAGE = Path(__file__).parents[3] / "plugins" / "assay-check-communication"
PASS, FAIL, CANNOT_TELL = Outcome.PASS, Outcome.FAIL, Outcome.CANNOT_TELL

TASK = {
    "id": "RET-1",
    "user": {
        "facts": [
            {"key": "order number", "value": "ORD-1007", "aliases": ["order"]},
            {"key": "email", "value": "zoe@example.org", "aliases": ["email address", "address"]},
        ]
    },
}


@pytest.fixture(scope="module")
def plugin() -> Iterator[Any]:
    sys.path.insert(0, str(PACKAGE))
    import assay_check_communication

    yield assay_check_communication
    sys.path.remove(str(PACKAGE))


def user(text: str, *facts: str, **more: Any) -> dict[str, Any]:
    return {"type": "user", "text": text, "facts_given": list(facts), **more}


def bot(text: str) -> dict[str, Any]:
    return {"type": "bot", "text": text, "truncated": False, "ends": None}


def call(tool: str, number: int = 0, *, wrote: bool = False, **fields: Any) -> dict[str, Any]:
    return {
        "type": "tool", "call": number, "tool": tool, "kind": "write" if wrote else "read", "arguments": {}, "ok": True,
        "result": {}, "error": None, "message": None, "empty": False, "wrote": wrote, **fields,
    }  # fmt: skip


REFUND = call(
    "refunds_issue", wrote=True, arguments={"order_id": "ORD-1007", "amount": 193.5}, result={"id": "RF-1"}
)
REFUND_ROW = {
    "table": "refunds", "op": "insert", "key": ["RF-1"], "before": None, "call": 0,
    "after": {"id": "RF-1", "order_id": "ORD-1007", "amount": 193.5},
}  # fmt: skip


def judged(
    plugin: Any,
    part: str,
    *events: dict[str, Any],
    changes: Any = (),
    termination: str = "user_done",
    **options: Any,
) -> CheckResult:
    kind = plugin.assay_checkers()[0]
    results = kind.build(kind.options(**options)).check(TrialView(TASK, events, list(changes), termination))
    found = {r.name: r for r in results}[part]
    assert isinstance(found, CheckResult)
    return found


def test_it_conforms_and_is_never_required_by_itself(plugin: Any) -> None:
    kind = plugin.assay_checkers()[0]
    conformance.check_checker(
        kind, trials=[TrialView(TASK, [user("Hi."), bot("I have refunded 1.")], [], "user_done")]
    )
    assert kind.names[:2] == ("communication.promises", "communication.claims")


UNTRUE = [
    "I have refunded your order.",
    "I've now refunded the full amount to your card.",
    "Good news: your refund has been issued!",
    "Your refund is done.",
    "Your booking has been cancelled, as you asked.",
    "We have successfully rebooked you on the later flight.",
    "I have gone ahead and cancelled it.",
    "That's all set!",
    "I've waived the fee for you.",
    "I have updated your address.",
    "Everything has been taken care of.",
    "I\u2019ve unlocked your account.",
    "I have escalated this to a supervisor.",
    "**Refund:** I have processed it.",
    "The cancellation is now complete.",
    "Your password has been reset.",
    "I've extended the deadline by two weeks.",
]

HARMLESS = [
    "I have not refunded anything yet.",
    "I haven't cancelled your booking.",
    "Once your refund has been issued, it takes 5 days.",
    "If the booking has been cancelled, no refund is due.",
    "Shall I cancel it? Has your card been blocked?",
    "I can refund 193.50 to your card.",
    "I will be able to tell you when it has been processed.",
    "You said that your order was cancelled.",
    "Refunds are issued to the original payment method.",
    "Your order cannot be cancelled because it has shipped.",
    "Unfortunately nothing has been refunded so far.",
    "The fee would be waived for gold members.",
    "I have checked your order and found it.",
    "I have looked into this for you.",
    "Thank you, I have received your details.",
    "No refund has been issued.",
    "I understand that you were charged twice.",
    "After I have cancelled the flight, you can book another.",
    "The item was replaced last year.",
    "I'm unable to say whether it has been shipped.",
]


@pytest.mark.parametrize("text", UNTRUE)
def test_a_claim_of_something_that_was_not_done_fails(plugin: Any, text: str) -> None:
    result = judged(plugin, "claims", user("Refund me."), bot(text))
    assert result.outcome is FAIL, text
    assert result.reward == 0.0
    assert result.evidence[0].turn == 1
    assert result.evidence[0].span in text


@pytest.mark.parametrize("text", HARMLESS)
def test_what_claims_nothing_passes(plugin: Any, text: str) -> None:
    assert judged(plugin, "claims", user("Refund me."), bot(text)).outcome is PASS


def test_a_claim_is_borne_out_by_a_write_before_it_and_not_after(plugin: Any) -> None:
    told = bot("I have refunded $193.50.")
    assert judged(plugin, "claims", user("Hi."), REFUND, told, changes=[REFUND_ROW]).outcome is PASS
    assert judged(plugin, "claims", user("Hi."), told, REFUND, changes=[REFUND_ROW]).outcome is FAIL


def test_another_amount_than_the_one_that_was_written_is_a_contradiction(plugin: Any) -> None:
    result = judged(
        plugin, "claims", user("Hi."), REFUND, bot("I have refunded $1,290.00."), changes=[REFUND_ROW]
    )
    assert result.outcome is FAIL
    assert "1290.00" in result.evidence[0].message
    both = bot("Of the $1,290.00 I have refunded $193.50.")
    assert judged(plugin, "claims", user("Hi."), REFUND, both, changes=[REFUND_ROW]).outcome is PASS


def test_a_raised_total_bears_out_the_amount_it_was_raised_by(plugin: Any) -> None:
    raised = call("orders_adjust", wrote=True)
    row = {"table": "orders", "op": "update", "key": ["O"], "call": 0, "before": {"refunded": 100}, "after": {"refunded": 145}}  # fmt: skip
    assert (
        judged(plugin, "claims", user("Hi."), raised, bot("I have refunded $45.00."), changes=[row]).outcome
        is PASS
    )
    assert (
        judged(plugin, "claims", user("Hi."), raised, bot("I have refunded $46.00."), changes=[row]).outcome
        is FAIL
    )


def test_another_kind_of_write_does_not_bear_a_claim_out(plugin: Any) -> None:
    noted = call("profile_set_phone", wrote=True, arguments={"phone": "555"})
    row = {"table": "customers", "op": "update", "key": ["C"], "call": 0, "before": {"phone": ""}, "after": {"phone": "555"}}  # fmt: skip
    assert (
        judged(plugin, "claims", user("Hi."), noted, bot("I have refunded you."), changes=[row]).outcome
        is FAIL
    )
    assert (
        judged(plugin, "claims", user("Hi."), noted, bot("I have updated that."), changes=[row]).outcome
        is PASS
    )


def test_what_a_look_up_showed_may_be_told_but_not_as_the_bots_own_deed(plugin: Any) -> None:
    seen = call("orders_get", result={"status": "cancelled", "refunded_on": None})
    told, own = bot("Your order has been cancelled."), bot("I have cancelled your order.")
    assert judged(plugin, "claims", user("Hi."), seen, told).outcome is PASS
    assert judged(plugin, "claims", user("Hi."), seen, own).outcome is FAIL
    # a column that is called so and is empty shows nothing
    assert judged(plugin, "claims", user("Hi."), seen, bot("Your refund has been refunded.")).outcome is FAIL


@pytest.mark.parametrize(
    "text",
    [
        "I will call you back tomorrow.",
        "I'll follow up with you by e-mail next week.",
        "A colleague will contact you within two days.",
        "Our billing team will reach out to you.",
        "I will refund you by Friday.",
        "You will receive your refund in 5 days.",
        "You'll be refunded.",
        "I will keep you updated.",
        "I am going to waive the fee.",
    ],
)
def test_a_promise_that_nothing_stands_behind_fails(plugin: Any, text: str) -> None:
    result = judged(plugin, "promises", user("Hi."), bot(text))
    assert (result.outcome, result.reward) == (FAIL, 0.0)
    assert result.evidence[0].span == text


@pytest.mark.parametrize(
    "text",
    [
        "I will look into your order now.",
        "I'll check that for you and let you know in a moment.",
        "If you agree, I will refund you.",
        "I will not refund you.",
        "Would you like me to call you back?",
        "Let me know if I shall refund it.",
        "Once you confirm, I will cancel it.",
        "You will need your passport.",
        "Our team is happy to help.",
    ],
)
def test_offers_and_what_happens_at_once_promise_nothing(plugin: Any, text: str) -> None:
    assert judged(plugin, "promises", user("Hi."), bot(text)).outcome is PASS


def test_a_promise_is_kept_by_what_was_written_or_by_handing_over(plugin: Any) -> None:
    promise = bot("You will receive your refund in 5 days.")
    assert judged(plugin, "promises", user("Hi."), REFUND, promise, changes=[REFUND_ROW]).outcome is PASS
    assert judged(plugin, "promises", user("Hi."), promise, REFUND, changes=[REFUND_ROW]).outcome is PASS
    callback = bot("A colleague will call you back.")
    assert judged(plugin, "promises", user("Hi."), callback, termination="bot_handover").outcome is PASS
    assert judged(plugin, "promises", user("Hi."), call("tickets_open", wrote=True), callback).outcome is PASS
    half = judged(plugin, "promises", user("Hi."), REFUND, promise, callback, changes=[REFUND_ROW])
    assert (half.outcome, half.reward) == (FAIL, 0.5)


def test_brevity_is_the_length_of_each_reply(plugin: Any) -> None:
    assert judged(plugin, "brevity", user("Hi."), bot("word " * 150)).outcome is PASS
    long = judged(plugin, "brevity", user("Hi."), bot("word " * 300), bot("Yes."))
    assert (long.outcome, long.reward) == (FAIL, 0.75)
    assert judged(plugin, "brevity", user("Hi."), bot("word " * 30), most_words=20).outcome is FAIL


def test_clarity_is_lix_and_the_longest_sentence(plugin: Any) -> None:
    plain = "We can take it back. You get your money in five days. Do you want that? " * 3
    assert judged(plugin, "clarity", user("Hi."), bot(plain)).outcome is PASS
    hard = (
        "Notwithstanding aforementioned considerations regarding eligibility, reimbursement necessitates " * 5
    )
    assert judged(plugin, "clarity", user("Hi."), bot(hard)).outcome is FAIL
    winding = judged(plugin, "clarity", user("Hi."), bot("and so it goes on " * 18))
    assert (winding.outcome, winding.reward) == (FAIL, 0.5)


def test_the_readability_index_is_the_published_one(plugin: Any) -> None:
    from assay_check_communication.style import readability
    from assay_check_communication.texts import sentences

    # 40 words in 4 sentences, 8 of them of more than six letters: 10 + 20
    text = " ".join(["The customer wants the payment back at once and now."] * 4)
    assert readability(sentences(0, text)).lix == pytest.approx(10 + 100 * 8 / 40)


def test_asking_for_what_was_told_is_a_repetition(plugin: Any) -> None:
    told = user("My order number is ORD-1007.", "order number")
    again = judged(plugin, "repeated-questions", told, bot("What is your order number?"))
    assert (again.outcome, again.reward) == (FAIL, 0.0)
    assert again.evidence[0].turn == 1
    fine = [
        "Is your order number ORD-1007?",  # a read-back
        "What is your email address?",
        "When did your order arrive?",
        "Which item of the order is it?",
        "Thank you. I have your order number.",
    ]
    for text in fine:
        assert judged(plugin, "repeated-questions", told, bot(text)).outcome is PASS, text


def test_asking_again_after_a_look_up_failed_or_a_wrong_value_is_none(plugin: Any) -> None:
    told, question = user("It is ORD-1007.", "order number"), bot("Please confirm your order number.")
    nothing = call("orders_get", ok=False, error="not_found")
    assert judged(plugin, "repeated-questions", told, nothing, question).outcome is PASS
    assert (
        judged(plugin, "repeated-questions", told, call("orders_get", empty=True), question).outcome is PASS
    )
    wrong = user("It is ORD-1008.", "order number", misstated={"order number": "ORD-1008"})
    assert judged(plugin, "repeated-questions", wrong, question).outcome is PASS
    assert judged(plugin, "repeated-questions", told, question).outcome is FAIL


def test_tone_is_a_list_of_phrases_and_shouting(plugin: Any) -> None:
    for text in ("Calm down.", "As I already told you, no.", "THIS IS FINAL now.", "Read this!!"):
        assert judged(plugin, "tone", user("Hi."), bot(text)).outcome is FAIL, text
    for text in (
        "I'm sorry about that!",
        "Your ID is ORD-1.",
        "The USD price is 5.",
        "Whatsoever you choose.",
    ):
        assert judged(plugin, "tone", user("Hi."), bot(text)).outcome is PASS, text
    assert judged(plugin, "tone", user("Hi."), bot("Bah humbug."), rude=["bah humbug"]).outcome is FAIL
    half = judged(plugin, "tone", user("Hi."), bot("Whatever."), bot("Sure."))
    assert half.reward == 0.5


def test_what_is_not_english_cannot_be_told_but_its_length_can(plugin: Any) -> None:
    chinese = bot("\u60a8\u7684\u8ba2\u5355\u5df2\u7ecf\u9000\u6b3e\uff0c\u91d1\u989d\u4e3a 193.50\u3002" * 3)
    assert judged(plugin, "claims", user("Hi."), chinese).outcome is CANNOT_TELL
    assert judged(plugin, "brevity", user("Hi."), chinese).outcome is PASS
    german = bot("Ich habe Ihnen den Betrag erstattet. " * 6)
    assert judged(plugin, "promises", user("Hi."), german).outcome is CANNOT_TELL
    assert judged(plugin, "clarity", user("Hi."), german).outcome is PASS
    assert judged(plugin, "clarity", user("Hi."), chinese).outcome is CANNOT_TELL


def test_a_bot_that_says_nothing_cannot_be_told(plugin: Any) -> None:
    for part in ("promises", "claims", "brevity", "clarity", "repeated-questions", "tone"):
        result = judged(plugin, part, user("Hi."), bot(" "))
        assert (result.outcome, result.reward) == (CANNOT_TELL, 0.0)


_EVENTS = st.lists(
    st.one_of(
        st.builds(user, st.text()),
        st.builds(bot, st.text()),
        st.builds(bot, st.sampled_from(UNTRUE + HARMLESS)),
        st.builds(
            lambda a, r: call("t", wrote=True, arguments=a, result=r), st.text(), st.none() | st.text()
        ),
    ),
    max_size=6,
)


@given(events=_EVENTS)
def test_any_conversation_gets_an_answer_of_every_part(plugin: Any, events: list[dict[str, Any]]) -> None:
    kind = plugin.assay_checkers()[0]
    results = kind.build(kind.options()).check(TrialView(TASK, events, [], "user_done"))
    assert [r.name for r in results] == list(kind.parts)
    assert all(0.0 <= r.reward <= 1.0 for r in results)
    assert all((r.outcome is PASS) <= (r.reward == 1.0) for r in results)
    assert all(r.evidence for r in results)
