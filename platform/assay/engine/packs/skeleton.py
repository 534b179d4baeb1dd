"""A new pack to begin from: small, commented, and one that verifies."""

from __future__ import annotations

import re
import shutil
import tempfile
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from assay.engine.packs.json_schema import FOLDER, KINDS, schema_text
from assay_sdk import OptionsError

_FILES = "skeleton_files"
_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
_LONGEST_PREFIX = 8


def make_pack(name: str, into: Path) -> Path:
    """Lay out a new pack in the new folder `into`/`name`, which is returned; all of it or nothing.

    Raises OptionsError for a name that no pack can have and for a folder that is there already, OSError.
    """
    if not _NAME.fullmatch(name):
        raise OptionsError(f"{name!r} cannot be the name of a pack: {_what_is_wrong(name)}")
    folder = into / name
    if folder.exists() or folder.is_symlink():
        raise OptionsError(f"{folder} is there already; choose another name, or another place with --into.")
    if into.exists() and not into.is_dir():
        raise OptionsError(f"{into} is a file; --into takes the folder in which the pack's folder is made.")
    into.mkdir(parents=True, exist_ok=True)
    # Beside its place, so that it can be renamed; the dot keeps it out of listings until then.
    place = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=into))
    try:
        _copy(files("assay.engine.packs") / _FILES, place, name)
        (place / FOLDER).mkdir(parents=True)
        for kind in KINDS:
            (place / FOLDER / f"{kind}.json").write_text(schema_text(kind), encoding="utf-8", newline="\n")
        place.chmod(0o755)  # a temporary folder is for its owner alone
        place.rename(folder)
    except BaseException:
        shutil.rmtree(place, ignore_errors=True)
        raise
    return folder


def prefix_of(name: str) -> str:
    """What the ids of clauses and tasks of a new pack begin with: `ACME` for acme_support."""
    return name.split("_", maxsplit=1)[0].upper()[:_LONGEST_PREFIX]


def _copy(source: Traversable, target: Path, name: str) -> None:
    for item in source.iterdir():
        if item.is_dir():
            (target / item.name).mkdir()
            _copy(item, target / item.name, name)
        else:
            text = _filled(item.read_text(encoding="utf-8"), name)
            (target / item.name).write_text(text, encoding="utf-8", newline="\n")


def _filled(text: str, name: str) -> str:
    title = " ".join(word.capitalize() for word in name.split("_") if word)
    text = text.replace("my_pack", name).replace("Your Company", title)
    return re.sub(r"\bMY-", f"{prefix_of(name)}-", text)


def _what_is_wrong(name: str) -> str:
    rule = "a name has 2 to 40 small letters, digits and '_', and begins with a letter"
    better = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    better = re.sub(r"^[0-9_]+", "", better)[:40]
    return f"{rule}; {better!r} would do." if _NAME.fullmatch(better) else f"{rule}."
