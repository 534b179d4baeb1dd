"""Packs as zip archives: read from strangers with all bounds checked first, written the same every time."""

from __future__ import annotations

import io
import os
import stat
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

from assay.engine.packs.bounds import (
    MOST_BYTES,
    MOST_BYTES_A_FILE,
    MOST_FILES,
    check_paths,
    check_sizes,
    left_out,
    safe_path,
)
from assay.engine.packs.findings import Findings
from assay.engine.packs.problems import PackError, Problem

#: A zip cannot be larger than this and still hold a pack.
MOST_ZIP_BYTES = MOST_BYTES + 10_000_000
#: The directory of an archive with so many bytes lists far more files than a pack may have.
_MOST_DIRECTORY_BYTES = 4_000_000
_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
_MANIFEST = "pack.yaml"
_SHARED = "_shared/"


class _TooManyEntries(Exception):
    """The archive's directory is larger than any pack's."""


class _Archive(io.BytesIO):
    """Refuses to hand over a directory that would take a gigabyte to list.

    zipfile reads the whole directory with one read of its declared size before it looks at any entry.
    """

    opening = True

    def read(self, size: int | None = -1, /) -> bytes:
        if self.opening and size is not None and size > _MOST_DIRECTORY_BYTES:
            raise _TooManyEntries
        return super().read(size)


def read_zip(data: bytes | Path) -> dict[str, bytes]:
    """The files of a zipped pack, {path in the pack: bytes}; `data` is the archive or where it lies.

    All names, kinds and declared sizes are checked before a byte is inflated, and no more is inflated
    than was declared. An archive of the pack's folder itself (retail/pack.yaml) is read as that
    folder. What operating systems add (`__MACOSX`, names that begin with a dot) is left out.

    Raises PackError with every problem found.
    """
    if isinstance(data, Path):
        whole = safe_path(data.name)
        data = _read_archive(data, whole)
    else:
        whole = "the zip"
        if len(data) > MOST_ZIP_BYTES:
            raise _refused(
                whole,
                f"The zip has {len(data):,} bytes; a pack has at most {MOST_BYTES:,}.",
                "pack_too_large",
            )
    archive = _Archive(data)
    try:
        with zipfile.ZipFile(archive) as opened:
            archive.opening = False
            return _as_folder(_read_members(opened, whole), whole)
    except _TooManyEntries:
        message = f"It holds far more than {MOST_FILES:,} files, the most a pack has."
        raise _refused(whole, message, "too_many_files") from None
    except (zipfile.BadZipFile, EOFError, ValueError, OSError, NotImplementedError, OverflowError) as error:
        raise _damaged(whole, error) from None


def write_zip(files: Mapping[str, bytes]) -> bytes:
    """A zip of the files that depends on nothing but their paths and bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as archive:
        for path in sorted(files):
            info = zipfile.ZipInfo(path, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.create_system = 3  # Unix, wherever it is written
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, files[path])
    return buffer.getvalue()


def read_regular(path: Path, most: int) -> bytes:
    """The bytes of a regular file, at most `most` + 1 of them; the last part of the path is not followed as a link.

    Raises OSError, also for what is not a regular file (a pipe or a device is never waited for).
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a regular file")
        return file.read(most + 1)


def _read_archive(path: Path, whole: str) -> bytes:
    try:
        data = read_regular(path.resolve(), MOST_ZIP_BYTES)
    except OSError as error:
        raise _refused(whole, f"The zip cannot be read: {error.strerror or error}.", "unreadable") from None
    if len(data) > MOST_ZIP_BYTES:
        raise _refused(
            whole, f"The zip is too large; a pack has at most {MOST_BYTES:,} bytes.", "pack_too_large"
        )
    return data


