"""Reply rules: what is judged, and what counts as said."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.engine.dialogue.transcript import BotMessage, Termination, ToolCall, Transcript, UserMessage
from assay.engine.grading.reply import check_replies, judged_part, says
from assay.engine.packs.models import ReplyRule
from assay_sdk import Outcome


def call(number: int = 0) -> ToolCall:
    return ToolCall(number, "loans_list", "read", {}, ok=True, result={})


def transcript(*events: Any) -> Transcript:
    return Transcript((UserMessage("Hello"), *events), Termination.USER_DONE)


def result(rule: dict[str, Any], text: str, column: list[Any] | None = None) -> tuple[Outcome, str]:
    judged = judged_part(transcript(call(), BotMessage(text)))
    checks = check_replies([ReplyRule.model_validate(rule)], judged, lambda sql: column or [])
    assert [c.name for c in checks] == ["reply:complete", "reply:1"]
    assert all(c.required for c in checks)
    check = checks[1]
    assert check.reward == (1.0 if check.outcome is Outcome.PASS else 0.0)
    assert check.evidence[0].message  # a passed check says what it saw, too
    return check.outcome, "" if check.outcome is Outcome.PASS else check.evidence[0].message


def test_what_is_said_after_the_last_tool_call_is_judged() -> None:
    judged = judged_part(
        transcript(
            BotMessage("Let me look."), call(), BotMessage("Done."), UserMessage("Ta"), BotMessage("Bye.")
        )
    )
    assert judged.text == "Done.\nBye."
    assert judged.turn == 5
    assert judged.unfinished is None


def test_without_tool_calls_all_that_was_said_is_judged() -> None:
    assert (
        judged_part(transcript(BotMessage("No."), UserMessage("Why"), BotMessage("Policy."))).text
        == "No.\nPolicy."
    )


def test_a_bot_that_falls_silent_after_its_last_call_has_not_finished() -> None:
    judged = judged_part(transcript(BotMessage("Let me look."), call()))
    assert judged.text == "Let me look."
    assert judged.unfinished == "The bot said nothing after its last tool call."
    assert judged_part(transcript()).unfinished is not None


def test_a_reply_that_was_cut_off_or_is_empty_is_not_complete() -> None:
    assert (
        judged_part(transcript(call(), BotMessage("The fee is", truncated=True))).unfinished
        == "A reply after the last tool call was cut off."
    )
    cut_before_the_end = transcript(call(), BotMessage("The fee", truncated=True), BotMessage("Bye."))
    assert judged_part(cut_before_the_end).unfinished == "A reply after the last tool call was cut off."
    cut_before_the_call = transcript(BotMessage("I look", truncated=True), call(), BotMessage("Done."))
    assert judged_part(cut_before_the_call).unfinished is None
    assert judged_part(transcript(call(), BotMessage("  "))).unfinished == "The last reply is empty."
    checks = check_replies(
        [ReplyRule(must_not="swear", phrases=("damn",))],
        judged_part(transcript(call(), BotMessage("The fee", truncated=True))),
        lambda sql: [],
    )
    assert [(c.name, c.outcome) for c in checks] == [
        ("reply:complete", Outcome.FAIL),
        ("reply:1", Outcome.PASS),
    ]


def test_a_task_without_reply_rules_has_no_reply_checks() -> None:
    assert check_replies([], judged_part(transcript(BotMessage("x", truncated=True))), lambda sql: []) == []


MUST = {
    "must": "say that the late fee is 1.50",
    "phrases": [["late fee", "charge"], "account"],
    "numbers": [1.5],
    "contradictions": ["no late fee"],
}


def test_every_phrase_any_of_its_variants_and_every_number_must_be_said() -> None:
    assert result(MUST, "A LATE  FEE of $1.50 is on your account.") == (Outcome.PASS, "")
    assert result(MUST, "The charge of 1,50 stands on your account.") == (Outcome.PASS, "")
    outcome, says_what = result(MUST, "A late fee of $1.50 was recorded.")
    assert (outcome, says_what) == (
        Outcome.FAIL,
        "The reply must say that the late fee is 1.50, but does not say “account”.",
    )
    assert result(MUST, "A fee of $1.50 is on your account.")[1].endswith(
        "does not say “late fee” or “charge”."
    )
    assert result(MUST, "A late fee of $15.00 is on your account.")[1].endswith("does not name 1.50.")


def test_a_contradiction_beside_it_fails_what_is_said_otherwise() -> None:
    outcome, says_what = result(MUST, "A late fee of $1.50 is on your account. So there is no late fee.")
    assert outcome is Outcome.FAIL
    assert says_what.endswith("contradicts it: “no late fee”.")


def test_a_rule_without_phrases_and_numbers_needs_a_judge() -> None:
    outcome, says_what = result({"must": "apologise"}, "I am so sorry.")
    assert outcome is Outcome.CANNOT_TELL
    assert says_what == "Whether the reply does “apologise” needs a judge, and there is none."


def test_what_must_not_be_said_fails_in_any_variant() -> None:
    rule = {"must_not": "promise a waiver", "phrases": [["we will waive", "will be waived"], "on the house"]}
    assert result(rule, "The fee stands.") == (Outcome.PASS, "")
    assert result(rule, "It’s ON THE HOUSE!")[0] is Outcome.FAIL
    assert result(rule, "It will be **waived**.") == (
        Outcome.FAIL,
        "The reply must not promise a waiver, but says “will be waived”.",
    )


def test_values_of_the_database_that_must_not_be_said() -> None:
    rule = {"must_not_contain_from": "SELECT staff_remark FROM members"}
    assert result(rule, "All fine.", [None, "", "Often rude", 7, b"x"]) == (Outcome.PASS, "")
    assert result(rule, "You are noted as often  rude.", ["Often rude"])[1] == (
        "The bot gives away “Often rude”, which must not be said."
    )
    assert result(rule, "Your score is 640.", [640])[0] is Outcome.FAIL
    assert result(rule, "Order ORD-640 is here.", [640])[0] is Outcome.PASS
    assert result(rule, "Your grade is B, a fine one.", ["B"])[0] is Outcome.FAIL
    assert result(rule, "Your grade is _B_.", ["B"])[0] is Outcome.FAIL
    assert result(rule, "A note says _often rude_.", ["Often rude"])[0] is Outcome.FAIL
    assert result(rule, "This is a book.", ["A", "B"])[0] is Outcome.PASS


def test_what_was_given_away_before_the_last_call_stays_given_away() -> None:
    told = transcript(
        BotMessage("You are noted as often rude."),
        ToolCall(0, "tickets_resolve", "write", {}, ok=True),
        BotMessage("It is all settled."),
    )
    (_, check) = check_replies(
        [ReplyRule(must_not_contain_from="SELECT staff_remark FROM members")],
        judged_part(told),
        lambda sql: ["Often rude"],
    )
    assert check.outcome is Outcome.FAIL
    assert check.evidence[0].turn == 1
    (_, check) = check_replies(
        [ReplyRule(must_not="say that", phrases=("often rude",))], judged_part(told), lambda sql: []
    )
    assert check.outcome is Outcome.PASS


@pytest.mark.parametrize(
    ("text", "phrase", "said"),
    [
        ("Your RETURN\n number", "return number", True),
        ("It was refunded.", "refund", True),
        ("Prefund it.", "refund", False),
        ("It’s done", "it's done", True),
        ("a “gold” tier", 'a "gold" tier', True),
        ("non–refundable", "non-refundable", True),
        ("the **return** number", "return number", True),
        ("the _return number_.", "return number", True),
        ("__It will be waived__", "it will be waived", True),
        ("column late_fee", "fee", False),
        ("ORD-100", "ORD-10", False),
        ("ORD-10.", "ORD-10", True),
        ("due on 2026-05-07", "2026-05-07", True),
        ("1.50", "1.5", False),
        ("within 2.5 days", "5 days", False),
        ("costs 1,290.00", "290.00", False),
        ("within 15 days", "5 days", False),
        ("on 3 May, 5 days later", "5 days", True),
        ("In May.5 days later", "5 days", True),
        ("costs 1’290.00", "290.00", False),
        ("-290.00", "290.00", True),
        ("", "x", False),
    ],
)
def test_how_a_phrase_may_be_said(text: str, phrase: str, said: bool) -> None:
    assert (says(text, phrase) is not None) is said


@settings(deadline=None)
@given(st.text(min_size=1), st.text(), st.text())
def test_any_text_can_be_looked_for_in_any_other(phrase: str, before: str, after: str) -> None:
    says(before, phrase)
    check_replies(
        [ReplyRule.model_construct(must="x", phrases=(phrase,), numbers=(1.0,), contradictions=(after,))],
        judged_part(transcript(BotMessage(before + phrase + after))),
        lambda sql: [phrase],
    )


def test_a_refusal_does_not_trip_over_what_it_refuses() -> None:
    rule = {"must_not": "offer it", "phrases": ["possible without an approval"]}
    assert result(rule, "That is not possible without an approval.")[0] is Outcome.PASS
    assert result(rule, "That is possible without an approval.")[0] is Outcome.FAIL


def test_a_phrase_that_is_only_denied_is_not_said() -> None:
    rule = {"must": "say that a restocking fee was charged", "phrases": ["restocking fee"]}
    assert result(rule, "A restocking fee was charged.")[0] is Outcome.PASS
    outcome, message = result(rule, "You will not be charged a restocking fee.")
    assert outcome is Outcome.FAIL
    assert "only to deny it" in message
    refusal = {"must": "refuse the extension", "phrases": [["extension"]]}
    assert result(refusal, "I cannot grant the extension.")[0] is Outcome.PASS


def test_patterns() -> None:
    rule = {"must_match": r"RMA-\d{4}\b"}
    assert result(rule, "Your return is rma-9001.")[0] is Outcome.PASS
    assert result(rule, "Your return is open.")[0] is Outcome.FAIL
    rule = {"must_not_match": r"\b\d{16}\b"}
    assert result(rule, "Card 4111111111111111.")[0] is Outcome.FAIL
    assert result(rule, "Card ending in 1111.")[0] is Outcome.PASS


def test_a_pattern_that_takes_too_long_cannot_tell() -> None:
    outcome, message = result({"must_match": r"(a|aa)+\1(a|aa)+b(?!c)$"}, "a" * 5000 + "c")
    assert outcome is Outcome.CANNOT_TELL
    assert "too long" in message


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Your return is open and the label is on its way to you."),
        ("zh", "您的退货 RMA-9001 已经登记。退款金额为 193.50 美元。"),
        ("ja", "ご返品を承りました。ラベルをお送りします。"),
        ("de", "Ihre Rücksendung ist angelegt und das Etikett ist auf dem Weg."),
        ("fr", "Votre retour est ouvert et vous recevrez une étiquette par courriel."),
        ("es", "Su devolución está abierta y la etiqueta es para usted."),
        ("ru", "Ваш возврат оформлен, этикетка отправлена."),
    ],
)
def test_the_language_of_a_reply(language: str, text: str) -> None:
    assert result({"language": language}, text)[0] is Outcome.PASS
    other = "en" if language != "en" else "zh"
    assert result({"language": other}, text)[0] is Outcome.FAIL


def test_a_reply_too_short_to_tell_its_language() -> None:
    assert result({"language": "en"}, "ORD-1007.")[0] is Outcome.CANNOT_TELL


def test_numbers_that_the_world_holds_have_to_be_named() -> None:
    rule = {"must": "name the fee", "numbers_from": "SELECT fee FROM loans"}
    assert result(rule, "The fee is $12.50.", [12.5])[0] is Outcome.PASS
    assert result(rule, "The fee is $12.", [12.5])[0] is Outcome.FAIL
    outcome, message = result(rule, "The fee is $12.", [])
    assert outcome is Outcome.FAIL
    assert "finds no number" in message


def test_a_rule_may_be_reported_only() -> None:
    judged = judged_part(transcript(call(), BotMessage("Hello.")))
    rule = ReplyRule.model_validate({"must_match": "bye", "required": False})
    (_, check) = check_replies([rule], judged, lambda sql: [])
    assert (check.outcome, check.required) == (Outcome.FAIL, False)
