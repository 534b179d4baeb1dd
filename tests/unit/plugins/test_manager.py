"""What the plugin manager loads, what it refuses, and what it says about it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.plugins.manager import BUILT_IN, PIN, PluginManager, get_manager
from assay_sdk import hooks

Install = Callable[..., None]
ROOT = Path(__file__).parents[3]
HOOKS = sorted(name for name, f in vars(hooks).items() if name.startswith("assay_") and inspect.isfunction(f))
ACCESSORS = {
    "assay_connectors": ("connectors", "parrot"),
    "assay_models": ("models", "echo"),
    "assay_personas": ("personas", "greeter"),
    "assay_checkers": ("checkers", "said-something"),
    "assay_fault_profiles": ("fault_profiles", "grumpy"),
    "assay_pack_importers": ("importers", "copy"),
    "assay_ticket_systems": ("ticket_systems", "notebook"),
}

PERSONA = """
from assay_sdk import NoOptions, PersonaType, hookimpl

@hookimpl
def assay_personas():
    return [PersonaType({name!r}, {title!r}, "Nothing.", "All.", NoOptions, lambda options, seed: None)]
"""


def persona(name: str, title: str = "A persona") -> str:
    return PERSONA.format(name=name, title=title)


def sentence(manager: PluginManager, plugin: str) -> str:
    (found,) = [f.sentence for f in manager.failures if f.plugin == plugin]
    return found


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_takes_what_a_third_party_plugin_brings(hook: str, acme: None) -> None:
    accessor, name = ACCESSORS[hook]
    manager = get_manager()
    assert getattr(manager, accessor)()[name].name == name
    assert manager.failures == ()


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_stands_in_the_reference(hook: str) -> None:
    text = (ROOT / "docs" / "reference" / "plugins.md").read_text(encoding="utf-8")
    returned = re.search(r"\[(\w+)\]", str(inspect.signature(getattr(hooks, hook)).return_annotation))
    assert returned is not None
    assert f"### `{hook}() -> Sequence[{returned[1]}]`" in text


def test_what_ships_inside_comes_first_and_loads_without_a_complaint() -> None:
    manager = PluginManager("")
    assert set(manager.connectors()) >= {"reference", "litellm"}
    assert "litellm" in manager.models()
    assert "cooperative" in manager.personas()
    assert manager.failures == ()
    assert list(manager.versions()) == [BUILT_IN]


def test_versions_name_each_loaded_plugin_for_the_manifest(acme: None) -> None:
    assert get_manager().versions()["acme-assay"] == "1.2.0"


def test_a_plugin_that_cannot_be_imported_is_reported_and_the_others_load(install: Install) -> None:
    install("broken-one", "import no_such_module_anywhere")
    install("good-one", persona("good"))
    manager = PluginManager("broken-one,good-one")
    assert "good" in manager.personas()
    assert "no_such_module_anywhere" in sentence(manager, "broken-one")
    assert "broken-one" not in manager.versions()


def test_a_plugin_that_ends_the_process_at_import_does_not(install: Install) -> None:
    install("leaver", "raise SystemExit('bye')")
    assert "bye" in sentence(PluginManager("leaver"), "leaver")


def test_a_plugin_for_another_api_version_is_refused_with_a_sentence(install: Install) -> None:
    install("from-the-future", "assay_api = 2\n" + persona("future"))
    manager = PluginManager("from-the-future")
    assert "future" not in manager.personas()
    assert "API 2" in sentence(manager, "from-the-future")
    assert "has 1" in sentence(manager, "from-the-future")


def test_a_hook_that_raises_is_reported_and_the_rest_of_the_plugin_stays(install: Install) -> None:
    install(
        "half-broken",
        persona("half") + "\n@hookimpl\ndef assay_checkers():\n    raise RuntimeError('out of order')\n",
    )
    manager = PluginManager("half-broken")
    assert "half" in manager.personas()
    assert sentence(manager, "half-broken") == "assay_checkers raised RuntimeError: out of order."


def test_a_generator_that_raises_half_way_brings_nothing(install: Install) -> None:
    install(
        "tired",
        "from assay_sdk import NoOptions, PersonaType, hookimpl\n\n@hookimpl\ndef assay_personas():\n"
        "    yield PersonaType('first', 'First', 'Nothing.', 'All.', NoOptions, print)\n    raise ValueError('enough')\n",
    )
    manager = PluginManager("tired")
    assert "first" not in manager.personas()
    assert "enough" in sentence(manager, "tired")


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        ("['parrot']", "returned a str where a PersonaType belongs"),
        ("[PersonaType('Not A Name', 'T', 'c', 's', NoOptions, print)]", "'Not A Name'"),
        ("[PersonaType('untitled', ' ', 'c', 's', NoOptions, print)]", "without a title"),
        ("[PersonaType('odd', 'T', 'c', 's', dict, print)]", "not a pydantic model"),
        ("[PersonaType('odd', 'T', 'c', 's', NoOptions, None)]", "cannot be called"),
        ("7", "TypeError"),
    ],
)
def test_what_is_not_what_the_contract_says_is_left_out(install: Install, returned: str, said: str) -> None:
    install(
        "odd-one",
        "from assay_sdk import NoOptions, PersonaType, hookimpl\n\n@hookimpl\ndef assay_personas():\n"
        f"    return {returned}\n",
    )
    manager = PluginManager("odd-one")
    assert set(manager.personas()) == set(PluginManager("").personas())
    assert said in sentence(manager, "odd-one")


def test_a_hook_that_returns_nothing_brings_nothing(install: Install) -> None:
    install("quiet", "from assay_sdk import hookimpl\n\n@hookimpl\ndef assay_personas():\n    return None\n")
    manager = PluginManager("quiet")
    assert manager.failures == ()
    assert "quiet" in manager.versions()


def test_of_two_plugins_with_one_name_for_a_persona_the_first_stays_and_the_second_is_reported(
    install: Install,
) -> None:
    install("zebra", persona("shared", "From zebra"))
    install("aardvark", persona("shared", "From aardvark"))
    manager = PluginManager("zebra,aardvark")
    assert manager.personas()["shared"].title == "From aardvark"  # by the plugin's name, not by installation
    assert "aardvark" in sentence(manager, "zebra")


def test_a_plugin_cannot_take_the_place_of_a_built_in(install: Install) -> None:
    install("usurper", persona("cooperative", "Not cooperative"))
    manager = PluginManager("usurper")
    assert manager.personas()["cooperative"].title == "Cooperative"
    assert "first stays" in sentence(manager, "usurper")


def test_a_misspelt_hook_is_reported_and_the_plugin_left_out(install: Install) -> None:
    install("misspelt", persona("fine") + "\n@hookimpl\ndef assay_chekers():\n    return []\n")
    manager = PluginManager("misspelt")
    assert "fine" not in manager.personas()
    assert "assay_chekers" in sentence(manager, "misspelt")


def test_an_optional_hook_of_another_version_is_no_complaint(install: Install) -> None:
    install(
        "careful", persona("fine") + "\n@hookimpl(optionalhook=True)\ndef assay_exporters():\n    return []\n"
    )
    manager = PluginManager("careful")
    assert "fine" in manager.personas()
    assert manager.failures == ()


def test_a_hook_with_parameters_that_it_does_not_have_is_reported(install: Install) -> None:
    install(
        "greedy", "from assay_sdk import hookimpl\n\n@hookimpl\ndef assay_personas(tenant):\n    return []\n"
    )
    assert "tenant" in sentence(PluginManager("greedy"), "greedy")


def test_a_wrapper_is_reported(install: Install) -> None:
    install(
        "wrapper",
        "from assay_sdk import hookimpl\n\n@hookimpl(wrapper=True)\ndef assay_personas():\n    return (yield)\n",
    )
    assert "wrapper" in sentence(PluginManager("wrapper"), "wrapper")


def test_only_the_pinned_plugins_load(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("one", persona("one"))
    install("two", persona("two"))
    monkeypatch.setenv(PIN, " two , ")
    assert "two" in get_manager().personas()
    assert "one" not in get_manager().personas()


def test_an_empty_pin_loads_only_what_ships_inside(install: Install, monkeypatch: pytest.MonkeyPatch) -> None:
    install("one", persona("one"))
    monkeypatch.setenv(PIN, "")
    assert list(get_manager().versions()) == [BUILT_IN]


def test_without_a_pin_every_installed_plugin_loads(
    install: Install, monkeypatch: pytest.MonkeyPatch
) -> None:
    install("one", persona("one"))
    monkeypatch.delenv(PIN, raising=False)
    assert "one" in get_manager().versions()


def test_a_pinned_plugin_that_is_not_installed_is_reported(install: Install) -> None:
    assert "not installed" in sentence(PluginManager("nobody"), "nobody")


def test_the_platform_names_no_plugin_and_does_not_load_litellm_to_know_its_connectors() -> None:
    program = (
        "import sys; from assay.plugins.manager import PluginManager; m = PluginManager(''); "
        "m.connectors(); print('litellm' in sys.modules, 'django' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.split() == ["False", "False"]
