from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from assay.accounts import roles
from assay.packs.models import TaskEntry
from assay.reports.wording import category
from assay.runs.models import Evidence, Trial
from assay.web.access import needs
from assay.web.evidence import conversation, difference


@needs(roles.VIEW)
@require_safe
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    """What was said and called, what should have changed and what did, and the verdict."""
    found = get_object_or_404(
        Trial.objects.select_related("run__pack_version__pack", "run__bot_version__bot").defer(
            "run__pack_version__bundle"
        ),
        pk=pk,
    )
    evidence = Evidence.objects.filter(trial=found).first()
    entry = TaskEntry.objects.filter(pack_version=found.run.pack_version_id, task_id=found.task_id).first()
    siblings = list(
        Trial.objects.filter(run=found.run_id, task_id=found.task_id)
        .order_by("index")
        .only("index", "status")
    )
    return render(
        request,
        "web/trials/trial.html",
        {
            "trial": found,
            "run": found.run,
            "category": category(found.category),
            "entry": entry,
            "evidence": evidence,
            "events": conversation(evidence) if evidence else [],
            "rows": difference(evidence) if evidence else [],
            "siblings": siblings,
            "attempts": found.void_attempts.all(),
        },
    )
