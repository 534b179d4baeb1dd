"""Static files, and what every answer to a browser carries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware


class ContentSecurityPolicyMiddleware:
    """Adds the strict policy unless the view has set one of its own (a self-contained report does)."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", settings.CONTENT_SECURITY_POLICY)
        return response


class StaticFilesMiddleware(WhiteNoiseMiddleware):
    """WhiteNoise, with each file as a whole: they are small, and Django cannot stream its files under ASGI."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        streamed = WhiteNoiseMiddleware.serve(static_file, request)
        try:
            answer = HttpResponse(b"".join(streamed.streaming_content), status=streamed.status_code)
        finally:
            streamed.close()
        del answer["Content-Type"]
        for name, value in streamed.items():
            answer[name] = value
        return answer
