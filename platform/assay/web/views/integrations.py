from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from assay.accounts import roles
from assay.integrations import services
from assay.integrations.models import Delivery, TicketConnection, WebhookEndpoint
from assay.web.access import member, needs
from assay.web.forms import TicketConnectionForm, TicketOptionsForm, WebhookForm
from assay.web.pages import ticket_system_rows
from assay_sdk import AssayError

_DELIVERIES = Delivery.objects.select_related("event", "endpoint", "connection").prefetch_related("attempts")


def _deliveries(request: HttpRequest, deliveries: QuerySet[Delivery]) -> dict[str, Any]:
    """A page of deliveries, which htmx loads again while one of them is on its way."""
    page = Paginator(deliveries, 25).get_page(request.GET.get("page"))
    return {"page": page, "waiting": any(d.status == "pending" for d in page)}


@needs(roles.MANAGE_INTEGRATIONS)
@require_safe
def overview(request: HttpRequest) -> HttpResponse:
    """Where events go, and what became of the last ones."""
    return render(
        request,
        "web/integrations/overview.html",
        {
            "endpoints": WebhookEndpoint.objects.all(),
            "connections": TicketConnection.objects.all(),
            **_deliveries(request, _DELIVERIES),
        },
    )


@needs(roles.MANAGE_INTEGRATIONS)
def add_webhook(request: HttpRequest) -> HttpResponse:
    """Connect an endpoint. Its secret is shown in the answer, and never again."""
    form = WebhookForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            endpoint, secret = services.create_endpoint(
                data["url"], description=data["description"], by=member(request)
            )
        except AssayError as error:
            form.add_error("url", str(error))
        else:
            return render(request, "web/integrations/secret.html", {"endpoint": endpoint, "secret": secret})
    return render(
        request, "web/integrations/add_webhook.html", {"form": form}, status=422 if form.errors else 200
    )


@needs(roles.MANAGE_INTEGRATIONS)
def webhook(request: HttpRequest, pk: int) -> HttpResponse:
    endpoint = get_object_or_404(WebhookEndpoint, pk=pk)
    if request.method == "POST":
        return _act_on_webhook(request, endpoint)
    deliveries = _deliveries(request, _DELIVERIES.filter(endpoint=endpoint))
    return render(request, "web/integrations/webhook.html", {"endpoint": endpoint, **deliveries})


@needs(roles.MANAGE_INTEGRATIONS)
@require_POST
def again(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a delivery again."""
    delivery = get_object_or_404(_DELIVERIES, pk=pk)
    try:
        services.redeliver(delivery, by=member(request))
        messages.success(request, f"{delivery.event.type} is on its way again.")
    except AssayError as error:
        messages.error(request, str(error))
    if delivery.endpoint_id is not None:
        return redirect("webhook", delivery.endpoint_id)
    return redirect("tickets", delivery.connection_id)


@needs(roles.MANAGE_INTEGRATIONS)
def connect(request: HttpRequest) -> HttpResponse:
    """Connect a ticket system that a plugin brings."""
    form = TicketConnectionForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        data = form.cleaned_data
        try:
            made = services.create_connection(
                data["name"], data["system"], data["options"], by=member(request)
            )
        except AssayError as error:
            form.add_error(None, str(error))
        else:
            return redirect("tickets", made.pk)
    return render(
        request,
        "web/integrations/connect.html",
        {"form": form, "systems": ticket_system_rows()},
        status=422 if form.errors else 200,
    )


@needs(roles.MANAGE_INTEGRATIONS)
def connection(request: HttpRequest, pk: int) -> HttpResponse:
    found = get_object_or_404(TicketConnection, pk=pk)
    form = TicketOptionsForm(initial={"options": found.options})
    if request.method == "POST":
        if request.POST.get("action") != "options":
            return _act_on_connection(request, found)
        form = TicketOptionsForm(request.POST)
        if form.is_valid():
            try:
                services.update_connection(found, form.cleaned_data["options"], by=member(request))
            except AssayError as error:
                form.add_error("options", str(error))
            else:
                messages.success(request, "The options are changed.")
                return redirect("tickets", pk)
    return render(
        request,
        "web/integrations/connection.html",
        {
            "connection": found,
            "form": form,
            "told": found.told.select_related("event")[:50],
            **_deliveries(request, _DELIVERIES.filter(connection=found)),
        },
        status=422 if form.errors else 200,
    )


def _act_on_webhook(request: HttpRequest, endpoint: WebhookEndpoint) -> HttpResponse:
    who = member(request)
    try:
        match request.POST.get("action"):
            case "test":
                services.send_test(endpoint, by=who)
                messages.success(request, "A test event is on its way; what became of it shows below.")
            case "rotate":
                secret = services.rotate_secret(endpoint, by=who)
                return render(
                    request, "web/integrations/secret.html", {"endpoint": endpoint, "secret": secret}
                )
            case "on" | "off" as way:
                services.switch_endpoint(endpoint, way == "on", by=who)
            case "delete":
                services.delete_endpoint(endpoint, by=who)
                messages.success(request, "The endpoint is deleted.")
                return redirect("integrations")
            case _:
                raise Http404("There is no such action.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("webhook", endpoint.pk)


def _act_on_connection(request: HttpRequest, found: TicketConnection) -> HttpResponse:
    who = member(request)
    try:
        match request.POST.get("action"):
            case "check":
                messages.success(request, services.check_connection(found))
            case "on" | "off" as way:
                services.switch_connection(found, way == "on", by=who)
            case "delete":
                services.delete_connection(found, by=who)
                messages.success(request, "The connection is deleted; the tickets stay where they are.")
                return redirect("integrations")
            case _:
                raise Http404("There is no such action.")
    except AssayError as error:
        messages.error(request, str(error))
    return redirect("tickets", found.pk)
