"""Bots, runs, trials and reports on the site."""

from __future__ import annotations

from collections.abc import Callable

from django.test import Client

from assay.bots.models import Bot
from assay.packs.models import PackVersion
from assay.runs.models import Run, RunStatus
from assay.runs.services import plan_run
from tests.support.site import finish, reference_bot


def test_a_bot_is_added_and_given_a_second_version(browser: Callable[[str], Client]) -> None:
    client = browser("operator")
    made = client.post("/bots/", {"name": "Desk", "spec": "litellm:openai/one", "options": "{}"}, follow=True)
    page = made.content.decode()
    assert "Desk v1 is ready" in page
    url = made.redirect_chain[-1][0]
    options = '{"base_url": "https://models.example.com/v1"}'
    again = client.post(url, {"spec": "litellm:openai/one", "options": options}, follow=True).content.decode()
    assert "Desk v2 is ready" in again
    assert "base_url" in again


def test_a_bot_that_cannot_be_built_is_refused_with_a_sentence(browser: Callable[[str], Client]) -> None:
    client = browser("operator")
    for spec, options, says in (
        ("nobody:x", "{}", "There is no connector"),
        ("reference:faithfull", "{}", "did you mean faithful"),
        ("litellm:openai/one", '{"colour": "red"}', "there is no option"),
        ("litellm:openai/one", "[1]", "Options are a JSON object"),
        ("litellm:openai/one", "{", "valid JSON"),
        ("litellm:openai/one", '{"api_key": "sk-12345678901234567890"}', "reference"),
        ("litellm:openai/one", '{"base_url": "http://127.0.0.1:9/v1"}', "public address"),
    ):
        response = client.post("/bots/", {"name": "Odd", "spec": spec, "options": options})
        page = response.content.decode()
        assert response.status_code == 422, spec
        assert says.lower() in page.lower().replace("&#x27;", "'"), (spec, options)


def test_what_no_database_keeps_is_refused_in_a_bot(browser: Callable[[str], Client]) -> None:
    client = browser("operator")
    spec = "litellm:openai/one"
    made = client.post("/bots/", {"name": "Sound", "spec": spec, "options": "{}"}, follow=True)
    for options, says in (
        ('{"parameters": {"temperature": NaN}}', "finite"),
        ('{"parameters": {"stop": [1, -Infinity]}}', "finite"),
        ('{"parameters": {"stop": ["a\\u0000"]}}', "zero byte"),
        ('{"parameters": {"user": "\\ud800"}}', "half a character"),
        ('{"parameters": {"extra_body": {"a\\u0000": 1}}}', "zero byte"),
    ):
        for url in ("/bots/", made.redirect_chain[-1][0]):
            response = client.post(url, {"name": "Odd", "spec": spec, "options": options})
            assert response.status_code == 422, options
            assert says in response.content.decode(), options
    assert not Bot.objects.filter(name="Odd").exists()
    assert Bot.objects.get(name="Sound").versions.count() == 1


