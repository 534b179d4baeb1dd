"""A sound pack to damage, as files, and what is found wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from assay.engine.packs import PackError, Problem, load_pack_bytes

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"

Files = dict[str, bytes]


@pytest.fixture(scope="session")
def library_folder() -> Path:
    return LIBRARY


@pytest.fixture
def library() -> Files:
    """The files of the library pack; each test gets its own to change."""
    return {
        str(path.relative_to(LIBRARY)): path.read_bytes()
        for path in sorted(LIBRARY.rglob("*"))
        if path.is_file()
    }


@pytest.fixture
def problems() -> Callable[[Mapping[str, bytes]], list[Problem]]:
    """The problems of a pack in order; none for a sound one."""

    def found(files: Mapping[str, bytes]) -> list[Problem]:
        try:
            load_pack_bytes(files)
        except PackError as error:
            return list(error.problems)
        return []

    return found


@pytest.fixture
def edited(library: Files) -> Callable[[str, str, str], Files]:
    """The library with one text replaced in one file; the text must be there exactly once."""

    def edit(path: str, old: str, new: str) -> Files:
        text = library[path].decode()
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {path}"
        return {**library, path: text.replace(old, new).encode()}

    return edit
