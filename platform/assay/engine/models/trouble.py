"""What an error of a provider means: try again, give up, or not the provider's doing at all."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Any

_PASSING = frozenset((408, 409, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529))
_TOO_LONG = re.compile(
    r"context[ _](?:size|length|window)|maximum context|exceed_context|prompt is too long|too many (?:input )?tokens",
    re.IGNORECASE,
)
_FILTERED = re.compile(
    r"content[ _](?:management )?(?:policy|filter)|responsible ai|safety system", re.IGNORECASE
)
# What servers say that read the model's tool calls themselves and could not: Groq (400), llama.cpp (500).
_MALFORMED = re.compile(
    r"tool_use_failed|failed to call a function|failed to parse tool call|tool call validation failed",
    re.IGNORECASE,
)
_NO_CREDIT = re.compile(r"insufficient[ _]quota|credit balance|billing", re.IGNORECASE)
# litellm puts its own names before what the provider said.
_WRAPPING = re.compile(r"^(?:(?:litellm\.)?\w+(?:Error|Exception): )*(?:\w+Exception - )?")


class Kind(StrEnum):
    PASSING = "passing"  # the same request may work in a moment
    LASTING = "lasting"  # it will not: something is set up wrongly
    TOO_LONG = "too_long"  # the conversation does not fit in the model's context
    MALFORMED = "malformed"  # the model wrote a tool call that the server could not read
    FILTERED = "filtered"  # the provider's content filter took the request or the answer


@dataclass(frozen=True, slots=True)
class Trouble:
    """`message`: a sentence. `wait`: seconds that the provider asked us to wait, if it did."""

    kind: Kind
    message: str
    wait: float | None = None


def understand(error: Exception, target: str, address: str | None, hide: tuple[str, ...] = ()) -> Trouble:
    """What `error`, raised by litellm for the model `target` at `address`, means.

    Texts in `hide` (keys) are taken out of the message, since providers repeat them.
    """
    name = type(error).__name__
    status = _status(error)
    text = _text(error, hide)
    where = f"{target} at {address}" if address else target
    said = f" It said: {text}" if text else ""
    if refused := _refused(error):
        return Trouble(Kind.LASTING, f"base_url: {refused}")
    if status in (400, 422, 500) and _MALFORMED.search(text):
        return Trouble(Kind.MALFORMED, f"{target} wrote a tool call that cannot be read.{said}")
    if name == "ContextWindowExceededError" or (status in (400, 413, 422, 500) and _TOO_LONG.search(text)):
        return Trouble(Kind.TOO_LONG, f"The conversation does not fit in the context of {target}.{said}")
    if name == "ContentPolicyViolationError" or (status == 400 and _FILTERED.search(text)):
        return Trouble(Kind.FILTERED, f"The content filter of {target} refused.{said}")
    if name == "UnsupportedParamsError":
        return Trouble(
            Kind.LASTING, f"{target} does not take a parameter: remove it, or set drop_unsupported.{said}"
        )
    if "LLM Provider NOT provided" in text or name == "LiteLLMUnknownProvider":
        return Trouble(
            Kind.LASTING,
            f"litellm knows no provider for {target!r}: write PROVIDER/MODEL, for example openai/NAME with base_url.",
        )
    if status in (401, 403):
        return Trouble(
            Kind.LASTING, f"{where} refused the key ({status}): check api_key and what it may use.{said}"
        )
    if status == 402 or (status == 429 and _NO_CREDIT.search(text)):
        return Trouble(Kind.LASTING, f"The account for {where} has nothing left to spend ({status}).{said}")
    if status == 404:
        return Trouble(
            Kind.LASTING, f"{where} was not found (404): check the model's name and base_url.{said}"
        )
    if status is not None and 300 <= status < 400:
        return Trouble(Kind.LASTING, f"{where} redirects ({status}), which is not followed: check base_url.")
    if name == "Timeout":
        return Trouble(Kind.PASSING, f"{where} did not answer in time.")
    if status is not None and 400 <= status < 500 and status not in _PASSING:
        return Trouble(
            Kind.LASTING, f"{where} refused the request ({status}): check parameters and tool_mode.{said}"
        )
    if status == 429:
        return Trouble(
            Kind.PASSING, f"{where} allows no more requests at the moment (429).", _retry_after(error)
        )
    known = f" ({status})" if status is not None else ""
    return Trouble(Kind.PASSING, f"{where} did not answer properly{known}.{said}", _retry_after(error))


def _refused(error: BaseException | None) -> BaseException | None:
    """What connecting.py raised, out of all that was wrapped around it."""
    from assay_sdk.outgoing import TargetRefused  # httpx takes a while, and is for those who use it

    for _ in range(20):
        if error is None or isinstance(error, TargetRefused):
            return error
        error = error.__cause__ or error.__context__
    return None


def _status(error: Exception) -> int | None:
    status = getattr(error, "provider_status_code", None) or getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _text(error: Exception, hide: tuple[str, ...]) -> str:
    text = _WRAPPING.sub("", str(error)).strip() or type(error).__name__
    for secret in hide:
        if secret:
            text = text.replace(secret, "(hidden)")
    return " ".join(text.split())[:500]


def _retry_after(error: Exception) -> float | None:
    """Seconds, from retry-after-ms or Retry-After (seconds or a date; RFC 9110, 10.2.3)."""
    headers: Any = getattr(error, "litellm_response_headers", None)
    if headers is None:
        headers = getattr(getattr(error, "response", None), "headers", None)
    if not isinstance(headers, Mapping):
        return None
    try:
        if (milliseconds := headers.get("retry-after-ms")) is not None:
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after")
        if value is None:
            return None
        try:
            return max(0.0, float(value))
        except ValueError:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
