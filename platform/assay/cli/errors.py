"""Errors as people and programs are shown them."""

from __future__ import annotations

import json
import logging
import sys
from typing import Any

from assay.cli.codes import PROBLEMS, USAGE


def show(error: Exception, *, as_json: bool) -> int:
    """Say on standard error what went wrong, with `as_json` also as a document on standard output; the exit code."""
    from assay.engine.packs.problems import PackError
    from assay_sdk import AssayError, OptionsError

    document: dict[str, Any] = {"error": str(error)}
    if isinstance(error, PackError):
        count = len(error.problems)
        document["error"] = f"The pack has {count} problem{'s' if count != 1 else ''}."
        document["problems"] = [problem_as_json(problem) for problem in error.problems]
        for problem in error.problems:
            print(problem, file=sys.stderr)
    elif isinstance(error, OSError) and error.filename is not None:
        document["error"] = f"{error.filename}: {error.strerror}."
    elif not isinstance(error, AssayError):
        document["error"] = (
            f"This is a fault of Assay itself: {type(error).__name__}: {error}. "
            "Set ASSAY_DEBUG=1 to see where it comes from."
        )
    print(f"Error: {document['error']}", file=sys.stderr)
    if as_json:
        print(json.dumps(document, ensure_ascii=False))
    return USAGE if isinstance(error, OptionsError) else PROBLEMS


def problem_as_json(problem: Any) -> dict[str, Any]:
    """A problem of a pack."""
    return {name: getattr(problem, name) for name in ("path", "line", "message", "code", "task")}


def log_in_one_line(*, tracebacks: bool) -> None:
    """Warnings go to standard error, one line each; `tracebacks` adds what a server's log would have."""

    class OneLine(logging.Formatter):
        def format(self, record: logging.LogRecord) -> str:
            if not tracebacks:
                record.exc_info, record.exc_text = None, None
            return super().format(record)

    handler = logging.StreamHandler()
    handler.setFormatter(OneLine("%(levelname)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
