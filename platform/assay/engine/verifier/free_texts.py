"""Which texts of a list of actions may be worded in any way: another text leaves an outcome that is equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.engine.packs.models import Action
from assay.engine.sandbox import ChangeSet, World, compare
from assay.engine.sandbox.replay import ReplayError, replay
from assay.engine.verifier.arguments import value_at, with_value
from assay_sdk import PackFault

#: Another text for a free one; as long as the tool's schema wants it.
_OTHER_WORDING = "said in other words, "


class FreeTexts:
    """Finds out by playing the actions with another text. `expected`: the outcome that they leave."""

    def __init__(self, world: World, task_id: str, actions: Sequence[Action], expected: ChangeSet) -> None:
        self._world = world
        self._task_id = task_id
        self._actions = actions
        self._expected = expected

    def is_free(self, index: int, keys: tuple[str | int, ...]) -> bool:
        """Whether the text at `keys` of action `index` (from 0) is free wording."""
        return any(self._same_outcome(index, keys, other) for other in self._others(index, keys))

    def columns(self, index: int, text: str) -> list[str]:
        """The columns in which action `index` stores a text, as `table.column`."""
        found = (
            f"{row.table}.{column}"
            for row in self._expected.rows
            if row.call == index and row.after is not None
            for column, value in row.after.items()
            if value == text
        )
        return list(dict.fromkeys(found))

    def _others(self, index: int, keys: tuple[str | int, ...]) -> Iterator[str]:
        value = str(value_at(self._actions[index].args, keys))
        yield (_OTHER_WORDING * (len(value) // len(_OTHER_WORDING) + 1))[: max(len(value), 3)]
        yield "".join(_next_letter(c) for c in value)

    def _same_outcome(self, index: int, keys: tuple[str | int, ...], other: str) -> bool:
        actions = list(self._actions)
        altered = with_value(actions[index].args, keys, other)
        actions[index] = actions[index].model_copy(update={"args": altered})
        try:
            with self._world.open(self._task_id) as sandbox:
                replay(sandbox, actions)
                changes = sandbox.changes()
        except (ReplayError, PackFault):
            return False
        return compare(self._world.tables, self._world.pack.comparison, [self._expected], changes).equal


def _next_letter(character: str) -> str:
    if character.isascii() and character.isalpha():
        return chr(ord(character) + (1 if character not in "zZ" else -25))
    if character.isdigit():
        return str((int(character) + 1) % 10)
    return character
