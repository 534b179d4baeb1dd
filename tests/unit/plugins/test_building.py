"""From a spec and options to a configured connector, model, persona, check or ticket system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.plugins.bots import build_connector, build_model
from assay.plugins.checks import build_checkers
from assay.plugins.options import env_secret
from assay.plugins.tickets import build_ticket_system
from assay.plugins.users import choose_persona
from assay_sdk import (
    FailureReport,
    OptionsError,
    Outcome,
    PluginFault,
    Situation,
    TrialView,
    UserLine,
    UserScript,
)

Install = Callable[..., None]
pytestmark = pytest.mark.usefixtures("acme")


def refused(spec: str, options: dict[str, Any] | None = None) -> str:
    with pytest.raises(OptionsError) as caught:
        build_connector(spec, options or {})
    return str(caught.value)


def test_a_spec_builds_the_connector_with_its_target_and_options() -> None:
    connector = build_connector("parrot:green", {"volume": "2"})
    assert connector.describe() == {"name": "parrot", "target": "green", "volume": 2}


def test_a_secret_is_resolved_from_its_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARROT_KEY", "cracker")
    connector: Any = build_connector("parrot:green", {"key": "env:PARROT_KEY"})
    assert connector.key == "cracker"


def test_the_platform_can_resolve_references_its_own_way() -> None:
    connector: Any = build_connector("parrot:green", {"key": "secret:x"}, lambda reference: reference.upper())
    assert connector.key == "SECRET:X"


def test_an_unknown_connector_is_answered_with_the_nearest_and_the_list() -> None:
    said = refused("parot:green")
    assert "did you mean parrot?" in said
    assert "litellm" in said


@pytest.mark.parametrize("spec", ["parrot", "parrot:", ":green", ""])
def test_a_spec_without_name_or_target_says_how_one_is_written(spec: str) -> None:
    assert "CONNECTOR:TARGET" in refused(spec)


def test_an_unknown_target_of_a_closed_list_is_answered_with_the_list() -> None:
    assert "did you mean grey?" in refused("parrot:gray")
    assert "green, grey" in refused("parrot:gray")


def test_a_misspelt_option_is_answered_with_the_options_there_are() -> None:
    said = refused("parrot:green", {"volumne": 2})
    assert "there is no option 'volumne' (did you mean volume?)" in said


def test_all_wrong_options_are_told_at_once_and_their_values_not_repeated() -> None:
    said = refused("parrot:green", {"volume": 9, "key": 5, "tail": "hunter2"})
    assert "'volume'" in said and "'key'" in said and "'tail'" in said
    assert "hunter2" not in said


def test_a_connector_that_cannot_be_found_names_the_plugins_that_did_not_load(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("broken-one", "import no_such_module_anywhere")
    monkeypatch.setenv("ASSAY_PLUGINS", "broken-one")
    assert "no_such_module_anywhere" in refused("parrot:green")


def test_a_plugin_that_breaks_while_building_is_a_plugin_fault_and_not_the_users(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(
        "fragile",
        "from assay_sdk import ConnectorType, NoOptions, hookimpl\n\ndef build(target, options, secret):\n"
        "    if target == 'nothing':\n        return None\n    if target == 'leaves':\n        raise SystemExit('bye')\n"
        "    raise KeyError('wires')\n\n@hookimpl\n"
        "def assay_connectors():\n    return [ConnectorType('fragile', 'Fragile', NoOptions, build)]\n",
    )
    monkeypatch.setenv("ASSAY_PLUGINS", "fragile")
    with pytest.raises(PluginFault, match="wires"):
        build_connector("fragile:x", {})
    with pytest.raises(PluginFault, match="bye"):
        build_connector("fragile:leaves", {})
    with pytest.raises(PluginFault, match="no open"):
        build_connector("fragile:nothing", {})


@pytest.mark.parametrize("reference", ["hunter2", "env:", "secret:x"])
def test_a_secret_that_is_not_a_reference_is_refused_without_repeating_it(reference: str) -> None:
    with pytest.raises(OptionsError) as caught:
        env_secret(reference)
    assert "env:NAME" in str(caught.value)
    assert "hunter2" not in str(caught.value)


def test_a_variable_that_is_not_set_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET_HERE", raising=False)
    with pytest.raises(OptionsError, match="NOT_SET_HERE is not set"):
        env_secret("env:NOT_SET_HERE")


def test_a_model_is_built_by_spec() -> None:
    assert build_model("echo:any", {}).describe() == {"name": "echo"}
    with pytest.raises(OptionsError, match="NAME:MODEL"):
        build_model("echo", {})


def test_a_persona_is_chosen_for_a_run_and_built_for_each_conversation() -> None:
    kind, options = choose_persona("greeter", {})
    assert kind.name == "greeter"
    line = kind.build(options, 7).shape(UserLine("I need help.", done=True), Situation(UserScript("o", "g")))
    assert (line.text, line.done) == ("Hello there. I need help.", True)
    with pytest.raises(OptionsError, match="did you mean greeter"):
        choose_persona("greter", {})
    with pytest.raises(OptionsError, match="there is no option 'x'"):
        choose_persona("greeter", {"x": 1})
    assert options.model_dump() == {"greeting": "Hello there.", "mood": "warm", "thanks": False}


def test_the_cooperative_persona_changes_nothing() -> None:
    line = UserLine("Order ORD-1, please.", gave_up=True, done=True, facts_given=("order",))
    kind, options = choose_persona("cooperative", {})
    persona = kind.build(options, 1)
    assert persona.shape(line, Situation(UserScript("o", "g"))) == line
    assert persona.begin(UserScript("o", "g")).script == UserScript("o", "g")


def test_checks_are_built_in_order_and_are_not_required_unless_it_is_said() -> None:
    ((name, checker, required),) = build_checkers([{"name": "said-something"}])
    assert (name, required) == ("said-something", False)
    view = TrialView({}, [{"type": "bot", "text": "Hi"}], [], "user_done")
    assert checker.check(view).outcome is Outcome.PASS
    assert build_checkers([{"name": "said-something", "required": True}])[0][2] is True


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        ([{"name": "nothing-like-it"}], "There is no check"),
        ([{"name": "said-something"}, {"name": "said-something"}], "listed twice"),
        ([{"nam": "said-something"}], "name, options and required"),
        ([{"name": "said-something", "options": {"x": 1}}], "no option 'x'"),
    ],
)
def test_a_wrong_choice_of_checks_is_explained(chosen: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(OptionsError, match=said):
        build_checkers(chosen)


def test_a_ticket_system_is_built_by_name() -> None:
    system = build_ticket_system("notebook", {})
    failure = FailureReport("f1", "RET-1", "Wrong refund", "incorrect_state_update", "It was 5.", 2, 20)
    assert system.find("f1") is None
    assert system.find(system.create(failure).id) is not None
    with pytest.raises(OptionsError, match="did you mean notebook"):
        build_ticket_system("notbook", {})
