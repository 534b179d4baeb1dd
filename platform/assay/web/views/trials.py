from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from assay.accounts import roles
from assay.packs.models import TaskEntry
from assay.reports.wording import category, cause, ending
from assay.runs.models import Evidence, Trial
from assay.web.access import needs
from assay.web.evidence import changes, checks, conversation, difference
from assay.web.policy import clauses_named

_MOST_SIBLINGS = 60  # links to the other trials of the task; a run may have a thousand


@needs(roles.VIEW)
@require_safe
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    """What was said and called, what should have changed and what did, the verdict, and what policy says."""
    found = get_object_or_404(
        Trial.objects.select_related("run__pack_version__pack", "run__bot_version__bot").defer(
            "run__pack_version__bundle", "run__summary", "run__manifest", "run__task_ids"
        ),
        pk=pk,
    )
    run = found.run
    evidence = Evidence.objects.filter(trial=found).first()
    entry = TaskEntry.objects.filter(pack_version=run.pack_version_id, task_id=found.task_id).first()
    return render(
        request,
        "web/trials/trial.html",
        {
            "trial": found,
            "run": run,
            "category": category(found.category),
            "void_cause": cause(found.void_cause),
            "ending": ending(found.termination),
            "entry": entry,
            "clauses": clauses_named(run.pack_version, entry.clauses) if entry else [],
            "evidence": evidence,
            "events": conversation(evidence) if evidence else [],
            "rows": difference(evidence) if evidence else [],
            "checks": checks(evidence) if evidence else [],
            "changes": changes(evidence) if evidence else [],
            "siblings": _near(found),
            "next_failure": Trial.objects.filter(run=run, status="failed", pk__gt=found.pk)
            .order_by("pk")
            .first(),
            "attempts": [(attempt, cause(attempt.cause)) for attempt in found.void_attempts.all()],
        },
    )


def _near(found: Trial) -> QuerySet[Trial]:
    """Trials of the same task, those around this one when there are very many."""
    first = max(0, found.index - _MOST_SIBLINGS // 2)
    around = Trial.objects.filter(
        run=found.run_id, task_id=found.task_id, index__gte=first, index__lt=first + _MOST_SIBLINGS
    )
    return around.order_by("index").only("index", "status")
