"""Sign-in by email; permissions of the admin by role."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.db import models

from assay.accounts import roles
from assay.accounts.models import User

# Which capability each action on an app's models needs in the admin. Not listed: refused.
_NEEDS: dict[str, dict[str, str]] = {
    "packs": {
        "view": roles.VIEW, "add": roles.EDIT_PACKS, "change": roles.EDIT_PACKS, "delete": roles.EDIT_PACKS
    },
    "bots": {"view": roles.VIEW, "add": roles.EDIT_BOTS, "change": roles.EDIT_BOTS},
    "runs": {"view": roles.VIEW},
    "reports": {"view": roles.VIEW},
    "integrations": {
        "view": roles.MANAGE_INTEGRATIONS,
        "add": roles.MANAGE_INTEGRATIONS,
        "change": roles.MANAGE_INTEGRATIONS,
        "delete": roles.MANAGE_INTEGRATIONS,
    },
    "accounts": {"view": roles.MANAGE_MEMBERS, "add": roles.MANAGE_MEMBERS, "change": roles.MANAGE_MEMBERS},
    "tenancy": {"view": roles.MANAGE_MEMBERS},
    "admin": {"view": roles.SEE_AUDIT},
}


class RoleBackend(ModelBackend):
    """Django asks `app.action_model`; the answer comes from the role, not from permission rows."""

    def has_perm(self, user_obj: Any, perm: str, obj: models.Model | None = None) -> bool:
        app, _, codename = perm.partition(".")
        capability = _NEEDS.get(app, {}).get(codename.split("_", 1)[0])
        return isinstance(user_obj, User) and capability is not None and user_obj.may(capability)

    def has_module_perms(self, user_obj: Any, app_label: str) -> bool:
        view = _NEEDS.get(app_label, {}).get("view")
        return isinstance(user_obj, User) and view is not None and user_obj.may(view)
