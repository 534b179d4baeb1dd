"""Turning what a person wrote (a name, options, a reference to a secret) into what a plugin takes.

Every refusal is an OptionsError with a sentence that says what to do. Values are never repeated in it, since
an option may hold what should have been a reference to a secret.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.plugins.manager import get_manager
from assay_sdk import OptionsError

T = TypeVar("T")


def pick(what: str, name: str, available: Mapping[str, T]) -> T:
    """The item of that name. `what` is the noun for the sentence, e.g. "connector"."""
    if name in available:
        return available[name]
    sentence = f"There is no {what} {name!r}{did_you_mean(name, available)}; installed: {listing(available)}."
    failures = get_manager().failures
    if failures:
        sentence += " Not everything could be loaded: " + " ".join(str(f) for f in failures)
    raise OptionsError(sentence)


def read_options(what: str, model: type[BaseModel], values: Mapping[str, Any]) -> Any:
    """`values` as an instance of the plugin's options. `what` names the owner, e.g. "connector 'litellm'"."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        known = [field.alias or name for name, field in model.model_fields.items()]
        lines = [_plain(e["loc"], e["type"], e["msg"], known) for e in error.errors(include_input=False)]
    raise OptionsError(f"The options of {what} do not fit: {'; '.join(lines)}.")


def env_secret(reference: str) -> str:
    """The secret behind `env:NAME`: the text of that environment variable. For the command line."""
    scheme, _, name = reference.partition(":")
    if scheme != "env" or not name:
        raise OptionsError(
            "A secret is given by reference here: put it into an environment variable and write env:NAME."
        )
    value = os.environ.get(name, "")
    if not value:
        raise OptionsError(
            f"The environment variable {name} is not set; it should hold a secret (env:{name})."
        )
    return value


def did_you_mean(name: str, available: Mapping[str, Any] | Sequence[str]) -> str:
    close = difflib.get_close_matches(name, list(available), n=2)
    return f" (did you mean {' or '.join(close)}?)" if close else ""


def listing(available: Mapping[str, Any] | Sequence[str]) -> str:
    return ", ".join(sorted(available)) or "none"


def _plain(location: tuple[int | str, ...], kind: str, message: str, known: Sequence[str]) -> str:
    name = ".".join(str(part) for part in location)
    if kind == "missing":
        return f"{name!r} is missing"
    if kind == "extra_forbidden":
        return f"there is no option {name!r}{did_you_mean(name, known)}; the options are: {listing(known)}"
    message = message.removeprefix("Value error, ").rstrip(".")
    return f"{name!r}: {message}" if name else message
