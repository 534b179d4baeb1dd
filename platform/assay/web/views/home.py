from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from assay.accounts import roles
from assay.bots.models import Bot
from assay.packs.models import Pack
from assay.web.access import needs
from assay.web.pages import run_rows, runs_to_list


@needs(roles.VIEW)
def home(request: HttpRequest) -> HttpResponse:
    """What there is, and what to do next."""
    runs = runs_to_list()[:8]
    return render(
        request,
        "web/home.html",
        {"runs": run_rows(runs), "packs": Pack.objects.count(), "bots": Bot.objects.count()},
    )