def _read_members(archive: zipfile.ZipFile, whole: str) -> dict[str, bytes]:
    findings = Findings()
    entries = archive.infolist()
    if len(entries) > MOST_FILES:
        number = sum(not _is_folder(e) for e in entries)
        if number > MOST_FILES or len(entries) > 2 * MOST_FILES:
            message = f"It holds {len(entries):,} entries; a pack has at most {MOST_FILES:,} files."
            raise _refused(whole, message, "too_many_files")
    for entry in entries:
        wrong = _check_kind(entry)
        if wrong is not None:
            findings.add(safe_path(entry.orig_filename), 0, wrong, "bad_zip_entry")
    # Names are checked before anything is left out, so that nothing hides behind a dot; folders, too.
    # `orig_filename` is the name in the archive; `filename` is what zipfile made of it.
    members = [e for e in entries if not _is_folder(e)]
    folders = [e.orig_filename.removesuffix("/") for e in entries if _is_folder(e)]
    check_paths([e.orig_filename for e in members], findings, folders=folders)
    check_sizes({e.orig_filename: e.file_size for e in members}, findings, whole=whole)
    findings.raise_if_any()
    files: dict[str, bytes] = {}
    for entry in members:
        if left_out(entry.orig_filename):
            continue
        data = _inflate(archive, entry, findings)
        if data is not None:
            files[entry.orig_filename] = data
    findings.raise_if_any()
    return files


def _is_folder(entry: zipfile.ZipInfo) -> bool:
    return entry.orig_filename.endswith("/")


def _check_kind(entry: zipfile.ZipInfo) -> str | None:
    mode = entry.external_attr >> 16
    kind = stat.S_IFMT(mode)
    if kind == stat.S_IFLNK:
        return "This is a symbolic link; put the file itself into the zip."
    if kind not in {0, stat.S_IFREG, stat.S_IFDIR}:
        return "This is a device, a pipe or a socket and no file; leave it out."
    if entry.flag_bits & 0x1:
        return "The file is encrypted; pack it without a password."
    if entry.compress_type not in _METHODS:
        return "The file is compressed in a way that packs do not use; pack it with plain zip (deflate)."
    if _is_folder(entry) and entry.file_size:
        return "This is a folder with bytes of its own; pack the files anew."
    return None


def _inflate(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, findings: Findings) -> bytes | None:
    path = safe_path(entry.orig_filename)
    try:
        with archive.open(entry) as member:
            data = member.read(min(entry.file_size, MOST_BYTES_A_FILE) + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, ValueError, OSError, NotImplementedError, RuntimeError):
        findings.add(path, 0, "The file is damaged in the zip; pack it again.", "damaged_zip")
        return None
    if len(data) != entry.file_size:
        findings.add(path, 0, "The zip gives a wrong size for this file; pack it again.", "damaged_zip")
        return None
    return data


def _as_folder(files: dict[str, bytes], whole: str) -> dict[str, bytes]:
    """Take off the folder's own name where the folder was zipped and not what is in it."""
    if _MANIFEST in files or not files:
        return files
    tops = {
        path.split("/", 1)[0] for path in files if path.endswith(f"/{_MANIFEST}") and path.count("/") == 1
    }
    if len(tops) > 1:
        raise _refused(whole, "There are several packs in the zip; zip one pack's folder.", "several_packs")
    if not tops:
        return files
    top = f"{tops.pop()}/"
    inside: dict[str, bytes] = {}
    findings = Findings()
    for path, data in files.items():
        if path.startswith(top):
            inside[path.removeprefix(top)] = data
    for path, data in files.items():
        if path.startswith(top):
            continue
        if path.startswith(_SHARED):
            inside.setdefault(path, data)
        else:
            findings.add(
                path, 0, f"The file lies outside of the pack's folder {top}; leave it out.", "outside"
            )
    findings.raise_if_any()
    return inside


def _damaged(whole: str, error: Exception) -> PackError:
    if isinstance(error, zipfile.BadZipFile) and "not a zip" in str(error).casefold():
        return _refused(whole, "This is not a zip archive, or it is cut short; pack it again.", "not_a_zip")
    return _refused(whole, "The zip is damaged; pack it again.", "damaged_zip")


def _refused(whole: str, message: str, code: str) -> PackError:
    return PackError([Problem(whole, 0, message, code)])
