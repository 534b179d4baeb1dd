"""Secrets of a tenant, encrypted at rest with a key derived from the installation's secret key."""

from __future__ import annotations

import base64
import re

from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.db import connection, transaction

from assay.accounts.audit import record
from assay.accounts.models import Secret, User
from assay_sdk import OptionsError

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")


class SecretError(OptionsError):
    """A secret that cannot be stored or found; the message says which."""


def set_secret(name: str, value: str, *, by: User | None) -> Secret:
    """Store or replace a secret of the current tenant. Raises SecretError for an unusable name or empty value."""
    if not _NAME.fullmatch(name):
        raise SecretError(
            f"{name!r} cannot name a secret: use letters, digits, '_', '.', '-', starting with a letter."
        )
    if not value:
        raise SecretError("The secret is empty; give its value, or delete the secret.")
    with transaction.atomic():
        secret, _ = Secret.objects.update_or_create(
            name=name, defaults={"ciphertext": seal(value), "updated_by": by}
        )
        record("secret.set", actor=by, target=secret, data={"name": name})
    return secret


def delete_secret(name: str, *, by: User | None) -> None:
    with transaction.atomic():
        # The row is locked before the audit trail, as set_secret does, so that no two wait for each other.
        secret = Secret.objects.select_for_update().filter(name=name).first()
        if secret is None:
            raise SecretError(f"There is no secret named {name!r}.")
        record("secret.deleted", actor=by, target=secret, data={"name": name})
        secret.delete()


def resolve_secret(reference: str) -> str:
    """The text behind `secret:NAME` in the current tenant, for connectors and webhooks.

    Only the tenant's own secrets can be named: `env:NAME`, which the command line knows, would let a tenant read
    the server's environment. Raises SecretError (an OptionsError).
    """
    scheme, _, name = reference.partition(":")
    if scheme != "secret" or not name:
        raise SecretError(
            f"{reference!r} does not name a secret here; store it and refer to it as 'secret:NAME'."
        )
    secret = Secret.objects.filter(name=name).first()
    if secret is None:
        raise SecretError(f"There is no secret named {name!r}; store it first.")
    try:
        return unseal(bytes(secret.ciphertext))
    except SecretError:
        raise SecretError(
            f"The secret {name!r} cannot be read: the installation's secret key has changed. Store it again."
        ) from None


def seal(value: str) -> bytes:
    """The value encrypted for the current tenant, for rows that keep a secret of their own."""
    return _fernet().encrypt(value.encode())


def unseal(sealed: bytes) -> str:
    """What `seal` was given. Raises SecretError when it was sealed for another tenant or under another key."""
    try:
        return _fernet().decrypt(sealed).decode()
    except InvalidToken:
        raise SecretError("The secret cannot be read: the installation's secret key has changed.") from None


def _fernet() -> Fernet:
    # Each schema has a key of its own, so a row copied into another tenant's table stays unreadable there.
    info = f"assay.secrets.{connection.schema_name}".encode()
    key = HKDF(algorithm=SHA256(), length=32, salt=None, info=info).derive(settings.SECRET_KEY.encode())
    return Fernet(base64.urlsafe_b64encode(key))
