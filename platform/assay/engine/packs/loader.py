"""Read a pack from a folder or a zip."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.engine.packs.models import Pack


def load_pack(path: Path | str) -> Pack:
    """Load the pack in a folder or a zip file, wholly or not at all.

    Raises PackError with every problem found.
    """
    raise NotImplementedError


def load_pack_bytes(files: Mapping[str, bytes]) -> Pack:
    """Load a pack from its files ({path in the pack: bytes}), shared parts under `_shared/`.

    Raises PackError with every problem found.
    """
    raise NotImplementedError


def bundle(pack: Pack) -> bytes:
    """The pack as a zip, with the same bytes for the same content hash."""
    raise NotImplementedError
