from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST

from assay.accounts import roles, services
from assay.accounts.models import ApiToken
from assay.web.access import member, needs
from assay.web.forms import TokenForm


@needs(roles.VIEW)
def token_list(request: HttpRequest) -> HttpResponse:
    """One's own tokens. The text of a new one is shown in the answer to making it, and never again."""
    form = TokenForm(request.POST or None)
    text = ""
    if request.method == "POST" and form.is_valid():
        _, text = services.create_token(member(request), name=form.cleaned_data["name"])
        form = TokenForm()
    tokens = ApiToken.objects.filter(user=member(request), revoked_at=None)
    return render(request, "web/tokens.html", {"tokens": tokens, "form": form, "text": text})


@needs(roles.VIEW)
@require_POST
def revoke(request: HttpRequest, pk: int) -> HttpResponse:
    token = get_object_or_404(ApiToken, pk=pk, user=member(request), revoked_at=None)
    services.revoke_token(token, by=member(request))
    messages.success(request, f"{token.name} is revoked.")
    return redirect("tokens")
