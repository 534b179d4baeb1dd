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


def create_user(
    *, email: str, password: str | None, role: str = Role.VIEWER, name: str = "", by: User | None = None
) -> User:
    """Make a member of the current schema. With `password=None` nobody can sign in as them yet.

    Raises django.core.exceptions.ValidationError with sentences (bad or taken address, weak password, no such role).
    """
    user = User(email=User.objects.normalize_email(email.strip()), name=name.strip(), role=role)
    _check_may_give(by, role)
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
    """Give a member another role. Raises ValidationError when that is not theirs to give, or the last owner would go."""
    if role not in Role.values:
        raise ValidationError(f"{role!r} is not a role; choose one of {', '.join(Role.values)}.")
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        if user.role == role:
            return user
        _check_may_give(by, user.role)
        _check_may_give(by, role)
        if user.role == Role.OWNER:
            _check_another_owner(user)
        record("user.role_changed", actor=by, target=user, data={"from": user.role, "to": role})
        user.role = role
        user.save(update_fields=["role"])
    return user


def set_active(user: User, active: bool, *, by: User | None) -> User:
    """Let a member in or keep them out; their tokens stop working with them. Raises ValidationError as change_role."""
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=user.pk)
        if user.is_active == active:
            return user
        _check_may_give(by, user.role)
        if user.role == Role.OWNER and not active:
            _check_another_owner(user)
        record(
            "user.activated" if active else "user.deactivated",
            actor=by,
            target=user,
            data={"email": user.email},
        )
        user.is_active = active
        user.save(update_fields=["is_active"])
    return user


def set_password(user: User, password: str, *, by: User | None) -> User:
    """Raises ValidationError when the password is weak. Signs the member out everywhere."""
    validate_password(password, user)
    _check_may_give(by, user.role)
    with transaction.atomic():
        user.set_password(password)
        user.save(update_fields=["password"])
        record("user.password_changed", actor=by, target=user, data={"email": user.email})
    return user


def create_token(
    user: User, *, name: str, expires_at: datetime | None = None, by: User | None = None
) -> tuple[ApiToken, str]:
    """A new API token and its text, which is shown this once and kept nowhere."""
    text = f"assay_{secrets.token_urlsafe(32)}"
    with transaction.atomic():
        token = ApiToken.objects.create(
            user=user,
            name=name.strip()[:100] or "token",
            prefix=text[:12],
            digest=_digest(text),
            expires_at=expires_at,
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
    if (
        token is None
        or not token.user.is_active
        or (token.expires_at is not None and token.expires_at <= now)
    ):
        return None
    if token.last_used_at is None or now - token.last_used_at > timedelta(minutes=1):
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
    return token.user


def _check_may_give(by: User | None, role: str) -> None:
    """Only owners make, change and remove owners. `by=None` is the platform itself."""
    if role == Role.OWNER and by is not None and by.role != Role.OWNER:
        raise ValidationError("Only an owner can do this with an owner.")


def _check_another_owner(user: User) -> None:
    owners = User.objects.select_for_update().filter(role=Role.OWNER, is_active=True).exclude(pk=user.pk)
    if not len(owners):
        raise ValidationError("This is the only owner; make somebody else owner first.")


def _digest(text: str) -> str:
    # The token is 256 random bits, so a plain hash is enough: there is nothing to guess.
    return hashlib.sha256(text.encode()).hexdigest()
