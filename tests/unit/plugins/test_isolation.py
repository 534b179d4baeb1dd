"""A plugin that raises, hangs or returns rubbish voids its own trial or check, is named, and the run goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.engine import blame
from assay.engine.packs import load_pack
from assay.engine.run import run_pack
from assay.engine.sandbox import World
from assay.engine.trial import Lab, TrialRecord
from assay.plugins.bots import GuardedModel, build_connector
from assay.plugins.cooperative import PERSONA
from assay.plugins.parts import failures_by_plugin
from assay_sdk import (
    BotEnding,
    BotReply,
    ChatReply,
    CheckResult,
    NoOptions,
    Outcome,
    PersonaType,
    PluginFault,
    ProviderOutage,
    Role,
    TrialView,
    UserLine,
)

LIBRARY = Path(__file__).parents[2] / "support" / "packs" / "library"


@pytest.fixture(scope="module")
def world() -> World:
    return World.prepare(load_pack(LIBRARY))


@pytest.fixture
def hang(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Does not come back before the test is over; calls are given up after a tenth of a second."""
    over = threading.Event()
    monkeypatch.setattr(blame, "CALL_SECONDS", 0.1)
    monkeypatch.setattr("assay.engine.grading.checkers.PATIENCE", 0.1)
    blame._hanging.clear()
    yield lambda *a, **o: (over.wait(60), None)[1]
    over.set()
    blame._hanging.clear()


def tried(lab: Lab, trials: int = 2) -> list[TrialRecord]:
    found: list[TrialRecord] = []
    run_pack(lab, ["LIB-LOAN-001"], trials, 5, 1, 1, found.append)
    return found


def lab(world: World, **fields: Any) -> Lab:
    fields.setdefault("connector", build_connector("reference:faithful", {}))
    return Lab(world=world, **fields)


def raises(*args: Any, **options: Any) -> Any:
    raise RuntimeError("out of order")


def leaves(*args: Any, **options: Any) -> Any:
    raise SystemExit(3)


def rubbish(*args: Any, **options: Any) -> Any:
    return 7


BAD: list[Any] = [raises, leaves, rubbish, "hang"]


@pytest.mark.parametrize("does", BAD)
@pytest.mark.parametrize("method", ["build", "begin", "shape", "hears"])
def test_a_persona(world: World, hang: Callable[..., Any], method: str, does: Any) -> None:
    act = hang if does == "hang" else does

    class Fragile:
        def begin(self, script: Any) -> Role:
            return act() if method == "begin" else Role(script)  # type: ignore[no-any-return]

        def shape(self, line: UserLine, situation: Any) -> UserLine:
            return act() if method == "shape" else line  # type: ignore[no-any-return]

    kind = PersonaType(
        "fragile",
        "Fragile",
        "Nothing.",
        "All.",
        NoOptions,
        act if method == "build" else lambda o, s: Fragile(),
    )
    if method == "hears":
        from assay_sdk import Liberty

        kind = replace(kind, liberties=frozenset({Liberty.LANGUAGE}), hears=act)
    for record in tried(lab(world, persona=kind, persona_options=NoOptions())):
        assert (record.status, record.void_cause) == ("void", "plugin_fault"), record.transcript["detail"]
        (failure,) = record.plugin_failures
        assert failure["part"] == "persona fragile" and "fragile" in failure["sentence"]


@pytest.mark.parametrize("does", BAD)
@pytest.mark.parametrize("required", [True, False])
def test_a_check(world: World, hang: Callable[..., Any], required: bool, does: Any) -> None:
    class Fragile:
        def check(self, trial: TrialView) -> CheckResult:
            return (hang if does == "hang" else does)()  # type: ignore[no-any-return]

    class Sound:
        def check(self, trial: TrialView) -> CheckResult:
            return CheckResult("sound", Outcome.PASS, False, 1.0)

    checks = (("fragile", Fragile(), required), ("sound", Sound(), False))
    for record in tried(lab(world, checkers=checks)):
        (failure,) = record.plugin_failures
        assert failure["part"] == "check fragile" and "'fragile'" in failure["sentence"]
        if required:
            assert (record.status, record.void_cause) == ("void", "plugin_fault")
        else:
            assert record.status == "passed" and record.verdict is not None
            outcomes = {c["name"]: c["outcome"] for c in record.verdict["checks"]}
            assert (outcomes["fragile"], outcomes["sound"]) == ("cannot_tell", "pass")


