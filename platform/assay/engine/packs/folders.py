"""Read the files of a pack from a folder, with the shared parts that lie in it or beside it."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from pathlib import Path

from assay.engine.packs.bounds import (
    DEEPEST,
    MOST_BYTES,
    MOST_BYTES_A_FILE,
    MOST_FILES,
    check_paths,
    check_sizes,
    left_out,
)
from assay.engine.packs.findings import Findings
from assay.engine.packs.problems import PackError, Problem
from assay.engine.packs.zips import read_regular, read_zip

MANIFEST = "pack.yaml"
SHARED = "_shared"


def read_source(path: Path, shares: Callable[[bytes], Iterable[str]]) -> dict[str, bytes]:
    """The files of the pack at `path`, a folder or a zip: {path in the pack: bytes}.

    `shares` says which shared parts a manifest asks for; those that do not lie in the pack's folder
    are read from `../_shared/` beside it. Symbolic links are refused, pipes and devices never opened.

    Raises PackError with every problem found.
    """
    try:
        kind = path.stat().st_mode
        root = path.resolve()
    except (OSError, ValueError, RuntimeError):
        message = "There is no such file or folder, or it may not be read; give a pack's folder or zip."
        raise PackError([Problem(str(path), 0, message, "no_pack")]) from None
    if not stat.S_ISDIR(kind):
        return read_zip(path)
    if not (root / MANIFEST).is_file():
        message = f"The folder has no {MANIFEST}; give the folder of a pack."
        raise PackError([Problem(str(path), 0, message, "no_manifest")])
    findings = Findings()
    walk = _Walk(findings)
    walk.collect(root, "")
    findings.raise_if_any()
    files = walk.read()
    if MANIFEST in files:
        beside = root.parent / SHARED
        for name in shares(files[MANIFEST]):
            inside = f"{SHARED}/{name}"
            if not any(p.startswith(f"{inside}/") for p in files) and (beside / name).is_dir():
                walk.collect(beside / name, f"{inside}/")
        findings.raise_if_any()
        files = walk.read()
    findings.raise_if_any()
    return files


class _Walk:
    """Finds files without following a link, and reads what was found only when all bounds hold."""

    def __init__(self, findings: Findings) -> None:
        self._findings = findings
        self._found: dict[str, Path] = {}
        self._sizes: dict[str, int] = {}
        self._read: dict[str, bytes] = {}
        self._seen = 0

    def collect(self, folder: Path, prefix: str) -> None:
        """Add the files below `folder`, named with `prefix`; what is wrong becomes a problem."""
        waiting = [(folder, prefix)]
        while waiting:
            place, inside = waiting.pop()
            try:
                with os.scandir(place) as entries:
                    listed = self._take(entries, inside)
            except OSError as error:
                self._add(
                    inside or str(place),
                    f"The folder cannot be read: {error.strerror or error}.",
                    "unreadable",
                )
                continue
            if listed is None:
                return
            for entry, name in listed:
                if self._is_folder(entry, name):
                    waiting.append((Path(entry.path), f"{name}/"))
        check_paths(self._found, self._findings)
        check_sizes(self._sizes, self._findings, whole="the pack")

    def read(self) -> dict[str, bytes]:
        """The bytes of all files found so far."""
        total = sum(len(data) for data in self._read.values())
        for path, place in sorted(self._found.items()):
            if path in self._read:
                continue
            try:
                data = read_regular(place, MOST_BYTES_A_FILE)
            except OSError as error:
                self._add(path, f"The file cannot be read: {error.strerror or error}.", "unreadable")
                continue
            total += len(data)
            if len(data) > MOST_BYTES_A_FILE or total > MOST_BYTES:
                # It grew after it was measured.
                self._add(
                    path,
                    f"The file makes the pack too large; at most {MOST_BYTES:,} bytes.",
                    "pack_too_large",
                )
                break
            self._read[path] = data
        return dict(self._read)

    def _take(
        self, entries: Iterable[os.DirEntry[str]], inside: str
    ) -> list[tuple[os.DirEntry[str], str]] | None:
        """The entries of one folder; None when there are more than any pack has."""
        taken = []
        for entry in entries:
            if left_out(entry.name):
                continue
            self._seen += 1
            if self._seen > 2 * MOST_FILES:
                self._add(
                    "the pack",
                    f"It holds more than {MOST_FILES:,} files, the most a pack has.",
                    "too_many_files",
                )
                return None
            taken.append((entry, f"{inside}{entry.name}"))
        return taken

    def _is_folder(self, entry: os.DirEntry[str], name: str) -> bool:
        """Whether to look into it; a regular file is noted, anything else becomes a problem."""
        if entry.is_symlink():
            self._add(name, "This is a symbolic link; put the file itself there.", "symlink")
        elif entry.is_dir(follow_symlinks=False):
            if name.count("/") + 1 > DEEPEST:
                self._add(
                    name, f"The folder lies too deep; at most {DEEPEST} folders are allowed.", "bad_path"
                )
                return False
            return True
        else:
            details = entry.stat(follow_symlinks=False)
            if stat.S_ISREG(details.st_mode):
                self._found[name] = Path(entry.path)
                self._sizes[name] = details.st_size
            else:
                self._add(
                    name, "This is a device, a pipe or a socket and no file; remove it.", "special_file"
                )
        return False

    def _add(self, path: str, message: str, code: str) -> None:
        self._findings.add(path, 0, message, code)
