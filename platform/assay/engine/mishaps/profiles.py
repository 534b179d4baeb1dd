"""The fault profiles that ship inside: which kinds, and how often."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from assay.engine.mishaps.mishaps import IN_A_ROW, MOST
from assay_sdk import CallAhead, FaultKind, FaultProfile, FaultProfileType, NoOptions

#: The name of the profile under which nothing goes wrong.
NONE = "none"

TRANSIENT = (FaultKind.TIMEOUT, FaultKind.RATE_LIMIT, FaultKind.SERVER_ERROR)
ANSWERS = (FaultKind.TRUNCATED, FaultKind.STALE, FaultKind.RENAMED)


def draw(*seeds: object) -> random.Random:
    """Numbers that are the same for the same seeds, on every machine and in every version of Python."""
    digest = hashlib.sha256("/".join(map(str, seeds)).encode()).digest()
    return random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 - to be repeated, nothing secret


def _each_once(kinds: tuple[FaultKind, ...]) -> tuple[FaultKind, ...]:
    return tuple(dict.fromkeys(kinds))


Kinds = Annotated[tuple[FaultKind, ...], Field(min_length=1), AfterValidator(_each_once)]


class MishapOptions(BaseModel):
    """`rate`: how often a call is disturbed. `kinds`: what may happen to it, each as likely as the others.
    `most`: faults in one conversation. `in_a_row`: how often one and the same call may be disturbed before it is
    answered."""

    model_config = ConfigDict(extra="forbid")

    rate: Annotated[float, Field(ge=0, le=1)] = 0.15
    kinds: Kinds = TRANSIENT
    most: Annotated[int, Field(ge=1, le=MOST)] = 6
    in_a_row: Annotated[int, Field(ge=1, le=IN_A_ROW)] = 1


class SlowOptions(MishapOptions):
    rate: Annotated[float, Field(ge=0, le=1)] = 0.5
    kinds: Kinds = (FaultKind.SLOW,)
    most: Annotated[int, Field(ge=1, le=MOST)] = 20


class StaleOptions(MishapOptions):
    rate: Annotated[float, Field(ge=0, le=1)] = 0.3
    kinds: Kinds = ANSWERS


class HarshOptions(MishapOptions):
    rate: Annotated[float, Field(ge=0, le=1)] = 0.4
    kinds: Kinds = tuple(FaultKind)
    most: Annotated[int, Field(ge=1, le=MOST)] = 12
    in_a_row: Annotated[int, Field(ge=1, le=IN_A_ROW)] = 2


class Seeded:
    """Disturbs a share of the calls. What happens to call n depends on the seed and n alone, so that a call more or
    less before it does not deal all faults anew."""

    def __init__(self, options: MishapOptions, seed: int) -> None:
        self._options, self._seed = options, seed

    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        options = self._options
        if call.faults >= options.most or call.in_a_row >= options.in_a_row:
            return ()
        dice = draw("faults", self._seed, call.number)
        if dice.random() >= options.rate:
            return ()
        kinds = list(options.kinds)
        dice.shuffle(kinds)
        return kinds


class Quiet:
    def choose(self, call: CallAhead) -> Sequence[FaultKind]:
        return ()


def _seeded(options: MishapOptions, seed: int) -> FaultProfile:
    return Seeded(options, seed)


PROFILES = (
    FaultProfileType(NONE, "None", "Nothing goes wrong.", NoOptions, lambda options, seed: Quiet()),
    FaultProfileType(
        "flaky",
        "Flaky",
        "One call in seven times out, is refused for the rate limit (429) or meets an internal error (500).",
        MishapOptions,
        _seeded,
    ),
    FaultProfileType("slow", "Slow", "Every second call is answered late.", SlowOptions, _seeded),
    FaultProfileType(
        "stale",
        "Stale",
        "Three look-ups in ten are out of date, cut short, or name a field differently.",
        StaleOptions,
        _seeded,
    ),
    FaultProfileType(
        "harsh",
        "Harsh",
        "Two calls in five go wrong in any of these ways, twice in a row at times.",
        HarshOptions,
        _seeded,
    ),
)
