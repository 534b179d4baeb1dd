"""Turning what a person wrote (a name, options, a reference to a secret) into what a plugin takes.

Every refusal is an OptionsError with a sentence that says what to do. Values are never repeated in it, since
an option may hold what should have been a reference to a secret.
"""

from __future__ import annotations

import difflib
import math
import os
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from assay.plugins.manager import get_manager
from assay_sdk import OptionsError, PluginFault

T = TypeVar("T")

# Postgres keeps neither in text or JSON.
_UNSTORABLE = re.compile(r"[\0\ud800-\udfff]")


class OptionProblems(OptionsError):
    """Options that do not fit: `problems` says of each what is wrong, by the option's name ("" for all together)."""

    def __init__(self, what: str, problems: Sequence[tuple[str, str]]) -> None:
        super().__init__(f"The options of {what} do not fit: {'; '.join(said for _, said in problems)}.")
        self.problems = tuple(problems)


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
    """`values` as an instance of the plugin's options. `what` names the owner, e.g. "connector 'litellm'".

    Raises OptionProblems; PluginFault when the plugin's own model breaks.
    """
    try:
        return _validated(what, model, values)
    except ValidationError as error:
        raise OptionProblems(what, _told(error, model)) from None


def problems(
    what: str, model: type[BaseModel], values: Mapping[str, Any], *, partial: bool = False
) -> list[tuple[str, str]]:
    """What is wrong with `values`: (option, sentence) each. `partial`: options that are needed may be missing."""
    try:
        _validated(what, model, values)
    except ValidationError as error:
        return _told(error, model, but="missing" if partial else "")
    return []


def storable(given: Any) -> None:
    """Raises OptionsError for what no database keeps: NaN, infinities, zero bytes, halves of a surrogate pair."""
    waiting = [given]
    while waiting:  # not by calling itself: who sends the options chooses how deep they are
        value = waiting.pop()
        if isinstance(value, str) and _UNSTORABLE.search(value):
            raise OptionsError(f"The text {value[:40]!r} holds a zero byte or half a character; take it out.")
        if isinstance(value, float) and not math.isfinite(value):
            raise OptionsError(f"{value} is no number that can be kept; numbers are finite.")
        if isinstance(value, Mapping):
            waiting += [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple):
            waiting += value


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


def _validated(what: str, model: type[BaseModel], values: Mapping[str, Any]) -> BaseModel:
    try:
        return model.model_validate(dict(values))
    except ValidationError:
        raise
    except (Exception, SystemExit) as error:  # a validator of the plugin's
        raise PluginFault(
            f"The options of {what} could not be read: {type(error).__name__}: {error}"
        ) from error


def _told(error: ValidationError, model: type[BaseModel], but: str = "") -> list[tuple[str, str]]:
    known = [field.alias or name for name, field in model.model_fields.items()]
    return [
        (str(e["loc"][0]) if e["loc"] else "", _plain(e["loc"], e["type"], e["msg"], known))
        for e in error.errors(include_input=False)
        # Only at the top: a part of an option that is given has to be whole.
        if not (e["type"] == but and len(e["loc"]) == 1)
    ]


def _plain(location: tuple[int | str, ...], kind: str, message: str, known: Sequence[str]) -> str:
    name = ".".join(str(part) for part in location)
    if kind == "missing":
        return f"{name!r} is missing"
    if kind == "extra_forbidden":
        return f"there is no option {name!r}{did_you_mean(name, known)}; the options are: {listing(known)}"
    message = message.removeprefix("Value error, ").rstrip(".")
    return f"{name!r}: {message}" if name else message
