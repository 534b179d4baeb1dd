"""The same failure in other runs: by its fingerprint, over all versions of the pack."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import Count, Max, Min

from assay.packs.models import Pack
from assay.runs.models import Run, Trial, TrialStatus

#: Runs, or failures, that are listed at most.
MOST = 100


@dataclass(frozen=True, slots=True)
class Alike:
    """A run in which trials failed in the same way: `count` of the `of` valid trials of that task."""

    run: Run
    trial: Trial  # the first that shows it
    count: int
    of: int


def alike(trial: Trial) -> list[Alike]:
    """The runs of the same pack that show this trial's failure, its own first, then the newest. None for a trial that
    did not fail."""
    if trial.status != TrialStatus.FAILED or not trial.fingerprint:
        return []
    failed = Trial.objects.filter(
        status=TrialStatus.FAILED,
        fingerprint=trial.fingerprint,
        run__pack_version__pack=trial.run.pack_version.pack_id,
    )
    found = list(
        failed.order_by()
        .values("run_id")
        .annotate(count=Count("pk"), first=Min("pk"))
        .order_by("-run_id")[:MOST]
    )
    runs = (
        Run.objects.select_related("pack_version__pack", "bot_version__bot")
        .defer("pack_version__bundle", "summary", "manifest", "task_ids")
        .in_bulk([row["run_id"] for row in found])
    )
    trials = Trial.objects.in_bulk([row["first"] for row in found])
    valid = dict(
        Trial.objects.filter(
            run__in=runs, task_id=trial.task_id, status__in=[TrialStatus.PASSED, TrialStatus.FAILED]
        )
        .order_by()
        .values_list("run_id")
        .annotate(Count("pk"))
    )
    listed = [
        Alike(runs[row["run_id"]], trials[row["first"]], row["count"], valid.get(row["run_id"], 0))
        for row in found
    ]
    return sorted(listed, key=lambda a: (a.run.pk != trial.run_id, -a.run.pk))


@dataclass(frozen=True, slots=True)
class Distinct:
    """One failure over all runs of a pack: `trials` that show it in `runs` runs. `trial`: the latest of them."""

    trial: Trial
    trials: int
    runs: int


def of_pack(pack: Pack) -> list[Distinct]:
    """The distinct failures in the runs of all versions of a pack, at most MOST, the most frequent first."""
    found = list(
        Trial.objects.filter(status=TrialStatus.FAILED, run__pack_version__pack=pack)
        .exclude(fingerprint="")
        .order_by()
        .values("fingerprint")
        .annotate(trials=Count("pk"), runs=Count("run", distinct=True), last=Max("pk"))
        .order_by("-trials", "-last")[:MOST]
    )
    shown = Trial.objects.in_bulk([row["last"] for row in found])
    return [Distinct(shown[row["last"]], row["trials"], row["runs"]) for row in found]
