"""What a caller may do follows the member's role (assay.accounts.roles)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from assay.accounts.models import User
from assay.accounts.roles import VIEW

if TYPE_CHECKING:  # rest_framework.views reads the settings, which name this module
    from rest_framework.views import APIView


class RolePermission(BasePermission):
    """Reading needs `view`; anything else needs the capability that the view names for its action."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        user = request.user
        if not isinstance(user, User):
            return False
        if request.method in ("GET", "HEAD", "OPTIONS"):
            return user.may(VIEW)
        capability = getattr(view, "capability", None)
        if capability is None or not user.may(capability):
            self.message = f"Your role ({user.get_role_display().lower()}) does not allow this."
            return False
        return True
