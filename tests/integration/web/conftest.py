from __future__ import annotations

from tests.support.site import browser, finished, library, member

__all__ = ["browser", "finished", "library", "member"]
