"""Who is calling: `Authorization: Bearer assay_...`, a token of a member of this tenant."""

from __future__ import annotations

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request

from assay.accounts.models import User
from assay.accounts.services import user_of_token


class TokenAuthentication(BaseAuthentication):
    """Tokens live in the tenant's schema, so a token of one company says nothing on another's host."""

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        words = get_authorization_header(request).split()
        if not words or words[0].lower() != b"bearer":
            return None
        if len(words) != 2:
            raise AuthenticationFailed("Write the header as 'Authorization: Bearer TOKEN'.")
        user = user_of_token(words[1].decode("ascii", "replace"))
        if user is None:
            raise AuthenticationFailed("This token is unknown here, revoked or expired; make a new one.")
        return user, None

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="assay"'


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = TokenAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "An API token of a member of the tenant."}
