"""Which tasks a persona can play."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from assay.engine.dialogue.manners import misfit
from assay.engine.dialogue.scripted import user_script
from assay_sdk import PersonaType

if TYPE_CHECKING:
    from assay.engine.packs.models import Task


def not_playable(
    persona: PersonaType | None, tasks: Mapping[str, Task], ids: Iterable[str]
) -> dict[str, str]:
    """The tasks among `ids` that the persona cannot play, each with its reason. Raises PluginFault."""
    if persona is None:
        return {}
    found = {task_id: misfit(persona, user_script(tasks[task_id])) for task_id in ids}
    return {task_id: why for task_id, why in found.items() if why is not None}
