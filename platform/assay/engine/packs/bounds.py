"""How large a pack may be, what its files may be called, and its content hash."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping

from assay.engine.packs.findings import Findings, shown

MOST_FILES = 2_000
MOST_BYTES = 50_000_000  # of all files together
MOST_BYTES_A_FILE = 10_000_000
DEEPEST = 8  # folders
LONGEST_PATH = 240

_PART = re.compile(r"[A-Za-z0-9._-]+")
_DRIVE = re.compile(r"[A-Za-z]:")
#: What YAML, SQLite or an editor would read differently from us: control characters and Unicode's line breaks.
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff]")
_BOM = b"\xef\xbb\xbf"


def left_out(path: str) -> bool:
    """Whether a path is what an operating system or an editor leaves behind, and no part of a pack."""
    parts = path.split("/")
    return parts[0] == "__MACOSX" or any(p.startswith(".") and p not in {".", ".."} for p in parts)


def check_path(path: str) -> str | None:
    """What is wrong with the path of a file in a pack, in one sentence; None when nothing is."""
    if "\x00" in path:
        return "The name holds a zero byte; rename the file."
    if "\\" in path:
        return "The name holds a backslash; separate folders with '/'."
    if path.startswith("/") or _DRIVE.match(path):
        return "The path is absolute; pack the files relative to the pack's folder."
    parts = path.split("/")
    if ".." in parts:
        return "The path leaves the pack's folder ('..'); pack the files from inside the folder."
    if len(path) > LONGEST_PATH:
        return f"The path has {len(path)} characters; at most {LONGEST_PATH} are allowed."
    if "." in parts or "" in parts:
        return "The path has an empty or '.' part; write it plainly, like tasks/returns.yaml."
    if not all(_PART.fullmatch(part) for part in parts):
        return "The name may hold letters, digits, '.', '_' and '-' only; rename the file."
    if len(parts) - 1 > DEEPEST:
        return f"The file lies {len(parts) - 1} folders deep; at most {DEEPEST} are allowed."
    return None


def check_paths(paths: Iterable[str], findings: Findings, *, folders: Iterable[str] = ()) -> None:
    """Report bad names, names given twice, and names that become one where case does not matter.

    `folders`: those that an archive lists for themselves; the same ones may be listed again.
    """
    files: set[str] = set()
    spelled: dict[str, str] = {}

    def good(path: str) -> bool:
        wrong = check_path(path)
        if wrong is not None:
            findings.add(safe_path(path), 0, wrong, "bad_path")
            return False
        parts = path.split("/")
        for length in range(1, len(parts) + 1):
            part = "/".join(parts[:length])
            other = spelled.setdefault(part.casefold(), part)
            if other != part:
                message = f"{part} and {other} differ in capital letters only; rename one."
                findings.add(path, 0, message, "case_collision")
                return False
        return True

    for path in paths:
        if path in files:
            findings.add(path, 0, "There are two files of this name; keep one.", "duplicate_file")
        elif good(path):
            files.add(path)
    inside = {folder for folder in folders if good(folder)}
    for path in files:
        parts = path.split("/")
        inside.update("/".join(parts[:length]) for length in range(1, len(parts)))
    for path in files & inside:
        findings.add(path, 0, "This is a file and a folder at once; rename one.", "file_and_folder")


def check_sizes(sizes: Mapping[str, int], findings: Findings, *, whole: str) -> None:
    """Report too many files, too large ones and too much in all; `whole` names the source."""
    if len(sizes) > MOST_FILES:
        message = f"It holds {len(sizes):,} files; a pack has at most {MOST_FILES:,}."
        findings.add(whole, 0, message, "too_many_files")
        return
    total = 0
    for path, size in sizes.items():
        total += size
        if size > MOST_BYTES_A_FILE:
            message = f"The file has {size:,} bytes; at most {MOST_BYTES_A_FILE:,} are allowed. Split it."
            findings.add(safe_path(path), 0, message, "file_too_large")
    if total > MOST_BYTES:
        message = f"The files have {total:,} bytes together; a pack has at most {MOST_BYTES:,}."
        findings.add(whole, 0, message, "pack_too_large")


def safe_path(path: str) -> str:
    """A path as it may be shown, whatever it holds."""
    return shown(path)[1:-1] or "(no name)"


def canonical(data: bytes) -> bytes:
    """The bytes that are hashed and kept: no byte order mark, lines end in LF."""
    return data.removeprefix(_BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def decode(path: str, data: bytes, findings: Findings) -> str | None:
    """The text of a file with canonical bytes; None, with a problem reported, when it is not plain UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"The file is not UTF-8 (byte 0x{data[error.start]:02x}); save it as UTF-8."
        findings.add(path, line, message, "not_utf8")
        return None
    found = _CONTROL.search(text)
    if found is not None:
        line = text.count("\n", 0, found.start()) + 1
        message = f"There is a control character (U+{ord(found.group()):04X}) in this line; delete it."
        findings.add(path, line, message, "control_character")
        return None
    return text


def content_hash(files: Mapping[str, bytes]) -> str:
    """SHA-256, in hexadecimal, over path, length and bytes of the (canonical) files, sorted by path.

    For each file: its path in ASCII, a zero byte, its length in decimal digits, a zero byte, its bytes.
    """
    digest = hashlib.sha256()
    for path in sorted(files):
        data = files[path]
        digest.update(f"{path}\0{len(data)}\0".encode("ascii"))
        digest.update(data)
    return digest.hexdigest()
