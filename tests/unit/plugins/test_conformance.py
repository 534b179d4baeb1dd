"""The conformance suites pass what conforms and name what does not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from assay.plugins.manager import get_manager
from assay.plugins.tickets import build_ticket_system
from assay_sdk import (
    BotContext,
    BotReply,
    CallAhead,
    CheckerType,
    CheckResult,
    ConnectorType,
    FaultKind,
    FaultProfileType,
    Liberty,
    NoOptions,
    Outcome,
    PackImporterType,
    PersonaType,
    Role,
    Situation,
    TrialView,
    UserLine,
    UserScript,
    conformance,
    persona_suite,
)
from assay_sdk.conformance import NotConforming

pytestmark = pytest.mark.usefixtures("acme")


def test_the_built_in_persona_and_a_third_partys_conform() -> None:
    for kind in get_manager().personas().values():
        conformance.check_persona(kind)


def test_a_third_partys_check_conforms() -> None:
    conformance.check_checker(get_manager().checkers()["said-something"])


def test_the_built_in_fault_profiles_and_a_third_partys_conform() -> None:
    for kind in get_manager().fault_profiles().values():
        conformance.check_fault_profile(kind)
        if "rate" in kind.options.model_fields:
            conformance.check_fault_profile(kind, {"rate": 1})


def test_a_fault_profile_that_throws_dice_of_its_own_or_chooses_no_kind_does_not_conform() -> None:
    class Dicing:
        thrown = 0

        def choose(self, call: CallAhead) -> list[FaultKind]:
            Dicing.thrown += 1
            return [FaultKind.SLOW] if Dicing.thrown % 3 else []

    class Wordy:
        def choose(self, call: CallAhead) -> list[str]:
            return ["timeout"]

    for profile, says in ((Dicing, "in two ways"), (Wordy, "no sequence of FaultKind")):
        kind = FaultProfileType("odd", "Odd", "Odd things.", NoOptions, lambda options, seed, p=profile: p())
        with pytest.raises(NotConforming, match=says):
            conformance.check_fault_profile(kind)


def test_a_third_partys_ticket_system_conforms() -> None:
    conformance.check_ticket_system(build_ticket_system("notebook", {}))


async def test_a_third_partys_connector_and_model_conform() -> None:
    await conformance.check_connector(get_manager().connectors()["parrot"], "green")
    await conformance.check_model(get_manager().models()["echo"], "any")


class Recalling:
    """A connector that takes conversations up, and `does` what it does when it opens one that has been."""

    synthetic = False
    resumes: Any = True

    def __init__(self, does: Callable[[BotContext], Any]) -> None:
        self.does = does
        self.opened: list[BotContext] = []

    def describe(self) -> dict[str, Any]:
        return {"name": "recalling"}

    async def open(self, context: BotContext) -> Any:
        self.opened.append(context)
        if context.history:
            await self.does(context)
        return self

    async def respond(self, message: str) -> BotReply:
        return BotReply("Yes?")

    async def close(self) -> None:
        return None

    def notes(self) -> dict[str, Any]:
        return {}

    async def aclose(self) -> None:
        return None


async def test_a_connector_that_resumes_is_given_a_history_and_makes_no_call_again() -> None:
    async def nothing(context: BotContext) -> None:
        return None

    async def calls_again(context: BotContext) -> None:
        await context.tools.call("orders_get", {"order_id": "ORD-7"})

    fine = Recalling(nothing)
    await conformance.check_connector(ConnectorType("r", "R", NoOptions, lambda *_: fine), "x")
    assert [event["type"] for event in fine.opened[-1].history] == ["user", "bot", "user", "tool", "bot"]
    again = ConnectorType("r", "R", NoOptions, lambda *_: Recalling(calls_again))
    with pytest.raises(NotConforming, match="made calls though the conversation has been held"):
        await conformance.check_connector(again, "x")
    fine.resumes = "yes"
    with pytest.raises(NotConforming, match="resumes must be True or left out"):
        await conformance.check_connector(ConnectorType("r", "R", NoOptions, lambda *_: fine), "x")


def test_a_third_partys_importer_conforms() -> None:
    conformance.check_importer(get_manager().importers()["copy"], {"pack.yaml": b"name: x"})


def persona(manner: Any) -> PersonaType:
    class Odd:
        def begin(self, script: UserScript) -> Role:
            return Role(script)

        def shape(self, line: UserLine, situation: Situation) -> Any:
            return manner(line)

    return PersonaType("odd", "Odd", "Too much.", "Little.", NoOptions, lambda options, seed: Odd())


@pytest.mark.parametrize(
    ("manner", "said"),
    [
        (lambda line: replace(line, text=line.text.lower()), "is lost"),
        (lambda line: replace(line, text=line.text + " I am Nora Okafor."), "unasked"),
        (lambda line: replace(line, done=not line.done), "done or gave_up"),
        (lambda line: replace(line, text=""), "nothing is left"),
        (lambda line: line.text, "no UserLine"),
    ],
)
def test_a_persona_that_changes_what_the_customer_knows_or_wants_does_not_conform(
    manner: Any, said: str
) -> None:
    with pytest.raises(NotConforming, match=said):
        conformance.check_persona(persona(manner))


def test_a_persona_that_says_the_same_seed_in_two_ways_does_not_conform() -> None:
    class Moody:
        count = 0

        def begin(self, script: UserScript) -> Role:
            return Role(script)

        def shape(self, line: UserLine, situation: Situation) -> UserLine:
            Moody.count += 1
            return replace(line, text=f"{line.text} {'!' * Moody.count}")

    kind = PersonaType("moody", "Moody", "Moods.", "Facts.", NoOptions, lambda options, seed: Moody())
    with pytest.raises(NotConforming, match="in two ways"):
        conformance.check_persona(kind)


def with_liberties(shape: Any, liberties: set[Liberty], begin: Any = Role, **more: Any) -> PersonaType:
    """A persona type; `shape(persona, line, situation)`, and the persona starts without attributes."""

    class Odd:
        def begin(self, script: UserScript) -> Any:
            return begin(script)

        def shape(self, line: UserLine, situation: Situation) -> Any:
            return shape(self, line, situation)

    return PersonaType(
        "odd", "Odd", "Much.", "Little.", NoOptions, lambda options, seed: Odd(), frozenset(liberties), **more
    )


def wrongly(script: UserScript) -> Role:
    return Role(script, misstates={"name": "Zoe Oniel"})


def misstating(line: UserLine, *, reported: bool = True) -> UserLine:
    text = line.text
    for name in ("Zoë O'Neill", "Nora Okafor"):
        text = text.replace(name, "Zoe Oniel")
    if text == line.text:
        return line
    return replace(line, text=text, facts_given=(), misstated={"name": "Zoe Oniel"} if reported else {})


def corrected(line: UserLine, situation: Situation) -> UserLine:
    name = next(f.value for f in situation.script.facts if f.key == "name")
    return replace(line, text=f"Sorry, {name}.")


def put_right(persona: Any, line: UserLine, situation: Situation) -> UserLine:
    if situation.not_found or situation.claimed.get("name") is False:
        persona.right = True
        return corrected(line, situation)
    return line if hasattr(persona, "right") else misstating(line)


def always_staying(persona: Any, line: UserLine, situation: Situation) -> UserLine:
    return replace(line, text="Wait.", done=False) if line.done else line


def leaving(persona: Any, line: UserLine, situation: Situation) -> UserLine:
    return UserLine("Bye.", gave_up=True) if situation.waiting else line


def sleeping(persona: Any, line: UserLine, situation: Situation) -> UserLine:
    time.sleep(5)
    return line


def as_said(persona: Any, line: UserLine, situation: Situation) -> UserLine:
    return line


def test_a_persona_that_puts_right_what_it_said_wrongly_conforms() -> None:
    conformance.check_persona(with_liberties(put_right, {Liberty.MISSTATE}, wrongly))
    conformance.check_persona(with_liberties(leaving, {Liberty.LEAVE}))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (with_liberties(put_right, set(), wrongly), "misstate"),
        (
            with_liberties(lambda p, line, s: misstating(line), {Liberty.MISSTATE}, wrongly),
            "said wrongly again|not put right",
        ),
        (
            with_liberties(lambda p, line, s: misstating(line, reported=False), {Liberty.MISSTATE}, wrongly),
            "without reporting",
        ),
        (with_liberties(lambda p, line, s: misstating(line), {Liberty.MISSTATE}), "not what begin"),
        (with_liberties(always_staying, set()), "stay"),
        (with_liberties(always_staying, {Liberty.STAY}), "more than 2 times|does not leave"),
        (with_liberties(leaving, set()), "leave"),
        (with_liberties(as_said, set(), lambda script: Role(script, extra=("More.",))), "add"),
        (with_liberties(as_said, set(), lambda script: Role(replace(script, facts=()))), "changed the facts"),
        (with_liberties(lambda p, line, s: replace(line, text=f"{line.text} 好"), set()), "language"),
        (with_liberties(as_said, set(), hears=str.upper), "language"),
        (with_liberties(as_said, set(), not_for=lambda script: "None will do."), "every script"),
        (with_liberties(as_said, set(), not_for=lambda script: ""), "not_for"),
    ],
)
def test_a_liberty_that_is_not_declared_or_goes_too_far_does_not_conform(
    kind: PersonaType, said: str
) -> None:
    with pytest.raises(NotConforming, match=said):
        conformance.check_persona(kind)


def test_a_persona_that_hangs_does_not_conform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(persona_suite, "SECONDS", 0.05)
    with pytest.raises(NotConforming, match="takes more than"):
        conformance.check_persona(with_liberties(sleeping, set()))


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (None, "no CheckResult"),
        (CheckResult("odd", Outcome.PASS, False, 1.5), "not from 0 to 1"),
        (CheckResult("odd", "pass", False, 1.0), "no Outcome"),  # type: ignore[arg-type]
    ],
)
def test_a_check_with_a_malformed_answer_does_not_conform(result: Any, said: str) -> None:
    class Odd:
        def check(self, trial: TrialView) -> Any:
            return result

    with pytest.raises(NotConforming, match=said):
        conformance.check_checker(CheckerType("odd", "Odd", NoOptions, lambda options: Odd()))


def test_a_check_that_changes_the_trial_does_not_conform() -> None:
    class Eraser:
        def check(self, trial: TrialView) -> CheckResult:
            trial.task.clear()  # type: ignore[attr-defined]
            return CheckResult("eraser", Outcome.PASS, False, 1.0)

    with pytest.raises(NotConforming, match="changed the trial"):
        conformance.check_checker(CheckerType("eraser", "Eraser", NoOptions, lambda options: Eraser()))


def test_a_ticket_system_that_forgets_does_not_conform() -> None:
    class Forgetful:
        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

        def find(self, fingerprint: str) -> None:
            return None

    with pytest.raises(NotConforming, match="find"):
        conformance.check_ticket_system(Forgetful(build_ticket_system("notebook", {})))


@pytest.mark.parametrize("path", ["/etc/passwd", "tasks/../../x"])
def test_an_importer_that_writes_outside_of_the_pack_does_not_conform(path: str) -> None:
    kind = PackImporterType(
        "odd", "Odd", lambda files: "a" in files, lambda files: {"pack.yaml": b"", path: b""}
    )
    with pytest.raises(NotConforming, match="outside"):
        conformance.check_importer(kind, {"a": b""})


def test_a_check_with_parts_gives_a_result_for_each_by_its_name() -> None:
    class Parts:
        def __init__(self, *names: str) -> None:
            self._names = names

        def check(self, trial: TrialView) -> list[CheckResult]:
            return [CheckResult(name, Outcome.PASS, required=False, reward=1.0) for name in self._names]

    def kind(parts: tuple[str, ...], *given: str) -> CheckerType:
        return CheckerType("manners", "Manners", NoOptions, lambda options: Parts(*given), parts=parts)

    conformance.check_checker(kind(("tone", "brevity"), "tone", "brevity"))
    assert kind(("tone", "brevity")).names == ("manners.tone", "manners.brevity")
    for parts, given, says in (
        (("tone", "brevity"), ("brevity", "tone"), "where its parts are"),
        (("tone",), (), "where its parts are"),
        (("Tone",), ("Tone",), "named as PART asks"),
        (("tone", "tone"), ("tone", "tone"), "two of a name"),
        ((), ("tone",), "no CheckResult"),
    ):
        with pytest.raises(NotConforming, match=says):
            conformance.check_checker(kind(parts, *given))
