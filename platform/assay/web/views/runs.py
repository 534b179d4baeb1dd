from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from assay.accounts import roles
from assay.packs.models import TaskEntry
from assay.reports.data import group_rows, headline, main_figures
from assay.reports.money import costs_sentence
from assay.reports.other_checks import check_rows
from assay.reports.recovery import recovery_rows, recovery_sentence
from assay.reports.services import render_report
from assay.reports.wording import columns, ending
from assay.runs import services
from assay.runs.gates import Gate
from assay.runs.models import ACTIVE, Run, Trial
from assay.runs.plugin_failures import plugin_failures
from assay.web.access import member, needs
from assay.web.forms import RunForm
from assay.web.pages import (
    REPORT_POLICY,
    failure_rows,
    progress_row,
    run_rows,
    runs_to_list,
    storable,
    task_rows,
)
from assay_sdk import AssayError

_MOVES = {"pause": services.pause_run, "resume": services.resume_run, "cancel": services.cancel_run}
_RUNS = Run.objects.select_related("pack_version__pack", "bot_version__bot").defer("pack_version__bundle")


@needs(roles.VIEW)
@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    page = Paginator(runs_to_list(), 50).get_page(request.GET.get("page"))
    return render(request, "web/runs/list.html", {"page": page, "runs": run_rows(page.object_list)})


@needs(roles.RUN)
def new(request: HttpRequest) -> HttpResponse:
    chosen = {k: v for k, v in request.GET.items() if k in ("pack_version", "bot_version")}
    form = RunForm(request.POST or None, initial=chosen)
    if request.method == "POST" and form.is_valid():
        try:
            run = services.plan_run(by=member(request), **form.plan())
        except AssayError as error:
            form.add_error(None, str(error))
        else:
            return redirect("run", run.pk)
    return render(request, "web/runs/new.html", {"form": form}, status=422 if form.errors else 200)


@needs(roles.VIEW)
@require_safe
def run(request: HttpRequest, pk: int) -> HttpResponse:
    """How the run stands or ended, what failed, and every task. Figures come with the end of the run."""
    versions = _RUNS.select_related("created_by", "pack_version__verification")
    found = get_object_or_404(
        versions.defer("pack_version__bundle", "pack_version__verification__report"), pk=pk
    )
    summary = found.summary
    tasks = task_rows(found)
    return render(
        request,
        "web/runs/run.html",
        {
            "run": found,
            "progress": progress_row(services.progress(found)),
            "plugin_failures": plugin_failures(found),
            "summary": summary,
            "figures": main_figures(summary) if summary else [],
            "headline": headline(summary) if summary else "",
            "costs": costs_sentence(summary.get("costs")) if summary else "",
            "recovery": recovery_sentence(summary.get("faults")) if summary else "",
            "recoveries": recovery_rows(summary.get("faults")) if summary else [],
            "other_checks": check_rows(summary) if summary else [],
            "groups": group_rows(summary) if summary else [],
            "columns": [heading for heading, *_ in columns(summary)] if summary else [],
            "gate": Gate(**found.gate) if found.gate else None,
            "page": Paginator(tasks, 100).get_page(request.GET.get("page")),
            "failures": failure_rows(found, tasks),
        },
    )


@needs(roles.VIEW)
@require_safe
def progress(request: HttpRequest, pk: int) -> HttpResponse:
    """The part of the run page that changes, for htmx to ask for again and again."""
    found = get_object_or_404(Run.objects.only("status", "trial_count", "finished_at"), pk=pk)
    now = services.progress(found)
    response = render(request, "web/runs/_progress.html", {"run": found, "progress": progress_row(now)})
    if now.status not in ACTIVE and request.GET.get("seen") != now.status:
        response.headers["HX-Refresh"] = "true"  # it has just ended: the rest of the page is out of date
    return response


@needs(roles.RUN)
@require_POST
def move(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Run, pk=pk)
    action = _MOVES.get(request.POST.get("action", ""))
    if action is None:
        raise Http404("There is no such action.")
    try:
        action(found, by=member(request))
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("run", pk)


@needs(roles.VIEW)
@require_safe
def report(request: HttpRequest, pk: int) -> HttpResponse:
    """The report as one page; with ?download=1 as a file."""
    found = get_object_or_404(_RUNS, pk=pk)
    response = HttpResponse(render_report(found))
    response.headers["Content-Security-Policy"] = REPORT_POLICY
    if request.GET.get("download"):
        response.headers["Content-Disposition"] = f'attachment; filename="run-{found.pk}-report.html"'
    return response


@needs(roles.VIEW)
@require_safe
def task_trials(request: HttpRequest, pk: int, task_id: str) -> HttpResponse:
    """All trials of one task in a run."""
    found = get_object_or_404(_RUNS, pk=pk)
    if not storable(task_id):
        raise Http404("The run has no such task.")
    trials = Trial.objects.filter(run=found, task_id=task_id).order_by("index")
    if not trials.exists():
        raise Http404("The run has no such task.")
    page = Paginator(trials, 100).get_page(request.GET.get("page"))
    return render(
        request,
        "web/runs/task.html",
        {
            "run": found,
            "task_id": task_id,
            "entry": TaskEntry.objects.filter(pack_version=found.pack_version_id, task_id=task_id).first(),
            "title": page[0].title,
            "page": page,
            "trials": [(trial, ending(trial.termination) if trial.termination else "") for trial in page],
        },
    )
