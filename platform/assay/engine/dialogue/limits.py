"""How much a bot may use of a conversation."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one conversation. Reaching one is the bot's doing and ends the trial as failed.

    `turns`: replies of the bot. `seconds`: time the bot takes to answer, all replies together; time that the
    simulated user takes, or that a model's provider lost, does not count. `tokens`: prompt and completion.
    Raises TypeError or ValueError with a sentence.
    """

    turns: int = 40
    tool_calls: int = 150
    seconds: float = 600.0
    tokens: int = 2_000_000

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "seconds":
                # bool is an int to Python, and never what somebody meant by a limit.
                if isinstance(value, bool) or not isinstance(value, int | float):
                    raise TypeError(f"the limit {field.name!r} must be a number, not {value!r}")
            elif isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"the limit {field.name!r} must be a whole number, not {value!r}")
            if not math.isfinite(value) or value <= 0:
                raise ValueError(f"the limit {field.name!r} must be greater than 0, not {value!r}")
            if value > _MOST[field.name]:
                raise ValueError(
                    f"the limit {field.name!r} may be at most {_MOST[field.name]:,}, not {value!r}"
                )


# A conversation is kept whole in memory and in its evidence; beyond these a number is a slip of the keyboard.
_MOST = {"turns": 1_000, "tool_calls": 10_000, "seconds": 86_400, "tokens": 1_000_000_000}
