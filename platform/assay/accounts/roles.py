"""What each role may do. The one place that says so; views, the API and the admin ask User.may()."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class Role(models.TextChoices):
    OWNER = "owner", _("Owner")
    ADMIN = "admin", _("Admin")
    AUTHOR = "author", _("Author")
    OPERATOR = "operator", _("Operator")
    REVIEWER = "reviewer", _("Reviewer")
    VIEWER = "viewer", _("Viewer")


VIEW = "view"  # packs, bots, runs, trials, reports
EDIT_PACKS = "edit_packs"  # upload, enable and disable tasks, edit tasks
EDIT_BOTS = "edit_bots"
RUN = "run"  # plan, pause, resume, cancel
REVIEW = "review"
MANAGE_INTEGRATIONS = "manage_integrations"  # webhooks, ticket systems
MANAGE_PLUGINS = "manage_plugins"  # switch plugins on and off, set their options
MANAGE_SECRETS = "manage_secrets"
MANAGE_MEMBERS = "manage_members"
SEE_AUDIT = "see_audit"

_ALL = frozenset(
    {VIEW, EDIT_PACKS, EDIT_BOTS, RUN, REVIEW, SEE_AUDIT}
    | {MANAGE_INTEGRATIONS, MANAGE_PLUGINS, MANAGE_SECRETS, MANAGE_MEMBERS}
)
CAPABILITIES: dict[str, frozenset[str]] = {
    Role.OWNER: _ALL,
    Role.ADMIN: _ALL,
    Role.AUTHOR: frozenset({VIEW, EDIT_PACKS, REVIEW}),
    Role.OPERATOR: frozenset({VIEW, EDIT_BOTS, RUN}),
    Role.REVIEWER: frozenset({VIEW, REVIEW, SEE_AUDIT}),
    Role.VIEWER: frozenset({VIEW}),
}

# What Django's admin asks for as `app.action_model`, by app or, where a model differs, by `app.model`.
# What is not listed is refused to everybody.
_CHANGE_MEMBERS = {"view": MANAGE_MEMBERS, "add": MANAGE_MEMBERS, "change": MANAGE_MEMBERS}
_ADMIN: dict[str, dict[str, str]] = {
    "packs": {"view": VIEW},
    "packs.taskentry": {"view": VIEW, "change": EDIT_PACKS},
    "bots": {"view": VIEW},
    "plugin_choices": {"view": VIEW},
    "runs": {"view": VIEW},
    "integrations": dict.fromkeys(("view", "add", "change", "delete"), MANAGE_INTEGRATIONS),
    "accounts.user": _CHANGE_MEMBERS,
    "accounts.apitoken": {"view": MANAGE_MEMBERS, "change": MANAGE_MEMBERS},
    "accounts.secret": dict.fromkeys(("view", "add", "change", "delete"), MANAGE_SECRETS),
    "accounts.auditevent": {"view": SEE_AUDIT},
    "admin": {"view": SEE_AUDIT},
    "tenancy": _CHANGE_MEMBERS,
}


def capability_for(permission: str) -> str | None:
    """The capability behind one of Django's permissions (`packs.change_taskentry`); None: nobody has it."""
    app, _, codename = permission.partition(".")
    action, _, model = codename.partition("_")
    return _ADMIN.get(f"{app}.{model}", _ADMIN.get(app, {})).get(action)


def apps_in_admin() -> frozenset[str]:
    return frozenset(key.partition(".")[0] for key in _ADMIN)
