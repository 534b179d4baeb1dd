"""Worlds and sandboxes: the business database of a pack, its tools, what a trial changed, and the comparison."""

from assay.engine.sandbox.changes import ChangeSet, RowChange
from assay.engine.sandbox.comparison import compare
from assay.engine.sandbox.sandbox import CallOutcome, Sandbox
from assay.engine.sandbox.world import World

__all__ = ["CallOutcome", "ChangeSet", "RowChange", "Sandbox", "World", "compare"]
