"""What the engine knows of a table of the world."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TableInfo:
    """`foreign_keys`: column -> (table, column) it refers to, one entry for each column of a key.

    `rowid_key`: the primary key is a single INTEGER PRIMARY KEY, which SQLite fills in itself.
    """

    name: str
    columns: tuple[str, ...]
    primary_key: tuple[str, ...]
    foreign_keys: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    rowid_key: bool = False
