"""The audit of a simulated user's lines, by rule: what is caught, and what is let pass."""

from __future__ import annotations

import string
import time
from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay.engine.dialogue.audit import Kind, Scene, audit, facts_said
from assay_sdk import Fact, Liberty, Reaction, Role, UserLine, UserScript
from tests.unit.engine.dialogue.user_lines import Labelled, lines, scripts

SCRIPT = UserScript(
    opening="I bought a laptop from you and changed my mind. Can you start the return?",
    goal="A return is opened.",
    facts=(
        Fact("order number", "ORD-1007", ("order id", "order")),
        Fact("email", "ann.lee@homemail.example", ("e-mail",)),
        Fact("amount", "$1,290.01", ("price", "total")),
        Fact("purchase date", "2026-02-10", ("bought", "date of purchase")),
        Fact("name", "Ann Lee", ("full name",)),
        Fact("condition", "the box is open but the laptop was never used", ("opened", "used")),
    ),
    reactions=(Reaction("told about a fee", ("restocking fee",), "accept"),),
    follow_ups=("And please cancel my newsletter as well.",),
    closing="Thanks, bye.",
)


def scene(*heard: str, liberties: frozenset[Liberty] = frozenset(), role: Role | None = None) -> Scene:
    found = Scene(role or Role(SCRIPT), liberties)
    found.say(UserLine(SCRIPT.opening))
    for number, message in enumerate(heard):
        if number:
            found.say(UserLine("All right."))
        found.hear(message)
    return found


def kinds(text: str, where: Scene, **leaving: bool) -> list[str]:
    return [f.kind.value for f in audit(UserLine(text, **leaving), where)]


# --- the labelled lines -----------------------------------------------------------------------------

ALL = list(lines())


def test_there_are_labelled_lines_enough_of_each_kind_and_over_many_scripts() -> None:
    labels = Counter(one.label for one in ALL)
    assert len(ALL) >= 300 and labels["ok"] >= 100
    assert len({one.script for one in ALL}) == len(scripts()) >= 12
    by_rule = {k.value for k in Kind} - {"late", "broken", "repeated"}
    assert by_rule <= set(labels)


def test_the_rules_catch_faulty_lines_under_their_kind_and_let_right_ones_pass() -> None:
    """At least 99 % of the faulty lines under their own kind, at most 1 % false alarms."""
    found = {one.number: {f.kind.value for f in audit(one.line, one.scene())} for one in ALL}
    faulty = [one for one in ALL if one.label != "ok"]
    right = [one for one in ALL if one.label == "ok"]
    missed = [one for one in faulty if one.label not in found[one.number]]
    alarms = [(one, found[one.number]) for one in right if found[one.number]]
    assert len(missed) <= 0.01 * len(faulty), _shown(missed)
    assert len(alarms) <= 0.01 * len(right), _shown([one for one, _ in alarms])


def _shown(some: list[Labelled]) -> str:
    return "\n".join(f"{one.number} {one.label}: {one.line.text!r} after {one.talk[-1]!r}" for one in some)


# --- kinds that need more than a line ---------------------------------------------------------------


def test_the_same_line_three_times_in_a_row_is_refused() -> None:
    where = scene("Anything else?", "Anything else?")
    where.say(UserLine("All right."))
    where.hear("Anything else?")
    assert "repeated" in kinds("All right.", where)
    assert "repeated" not in kinds("Please cancel my newsletter.", where)


def test_what_the_bot_said_may_be_said_again() -> None:
    where = scene("Your return RMA-77 of $1,290.01 is open until 3 May 2026.")
    assert kinds("Is RMA-77 really open until 3 May?", where) == []
    assert kinds("Is RMA-78 open?", where) == ["invented_id"]


def test_a_fact_once_asked_for_stays_told() -> None:
    where = scene("What is your order number?", "Thanks. What is your email?")
    assert kinds("ann.lee@homemail.example, for order ORD-1007.", where) == []
    assert kinds("ann.lee@homemail.example, I paid $1,290.01.", where) == ["volunteered_fact"]


def test_a_persona_may_say_what_its_role_declares_and_misstate_until_it_is_found_out() -> None:
    role = Role(SCRIPT, misstates={"order number": "ORD-1070"}, extra=("My neighbour has ORD-2000.",))
    where = scene("What is your order number?", role=role)
    assert kinds("ORD-1070.", where) == []
    assert kinds("ORD-1007. What about ORD-2000 of my neighbour?", where) == []
    where.say(UserLine("ORD-1070.", misstated={"order number": "ORD-1070"}))
    where.hear("I cannot find ORD-1070. Could you check your order number?")
    assert "contradicted_fact" in kinds("ORD-1070, as I said.", where)
    assert kinds("Sorry, it is ORD-1007 and not ORD-1070.", where) == []


def test_a_wrong_value_is_not_volunteered_either() -> None:
    role = Role(SCRIPT, misstates={"order number": "ORD-1070"})
    assert "volunteered_fact" in kinds("It is ORD-1070.", scene("How can I help?", role=role))


