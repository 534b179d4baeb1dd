"""The engine: everything from a pack to statistics. Plain Python: no Django, no database but the sandbox."""
