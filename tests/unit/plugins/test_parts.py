"""Which plugins took part, and whose a failing part is."""

from __future__ import annotations

from collections.abc import Callable

from assay import __version__
from assay.plugins.manager import KINDS, PluginManager, get_manager
from assay.plugins.parts import parts_of, plugin_of, taking_part
from assay_sdk.hooks import PROJECT

Install = Callable[..., None]


def test_only_the_plugins_that_take_part_are_named_each_with_its_distribution_and_version(acme: None) -> None:
    parts = parts_of(
        bot="parrot:green", checks=[{"name": "said-something"}], models=["litellm:some/model", None]
    )
    assert taking_part(parts) == {
        "assay": {"distribution": "assay", "version": __version__, "parts": ["model litellm"]},
        "acme-assay": {
            "distribution": "acme-assay",
            "version": "1.2.0",
            "parts": ["connector parrot", "check said-something"],
        },
    }


def test_a_run_of_what_ships_inside_names_no_other_plugin(acme: None) -> None:
    assert list(taking_part(parts_of(bot="reference:faithful", persona="cooperative"))) == ["assay"]


def test_a_part_that_nobody_brings_names_no_plugin() -> None:
    assert taking_part(parts_of(persona="no-such-persona")) == {}


def test_a_failing_part_is_traced_to_its_plugin_by_the_manifest(acme: None) -> None:
    plugins = taking_part(parts_of(bot="reference:faithful", persona="greeter"))
    assert plugin_of(plugins, "persona greeter") == "acme-assay"
    assert plugin_of(plugins, "connector reference") == "assay"
    assert plugin_of(plugins, "check nobody") == "check nobody"


def test_the_manager_tells_what_each_plugin_brings(acme: None) -> None:
    built_in, acme_plugin = get_manager().installed()
    assert (built_in.name, built_in.failures) == ("assay", ())
    assert set(built_in.brings["connector"]) == {"reference", "litellm"}
    assert acme_plugin.brings["ticket system"] == ("notebook",)
    assert get_manager().owner("ticket system", "notebook") == "acme-assay"
    assert get_manager().owner("ticket system", "nothing") is None


def test_of_a_plugin_that_brings_a_taken_name_the_failure_is_told_with_it(install: Install) -> None:
    install(
        "usurper",
        "from assay_sdk import NoOptions, PersonaType, hookimpl\n\n@hookimpl\ndef assay_personas():\n"
        "    return [PersonaType('cooperative', 'Mine', 'Nothing.', 'All.', NoOptions, print)]\n",
        version="3.1",
    )
    _, usurper = PluginManager("usurper").installed()
    assert (usurper.distribution, usurper.version, dict(usurper.brings)) == ("usurper", "3.1", {})
    assert "first stays" in usurper.failures[0]


def test_every_hook_has_a_kind() -> None:
    from assay_sdk import hooks

    assert set(KINDS.values()) == {n for n in vars(hooks) if n.startswith(f"{PROJECT}_")}
    assert set(PluginManager("").kinds()) == set(KINDS)
