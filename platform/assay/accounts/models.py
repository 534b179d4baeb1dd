"""Users, API tokens, secrets and the audit trail of one schema."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.base_user import AbstractBaseUser, BaseUserManager
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone

from assay.accounts.roles import CAPABILITIES, Role, apps_in_admin, capability_for

__all__ = ["ApiToken", "AuditEvent", "Role", "Secret", "User", "UserManager"]


class UserManager(BaseUserManager["User"]):
    def get_by_natural_key(self, username: str | None) -> User:
        return self.get(email__iexact=username)  # people do not think of their address as case-sensitive


class User(AbstractBaseUser):
    """A member of the tenant whose schema holds the row (or an operator, in the public schema)."""

    email = models.EmailField(unique=True)
    name = models.CharField(max_length=150, blank=True)
    role = models.CharField(max_length=16, choices=Role.choices, default=Role.VIEWER)
    is_active = models.BooleanField(default=True)
    date_joined = models.DateTimeField(default=timezone.now)

    USERNAME_FIELD = "email"
    EMAIL_FIELD = "email"
    objects = UserManager()

    class Meta:
        ordering = ["email"]
        constraints = [models.UniqueConstraint(Lower("email"), name="accounts_user_email_lower")]

    def __str__(self) -> str:
        return self.email

    def may(self, capability: str) -> bool:
        """Whether this person's role allows it (see roles.py)."""
        return self.is_active and capability in CAPABILITIES.get(self.role, frozenset())

    @property
    def is_staff(self) -> bool:
        """Every member may open the admin; what they see and do there follows the role."""
        return self.is_active

    # Django's own superusers, groups and permission rows are not used: the role is the one answer.
    def has_perm(self, perm: str, obj: models.Model | None = None) -> bool:
        capability = capability_for(perm)
        return capability is not None and self.may(capability)

    def has_perms(self, perms: Iterable[str], obj: models.Model | None = None) -> bool:
        return all(self.has_perm(p, obj) for p in perms)

    def has_module_perms(self, app_label: str) -> bool:
        return self.is_active and app_label in apps_in_admin()

    def get_full_name(self) -> str:
        return self.name or self.email

    def get_short_name(self) -> str:
        return self.name or self.email


class ApiToken(models.Model):
    """A token of the API. Only its hash is kept; `prefix` is shown so that people can tell tokens apart."""

    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=100)
    prefix = models.CharField(max_length=16)
    digest = models.CharField(max_length=64, unique=True)  # hex SHA-256; the token is 256 random bits
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}...)"


class Secret(models.Model):
    """A named secret, referred to as `secret:NAME`. Write-only: it is set and used, never shown."""

    name = models.CharField(max_length=64, unique=True)
    ciphertext = models.BinaryField(editable=False)
    updated_at = models.DateTimeField(auto_now=True)
    updated_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class AuditEvent(models.Model):
    """One line of the audit trail. The database refuses to change or delete it; `hash` covers `previous_hash`."""

    at = models.DateTimeField()
    actor = models.CharField(max_length=254, blank=True)  # the address at that time; empty for the platform
    action = models.CharField(max_length=64)  # noun.verb in the past tense, e.g. pack.uploaded
    target = models.CharField(max_length=200, blank=True)  # e.g. pack_version:12
    data = models.JSONField(default=dict)
    previous_hash = models.CharField(max_length=64)
    hash = models.CharField(max_length=64, unique=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["action", "-id"])]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.action} {self.target}"
