"""A failed trial explained on the site: its clause, the call after which it was lost, its database at any moment, and
the same failure in other runs."""

from __future__ import annotations

import html
from collections.abc import Callable

from django.test import Client

from assay.runs.failures import alike, of_pack
from assay.runs.history import state_of
from assay.runs.models import Run, Trial


def a_failure(run: Run) -> Trial:
    found = (
        run.trials.filter(status="failed", evidence__verdict__evidence__call__isnull=False)
        .exclude(evidence__changes=[])
        .first()
    )
    assert found is not None
    return found


def test_the_database_is_shown_after_any_call(
    browser: Callable[[str], Client], finished: Callable[..., Run]
) -> None:
    trial = a_failure(finished(trials=8))
    calls = [e for e in trial.evidence.events if e["type"] == "tool"]
    writer = next(e for e in calls if e["wrote"])
    client = browser("viewer")
    page = client.get(f"/trials/{trial.pk}/").content.decode()
    assert f'hx-get="/trials/{trial.pk}/state/"' in page
    assert f"call {writer['call']}: {writer['tool']}, which changed data</option>" in page
    before = client.get(f"/trials/{trial.pk}/state/", {"call": writer["call"] - 1}).content.decode()
    assert "nothing had been changed." in before
    assert "<title>" in before
    part = client.get(
        f"/trials/{trial.pk}/state/", {"call": writer["call"]}, headers={"HX-Request": "true"}
    ).content.decode()
    assert "<title>" not in part
    assert "had been changed." in part
    assert "nothing had been" not in part
    assert f"#call-{writer['call']}" in part
    last = state_of(trial, calls[-1]["call"])
    assert len(last.changes.rows) == len(trial.evidence.changes)
    assert last.unlike is None


def test_a_moment_that_never_was_is_refused_with_a_sentence(
    browser: Callable[[str], Client], finished: Callable[..., Run]
) -> None:
    trial = a_failure(finished(trials=8))
    page = browser("viewer").get(f"/trials/{trial.pk}/state/", {"call": "999"}).content.decode()
    assert "There is no call 999: the trial made calls 0 to" in page
    assert browser("viewer").get("/trials/999999/state/").status_code == 404


def test_what_could_not_be_put_right_any_more_is_said_on_the_trial(
    browser: Callable[[str], Client], finished: Callable[..., Run]
) -> None:
    run = finished(trials=8)
    for trial in run.trials.filter(status="failed"):
        verdict = trial.evidence.verdict
        page = html.unescape(browser("viewer").get(f"/trials/{trial.pk}/").content.decode())
        assert trial.explanation in page
        after = verdict["no_return"]
        if after is None:
            assert verdict["difference"]["rows"] == []
        else:
            assert after["sentence"] in page
            assert ("not to be put right after this" in page) == (after["status"] == "lost")


def test_the_same_failure_is_found_in_other_runs_of_the_pack(
    browser: Callable[[str], Client], finished: Callable[..., Run]
) -> None:
    first, second = finished(trials=6), finished(trials=6)  # the same seed makes the same mistakes
    trial = a_failure(first)
    client = browser("viewer")
    shown = client.get(f"/trials/{trial.pk}/").content.decode()
    assert f"The same failure in {len(alike(trial)) - 1} other run" in shown
    page = client.get(f"/trials/{trial.pk}/alike/").content.decode()
    count = first.trials.filter(fingerprint=trial.fingerprint).count()
    assert page.index(f"Run {first.pk}</a><span") < page.index(f"Run {second.pk}</a><span")
    assert page.count(f">{count} of 6</a>") >= 2
    passed = first.trials.filter(status="passed").first()
    assert passed is not None
    assert "did not fail" in client.get(f"/trials/{passed.pk}/alike/").content.decode()


def test_the_failures_of_a_pack_are_one_line_each_over_all_runs(
    browser: Callable[[str], Client], finished: Callable[..., Run]
) -> None:
    first, second = finished(trials=6), finished(trials=6)
    trial = a_failure(first)
    client = browser("viewer")
    version = first.pack_version_id
    assert (
        f"/packs/versions/{version}/failures/" in client.get(f"/packs/versions/{version}/").content.decode()
    )
    (row,) = [r for r in of_pack(first.pack_version.pack) if r.trial.fingerprint == trial.fingerprint]
    everywhere = Trial.objects.filter(fingerprint=trial.fingerprint, status="failed")
    assert row.trials == everywhere.count()
    assert row.runs == everywhere.values("run").distinct().count() >= 2
    assert row.trial.run_id == second.pk  # the latest
    page = html.unescape(client.get(f"/packs/versions/{version}/failures/").content.decode())
    assert page.count(row.trial.explanation) == 1
    assert f'data-label="Trials">{row.trials}</td>' in page
