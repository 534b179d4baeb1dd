"""pack.yaml: what the pack is, and the shared parts that it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from assay.engine.packs.bounds import canonical, decode
from assay.engine.packs.findings import Findings, shown, suggestion
from assay.engine.packs.models import PackFile
from assay.engine.packs.shapes import kind_of, validate
from assay.engine.packs.yamls import Document, parse

PATH = "pack.yaml"
SHARED = "_shared"

_NAME = re.compile(r"[a-z][a-z0-9_]{1,39}")
_DATE_AND_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)")


def read_manifest(document: Document, findings: Findings) -> tuple[PackFile, datetime] | None:
    """The manifest and its clock; None, with the problems reported, when something does not fit."""
    if not isinstance(document.value, dict):
        message = f"pack.yaml is a mapping ('key: value'), but this is {kind_of(document.value)}."
        findings.add(PATH, document.line(), message, "bad_value")
        return None
    version = document.value.get("format")
    if type(version) is not int or version != 1:
        if "format" in document.value:
            message = f"The format is {shown(version)}; this Assay reads format 1, so write 'format: 1'."
            findings.add(PATH, document.line("format"), message, "bad_format")
            return None
        findings.add(
            PATH, document.line(), "'format' is missing; begin the file with 'format: 1'.", "missing_key"
        )
        return None
    manifest = validate(PackFile, document, findings)
    raw = document.value.get("clock")
    clock = read_clock(raw) if isinstance(raw, str) else None
    if isinstance(raw, str) and clock is None:
        message = (
            f"The clock {shown(raw)} is no instant with an offset; write it like 2026-03-02T10:00:00-05:00."
        )
        findings.add(PATH, document.line("clock"), message, "bad_clock")
    if manifest is None or clock is None:
        return None
    seen: set[str] = set()
    for number, name in enumerate(manifest.shares):
        if name in seen:
            message = f"The shared part {shown(name)} is listed twice; keep one."
            findings.add(PATH, document.line("shares", number), message, "duplicate_share")
        seen.add(name)
    return manifest, clock


def check_shares(manifest: PackFile, document: Document, present: Iterable[str], findings: Findings) -> None:
    """Shared parts that are listed but not there, and the other way round."""
    there = set(present)
    for number, name in enumerate(manifest.shares):
        if name not in there:
            near = suggestion(name, there - set(manifest.shares))
            message = f"The shared part {shown(name)} lies neither in {SHARED}/{name}/ nor beside the pack's folder{near}"
            findings.add(PATH, document.line("shares", number), message, "unknown_share")
    for name in sorted(there - set(manifest.shares)):
        message = f"{SHARED}/{name} is not listed in the 'shares' of pack.yaml; list it, or leave it out."
        findings.add(f"{SHARED}/{name}", 0, message, "unlisted_share")


def read_clock(text: str) -> datetime | None:
    """An ISO 8601 instant with an offset or Z; None for any other text."""
    text = text.strip()
    if not _DATE_AND_TIME.fullmatch(text):
        return None
    try:
        clock = datetime.fromisoformat(text)
    except ValueError:
        return None
    return clock if 1900 <= clock.year <= 9000 else None


def shared_parts(manifest: bytes) -> tuple[str, ...]:
    """The names of shared parts in a pack.yaml that may be wrong in any way; only good names are given."""
    unheard = Findings()
    text = decode(PATH, canonical(manifest), unheard)
    document = parse(PATH, text, unheard) if text is not None else None
    if document is None or not isinstance(document.value, dict):
        return ()
    names = document.value.get("shares")
    if not isinstance(names, list):
        return ()
    return tuple(dict.fromkeys(n for n in names if isinstance(n, str) and _NAME.fullmatch(n)))
