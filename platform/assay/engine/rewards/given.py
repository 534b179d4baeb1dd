"""What the bot was given in every trial of a run: its instructions, the date, and the tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.engine.agents.protocol import as_function
from assay.engine.sandbox import World

#: The file in a folder of results that keeps it.
GIVEN = "given.json"


@dataclass(frozen=True, slots=True)
class Given:
    """`system`: the text of the system message. `tools`: in the OpenAI chat format."""

    system: str
    tools: Sequence[Mapping[str, Any]]

    def as_json(self) -> dict[str, Any]:
        return {"system": self.system, "tools": [dict(tool) for tool in self.tools]}

    @classmethod
    def from_json(cls, data: Any) -> Given:
        """Raises ValueError with a sentence."""
        if not isinstance(data, Mapping) or not isinstance(data.get("system"), str):
            raise ValueError("there is no text 'system'")  # noqa: TRY004 - bad data
        tools = data.get("tools")
        if not isinstance(tools, list) or not all(isinstance(tool, Mapping) for tool in tools):
            raise ValueError("'tools' is no list of tools")
        return cls(data["system"], tools)


def given_by(world: World) -> Given:
    """What every bot on this world is given. Its own instructions, if it has any, stand in its configuration."""
    return Given(
        f"{world.pack.instructions.strip()}\n\nIt is now {world.now}.",
        [as_function(spec) for spec in world.specs],
    )
