"""What every template may ask: what the member's role allows, so that no button is shown that would be refused."""

from __future__ import annotations

from django.http import HttpRequest

from assay.accounts import roles
from assay.accounts.models import User

_ASKED = {
    "may_edit_packs": roles.EDIT_PACKS,
    "may_edit_bots": roles.EDIT_BOTS,
    "may_run": roles.RUN,
    "may_manage_integrations": roles.MANAGE_INTEGRATIONS,
}


def permissions(request: HttpRequest) -> dict[str, bool]:
    user = getattr(request, "user", None)
    return {name: isinstance(user, User) and user.may(capability) for name, capability in _ASKED.items()}
