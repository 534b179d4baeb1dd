"""Options of a model. Secrets stand in them by reference only."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

# What Assay itself passes to the provider, and what would carry a secret past the references.
_OURS = frozenset(
    """
    model messages tools tool_choice functions function_call stream stream_options n timeout request_timeout
    api_key api_base base_url headers extra_headers num_retries max_retries fallbacks drop_params client
    callbacks success_callback failure_callback logger_fn metadata mock_response user_api_key organization
    aws_access_key_id custom_llm_provider model_list extra_query provider_specific_header context_window_fallback_dict
    context_window_fallbacks default_fallbacks default_headers model_alias_map model_config use_litellm_proxy silent_model
    mock_tool_calls mock_timeout litellm_metadata
    """.split()  # noqa: SIM905 (a list of 40 quoted words reads worse)
)
# Where requests go and whose account pays is said by the options above, where it is checked.
_ELSEWHERE = re.compile(
    r"(?:^|_)(?:url|base|endpoint|host|proxy|secret|password|credentials?|token|session|profile|role|cert|ssl)(?:_|$)|api_?key"
)
REFERENCE = re.compile(r"(?:env|secret):\S+")


class ModelOptions(BaseModel):
    """How to reach a model and what to ask of it. docs/reference/models.md explains each."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    base_url: str | None = Field(
        None, description="Address of an OpenAI-compatible server, e.g. http://localhost:8080/v1"
    )
    api_key: str | None = Field(None, description="Reference to the key: env:NAME or secret:NAME")
    headers: dict[str, str] = Field(
        default_factory=dict, description="Further HTTP headers; a value may be a reference to a secret"
    )
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="Passed to the model as they are: temperature, max_tokens, ..."
    )
    drop_unsupported: bool = Field(
        False, description="Leave out parameters that the model does not take, instead of refusing them"
    )
    timeout: Annotated[float, Field(gt=0, le=600)] = Field(60.0, description="Seconds for one attempt")
    attempts: Annotated[int, Field(ge=1, le=10)] = Field(4, description="Attempts at one completion")
    first_wait: Annotated[float, Field(gt=0, le=60)] = Field(
        1.0, description="Seconds before the second attempt; doubled for each further one"
    )
    longest_wait: Annotated[float, Field(gt=0, le=300)] = Field(
        60.0, description="The most seconds to wait before an attempt, whatever Retry-After says"
    )

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an http(s) address, for example http://localhost:8080/v1")
        if parts.username or parts.password:
            raise ValueError("must not hold a password; give it with api_key or headers, by reference")
        return value.rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _is_reference(cls, value: str | None) -> str | None:
        if value is not None and not REFERENCE.fullmatch(value):
            raise ValueError("must be a reference, env:NAME or secret:NAME, and never the key itself")
        return value

    @field_validator("headers")
    @classmethod
    def _hide_keys(cls, value: dict[str, str]) -> dict[str, str]:
        for name, text in value.items():
            if re.search(r"auth|key|token|secret|cookie", name, re.IGNORECASE) and not REFERENCE.fullmatch(
                text
            ):
                raise ValueError(f"the header {name} must be a reference, env:NAME or secret:NAME")
        return value

    @field_validator("parameters")
    @classmethod
    def _not_ours(cls, value: dict[str, Any]) -> dict[str, Any]:
        if taken := sorted(name for name in value if name in _OURS or _ELSEWHERE.search(name.lower())):
            raise ValueError(f"{', '.join(taken)} cannot be set here; Assay sets it, or another option does")
        return value
