"""Members and API tokens."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime, timedelta

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone

from assay.accounts.audit import record
from assay.accounts.models import ApiToken, Role, User

_STAFF = {Role.OWNER, Role.ADMIN, Role.AUTHOR, Role.OPERATOR}


def create_user(
    *, email: str, password: str | None, role: str = Role.VIEWER, name: str = "", by: User | None = None
) -> User:
    """Make a member of the current schema. With `password=None` nobody can sign in as them yet.

    Raises django.core.exceptions.ValidationError with sentences (bad or taken address, weak password, no such role).
    """
    user = User(email=User.objects.normalize_email(email.strip()), name=name.strip(), role=role)
    user.is_staff = role in _STAFF
    if password is None:
        user.set_unusable_password()
    else:
        validate_password(password, user)
        user.set_password(password)
    user.full_clean()
    with transaction.atomic():
        user.save(force_insert=True)
        record("user.created", actor=by, target=user, data={"email": user.email, "role": user.role})
    return user


def change_role(user: User, role: str, *, by: User | None) -> User:
    """Give a member another role. Raises ValidationError when the last owner would be gone."""
    if role not in Role.values:
        raise ValidationError(f"{role!r} is not a role; choose one of {', '.join(Role.values)}.")
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        if user.role == Role.OWNER and role != Role.OWNER:
            owners = User.objects.select_for_update().filter(role=Role.OWNER, is_active=True)
            if len(owners) <= 1:
                raise ValidationError("This is the only owner; make somebody else owner first.")
        record("user.role_changed", actor=by, target=user, data={"from": user.role, "to": role})
        user.role, user.is_staff = role, role in _STAFF
        user.save(update_fields=["role", "is_staff"])
    return user


def create_token(
    user: User, *, name: str, expires_at: datetime | None = None, by: User | None = None
) -> tuple[ApiToken, str]:
    """A new API token and its text, which is shown this once and kept nowhere."""
    text = f"assay_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        token = ApiToken.objects.create(
            user=user, name=name.strip() or "token", prefix=text[:12], digest=_digest(text), expires_at=expires_at
        )
        record("token.created", actor=by or user, target=token, data={"name": token.name, "for": user.email})
    return token, text


def revoke_token(token: ApiToken, *, by: User | None) -> None:
    with transaction.atomic():
        token.revoked_at = timezone.now()
        token.save(update_fields=["revoked_at"])
        record("token.revoked", actor=by, target=token, data={"name": token.name})


def user_of_token(text: str) -> User | None:
    """Whose valid token this is in the current schema, or None. Notes the use, at most once a minute."""
    token = ApiToken.objects.select_related("user").filter(digest=_digest(text), revoked_at=None).first()
    now = timezone.now()
    if token is None or not token.user.is_active or (token.expires_at is not None and token.expires_at <= now):
        return None
    if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user


def _digest(text: str) -> str:
    # The token is 256 random bits, so a plain hash is enough: there is nothing to guess.
    return hashlib.sha256(text.encode()).hexdigest()