def test_a_zero_byte_in_an_address_names_no_task(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    run = plan_run(library, reference_bot("faithful"), trials=1, seed=1)
    client = browser("viewer")
    assert client.get(f"/runs/{run.pk}/tasks/LIB%00/").status_code == 404
    assert client.get(f"/runs/{run.pk}/tasks/LIB-LOAN-001/").status_code == 200


def test_a_run_is_planned_watched_and_reported(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    client = browser("operator")
    bot = reference_bot("careless")
    form = {
        "pack_version": library.pk, "bot_version": bot.pk, "trials": 5, "seed": 3,
        "gate_metric": "pass_hat", "gate_k": 5, "gate_at_least": 0.9,
    }  # fmt: skip
    response = client.post("/runs/new/", form)
    run = Run.objects.latest("id")
    assert response.headers["Location"] == f"/runs/{run.pk}/"
    planned = client.get(f"/runs/{run.pk}/").content.decode()
    assert f"0 of {run.trial_count} trials over" in planned
    assert 'hx-trigger="every 1s"' in planned
    finish(run)
    fragment = client.get(f"/runs/{run.pk}/progress/", {"seen": "planned"})
    assert fragment.headers["HX-Refresh"] == "true"
    assert "hx-trigger" not in fragment.content.decode()
    page = client.get(f"/runs/{run.pk}/").content.decode()
    assert run.summary is not None
    assert "pass^5" in page
    assert "Gate not met" in page
    for failure in run.summary["failures"]:
        assert failure["task"] in page
    report = client.get(f"/runs/{run.pk}/report/")
    assert "default-src 'none'" in report.headers["Content-Security-Policy"]
    body = report.content.decode()
    assert "Reliability report" in body
    assert "<script" not in body
    assert "http://" not in body
    assert "https://" not in body
    assert "Synthetic reference bot" in body
    download = client.get(f"/runs/{run.pk}/report/", {"download": "1"})
    assert "attachment" in download.headers["Content-Disposition"]


def test_a_run_with_faults_on_purpose_shows_how_the_bot_got_over_them(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    client = browser("operator")
    assert "Faults on purpose" in client.get("/runs/new/").content.decode()
    bot = reference_bot("careless")
    form = {
        "pack_version": library.pk, "bot_version": bot.pk, "trials": 4, "seed": 3,
        "faults": "harsh", "fault_options": '{"rate": 0.6}',
    }  # fmt: skip
    client.post("/runs/new/", form)
    run = Run.objects.latest("id")
    assert (run.faults, run.fault_options) == ("harsh", {"rate": 0.6})
    finish(run)
    assert run.summary is not None
    page = client.get(f"/runs/{run.pk}/").content.decode()
    report = client.get(f"/runs/{run.pk}/report/").content.decode()
    for text in (page, report):
        assert "went into the tool calls on purpose" in text
        assert f">{run.summary['faults']['overall']['injected']:,}</td>" in text
        for name in ("Timeout", "Rate limit (429)", "Slow answer"):
            assert name in text
    assert "harsh (" in report and "rate 0.6" in report
    hit = next(
        t
        for t in run.trials.select_related("evidence")
        if any(e.get("injected", {}).get("kind") == "rate_limit" for e in t.evidence.events)
    )
    assert "injected: rate limit (429)" in client.get(f"/trials/{hit.pk}/").content.decode()


def test_a_run_that_cannot_be_planned_says_why(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    bot = reference_bot("faithful")
    base = {"pack_version": library.pk, "bot_version": bot.pk, "trials": 5}
    client = browser("operator")
    for wrong, says in (
        ({"tasks": "NOPE-*"}, "matches"),
        ({"faults": "flaky", "fault_options": '{"rate": 3}'}, "'rate'"),
        ({"faults": "flaky", "fault_options": "[1]"}, "JSON object"),
        ({"faults": "nobody"}, "not one of the available choices"),
        ({"trials": 100_000}, "number of trials must be"),
        ({"gate_metric": "pass_hat", "gate_k": 9, "gate_at_least": 0.9}, "at least 9 trials"),
        ({"gate_metric": "pass_hat", "gate_k": "", "gate_at_least": 0.9}, "A gate needs this"),
    ):
        before = Run.objects.count()
        response = client.post("/runs/new/", {**base, **wrong})
        assert response.status_code == 422, wrong
        assert says in response.content.decode().replace("&#x27;", "'"), wrong
        assert Run.objects.count() == before


def test_a_run_is_paused_resumed_and_cancelled(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    run = plan_run(library, reference_bot("faithful"), trials=2, seed=1)
    client = browser("operator")
    for action, status in (
        ("pause", RunStatus.PAUSED),
        ("resume", RunStatus.RUNNING),
        ("cancel", RunStatus.CANCELLED),
    ):
        client.post(f"/runs/{run.pk}/move/", {"action": action})
        run.refresh_from_db()
        assert run.status == status
    again = client.post(f"/runs/{run.pk}/move/", {"action": "resume"}, follow=True)
    assert "The run is cancelled" in again.content.decode()
    assert client.post(f"/runs/{run.pk}/move/", {"action": "explode"}).status_code == 404


def test_a_failed_trial_shows_the_conversation_and_both_sides_of_the_difference(
    browser: Callable[[str], Client], finished: Callable[..., Run]
) -> None:
    run = finished("careless", trials=12)
    trial = run.trials.filter(status="failed", category="incorrect_state_update").first()
    assert trial is not None
    evidence = trial.evidence
    page = browser("viewer").get(f"/trials/{trial.pk}/").content.decode()
    row = evidence.verdict["difference"]["rows"][0]
    assert "Expected and actual" in page
    assert f"<code>{row['table']}</code>" in page
    for cell in row["cells"]:
        assert f"<code>{cell['column']}</code>" in page
    calls = [e for e in evidence.events if e["type"] == "tool"]
    assert page.count('<li class="tool') == len(calls)
    for call in calls:
        assert f"<code>{call['tool']}</code>" in page
    assert "reference_fault" in page


def test_passed_void_and_waiting_trials_have_their_pages(
    browser: Callable[[str], Client], finished: Callable[..., Run], library: PackVersion
) -> None:
    client = browser("viewer")
    passed = finished("faithful", trials=1).trials.filter(status="passed").first()
    assert passed is not None
    assert "The database equals an outcome" in client.get(f"/trials/{passed.pk}/").content.decode()
    waiting = plan_run(library, reference_bot("faithful"), trials=1, seed=1).trials.first()
    assert waiting is not None
    assert "not over" in client.get(f"/trials/{waiting.pk}/").content.decode()
    waiting.status, waiting.void_cause = "void", "provider_outage"
    waiting.save()
    page = client.get(f"/trials/{waiting.pk}/").content.decode()
    assert "does not count for or against the bot" in page
    assert client.get(f"/runs/{waiting.run_id}/tasks/{waiting.task_id}/").status_code == 200
    assert client.get(f"/runs/{waiting.run_id}/tasks/NO-1/").status_code == 404
    assert client.get("/trials/999999999/").status_code == 404
