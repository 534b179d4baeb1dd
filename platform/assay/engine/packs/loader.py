"""Read a pack from a folder or a zip: wholly or not at all, with every problem in one go."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from assay.engine.packs.assembly import examine
from assay.engine.packs.folders import read_source
from assay.engine.packs.manifest import shared_parts
from assay.engine.packs.models import Pack
from assay.engine.packs.problems import PackError
from assay.engine.packs.zips import write_zip


def load_pack(path: Path | str) -> Pack:
    """Load the pack in a folder or a zip file, wholly or not at all.

    Raises PackError with every problem found.
    """
    return load_pack_bytes(read_files(path))


def load_pack_bytes(files: Mapping[str, bytes]) -> Pack:
    """Load a pack from its files ({path in the pack: bytes}), shared parts under `_shared/`.

    Raises PackError with every problem found.
    """
    examined = examine(files)
    if examined.pack is None:
        raise PackError(examined.problems)
    return examined.pack


def read_files(path: Path | str) -> dict[str, bytes]:
    """The files of the pack in a folder or a zip file, as they are, with the shared parts beside the folder.

    Raises PackError for what is not a folder or zip of a pack within its bounds.
    """
    return read_source(Path(path), shared_parts)


def bundle(pack: Pack) -> bytes:
    """The pack as a zip, with the same bytes for the same content hash."""
    return write_zip(pack.files)
