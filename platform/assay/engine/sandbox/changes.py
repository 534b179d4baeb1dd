"""What a trial changed: rows inserted, updated and deleted, net of everything in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

Row = Mapping[str, Any]  # column -> None, int, float, str or bytes


@dataclass(frozen=True, slots=True)
class RowChange:
    """One row. `key`: its primary key values, in the order of the table's key columns.

    `before` is the whole row at the start (None for insert), `after` the whole row at the end
    (None for delete). `call` is the number of the tool call that last wrote it, if known.
    """

    table: str
    op: Literal["insert", "update", "delete"]
    key: tuple[Any, ...]
    before: Row | None
    after: Row | None
    call: int | None = None


@dataclass(frozen=True, slots=True)
class ChangeSet:
    """All rows changed, sorted by table and key. `generated`: ids that next_id() and rowids made."""

    rows: tuple[RowChange, ...]
    generated: frozenset[Any] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.rows)
