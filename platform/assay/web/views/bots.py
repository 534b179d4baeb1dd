from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render

from assay.accounts import roles
from assay.bots import services
from assay.bots.models import Bot
from assay.web.access import member, needs
from assay.web.forms import BotForm, BotVersionForm
from assay.web.pages import connector_rows, run_rows, runs_to_list
from assay_sdk import AssayError


@needs(roles.VIEW, to_post=roles.EDIT_BOTS)
def bot_list(request: HttpRequest) -> HttpResponse:
    form = BotForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            version = services.create_bot(by=member(request), **form.cleaned_data)
        except AssayError as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, f"{version} is ready.")
            return redirect("bot", version.bot_id)
    bots = Bot.objects.prefetch_related("versions")
    return render(
        request,
        "web/bots/list.html",
        {"bots": bots, "form": form, "connectors": connector_rows()},
        status=422 if form.errors else 200,
    )


@needs(roles.VIEW, to_post=roles.EDIT_BOTS)
def bot(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(Bot.objects.prefetch_related("versions"), pk=pk)
    latest = found.latest()
    start = {"spec": latest.spec, "options": latest.options} if latest else {}
    form = BotVersionForm(request.POST or None, initial=start)
    if request.method == "POST" and form.is_valid():
        try:
            version = services.add_version(found, by=member(request), **form.cleaned_data)
        except AssayError as error:
            form.add_error(None, str(error))
        else:
            if latest is not None and version.pk == latest.pk:
                messages.info(request, "That is the latest version already.")
            else:
                messages.success(request, f"{version} is ready.")
            return redirect("bot", found.pk)
    runs = runs_to_list().filter(bot_version__bot=found)[:20]
    return render(
        request,
        "web/bots/bot.html",
        {"bot": found, "form": form, "runs": run_rows(runs), "connectors": connector_rows()},
        status=422 if form.errors else 200,
    )
