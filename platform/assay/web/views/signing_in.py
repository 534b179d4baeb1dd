from __future__ import annotations

from django.contrib.auth.views import LoginView

from assay.web.forms import SignInForm


class SignIn(LoginView):
    """Members sign in on their own company's host name; an account of another company is unknown here."""

    template_name = "web/sign_in.html"
    authentication_form = SignInForm
    redirect_authenticated_user = True