def test_a_check_that_breaks_in_one_trial_only_spoils_no_other(world: World) -> None:
    class Now:
        calls = 0

        def check(self, trial: TrialView) -> CheckResult:
            Now.calls += 1
            if Now.calls == 2:
                raise RuntimeError("once")
            return CheckResult("now", Outcome.PASS, True, 1.0)

    records = tried(lab(world, checkers=(("now", Now(), True),)), trials=4)
    assert sorted(r.status for r in records) == ["passed", "passed", "passed", "void"]
    assert sum(len(r.plugin_failures) for r in records) == 1


@pytest.mark.parametrize("where", ["open", "respond"])
@pytest.mark.parametrize("does", [raises, leaves, rubbish])
def test_a_connector(world: World, where: str, does: Any) -> None:
    class Session:
        async def respond(self, message: str) -> BotReply:
            return does() if where == "respond" else BotReply("Bye.", ends=BotEnding.CLOSED)  # type: ignore[no-any-return]

        async def close(self) -> None: ...

        def notes(self) -> dict[str, Any]:
            return {}

    class Fragile:
        synthetic = False

        async def open(self, context: Any) -> Session:
            return does() if where == "open" else Session()  # type: ignore[no-any-return]

        def describe(self) -> dict[str, Any]:
            return {}

        async def aclose(self) -> None: ...

    for record in tried(lab(world, connector=Fragile())):
        assert (record.status, record.void_cause) == ("void", "plugin_fault"), record.transcript["detail"]
        assert [f["part"] for f in record.plugin_failures] == ["connector"]


def test_an_outage_is_no_failure_of_a_plugin(world: World) -> None:
    class Away:
        synthetic = False

        async def open(self, context: Any) -> Any:
            raise ProviderOutage("503")

        def describe(self) -> dict[str, Any]:
            return {}

        async def aclose(self) -> None: ...

    for record in tried(lab(world, connector=Away())):
        assert (record.void_cause, record.plugin_failures) == ("provider_outage", [])


def model(complete: Callable[..., Any]) -> GuardedModel:
    class Fragile:
        async def complete(self, messages: Any, *, tools: Sequence[Any] = (), seed: Any = None) -> Any:
            return complete()

        def describe(self) -> Any:
            return complete()

        async def aclose(self) -> None: ...

    return GuardedModel("fragile", Fragile())


@pytest.mark.parametrize(
    "does",
    [raises, leaves, rubbish, lambda: ChatReply(7, (), "stop"), lambda: ChatReply("", ("x",), "stop")],  # type: ignore[arg-type]
)
def test_a_model_that_plays_the_customer(world: World, does: Any) -> None:
    from assay.engine.dialogue.modelled import ModelledUsers

    with pytest.raises(PluginFault) as found:
        asyncio.run(model(does).complete([]))
    assert found.value.part == "model fragile"
    for record in tried(lab(world, user=ModelledUsers(model(does)))):
        assert (record.status, record.void_cause) == ("void", "plugin_fault"), record.transcript["detail"]
        assert [f["part"] for f in record.plugin_failures] == ["model fragile"]


def test_a_model_that_cannot_say_what_it_is_is_named() -> None:
    for does in (raises, rubbish):
        with pytest.raises(PluginFault, match="model fragile"):
            model(does).describe()


def test_an_outage_of_a_model_stays_an_outage() -> None:
    def away() -> Any:
        raise ProviderOutage("503")

    with pytest.raises(ProviderOutage):
        asyncio.run(model(away).complete([]))


def test_the_record_of_a_trial_keeps_the_failures(world: World) -> None:
    class Fragile:
        def check(self, trial: TrialView) -> CheckResult:
            raise RuntimeError("out of order")

    (record, _) = tried(lab(world, checkers=(("fragile", Fragile(), False),)))
    assert TrialRecord.from_json(record.as_json()).plugin_failures == record.plugin_failures != []
    (clean, _) = tried(lab(world, persona=PERSONA, persona_options=NoOptions()))
    assert clean.plugin_failures == [] and clean.status == "passed"


def test_failures_are_counted_by_plugin() -> None:
    plugins = {
        "assay": {"parts": ["connector reference"]},
        "acme": {"parts": ["persona loud", "check said"]},
    }
    counted = [("check said", 3, "c"), ("persona loud", 2, "p"), ("connector", 1, "r"), ("user", 1, "u")]
    assert failures_by_plugin(plugins, counted) == {
        "acme": {"count": 5, "parts": {"check said": 3, "persona loud": 2}, "last": "p"},
        "assay": {"count": 1, "parts": {"connector": 1}, "last": "r"},
        "user": {"count": 1, "parts": {"user": 1}, "last": "u"},
    }
