from __future__ import annotations

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from assay.accounts import roles
from assay.engine.packs import PackError
from assay.packs.models import PackVersion, TaskEntry
from assay.reports.wording import category, cause, ending
from assay.runs.failures import alike, of_pack
from assay.runs.history import as_json, state_of
from assay.runs.models import Evidence, Trial
from assay.web.access import needs
from assay.web.evidence import calls, changes, checks, conversation, difference, no_return
from assay.web.policy import clauses_named
from assay_sdk import AssayError

_MOST_SIBLINGS = 60  # links to the other trials of the task; a run may have a thousand


@needs(roles.VIEW)
@require_safe
def trial(request: HttpRequest, pk: int) -> HttpResponse:
    """What was said and called, what should have changed and what did, the verdict, and what policy says."""
    found = _trial(pk)
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
            "changes": changes(evidence.changes) if evidence else [],
            "calls": calls(evidence) if evidence else [],
            "no_return": no_return(evidence) if evidence else None,
            "others": len(alike(found)) - 1 if found.status == "failed" else 0,
            "siblings": _near(found),
            "next_failure": Trial.objects.filter(run=run, status="failed", pk__gt=found.pk)
            .order_by("pk")
            .first(),
            "attempts": [(attempt, cause(attempt.cause)) for attempt in found.void_attempts.all()],
        },
    )


@needs(roles.VIEW)
@require_safe
def state(request: HttpRequest, pk: int) -> HttpResponse:
    """The database as it was after one call; the part of a page when htmx asks, else a page of its own."""
    found = _trial(pk)
    evidence = Evidence.objects.filter(trial=found).first()
    says, rows, unlike = "", [], None
    try:
        call = int(request.GET.get("call", ""))
    except ValueError:
        call = -1
    try:
        then = state_of(found, call)
    except (AssayError, PackError) as error:
        says = str(error)
    else:
        rows = changes(as_json(then)["changes"])
        unlike = then.unlike.sentence() if then.unlike else None
    listed = calls(evidence) if evidence else []
    given = {
        "trial": found,
        "run": found.run,
        "call": call,
        "made": next((c for c in listed if c["call"] == call), None),
        "calls": listed,
        "then": rows,
        "unlike": unlike,
        "says": says,
    }
    part = bool(request.headers.get("HX-Request"))
    return render(request, "web/trials/_state.html" if part else "web/trials/state.html", given)


@needs(roles.VIEW)
@require_safe
def alike_trials(request: HttpRequest, pk: int) -> HttpResponse:
    """The same failure in all runs of the pack."""
    found = _trial(pk)
    rows = alike(found)
    return render(
        request,
        "web/trials/alike.html",
        {"trial": found, "run": found.run, "rows": rows, "category": category(found.category)},
    )


@needs(roles.VIEW)
@require_safe
def failures(request: HttpRequest, pk: int) -> HttpResponse:
    """The distinct failures in all runs of a version's pack, with their counts."""
    version = get_object_or_404(PackVersion.objects.select_related("pack").defer("bundle"), pk=pk)
    rows = [(row, category(row.trial.category)) for row in of_pack(version.pack)]
    return render(request, "web/trials/failures.html", {"version": version, "rows": rows})


def _trial(pk: int) -> Trial:
    trials = Trial.objects.select_related("run__pack_version__pack", "run__bot_version__bot")
    return get_object_or_404(
        trials.defer("run__pack_version__bundle", "run__summary", "run__manifest", "run__task_ids"), pk=pk
    )


def _near(found: Trial) -> QuerySet[Trial]:
    """Trials of the same task, those around this one when there are very many."""
    first = max(0, found.index - _MOST_SIBLINGS // 2)
    around = Trial.objects.filter(
        run=found.run_id, task_id=found.task_id, index__gte=first, index__lt=first + _MOST_SIBLINGS
    )
    return around.order_by("index").only("index", "status")