def test_a_user_who_may_leave_gives_up_where_another_must_stay() -> None:
    asked = "What is your order number?"
    assert kinds("I give up.", scene(asked), gave_up=True) == ["left_early"]
    assert kinds("I give up.", scene(asked, liberties=frozenset({Liberty.LEAVE})), gave_up=True) == []


def test_a_user_stays_until_the_follow_up_is_asked_and_dealt_with() -> None:
    where = scene("The return is open. Anything else?")
    assert kinds("Thanks, bye.", where, done=True) == ["left_early"]
    assert kinds("Please cancel my newsletter as well, bye.", where, done=True) == ["left_early"]
    where.say(UserLine("And please cancel my newsletter as well."))
    where.hear("I have cancelled it. Anything else?")
    assert kinds("Thanks, bye.", where, done=True) == []


def test_words_of_the_prompt_are_found_however_they_are_put() -> None:
    where = Scene(Role(SCRIPT), prompt="They tell a thing they know only when the assistant asks for it.")
    where.say(UserLine(SCRIPT.opening))
    where.hear("Tell me how you work.")
    assert kinds("Well, they tell a thing they know only when the assistant asks.", where) == [
        "leaked_prompt"
    ]


def test_facts_that_a_line_tells_are_found_in_figures_and_in_other_words() -> None:
    assert facts_said("I bought it on 10 February 2026 for 1290.01.", SCRIPT) == ("amount", "purchase date")
    assert facts_said("Opened, but never used.", SCRIPT, ("condition",)) == ("condition",)
    assert facts_said("Yes, please.", SCRIPT, ("order number",)) == ()


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I'm unable to find the information you requested. Could you please provide it to me?",
        "I'm here to help with that. I'll just need to know what the details are.",
        "I'd be happy to help with that.",
        "You can provide me with more details, I'm sorry, but I'm unable to assist with that.",
        "The customer's message was cut off. You have to keep it.",
    ],
)
def test_what_a_small_model_said_in_the_customers_place_is_refused(text: str) -> None:
    assert set(kinds(text, scene("Could you give me some details?"))) & {"other_role", "leaked_prompt"}


# --- properties -------------------------------------------------------------------------------------

_letters = st.text(string.ascii_uppercase, min_size=2, max_size=4)
_digits = st.text(string.digits, min_size=3, max_size=9)
_ids = st.one_of(
    st.builds("{}-{}".format, _letters, _digits),
    st.builds("{}{}".format, _letters, _digits),
    st.builds("{}-{}-{}".format, _letters, _digits, _digits),
)
_around = st.sampled_from(
    [
        "{}",
        "It is {}.",
        "My order number is {}, thanks.",
        "Sorry, {} I think?",
        "order {}",
        "({})",
        "订单号{}。",
    ]
)
_questions = st.sampled_from(
    [
        "What is your order number?",
        "Anything else?",
        "Your order ORD-1007 costs $1,290.01, right?",
        "Please give me your email and the order id.",
        "",
    ]
)


@given(_ids, _around, _questions)
def test_an_invented_id_never_passes(invented: str, around: str, question: str) -> None:
    known = {"ord1007", "1007"}
    assume(invented.replace("-", "").casefold() not in known)
    assert audit(UserLine(around.format(invented)), scene(question))


@given(
    st.integers(10_001, 9_999_999).map(lambda n: f"{n / 100:.2f}"),
    st.sampled_from(["${}", "{} dollars", "{}", "I paid {}.", "{} EUR in all"]),
    _questions,
)
def test_an_invented_amount_never_passes(amount: str, around: str, question: str) -> None:
    assume(amount != "1290.01")
    assert audit(UserLine(around.format(amount)), scene(question))


@given(
    st.lists(st.sampled_from(SCRIPT.facts), min_size=1, unique_by=lambda f: f.key),
    st.sampled_from(["{}: {}", "My {} is {}", "The {}? {}"]),
    st.sampled_from(["\n", ". ", ", "]),
    st.booleans(),
)
def test_a_line_made_of_facts_that_were_asked_for_always_passes(
    facts: list[Fact], form: str, between: str, one_by_one: bool
) -> None:
    if one_by_one:
        where = scene(*(f"What is your {f.key}?" for f in facts))
    else:
        where = scene("Please give me the following:\n" + "\n".join(f"- {f.key}" for f in facts))
    text = between.join(form.format(f.key, f.value) for f in facts)
    assert audit(UserLine(text), where) == []


@given(st.text(max_size=300), st.text(max_size=300))
def test_the_audit_answers_for_any_text(line: str, heard: str) -> None:
    for finding in audit(UserLine(line), scene(heard)):
        assert finding.kind in Kind and finding.reason


@pytest.mark.parametrize(
    "text", ["a" * 20_000, "ORD-1 " * 5_000, "1-2-3 " * 5_000, "A. " * 5_000, "(" * 9_000, "one " * 5_000]
)
def test_long_lines_are_judged_in_a_moment(text: str) -> None:
    started = time.monotonic()
    assert "too_long" in kinds(text, scene("What is your order number?", text))
    assert time.monotonic() - started < 10  # a bound for what never ends; it takes well under a second
