"""The library as the world of the reference bots."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engine.packs import load_pack
from assay.engine.sandbox import World

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"


@pytest.fixture(scope="session")
def library() -> World:
    return World.prepare(load_pack(LIBRARY))
