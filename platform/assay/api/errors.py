"""Refusals of the services as answers: 422 with sentences, and the problems of a pack one by one."""

from __future__ import annotations

from typing import Any

from rest_framework.response import Response
from rest_framework.views import exception_handler

from assay.engine.packs import PackError
from assay_sdk import AssayError


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    if isinstance(error, PackError):
        return Response(
            {
                "detail": f"The pack has {len(error.problems)} problem{'s' if len(error.problems) != 1 else ''}.",
                "problems": [
                    {"path": p.path, "line": p.line, "message": p.message, "code": p.code, "task": p.task}
                    for p in error.problems
                ],
            },
            status=422,
        )
    if isinstance(error, AssayError):
        return Response({"detail": str(error)}, status=422)
    return exception_handler(error, context)
