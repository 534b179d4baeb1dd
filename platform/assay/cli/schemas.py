"""`assay pack schema`."""

from __future__ import annotations

import sys
from pathlib import Path

from assay.cli.codes import OK
from assay.engine.packs.json_schema import FOLDER, KINDS, modeline, schema_text


def schema(kind: str | None, out: Path | None) -> int:
    """Print the JSON Schema of a kind of file, or write the schemas (that of `kind`, or all) into the folder `out`."""
    if out is not None:
        write_schemas(out, [kind] if kind else list(KINDS))
        print(f"Schemas: {out}", file=sys.stderr)
    elif kind is not None:
        sys.stdout.write(schema_text(kind))
    else:
        print(
            "Kinds of files, and the line that a file of that kind begins with so that editors find its schema:\n"
        )
        for name, what in KINDS.items():
            print(f"  {name:<11} {what.files:<18} {modeline(name)}")
        print(
            f"\n`assay pack schema --out PACK/{FOLDER}` writes them all; `assay pack schema KIND` prints one."
        )
    return OK


def write_schemas(folder: Path, kinds: list[str]) -> None:
    """Write KIND.json for each kind into a folder, which is made if need be. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    for kind in kinds:
        (folder / f"{kind}.json").write_text(schema_text(kind), encoding="utf-8", newline="\n")
