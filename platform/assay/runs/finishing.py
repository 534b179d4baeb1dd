"""Bringing runs to their end, and keeping them going until then."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, F, Func, JSONField, OuterRef, Q
from django.db.models.fields.json import KeyTransform
from django.utils import timezone
from django.utils.module_loading import import_string

from assay.accounts.audit import record
from assay.engine.statistics.summary import TrialOutcome, summarise
from assay.engine.statistics.users import compact
from assay.runs import gates, queue, workers
from assay.runs.models import ACTIVE, OPEN, Evidence, Run, RunStatus, Trial, TrialStatus
from assay.runs.plugin_failures import plugin_failures


def finish_if_done(run_id: int) -> bool:
    """Bring a run to its end when no trial is open: summary, gate, audit, then whoever listens, once each.

    True for the one caller that did it. Those who listen (settings.ASSAY_RUN_FINISHED) are called after the commit.
    """
    if Trial.objects.filter(run_id=run_id, status__in=OPEN).exists():
        return False
    with transaction.atomic():
        run = Run.objects.select_for_update().filter(pk=run_id, status__in=ACTIVE).first()
        if run is None or Trial.objects.filter(run=run, status__in=OPEN).exists():
            return False
        summary = summarise(outcomes(run)).as_json()
        run.summary = summary
        run.gate_answer = gates.answer(run.gate, summary)
        run.status = RunStatus.FINISHED
        run.finished_at = timezone.now()
        run.started_at = run.started_at or run.finished_at
        for name in ("started_at", "finished_at"):
            run.manifest[name] = getattr(run, name).isoformat(timespec="milliseconds")
        run.manifest["plugin_failures"] = plugin_failures(run)
        run.save(update_fields=["summary", "gate_answer", "status", "finished_at", "started_at", "manifest"])
        record("run.finished", target=run, data={"gate": run.gate_answer})
        for path in settings.ASSAY_RUN_FINISHED:
            transaction.on_commit(_listener(path, run), robust=True)
    return True


def outcomes(run: Run) -> list[TrialOutcome]:
    """The finished trials as statistics take them; the tasks appear in the order of the pack."""
    rows = Trial.objects.filter(run=run).exclude(status__in=OPEN).order_by("id")
    costs, faults, said = _costs(run), _faults(run), _users(run)
    checks = _reported(run)
    return [
        TrialOutcome(
            task=t.task_id,
            group=t.group,
            status=t.status,
            category=t.category or None,
            s1=t.s1,
            s2=t.s2,
            s3=t.s3,
            void_cause=t.void_cause or None,
            fingerprint=t.fingerprint or None,
            explanation=t.explanation,
            costs=costs.get(t.pk),
            faults=faults.get(t.pk, ()),
            user=said.get(t.pk, (None, None))[0],
            facts=said.get(t.pk, (None, None))[1],
            checks=checks.get(t.pk, ()),
        )
        for t in rows.iterator(chunk_size=5_000)
    ]


def _costs(run: Run) -> dict[int, Any]:
    """What each failed trial cost, as its verdict says; nothing for packs without cost rules."""
    failed = Evidence.objects.filter(trial__run=run, trial__status=TrialStatus.FAILED)
    told = failed.annotate(costs=KeyTransform("costs", "verdict")).filter(verdict__costs__isnull=False)
    return dict(told.values_list("trial_id", "costs").iterator(chunk_size=5_000))


def _reported(run: Run) -> dict[int, list[dict[str, Any]]]:
    """The checks of each valid trial that are reported only: name, outcome and reward, without the evidence."""
    valid = Evidence.objects.filter(
        trial__run=run, trial__status__in=(TrialStatus.PASSED, TrialStatus.FAILED)
    )
    told = valid.annotate(
        reported=Func(
            F("verdict"),
            template="jsonb_path_query_array(%(expressions)s, '$.checks[*] ? (@.required == false)')",
            output_field=JSONField(),
        )
    )
    keys = ("name", "outcome", "reward")
    return {
        trial: [{key: check[key] for key in keys} for check in checks]
        for trial, checks in told.values_list("trial_id", "reported").iterator(chunk_size=5_000)
        if checks
    }


def _faults(run: Run) -> dict[int, Any]:
    """The faults injected into each valid trial, as its verdict says; nothing for runs without a fault profile."""
    if not run.faults:
        return {}
    valid = Evidence.objects.filter(
        trial__run=run, trial__status__in=(TrialStatus.PASSED, TrialStatus.FAILED)
    )
    met = valid.annotate(met=KeyTransform("faults", "verdict")).filter(verdict__has_key="faults")
    return dict(met.values_list("trial_id", "met").iterator(chunk_size=5_000))


def _users(run: Run) -> dict[int, tuple[dict[str, Any], Any]]:
    """Of each trial with evidence: what its user was refused and used, and the facts drawn out of it."""
    kept = Evidence.objects.filter(trial__run=run).annotate(
        by=KeyTransform("user", "transcript"), facts=KeyTransform("facts", "transcript")
    )
    rows = kept.values_list("trial_id", "by", "facts").iterator(chunk_size=5_000)
    return {trial: (compact(by or {}), facts) for trial, by, facts in rows}


def runs_to_sweep() -> list[int]:
    """Runs in which something may have to be done: those that may run, and those whose workers may be lost."""
    held = Trial.objects.filter(run=OuterRef("pk"), status=TrialStatus.RUNNING)
    return list(
        Run.objects.filter(Q(status__in=ACTIVE) | Exists(held)).order_by("id").values_list("pk", flat=True)
    )


def revive(run_id: int) -> bool:
    """For the sweep: give back what lost workers hold, end the run if nothing is open, and say whether it needs a
    wake message (something may be claimed now)."""
    holders = Trial.objects.filter(run_id=run_id, status=TrialStatus.RUNNING).values_list(
        "leased_by", flat=True
    )
    queue.expire(run_id, most_losses=settings.ASSAY_MAX_WORKER_LOSSES, dead=workers.dead(holders.distinct()))
    if finish_if_done(run_id):
        return False
    active = Run.objects.filter(pk=run_id, status__in=ACTIVE).exists()
    return active and queue.next_available_in(run_id) == 0.0


def _listener(path: str, run: Run) -> Any:
    def call() -> None:
        import_string(path)(run)

    return call
