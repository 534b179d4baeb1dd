"""Who may open a page: a member who is signed in, with a role that allows it."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from assay.accounts.models import User

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def needs(capability: str, *, to_post: str | None = None) -> Callable[[View[P]], View[P]]:
    """The page needs `capability` (see assay.accounts.roles), and `to_post` besides when it is posted to."""

    def decorate(view: View[P]) -> View[P]:
        @wraps(view)
        def checked(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            wanted = to_post if to_post is not None and request.method == "POST" else capability
            user = member(request)
            if not user.may(wanted):
                raise PermissionDenied(f"Your role ({user.get_role_display().lower()}) does not allow this.")
            return view(request, *args, **kwargs)

        to_sign_in: Any = login_required(checked)

        @wraps(view)
        def opened(request: HttpRequest, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if request.headers.get("HX-Request") and not request.user.is_authenticated:
                # A piece of a page whose member is no longer signed in: load the page, which leads to signing in.
                return HttpResponse(status=401, headers={"HX-Refresh": "true"})
            return to_sign_in(request, *args, **kwargs)  # type: ignore[no-any-return]

        return opened

    return decorate


def member(request: HttpRequest) -> User:
    """Whoever is signed in. Only inside a page that `needs` something."""
    assert isinstance(request.user, User)
    return request.user
