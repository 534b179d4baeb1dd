from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assay.accounts import roles
from assay.bots.models import Bot
from assay.packs.models import Pack
from assay.runs.models import Run
from assay.web.access import needs
from assay.web.pages import run_rows


@needs(roles.VIEW)
def home(request: HttpRequest) -> HttpResponse:
    """What there is, and what to do next."""
    runs = Run.objects.select_related("pack_version__pack", "bot_version__bot").defer("pack_version__bundle")[
        :8
    ]
    return render(
        request,
        "web/home.html",
        {"runs": run_rows(runs), "packs": Pack.objects.count(), "bots": Bot.objects.count()},
    )
