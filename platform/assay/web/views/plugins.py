from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from assay.accounts import roles
from assay.plugin_choices import services
from assay.plugin_choices.services import PluginChoiceError, PluginState
from assay.plugins.options import OptionProblems
from assay.web.access import member, needs
from assay.web.option_forms import PartOptionsForm
from assay_sdk import AssayError


@needs(roles.VIEW)
@require_safe
def plugin_list(request: HttpRequest) -> HttpResponse:
    """The installed plugins: what each brings, its version, what is wrong with it, whether it is on."""
    return render(
        request,
        "web/plugins/list.html",
        {"plugins": services.overview(), "left_out": services.left_out()},
    )


@needs(roles.VIEW, to_post=roles.MANAGE_PLUGINS)
def plugin(request: HttpRequest, name: str) -> HttpResponse:
    """One plugin: its switch, and a form for the options of each part."""
    try:
        found = services.state(name)
    except PluginChoiceError as error:
        raise Http404(str(error)) from None
    if request.method == "POST" and request.POST.get("action") in ("on", "off"):
        try:
            services.switch(name, request.POST["action"] == "on", by=member(request))
        except AssayError as error:
            messages.error(request, str(error))
        return redirect("plugin", name)
    parts = _parts(found)
    if request.method == "POST":
        part = next((p for p in parts if p["key"] == request.POST.get("part") and p["form"]), None)
        if part is None:
            raise Http404("There is no such action.")
        if _set_options(request, part):
            messages.success(request, f"The options of {part['key']} are set.")
            return redirect("plugin", name)
    wrong = any(p["form"].errors for p in parts if p["form"])
    return render(
        request, "web/plugins/plugin.html", {"state": found, "parts": parts}, status=422 if wrong else 200
    )


def _parts(found: PluginState) -> list[dict[str, Any]]:
    """What the plugin brings, each with its form; None where there is nothing to set."""
    parts = []
    for kind, names in found.plugin.brings.items():
        for name in names:
            key = f"{kind} {name}"
            try:
                model = services.options_model(kind, name)
            except PluginChoiceError:
                form = None
            else:
                form = PartOptionsForm(model, found.options.get(key, {}), prefix=_prefix(key))
            is_set = bool(found.options.get(key))
            parts.append(
                {"kind": kind, "name": name, "key": key, "form": form, "set": is_set, "open": is_set}
            )
    return parts


def _set_options(request: HttpRequest, part: dict[str, Any]) -> bool:
    """Whether they are set; otherwise the part's form says what is wrong."""
    kind, name = part["kind"], part["name"]
    part["open"] = True
    model = services.options_model(kind, name)
    form = part["form"] = PartOptionsForm(
        model, services.options_of(kind, name), request.POST, prefix=_prefix(part["key"])
    )
    if not form.is_valid():
        return False
    try:
        services.set_options(kind, name, form.options(), by=member(request))
    except OptionProblems as error:
        form.refuse(error.problems)
        return False
    except AssayError as error:
        form.add_error(None, str(error))
        return False
    return True


def _prefix(part: str) -> str:
    """Before the names of a part's fields: several forms stand on one page, and an option may have any name."""
    return part.replace(" ", "-")
