"""The pack format: models, loader, problems with file and line."""

from assay.engine.packs.loader import bundle, load_pack, load_pack_bytes
from assay.engine.packs.models import Pack, Task, Tool
from assay.engine.packs.problems import PackError, Problem

__all__ = ["Pack", "PackError", "Problem", "Task", "Tool", "bundle", "load_pack", "load_pack_bytes"]
