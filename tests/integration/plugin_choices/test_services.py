"""What a company switches off cannot be chosen, its options fill what is not said, and no other company notices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from assay.accounts.models import AuditEvent, User
from assay.bots.services import add_version, create_bot
from assay.integrations import services as integrations
from assay.integrations.errors import IntegrationError
from assay.integrations.models import TicketConnection
from assay.packs.models import PackVersion
from assay.plugin_choices import services
from assay.plugin_choices.models import PluginChoice
from assay.plugins.options import OptionProblems
from assay.runs.services import plan_run
from assay.tenancy.services import in_tenant
from assay_sdk import OptionsError
from tests.support.site import finish, reference_bot

PLUGIN = "acme-assay"


def events() -> list[tuple[str, str, Any]]:
    found = AuditEvent.objects.filter(action__startswith="plugin.").order_by("id")
    return [(e.action, e.actor, e.data) for e in found]


def test_everything_installed_is_on_until_somebody_switches_it_off(member: Callable[[str], User]) -> None:
    built_in, acme = services.overview()
    assert (built_in.plugin.name, built_in.fixed, built_in.enabled) == ("assay", True, True)
    assert (acme.plugin.name, acme.fixed, acme.enabled) == (PLUGIN, False, True)
    before = len(events())
    assert not services.switch(PLUGIN, False, by=member("admin")).enabled
    services.switch(PLUGIN, False, by=member("admin"))  # where it is: nothing changes, nothing is recorded
    assert services.switch(PLUGIN, True, by=member("owner")).enabled
    assert events()[before:] == [
        ("plugin.disabled", "admin@acme.example", {"plugin": PLUGIN, "version": "1.2.0"}),
        ("plugin.enabled", "owner@acme.example", {"plugin": PLUGIN, "version": "1.2.0"}),
    ]


def test_what_ships_inside_stays_on_and_what_is_not_there_is_named() -> None:
    with pytest.raises(services.PluginChoiceError, match="ships inside Assay cannot be switched off"):
        services.switch("assay", False)
    with pytest.raises(services.PluginChoiceError, match="no plugin 'assay-nothing'"):
        services.switch("assay-nothing", False)
    assert not PluginChoice.objects.exists()


def test_what_is_switched_off_cannot_be_chosen(library: PackVersion) -> None:
    parrot = create_bot("Parrot before", spec="parrot:green")
    services.switch(PLUGIN, False)
    for choose in (
        lambda: create_bot("Parrot after", spec="parrot:green"),
        lambda: add_version(parrot.bot, spec="parrot:grey"),
        lambda: plan_run(library, parrot, trials=1),
        lambda: plan_run(library, reference_bot("faithful"), trials=1, persona="greeter"),
        lambda: plan_run(library, reference_bot("faithful"), trials=1, checkers=[{"name": "said-something"}]),
    ):
        with pytest.raises(OptionsError, match=r"the plugin acme-assay, which brings it, is switched off\. "):
            choose()
    with pytest.raises(IntegrationError, match="'notebook' cannot be chosen"):
        integrations.create_connection("Notes", "notebook", {})
    assert "greeter" not in services.available("persona")
    assert "cooperative" in services.available("persona")
    services.switch(PLUGIN, True)
    assert plan_run(library, reference_bot("faithful"), trials=1, persona="greeter").pk


def test_a_run_that_was_planned_before_goes_on_with_its_plugin(library: PackVersion) -> None:
    run = plan_run(
        library, reference_bot("faithful"), trials=1, persona="greeter", checkers=[{"name": "said-something"}]
    )
    services.switch(PLUGIN, False)
    finish(run)
    trial = run.trials.first()
    assert trial is not None and trial.status == "passed"
    said = [e["text"] for e in trial.evidence.events if e["type"] == "user"]
    assert all(text.startswith("Hello there.") for text in said)
    assert run.manifest["plugins"][PLUGIN]["parts"] == ["persona greeter", "check said-something"]


def test_a_connection_sends_nothing_while_its_plugin_is_off(finished: Callable[..., Any]) -> None:
    connection = integrations.create_connection("Notes, off later", "notebook", {})
    try:
        services.switch(PLUGIN, False)
        finished(trials=1)
        from assay.integrations.models import Delivery
        from assay.integrations.sending import tell

        delivery = Delivery.objects.filter(connection=connection).first()
        assert delivery is not None
        attempt = tell(delivery.event, connection)
        assert (attempt.accepted, attempt.permanent) == (False, True)
        assert "switched off" in attempt.message
        with pytest.raises(IntegrationError, match="switched off"):
            integrations.check_connection(connection)
        integrations.switch_connection(connection, False)
        with pytest.raises(IntegrationError, match="switched off"):
            integrations.switch_connection(connection, True)
        connection.refresh_from_db()
        assert not connection.enabled
    finally:
        TicketConnection.objects.filter(pk=connection.pk).delete()


def test_the_company_s_options_fill_what_is_not_said(
    library: PackVersion, member: Callable[[str], User]
) -> None:
    services.set_options("connector", "parrot", {"volume": 3}, by=member("admin"))
    services.set_options("persona", "greeter", {"greeting": "Good day."}, by=member("admin"))
    services.set_options("check", "said-something", {"letters": 7}, by=member("admin"))
    bot = create_bot("Loud parrot", spec="parrot:green")
    assert bot.options == {"volume": 3}
    assert add_version(bot.bot, spec="parrot:green", options={"volume": 2}).options == {"volume": 2}
    said = plan_run(
        library,
        reference_bot("faithful"),
        trials=1,
        persona="greeter",
        persona_options={"mood": "cool"},
        checkers=[{"name": "said-something", "options": {"letters": 2}, "required": True}],
    )
    assert said.persona_options == {"greeting": "Good day.", "mood": "cool"}
    assert said.checkers == [{"name": "said-something", "options": {"letters": 2}, "required": True}]
    plain = plan_run(
        library, reference_bot("faithful"), trials=1, persona="greeter", checkers=[{"name": "said-something"}]
    )
    assert plain.checkers == [{"name": "said-something", "options": {"letters": 7}}]
    assert plain.manifest["persona"]["options"] == {"greeting": "Good day."}
    services.set_options("persona", "greeter", {})  # what was planned before keeps what it was planned with
    finish(plain)
    trial = plain.trials.first()
    assert trial is not None
    assert trial.evidence.events[0]["text"].startswith("Good day.")


def test_setting_options_is_recorded_by_name_and_never_by_value(member: Callable[[str], User]) -> None:
    before = len(events())
    services.set_options("connector", "parrot", {"key": "secret:PARROT", "volume": 2}, by=member("owner"))
    services.set_options("connector", "parrot", {"key": "secret:PARROT", "volume": 2}, by=member("owner"))
    (event,) = events()[before:]
    assert event == (
        "plugin.options_set",
        "owner@acme.example",
        {"plugin": PLUGIN, "part": "connector parrot", "options": ["key", "volume"]},
    )


def test_wrong_options_are_refused_one_by_one_and_nothing_is_kept() -> None:
    with pytest.raises(OptionProblems) as refused:
        services.set_options("persona", "greeter", {"greeting": "", "mood": "sour", "volum": 1})
    assert {name for name, _ in refused.value.problems} == {"greeting", "mood", "volum"}
    for kind, name, options, said in (
        ("persona", "nobody", {}, "no persona 'nobody'"),
        ("flavour", "greeter", {}, "no kind of part 'flavour'"),
        ("model", "echo", {"x": 1}, "'echo' has no options"),
        ("pack importer", "copy", {}, "'copy' has no options"),
        ("persona", "greeter", {"greeting": "a\0b"}, "zero byte"),
        ("check", "said-something", {"weights": {"a": float("nan")}}, "no number that can be kept"),
        ("check", "said-something", {"weights": {str(n): 1.0 for n in range(9_000)}}, "too long"),
    ):
        with pytest.raises((services.PluginChoiceError, OptionsError), match=said):
            services.set_options(kind, name, options)
    assert not PluginChoice.objects.exclude(options={}).exists()


def test_one_company_s_choices_are_not_another_s() -> None:
    services.switch(PLUGIN, False)
    services.set_options("persona", "greeter", {"greeting": "Good day."})
    with in_tenant("globex"):
        assert services.state(PLUGIN).enabled
        assert services.options_of("persona", "greeter") == {}
        assert create_bot("Parrot", spec="parrot:green").spec == "parrot:green"
    assert not services.state(PLUGIN).enabled


def test_the_company_s_options_of_a_model_hold_for_customers_and_judges(library: PackVersion) -> None:
    services.set_options("model", "litellm", {"parameters": {"temperature": 0.25}})
    run = plan_run(
        library,
        reference_bot("faithful"),
        trials=1,
        user="litellm:openai/some-model",
        user_options={"tries": 2, "audit_model": "litellm:openai/another"},
        judge="litellm:openai/third",
        judge_options={"parameters": {"temperature": 0}},
    )
    assert run.user_options == {
        "parameters": {"temperature": 0.25},
        "tries": 2,
        "audit_model": "litellm:openai/another",
        "audit_options": {"parameters": {"temperature": 0.25}},
    }
    assert run.judge_options == {"parameters": {"temperature": 0}}
    assert run.manifest["plugins"] == {
        "assay": {
            "distribution": "assay",
            "version": run.manifest["assay"],
            "parts": ["connector reference", "model litellm"],
        }
    }


def test_a_model_that_is_switched_off_plays_and_judges_nothing(library: PackVersion) -> None:
    services.switch(PLUGIN, False)
    for fields in (
        {"user": "echo:x"},
        {"judge": "echo:x"},
        {"user": "litellm:openai/some-model", "user_options": {"audit_model": "echo:x"}},
    ):
        with pytest.raises(OptionsError, match="The model 'echo' cannot be chosen"):
            plan_run(library, reference_bot("faithful"), trials=1, **fields)  # type: ignore[arg-type]
