"""Problems of a pack: each says where it is and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay_sdk import AssayError


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One finding. `line` counts from 1; 0 when it is about the file or the pack as a whole."""

    path: str
    line: int
    message: str  # what is wrong and what to do, one or two sentences
    code: str = ""  # stable short name, e.g. "unknown_table"
    task: str | None = None

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}" if self.line else self.path
        return f"{where}: {self.message}"


class PackError(AssayError):
    """A pack that cannot be loaded. Holds every problem found, in the order of the files."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = tuple(
            sorted(problems, key=lambda p: (p.path, p.line, p.message, p.code, p.task or ""))
        )
        super().__init__("\n".join(str(p) for p in self.problems))
