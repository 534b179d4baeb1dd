"""What every template may ask: what the member's role allows, so that no button is shown that would be refused."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from django.http import HttpRequest

from assay.accounts import roles
from assay.accounts.models import User

_ASKED = {
    "may_edit_packs": roles.EDIT_PACKS,
    "may_edit_bots": roles.EDIT_BOTS,
    "may_run": roles.RUN,
    "may_manage_integrations": roles.MANAGE_INTEGRATIONS,
    "may_manage_plugins": roles.MANAGE_PLUGINS,
    "may_manage_secrets": roles.MANAGE_SECRETS,
}


def permissions(request: HttpRequest) -> dict[str, Callable[[], bool]]:
    """Functions, which a template calls by naming them, so that a page that does not ask looks nobody up.

    Django answers a 404 or 403 in a thread whose database connection knows no company. Whoever asked for the
    member there would find no session, and the answer would sign them out.
    """
    return {name: partial(_may, request, capability) for name, capability in _ASKED.items()}


def _may(request: HttpRequest, capability: str) -> bool:
    user = getattr(request, "user", None)
    return isinstance(user, User) and user.may(capability)
