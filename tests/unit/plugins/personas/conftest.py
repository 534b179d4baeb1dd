"""The personas of plugins/assay-personas, importable whether installed or not."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from assay.engine.dialogue.manners import cast
from assay.engine.dialogue.scripted import ScriptedUser
from assay_sdk import PersonaType, UserLine, UserScript

PACKAGE = Path(__file__).parents[4] / "plugins" / "assay-personas"


@pytest.fixture(scope="session")
def personas() -> Iterator[dict[str, PersonaType]]:
    sys.path.insert(0, str(PACKAGE))
    import assay_personas

    yield {kind.name: kind for kind in assay_personas.assay_personas()}
    sys.path.remove(str(PACKAGE))


@pytest.fixture
def talk(personas: dict[str, PersonaType]) -> Callable[..., list[UserLine]]:
    """The lines of a scripted customer with a persona, in answer to the messages of a bot, until it leaves."""

    async def lines(
        name: str, script: UserScript, messages: Sequence[str], seed: int, options: dict[str, Any]
    ) -> list[UserLine]:
        kind = personas[name]
        user = ScriptedUser(script, cast(kind, kind.options(**options), seed, script), seed)
        said = [await user.open()]
        for message in messages:
            if said[-1].done or said[-1].gave_up:
                break
            said.append(await user.answer(message))
        return said

    def run(
        name: str, script: UserScript, messages: Sequence[str], *, seed: int = 3, **options: Any
    ) -> list[UserLine]:
        return asyncio.run(lines(name, script, messages, seed, options))

    return run
