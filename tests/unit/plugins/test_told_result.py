"""The check told-result: what was changed was told, before the end."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay_sdk import CheckResult, Outcome, TrialView

PACKAGE = Path(__file__).parents[3] / "plugins" / "assay-check-told-result"


@pytest.fixture(scope="module")
def plugin() -> Iterator[Any]:
    sys.path.insert(0, str(PACKAGE))
    import assay_check_told_result

    yield assay_check_told_result
    sys.path.remove(str(PACKAGE))


@pytest.fixture(scope="module")
def values(plugin: Any) -> Any:
    from assay_check_told_result import values

    return values


def user(text: str) -> dict[str, Any]:
    return {"type": "user", "text": text, "facts_given": []}


def bot(text: str) -> dict[str, Any]:
    return {"type": "bot", "text": text, "truncated": False, "ends": None}


def call(tool: str = "refunds_issue", **fields: Any) -> dict[str, Any]:
    return {
        "type": "tool", "call": 0, "tool": tool, "kind": "write", "arguments": {"order_id": "ORD-1", "amount": 193.5},
        "ok": True, "result": {"refund_id": "RF-0001"}, "error": None, "message": None, "empty": False, "wrote": True,
        **fields,
    }  # fmt: skip


def judged(plugin: Any, *events: dict[str, Any], **options: Any) -> CheckResult:
    kind = plugin.assay_checkers()[0]
    result = kind.build(kind.options(**options)).check(TrialView({}, events, [], "user_done"))
    assert isinstance(result, CheckResult)
    return result


def test_a_reply_that_says_a_new_amount_or_date_tells_the_result(plugin: Any) -> None:
    assert (
        judged(plugin, user("Refund ORD-1."), call(), bot("I have refunded $193.50.")).outcome is Outcome.PASS
    )
    dated = call("loans_renew", arguments={"days": 7}, result={"due_on": "2026-05-13"})
    assert judged(plugin, user("Renew it."), dated, bot("It is due on 13 May now.")).outcome is Outcome.PASS
    assert judged(plugin, user("Renew it."), dated, bot("I have renewed it.")).outcome is Outcome.FAIL


def test_a_write_whose_lost_answer_was_given_later_is_told_after_that(plugin: Any) -> None:
    lost = call(ok=False, result=None, error="timeout", message="It was carried out.")
    given = call(call=1, wrote=False, repeats=0)
    assert judged(plugin, user("Refund."), lost, given, bot("I refunded $193.50.")).outcome is Outcome.PASS
    untold = judged(plugin, user("Refund."), lost, given, bot("Anything else?"))
    assert (untold.outcome, [e.call for e in untold.evidence]) == (Outcome.FAIL, [1])


@pytest.mark.parametrize("reply", ["I have opened it.", "Your number is RMA-0001."])
def test_where_there_is_no_amount_or_date_the_word_or_the_new_number_is_enough(
    plugin: Any, reply: str
) -> None:
    opened = call("returns_open", arguments={"order_id": "ORD-1"}, result={"return_id": "RMA-0001"})
    assert judged(plugin, user("Return ORD-1."), opened, bot(reply)).outcome is Outcome.PASS
    assert judged(plugin, user("Return ORD-1."), opened, bot("Goodbye.")).outcome is Outcome.FAIL


@pytest.mark.parametrize("reply", ["Anything else for ORD-1?", "", "Done.", "That is RF-0001."])
def test_a_reply_that_says_nothing_of_it_does_not(plugin: Any, reply: str) -> None:
    result = judged(plugin, user("Refund ORD-1."), call(call=4), bot(reply))
    assert (result.outcome, result.reward) == (Outcome.FAIL, 0.0)
    (evidence,) = result.evidence
    assert (evidence.turn, evidence.call) == (1, 4)
    assert "refunds_issue" in evidence.message


def test_what_was_agreed_before_needs_only_the_word_that_it_is_done(plugin: Any) -> None:
    asked = [user("Refund ORD-1."), bot("That is 193.50, shall I?"), user("Yes.")]
    assert judged(plugin, *asked, call(), bot("Done.")).outcome is Outcome.PASS
    assert judged(plugin, *asked, call(), bot("Anything else?")).outcome is Outcome.FAIL
    assert (
        judged(plugin, *asked, call(), bot("Erledigt."), confirmations=("erledigt",)).outcome is Outcome.PASS
    )


def test_telling_it_before_it_happened_is_not_telling_the_result(plugin: Any) -> None:
    assert judged(plugin, user("Hi"), bot("I will refund 193.50 as RF-0001."), call()).outcome is Outcome.FAIL


def test_the_reward_is_the_share_that_was_told(plugin: Any) -> None:
    second = call("installs_book", arguments={"day": "2026-03-03"}, result={"job_id": "JOB-9"})
    result = judged(plugin, user("Refund ORD-1."), call(), second, bot("Your refund is 193.50."))
    assert (result.outcome, result.reward) == (Outcome.FAIL, 0.5)


@pytest.mark.parametrize(
    "event",
    [
        call("tickets_update"),
        call(ok=False, wrote=False, result=None, error="not_found"),
        call(wrote=False, kind="read"),
        call(ok=False, wrote=False, kind="unknown", arguments="{broken"),
    ],
)
def test_the_companys_own_records_failures_and_reads_need_not_be_told(
    plugin: Any, event: dict[str, Any]
) -> None:
    result = judged(plugin, user("Hi"), event, bot("Goodbye."))
    assert (result.outcome, result.reward) == (Outcome.PASS, 1.0)


def test_it_is_never_required_by_itself(plugin: Any) -> None:
    assert judged(plugin, user("Hi"), call(), bot("Bye")).required is False


@pytest.mark.parametrize(
    ("text", "value", "expected"),
    [
        ("$193.50.", Decimal("193.5"), True),
        ("193,50 €", Decimal("193.5"), True),
        ("1,290.01", Decimal("1290.01"), True),
        ("1.290,01", Decimal("1290.01"), True),
        ("ORD-193.5", Decimal("193.5"), False),
        ("193.505", Decimal("193.5"), False),
        ("on 3 March", date(2026, 3, 3), True),
        ("on March 3rd,", date(2026, 3, 3), True),
        ("03/03/2026", date(2026, 3, 3), True),
        ("2026-03-03", date(2026, 3, 3), True),
        ("13 March", date(2026, 3, 3), False),
        ("(rf-0001)", "RF-0001", True),
        ("RF-00011", "RF-0001", False),
    ],
)
def test_values_are_found_as_people_write_them(values: Any, text: str, value: Any, expected: bool) -> None:
    assert values.says(text, value) is expected


@given(st.decimals(min_value=10, max_value=10**7, places=2))
def test_any_amount_is_found_in_the_usual_ways_to_write_it(values: Any, amount: Decimal) -> None:
    for text in (
        f"{amount}",
        f"{amount:,}",
        f"${amount:,.2f}.",
        f"{amount:,}".translate(str.maketrans(",.", ".,")),
    ):
        assert values.says(f"You get {text}", amount), text


def test_free_text_instants_and_counts_are_no_values(values: Any) -> None:
    data = {
        "note": "see above 5",
        "created_at": "2026-03-03T09:00:00",
        "quantity": 2,
        "fine": True,
        "nothing": None,
    }
    assert list(values.values_in(data)) == []
