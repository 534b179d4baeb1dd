"""The gate: the condition a run must meet, decided from its summary."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from assay_sdk import OptionsError


class Gate(BaseModel):
    """For example `{"metric": "pass_hat", "k": 5, "at_least": 0.9}`: pass^5 is at least 0.9, by its interval.

    `in_every_group`: it must hold in each task group, not only over all tasks.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    metric: Literal["pass_hat", "pass_at"] = "pass_hat"
    k: Annotated[int, Field(ge=1, le=1000)] = 1
    at_least: Annotated[float, Field(gt=0, le=1)]
    in_every_group: bool = False


def parse(gate: Mapping[str, Any] | None, *, trials: int) -> dict[str, Any] | None:
    """The gate with its defaults. Raises OptionsError."""
    if gate is None:
        return None
    try:
        parsed = Gate(**gate)
    except (ValidationError, TypeError) as error:
        raise OptionsError(f"The gate is wrong: {error}") from None
    if parsed.k > trials:
        raise OptionsError(f"The gate needs at least {parsed.k} trials of each task; the run has {trials}.")
    return parsed.model_dump()
