from __future__ import annotations

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from assay.accounts import roles
from assay.packs.models import PackVersion
from assay.reports.wording import category
from assay.runs.models import Regrade, RegradedTrial, Run
from assay.runs.regrading import plan_regrade
from assay.web.access import member, needs
from assay_sdk import AssayError

_RUNS = Run.objects.select_related("pack_version__pack", "bot_version__bot").defer("pack_version__bundle")


@needs(roles.VIEW)
@require_safe
def of_run(request: HttpRequest, pk: int) -> HttpResponse:
    """The regrades of a run, and the versions of its pack by which it can be judged again."""
    run = get_object_or_404(_RUNS, pk=pk)
    return render(
        request,
        "web/regrades/list.html",
        {
            "run": run,
            "regrades": run.regrades.select_related("pack_version__pack").defer("pack_version__bundle"),
            "versions": PackVersion.objects.filter(pack=run.pack_version.pack_id)
            .select_related("pack")
            .defer("bundle")
            .order_by("-id"),
        },
    )


@needs(roles.RUN)
@require_POST
def plan(request: HttpRequest, pk: int) -> HttpResponse:
    run = get_object_or_404(_RUNS, pk=pk)
    chosen = request.POST.get("pack_version", "")
    version = get_object_or_404(
        PackVersion.objects.select_related("pack").defer("bundle"),
        pk=int(chosen) if chosen.isdecimal() else 0,
    )
    try:
        made = plan_regrade(run, version, by=member(request))
    except AssayError as error:
        messages.error(request, str(error))
        return redirect("run-regrades", pk)
    return redirect("regrade", made.pk)


@needs(roles.VIEW)
@require_safe
def regrade(request: HttpRequest, pk: int) -> HttpResponse:
    """Old and new verdicts side by side: how many went from what to what, and each trial judged otherwise."""
    found = get_object_or_404(
        Regrade.objects.select_related(
            "run__pack_version__pack", "run__bot_version__bot", "pack_version__pack", "created_by"
        ).defer("run__pack_version__bundle", "pack_version__bundle", "run__summary", "run__manifest"),
        pk=pk,
    )
    changed = (
        RegradedTrial.objects.filter(regrade=found, changed=True)
        .select_related("trial")
        .defer("verdict")
        .order_by("trial")
    )
    page = Paginator(changed, 50).get_page(request.GET.get("page"))
    return render(
        request,
        "web/regrades/regrade.html",
        {
            "found": found,
            "run": found.run,
            "page": page,
            "rows": [(row, category(row.trial.category), category(row.category)) for row in page],
            "judged": RegradedTrial.objects.filter(regrade=found).count(),
        },
    )
