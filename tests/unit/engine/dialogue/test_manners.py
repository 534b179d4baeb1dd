"""A persona in the part of the customer, held to the liberties it declares."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from assay.engine.dialogue.manners import cast, misfit, stands
from assay.engine.dialogue.scripted import ScriptedUser
from assay_sdk import (
    Fact,
    Liberty,
    NoOptions,
    PersonaType,
    PluginFault,
    Role,
    Situation,
    UserLine,
    UserScript,
)

SCRIPT = UserScript(
    opening="I bought a laptop from you. Can you start the return of order ORD-1007?",
    goal="A return is opened.",
    facts=(
        Fact("order number", "ORD-1007", ("order id", "order")),
        Fact("box", "the box is open but the laptop was never used", ("opened", "condition")),
        Fact("email", "Ann.Lee+shop@Example.ORG"),
        Fact("phone", "555 0101"),
    ),
    closing="Thanks, bye.",
)
WRONG = {"phone": "555 0110"}


class Playing:
    """A persona that does what a test says."""

    def __init__(
        self, begin: Callable[[UserScript], Any], shape: Callable[[UserLine, Situation], Any]
    ) -> None:
        self._begin, self._shape = begin, shape

    def begin(self, script: UserScript) -> Any:
        return self._begin(script)

    def shape(self, line: UserLine, situation: Situation) -> Any:
        return self._shape(line, situation)


def play(
    messages: Sequence[str],
    shape: Callable[[UserLine, Situation], Any] = lambda line, situation: line,
    begin: Callable[[UserScript], Any] = Role,
    liberties: Sequence[Liberty] = (),
) -> list[UserLine]:
    kind = PersonaType(
        "odd", "Odd", "Much.", "Little.", NoOptions, lambda o, s: Playing(begin, shape), frozenset(liberties)
    )

    async def lines() -> list[UserLine]:
        user = ScriptedUser(SCRIPT, cast(kind, NoOptions(), 0, SCRIPT), 0)
        return [await user.open(), *[await user.answer(message) for message in messages]]

    return asyncio.run(lines())


def later(change: Callable[[UserLine, Situation], Any]) -> Callable[[UserLine, Situation], Any]:
    """`change`, but the opening as it is."""
    return lambda line, situation: change(line, situation) if situation.line else line


def swapped(line: UserLine, situation: Situation) -> UserLine:
    """The phone number wrongly until the bot challenges it."""
    if "phone" not in situation.asked or situation.claimed.get("phone") is False or situation.not_found:
        return line
    return replace(line, text=line.text.replace("555 0101", "555 0110"), misstated=WRONG)


def withheld(line: UserLine, situation: Situation) -> UserLine:
    return replace(line, text="Let me look.", facts_given=()) if "email" in situation.asked else line


def leaving(line: UserLine, situation: Situation) -> UserLine:
    return UserLine("This takes too long. Bye.", gave_up=True)


def test_a_persona_says_each_line_in_its_manner() -> None:
    lines = play(
        ["What is your email?", "Anything else?"],
        lambda line, situation: replace(line, text=f"{line.text} Hurry!"),
    )
    assert [line.text.endswith(" Hurry!") for line in lines] == [True] * 3
    assert [line.facts_given for line in lines] == [("order number",), ("email",), ()]
    assert lines[2].done


def test_a_role_may_open_otherwise_as_long_as_the_facts_of_the_opening_stay() -> None:
    def begin(script: UserScript) -> Role:
        return Role(replace(script, opening="Return of ORD-1007!", follow_ups=("And quickly.",)))

    lines = play(["Done. Anything else?", "Anything else?"], begin=begin)
    assert [line.text for line in lines] == ["Return of ORD-1007!", "And quickly.", "Thanks, bye."]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (
            lambda line, s: replace(line, text="It is ann.lee+shop@example.org"),
            "dropped the value of 'email'",
        ),
        (lambda line, s: replace(line, text="Let me look.", facts_given=()), "liberty (withhold)"),
        (lambda line, s: replace(line, done=True), "whether the customer leaves"),
        (leaving, "liberty (leave)"),
        (lambda line, s: replace(line, facts_given=("email", "phone")), "which facts the line gives: phone"),
        (lambda line, s: replace(line, text=f"{line.text}, 555 0101"), "gave away 'phone'"),
        (
            lambda line, s: replace(line, text=f"{line.text}, or ORD-2000"),
            "says 'ORD-2000', which stands neither",
        ),
        (lambda line, s: replace(line, text=" "), "empty line"),
        (lambda line, s: replace(line, text=f"我的邮箱是 {line.text}"), "liberty (language)"),
        (lambda line, s: replace(line, misstated={"email": "x@y.z"}), "in a way that its role does not name"),
        (lambda line, s: line.text, "returned a str"),
        (lambda line, s: 1 / 0, "ZeroDivisionError"),
    ],
)
def test_a_persona_that_changes_what_is_said_is_at_fault(
    change: Callable[[UserLine, Situation], Any], says: str
) -> None:
    with pytest.raises(PluginFault) as caught:
        play(["What is your email?"], later(change))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("begin", "liberties", "says"),
    [
        (lambda s: Role(replace(s, facts=s.facts[1:])), (), "changed the facts or the goal"),
        (lambda s: Role(replace(s, goal="Free money.")), (), "changed the facts or the goal"),
        (lambda s: Role(replace(s, opening="Return my laptop.")), (), "liberty (withhold)"),
        (lambda s: Role(replace(s, opening=s.opening + " I am at 555 0101.")), (), "gave away 'phone'"),
        (lambda s: Role(replace(s, closing=" ")), (), "empty"),
        (lambda s: Role(s, misstates=WRONG), (), "liberty (misstate)"),
        (lambda s: Role(s, misstates={"shoe size": "44"}), (Liberty.MISSTATE,), "no fact of the script"),
        (lambda s: Role(s, misstates={"phone": "555 0101"}), (Liberty.MISSTATE,), "no other value"),
        (lambda s: Role(s, extra=("And CUS-9?",)), (), "liberty (add)"),
        (lambda s: Role(replace(s, opening="退回 ORD-1007")), (), "liberty (language)"),
        (lambda s: s, (), "not a Role"),
        (lambda s: 1 / 0, (), "ZeroDivisionError"),
    ],
)
def test_a_role_beyond_the_declared_liberties_is_refused(
    begin: Callable[[UserScript], Any], liberties: Sequence[Liberty], says: str
) -> None:
    with pytest.raises(PluginFault) as caught:
        play([], begin=begin, liberties=liberties)
    assert says in str(caught.value)


def misstating(script: UserScript) -> Role:
    return Role(script, misstates=WRONG)


def test_a_fact_said_wrongly_is_reported_and_corrected_when_the_bot_reads_it_back() -> None:
    lines = play(
        ["Your phone number, please?", "Your phone is 555 0110, is that right?"],
        swapped,
        misstating,
        [Liberty.MISSTATE],
    )
    assert (lines[1].misstated, lines[1].facts_given) == (WRONG, ())
    assert (lines[2].misstated, lines[2].facts_given) == ({}, ("phone",))
    assert "555 0101" in lines[2].text


def test_a_persona_that_sticks_to_a_wrong_value_once_challenged_is_at_fault() -> None:
    def sticking(line: UserLine, situation: Situation) -> UserLine:
        if "phone" not in situation.asked:
            return line
        return replace(line, text=line.text.replace("555 0101", "555 0110"), misstated=WRONG)

    with pytest.raises(PluginFault, match="again after it was found to be wrong"):
        play(
            ["Your phone number, please?", "I could not find that number. What is your phone number?"],
            sticking,
            misstating,
            [Liberty.MISSTATE],
        )


def test_a_wrong_value_that_is_not_reported_is_a_fault() -> None:
    with pytest.raises(PluginFault, match="without reporting it"):
        play(
            ["Your phone number, please?"],
            lambda line, s: replace(line, text=line.text.replace("555 0101", "555 0110")),
            misstating,
            [Liberty.MISSTATE, Liberty.WITHHOLD],
        )


def test_a_fact_may_be_corrected_unasked_when_the_look_up_fails() -> None:
    def correcting(line: UserLine, situation: Situation) -> UserLine:
        if situation.not_found:
            return replace(line, text=f"Sorry, it is 555 0101. {line.text}")
        return swapped(line, situation)

    lines = play(
        ["Your phone number, please?", "Unfortunately I could not find an account with that."],
        correcting,
        misstating,
        [Liberty.MISSTATE],
    )
    assert lines[2].facts_given == ("phone",)


def test_a_fact_is_held_back_once_and_told_when_asked_again() -> None:
    def once(line: UserLine, situation: Situation) -> UserLine:
        return withheld(line, situation) if situation.line == 1 else line

    lines = play(["What is your email?"] * 2, once, liberties=[Liberty.WITHHOLD])
    assert [line.facts_given for line in lines[1:]] == [(), ("email",)]
    with pytest.raises(PluginFault, match="held 'email' back again"):
        play(["What is your email?"] * 2, withheld, liberties=[Liberty.WITHHOLD])


def test_a_persona_that_may_leave_gives_up() -> None:
    lines = play(["What is your email?"], later(leaving), liberties=[Liberty.LEAVE])
    assert lines[-1].gave_up
    assert lines[-1].facts_given == ()


def staying(times: int) -> Callable[[UserLine, Situation], Any]:
    """One more question instead of leaving, as often as that."""
    left = [times]

    def shape(line: UserLine, situation: Situation) -> UserLine:
        if not line.done or not left[0]:
            return line
        left[0] -= 1
        return UserLine("Wait, one more thing.")

    return shape


GOODBYE = "It is cancelled. Is there anything else?"


def test_a_persona_that_may_stay_says_one_more_thing_and_then_leaves() -> None:
    said = play([GOODBYE, f"No. {GOODBYE}", f"Well. {GOODBYE}"], staying(2), liberties=[Liberty.STAY])
    assert [line.text for line in said[1:]] == [
        "Wait, one more thing.",
        "Wait, one more thing.",
        "Thanks, bye.",
    ]
    assert [line.done for line in said] == [False, False, False, True]


@pytest.mark.parametrize(("times", "liberties"), [(1, []), (3, [Liberty.STAY])])
def test_a_persona_stays_only_if_it_may_and_not_for_ever(times: int, liberties: list[Liberty]) -> None:
    with pytest.raises(PluginFault, match="stays where the customer would leave"):
        play([GOODBYE, f"No. {GOODBYE}", f"Well. {GOODBYE}"], staying(times), liberties=liberties)


def test_a_persona_of_another_language_tells_what_the_bot_asks() -> None:
    def play_with(hears: Callable[[str], Any], liberties: Sequence[Liberty]) -> UserLine:
        kind = PersonaType(
            "odd", "Odd", "Much.", "Little.", NoOptions, lambda o, s: Playing(Role, lambda line, _: line),
            frozenset(liberties), hears=hears,
        )  # fmt: skip
        user = ScriptedUser(SCRIPT, cast(kind, NoOptions(), 0, SCRIPT), 0)
        asyncio.run(user.open())
        return asyncio.run(user.answer("Wie ist die Nummer?"))

    line = play_with(lambda text: "What is your order number?", [Liberty.LANGUAGE])
    assert line.facts_given == ("order number",)
    with pytest.raises(PluginFault, match="language"):
        play_with(lambda text: "What is your order number?", [])
    with pytest.raises(PluginFault, match="not text"):
        play_with(lambda text: None, [Liberty.LANGUAGE])
    with pytest.raises(PluginFault, match="ZeroDivisionError"):
        play_with(lambda text: str(1 // 0), [Liberty.LANGUAGE])


def test_what_may_be_said_in_another_language_keeps_the_values() -> None:
    lines = play(
        ["What is your email?"],
        lambda line, s: replace(line, text=f"我的邮箱是{SCRIPT.facts[2].value}。") if s.line else line,
        liberties=[Liberty.LANGUAGE],
    )
    assert lines[1].facts_given == ("email",)


def test_the_situation_says_what_the_bot_asks_and_claims() -> None:
    seen: list[Situation] = []

    def watch(line: UserLine, situation: Situation) -> UserLine:
        seen.append(situation)
        return line

    play(
        [
            "What is your order number?",
            "I could not find order ORD-9. Is your email ann@example.org?",
            "I could not find order ORD-9. Is your email ann@example.org?",
            "Shall I open the return?",
            "I have opened the return. Anything else?",
        ],
        watch,
    )
    assert [s.line for s in seen] == [0, 1, 2, 3, 4, 5]
    assert seen[1].asked == ("order number",) and seen[1].new
    assert seen[2].not_found and seen[2].claimed["email"] is False and seen[2].new
    assert not seen[3].new
    assert seen[4].consent and not seen[4].asked
    assert seen[5].settled and seen[5].finished


def test_what_a_role_names_as_extra_may_be_said() -> None:
    lines = play(
        ["What is your email?"],
        later(
            lambda line, s: replace(line, text=f"{line.text}\nAnd what about order ORD-2000 of my neighbour?")
        ),
        lambda script: Role(script, extra=("What about order ORD-2000 of my neighbour?",)),
        [Liberty.ADD],
    )
    assert "ORD-2000" in lines[1].text


def test_a_persona_says_which_tasks_it_is_not_for() -> None:
    kind = PersonaType("odd", "Odd", "Much.", "Little.", NoOptions, lambda o, s: None)
    assert misfit(kind, SCRIPT) is None
    assert misfit(replace(kind, not_for=lambda script: "No fact to forget."), SCRIPT) == "No fact to forget."
    for broken in (lambda script: 1 / 0, lambda script: True):
        with pytest.raises(PluginFault, match="not_for"):
            misfit(replace(kind, not_for=broken), SCRIPT)  # type: ignore[arg-type,return-value]


@pytest.mark.parametrize(
    ("value", "text", "there"),
    [
        ("ORD-7", "It is ORD-7.", True),
        ("ORD-7", "It is ORD-71.", False),
        ("ORD-7", "订单号ORD-7。", True),
        ("$25", "for $25, I think", True),
        ("$25", "for $250", False),
        ("", "anything", False),
    ],
)
def test_a_value_stands_in_a_text_only_whole(value: str, text: str, there: bool) -> None:
    assert stands(value, text) is there
