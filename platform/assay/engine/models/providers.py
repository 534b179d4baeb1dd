"""Which providers a model may be reached at when nobody vouches for the address.

With `base_url` the address is checked at every connection (see connecting). Without it litellm decides where a request
goes, and for many of its providers that is a port of this machine (ollama, llamafile, ...), an address in the model's
name (oobabooga), or an account that it finds by asking the machine who it is (bedrock, vertex_ai).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from assay_sdk import OptionsError, outgoing

FURTHER = "ASSAY_MODEL_PROVIDERS"

# Hosted by a company, at one fixed public address, and paid by a key.
_HOSTED = frozenset(
    {
        "openai", "anthropic", "gemini", "mistral", "groq", "together_ai", "openrouter", "deepseek", "cohere", "xai",
        "fireworks_ai", "perplexity",
    }
)  # fmt: skip
# Names that litellm takes without a provider, as OpenAI's or Anthropic's. With a colon some are Amazon's.
_BARE = re.compile(r"(?:gpt-|chatgpt-|claude-|o[1-9](?:-|$))[\w.-]*")
# They choose the place, the account, or how the machine proves who it is.
_ACCOUNT = re.compile(
    r"(?:aws|vertex|azure|s3|oci|sap|watsonx|anthropic|openai|github|gcs|tenant|client|deployment|region|litellm)_\w*"
    r"|api_version|responses_api_version|data_residency|tenant_id|use_xai_oauth|_\w*"
)


def check(target: str, parameters: Iterable[str], *, addressed: bool) -> None:
    """Refuse a model that litellm would reach at an address that nobody checked.

    `addressed`: base_url says where the model is. Raises OptionsError. Whoever allows all private targets, as the
    command line does, is refused only an address in the model's name.
    """
    if "://" in target:
        raise OptionsError(
            f"{target!r} holds an address. Write the model's name, and the address as base_url."
        )
    if os.environ.get(outgoing.ALLOW, "").strip() in ("1", "all"):
        return
    if taken := sorted(name for name in parameters if _ACCOUNT.fullmatch(name.lower())):
        raise OptionsError(
            f"{', '.join(taken)} cannot be set here: it chooses the account or the place of the model."
        )
    if addressed:
        return
    provider, slash, _ = target.partition("/")
    if (provider in _HOSTED or provider in _further()) if slash else _BARE.fullmatch(target):
        return
    raise OptionsError(
        f"{target!r} is at none of the providers that are allowed here: {', '.join(sorted(_HOSTED | _further()))}. "
        f"Write PROVIDER/MODEL, or give base_url; the operator can allow further providers with {FURTHER}."
    )


def _further() -> frozenset[str]:
    return frozenset(name for part in os.environ.get(FURTHER, "").split(",") if (name := part.strip()))
