"""Pack importers: turn another format's files into the files of a domain pack."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PackImporterType:
    """What `assay_pack_importers` returns.

    `recognises(files)` says whether it can read them; `convert(files)` returns the pack's files.
    Both take and return {relative path: bytes}. Raises ImportProblem with a sentence.
    """

    name: str
    title: str
    recognises: Callable[[Mapping[str, bytes]], bool]
    convert: Callable[[Mapping[str, bytes]], Mapping[str, bytes]]


class ImportProblem(Exception):
    """What is wrong with the files, and what to do."""
