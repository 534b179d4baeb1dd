from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from assay.accounts import roles, secrets
from assay.accounts.models import Secret
from assay.web.access import member, needs
from assay.web.forms import SecretForm
from assay_sdk import AssayError


@needs(roles.MANAGE_SECRETS)
def secret_list(request: HttpRequest) -> HttpResponse:
    """The names of the secrets. Their values go in and are never shown."""
    form = SecretForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            secret = secrets.set_secret(
                form.cleaned_data["name"], form.cleaned_data["value"], by=member(request)
            )
        except AssayError as error:
            form.add_error("name", str(error))
        else:
            messages.success(request, f"secret:{secret.name} is stored.")
            return redirect("secrets")
    return render(
        request,
        "web/secrets.html",
        {"secrets": Secret.objects.select_related("updated_by"), "form": form},
        status=422 if form.errors else 200,
    )


@needs(roles.MANAGE_SECRETS)
@require_POST
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    secret = get_object_or_404(Secret, pk=pk)
    secrets.delete_secret(secret.name, by=member(request))
    messages.success(request, f"secret:{secret.name} is deleted. Whatever refers to it will say so.")
    return redirect("secrets")
