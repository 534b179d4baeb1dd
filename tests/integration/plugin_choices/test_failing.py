"""What plugins did wrong in a run is counted by plugin, in its record and on its page."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from assay.packs.models import PackVersion
from assay.runs.plugin_failures import plugin_failures
from assay.runs.services import plan_run
from tests.support.site import finish, reference_bot


@pytest.fixture
def impatient(settings: object) -> None:
    settings.ASSAY_RETRY_SECONDS = 0.0  # type: ignore[attr-defined]


@pytest.mark.usefixtures("impatient")
def test_a_broken_check_and_a_broken_persona_are_counted_and_named(
    library: PackVersion, browser: Callable[[str], Client], monkeypatch: pytest.MonkeyPatch
) -> None:
    import acme_assay

    calls = []

    def check(self: object, trial: object) -> object:
        raise RuntimeError("<b>out of order</b>")

    def shape(self: object, line: object, situation: object) -> object:
        calls.append(1)
        if len(calls) == 1:
            raise KeyError("lost")
        return line

    monkeypatch.setattr(acme_assay.SaidSomething, "check", check)
    monkeypatch.setattr(acme_assay.Loud, "shape", shape)
    run = plan_run(
        library,
        reference_bot("faithful"),
        trials=2,
        tasks=["LIB-LOAN-001"],
        persona="greeter",
        checkers=[{"name": "said-something"}],
    )
    finish(run)
    assert run.summary["passed"] == 2, "neither counts against the bot"
    assert run.manifest["plugin_failures"] == plugin_failures(run)
    (plugin,) = run.manifest["plugin_failures"]
    told = run.manifest["plugin_failures"][plugin]
    assert plugin == "acme-assay"
    assert (told["count"], told["parts"]) == (3, {"persona greeter": 1, "check said-something": 2})
    shown = browser("viewer").get(f"/runs/{run.pk}/").content.decode()
    assert "Plugins failed in this run." in shown and "<strong>acme-assay</strong>" in shown
    assert "3 times" in shown and "<b>out of order" not in shown


@pytest.mark.usefixtures("impatient")
def test_a_plugin_that_cannot_be_set_up_any_more_voids_the_run_s_trials_by_name(
    library: PackVersion, monkeypatch: pytest.MonkeyPatch
) -> None:
    import acme_assay

    run = plan_run(
        library,
        reference_bot("faithful"),
        trials=1,
        tasks=["LIB-LOAN-001"],
        checkers=[{"name": "said-something"}],
        max_attempts=2,
    )

    def broken(self: object, options: object) -> None:
        raise RuntimeError("out of order")

    monkeypatch.setattr(acme_assay.SaidSomething, "__init__", broken)
    finish(run)
    assert run.summary["void"] == 1
    told = run.manifest["plugin_failures"]["acme-assay"]
    assert told["parts"] == {"check said-something": 2}
    assert "out of order" in told["last"]


def test_a_run_without_failures_says_nothing_of_them(
    finished: Callable[..., object], browser: Callable[[str], Client]
) -> None:
    run = finished(trials=1)
    assert run.manifest["plugin_failures"] == {}  # type: ignore[attr-defined]
    shown = browser("viewer").get(f"/runs/{run.pk}/").content.decode()  # type: ignore[attr-defined]
    assert "Plugins failed" not in shown
