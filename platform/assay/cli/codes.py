"""Exit codes; docs/reference/cli.md says when."""

from __future__ import annotations

OK = 0
PROBLEMS = 1
USAGE = 2
INTERRUPTED = 130
