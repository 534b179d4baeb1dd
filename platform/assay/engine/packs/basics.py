"""What the models of the pack format are made of: kinds of text and number, and their base class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Discriminator, Field, StringConstraints, Tag

PackName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{1,39}$")]
Version = Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6}\.[0-9]{1,6}\.[0-9]{1,6}$")]
ToolName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{2,63}$")]
Binding = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]{0,39}$")]
ErrorCode = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z_]{1,39}$")]
ClauseId = Annotated[
    str, StringConstraints(max_length=64, pattern=r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)*(\.[A-Z0-9]+)*$")
]
TaskId = Annotated[str, StringConstraints(max_length=64, pattern=r"^[A-Z][A-Z0-9]*(-[A-Z0-9]+)+$")]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
# As long as the platform's columns of the same names.
PackTitle = Annotated[Line, StringConstraints(max_length=200)]
TaskTitle = Annotated[Line, StringConstraints(max_length=300)]
Group = Annotated[Line, StringConstraints(max_length=100)]
Locale = Annotated[str, StringConstraints(max_length=40, pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
Currency = Annotated[str, StringConstraints(pattern=r"^[A-Z]{3}$")]  # ISO 4217
# Strict, because YAML 1.2 says what is a boolean or a number, and pydantic would take "yes" and "1" as well.
Flag = Annotated[bool, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]


def form_of(value: object) -> str:
    """Which member of a union a value is meant to be, by its form alone. The tags are no possible keys."""
    if isinstance(value, Mapping):
        return "<fields>" if "fields" in value else "<mapping>"
    if isinstance(value, list | tuple):
        return "<list>"
    if isinstance(value, BaseModel):
        return "<fields>" if "fields" in type(value).model_fields else "<mapping>"
    return "<text>"


class Strict(BaseModel):
    """The texts under the fields are what editors show (json_schema.py)."""

    model_config = ConfigDict(extra="forbid", frozen=True, use_attribute_docstrings=True)


def keys_schema(*required: str, without: Sequence[str] = ()) -> dict[str, Any]:
    """JSON Schema: these keys are there and those are not. What a validator below demands, as editors are told it."""
    absent = {"not": {"anyOf": [{"required": [key]} for key in without]}} if without else {}
    return {"required": list(required), **absent}


Phrase = Annotated[
    Annotated[Line, Tag("<text>")] | Annotated[tuple[Line, ...], Tag("<list>")], Discriminator(form_of)
]
