"""Plugins on the site: the list, the switch, and the forms made from their options."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from django.test import Client

from assay.accounts.models import User
from assay.plugin_choices import services
from assay.plugin_choices.models import PluginChoice
from assay.tenancy.services import in_tenant

PAGE = "/plugins/acme-assay/"
Browser = Callable[[str], Client]


def page(client: Client, path: str = PAGE) -> str:
    return client.get(path).content.decode()


def test_the_list_tells_what_each_plugin_brings_and_its_version(browser: Browser) -> None:
    shown = page(browser("viewer"), "/plugins/")
    assert "acme-assay" in shown and "1.2.0" in shown and "always on" in shown
    for name in ("parrot", "echo", "greeter", "said-something", "copy", "notebook"):
        assert name in shown


def test_what_could_not_be_loaded_is_shown_with_the_reason(
    browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    from assay.plugins.manager import PIN, get_manager

    monkeypatch.setenv(PIN, "acme-assay,assay-missing")
    get_manager.cache_clear()
    shown = page(browser("viewer"), "/plugins/")
    assert "assay-missing" in shown and "it is not installed" in shown


def test_an_admin_switches_a_plugin_and_the_forms_of_the_site_no_longer_offer_it(browser: Browser) -> None:
    admin = browser("admin")
    assert "Switch off" in page(admin)
    assert "greeter" in page(admin, "/runs/new/") and "<code>parrot:</code>" in page(admin, "/bots/")
    assert "notebook" in page(admin, "/integrations/tickets/")
    assert admin.post(PAGE, {"action": "off"}).status_code == 302
    assert "Switch on" in page(admin)
    assert "greeter" not in page(admin, "/runs/new/") and "<code>parrot:</code>" not in page(admin, "/bots/")
    assert "notebook" not in page(admin, "/integrations/tickets/")
    refused = admin.post("/bots/", {"name": "P", "spec": "parrot:green", "options": "{}"})
    assert refused.status_code == 422
    assert "the plugin acme-assay, which brings it, is switched off" in refused.content.decode()
    admin.post(PAGE, {"action": "on"})
    assert services.state("acme-assay").enabled


@pytest.mark.parametrize("role", ["author", "operator", "reviewer", "viewer"])
def test_others_look_and_change_nothing(browser: Browser, role: str) -> None:
    client = browser(role)
    shown = page(client)
    assert "Switch off" not in shown and "Set the options" not in shown and "greeting" in shown
    for data in ({"action": "off"}, {"part": "persona greeter", "persona-greeter-greeting": "Hi"}):
        assert client.post(PAGE, data).status_code == 403
    assert not PluginChoice.objects.exists()


def test_what_ships_inside_has_no_switch_and_refuses_to_be_switched(browser: Browser) -> None:
    admin = browser("admin")
    assert "Switch off" not in page(admin, "/plugins/assay/")
    answer = admin.post("/plugins/assay/", {"action": "off"}, follow=True)
    assert "cannot be switched off" in answer.content.decode()


def test_a_form_has_a_field_for_each_option_of_its_kind(browser: Browser) -> None:
    shown = page(browser("admin"))
    assert re.search(r'<input type="number" name="connector-parrot-volume"', shown)
    assert re.search(r'<input type="text" name="persona-greeter-greeting"', shown)
    assert "Said before each line. If not set: &quot;Hello there.&quot;" in shown
    mood = re.search(r'<select name="persona-greeter-mood".*?</select>', shown, re.DOTALL)
    assert mood is not None
    assert re.findall(r">(\w[\w ]*)</option>", mood[0]) == ["Not set", "warm", "cool"]
    thanks = re.search(r'<select name="persona-greeter-thanks".*?</select>', shown, re.DOTALL)
    assert thanks is not None
    assert re.findall(r">(\w[\w ]*)</option>", thanks[0]) == ["Not set", "Yes", "No"]
    weights = re.search(
        r'<textarea name="check-said-something-weights".*?>\s*(.*?)</textarea>', shown, re.DOTALL
    )
    assert weights is not None and weights[1] == ""


def test_what_is_typed_is_kept_by_its_kind_and_shown_again(browser: Browser) -> None:
    admin = browser("admin")
    form = {
        "part": "persona greeter",
        "persona-greeter-greeting": "Good <day>.",
        "persona-greeter-mood": '"cool"',
        "persona-greeter-thanks": "false",
    }
    assert admin.post(PAGE, form).status_code == 302
    assert services.options_of("persona", "greeter") == {
        "greeting": "Good <day>.",
        "mood": "cool",
        "thanks": False,
    }
    shown = page(admin)
    assert "Good &lt;day&gt;." in shown and "Good <day>" not in shown
    weights = {"part": "check said-something", "check-said-something-weights": '{"a": 0.5}'}
    assert admin.post(PAGE, weights).status_code == 302
    assert services.options_of("check", "said-something") == {"weights": {"a": 0.5}}
    admin.post(PAGE, {"part": "persona greeter"})  # everything left empty: nothing is set any more
    assert services.options_of("persona", "greeter") == {}
    assert services.options_of("check", "said-something") == {"weights": {"a": 0.5}}


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"part": "connector parrot", "connector-parrot-volume": "loud"}, "Write a whole number."),
        ({"part": "connector parrot", "connector-parrot-volume": "9"}, "less than or equal to 3"),
        ({"part": "persona greeter", "persona-greeter-greeting": "x" * 81}, "at most 80 characters"),
        ({"part": "persona greeter", "persona-greeter-mood": '"sour"'}, "Select a valid choice"),
        ({"part": "persona greeter", "persona-greeter-mood": "sour"}, "Select a valid choice"),
        ({"part": "check said-something", "check-said-something-weights": "{"}, "Write JSON"),
        (
            {"part": "check said-something", "check-said-something-weights": '{"a": "b"}'},
            "&#x27;weights.a&#x27;",
        ),
        ({"part": "check said-something", "check-said-something-weights": "[1]"}, "valid dictionary"),
        ({"part": "persona greeter", "persona-greeter-greeting": "a\0b"}, "Null characters"),
    ],
)
def test_wrong_input_is_told_beside_its_field_and_nothing_is_kept(
    browser: Browser, form: dict[str, str], said: str
) -> None:
    answer = browser("admin").post(PAGE, form)
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not PluginChoice.objects.exclude(options={}).exists()


@pytest.mark.parametrize(
    "form", [{"part": "persona nobody"}, {"part": "model echo"}, {"action": "explode"}, {}]
)
def test_a_form_of_nothing_is_not_found(browser: Browser, form: dict[str, str]) -> None:
    assert browser("admin").post(PAGE, form).status_code == 404
    assert browser("admin").get("/plugins/no-such-plugin/").status_code == 404


def test_another_company_sees_its_own_choices(browser: Browser, platform_db: None) -> None:
    browser("admin").post(PAGE, {"action": "off"})
    other = Client(HTTP_HOST="globex.localhost")
    with in_tenant("globex"):
        other.force_login(User.objects.get(email="owner@globex.example"))
    assert "Switch off" in other.get(PAGE).content.decode()


def test_the_choices_are_in_the_admin_to_look_at(browser: Browser) -> None:
    browser("admin").post(PAGE, {"action": "off"})
    choice = PluginChoice.objects.get(plugin="acme-assay")
    admin = browser("admin")
    assert "acme-assay" in page(admin, "/admin/plugin_choices/pluginchoice/")
    change = f"/admin/plugin_choices/pluginchoice/{choice.pk}/change/"
    assert admin.get(change).status_code == 200
    assert admin.post(change, {"enabled": "on"}).status_code == 403
    assert not services.state("acme-assay").enabled
