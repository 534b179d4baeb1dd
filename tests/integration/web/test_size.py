"""Pages stay small and ask the database little, however much there is."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from assay.packs.models import PackVersion
from assay.packs.services import edit_task
from assay.runs.models import Run, Trial
from assay.runs.services import plan_run
from tests.support.site import reference_bot


def large_run(version: PackVersion, tasks: int, trials: int) -> Run:
    """A run with that many trials, half of which failed, each task in its own way."""
    run = Run.objects.create(
        pack_version=version,
        bot_version=reference_bot("careless"),
        status="paused",
        task_ids=[f"BIG-{i}" for i in range(tasks)],
        trials_per_task=trials,
        trial_count=tasks * trials,
        seed=1,
    )
    Trial.objects.bulk_create(
        [
            Trial(
                run=run, task_id=f"BIG-{i}", title=f"A long story, number {i}", group=f"group {i % 7}", index=j, seed=j,
                status="failed" if (i + j) % 2 else "passed", category="incorrect_state_update" if (i + j) % 2 else "",
                fingerprint=f"{i:016x}" if (i + j) % 2 else "", explanation="The amount is 25 and should be 20. " * 4,
            )
            for i in range(tasks) for j in range(trials)
        ],
        batch_size=2_000,
    )  # fmt: skip
    return run


def test_a_run_of_ten_thousand_trials_has_a_page_of_a_few_hundred_kilobytes(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    run = large_run(library, tasks=507, trials=20)
    client = browser("viewer")
    page = client.get(f"/runs/{run.pk}/").content
    assert len(page) < 200_000
    assert b"Page 1 of 6" in page
    assert "10 passed, 10 failed" in page.decode()
    last = client.get(f"/runs/{run.pk}/", {"page": "6"}).content.decode()
    assert last.count('role="img"') == 7
    assert len(client.get(f"/runs/{run.pk}/progress/").content) < 2_000


def test_a_task_with_very_many_trials_is_shown_by_the_page(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    run = large_run(library, tasks=1, trials=450)
    client = browser("viewer")
    page = client.get(f"/runs/{run.pk}/tasks/BIG-0/").content.decode()
    assert page.count('class="status passed"') + page.count('class="status failed"') == 100
    assert "Page 1 of 5" in page
    trial = run.trials.get(index=200)
    links = client.get(f"/trials/{trial.pk}/").content.decode().count('class="cell ')
    assert 50 <= links <= 60
    strip = client.get(f"/runs/{run.pk}/").content.decode().split('<svg class="strip"')[1].split("</svg>")[0]
    assert 'width="400"' in strip  # a bar of shares, and not 450 cells


@pytest.mark.usefixtures("acme")
def test_the_number_of_queries_does_not_grow_with_what_is_shown(
    browser: Callable[[str], Client], library: PackVersion
) -> None:
    client = browser("owner")
    small = large_run(library, tasks=2, trials=2)
    task, trial = library.tasks.first(), small.trials.filter(status="failed").first()
    assert task is not None
    assert trial is not None
    paths = [
        "/", "/packs/", "/bots/", "/runs/", "/runs/new/", "/integrations/", "/tokens/", "/secrets/",
        f"/packs/versions/{library.pk}/", f"/packs/versions/{library.pk}/policy/", f"/tasks/{task.pk}/",
        f"/bots/{small.bot_version.bot_id}/", f"/runs/{small.pk}/", f"/runs/{small.pk}/progress/",
        f"/runs/{small.pk}/tasks/{trial.task_id}/", f"/runs/{small.pk}/report/", f"/trials/{trial.pk}/",
        "/admin/packs/taskentry/",
    ]  # fmt: skip

    def counts() -> dict[str, int]:
        found = {}
        for path in paths:
            client.get(path)  # whatever is kept in memory is there now
            with CaptureQueriesContext(connection) as queries:
                assert client.get(path).status_code == 200, path
            found[path] = len(queries)
        return found

    before = counts()
    edit_task(library, task.task_id, task.yaml.replace(task.title, "Told in yet another way"))
    for n in range(3):
        plan_run(library, reference_bot("faithful"), trials=1, seed=n)
        large_run(library, tasks=3, trials=3)
    Trial.objects.bulk_create(
        Trial(
            run=small,
            task_id=f"MORE-{i}",
            group="more",
            index=j,
            seed=j,
            status="failed",
            fingerprint=f"{i}{j}",
        )
        for i in range(5)
        for j in range(4)
    )
    assert counts() == before
    assert {path: n for path, n in before.items() if n > 16} == {}
