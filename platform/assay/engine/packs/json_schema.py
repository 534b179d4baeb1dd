"""JSON Schema of the files of a pack, for editors: completion, explanations and red underlines while typing.

Made from the models that the loader uses. A schema sees one file and no SQL: `assay pack lint` stays the judge. Draft 7,
which all editors know.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import CoreSchema

from assay.engine.packs.checks import ChecksFile
from assay.engine.packs.models import ComparisonFile, PackFile, Task, Tool

#: Where `assay pack new` puts the schemas in a pack. The loader leaves out what begins with a dot.
FOLDER = ".schemas"

_DRAFT = "http://json-schema.org/draft-07/schema#"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of file: which files it is, and what they hold."""

    files: str  # glob inside the pack
    title: str
    type: Any


KINDS: Mapping[str, Kind] = {
    "pack": Kind("pack.yaml", "What an Assay pack is", PackFile),
    "tools": Kind("tools/*.yaml", "Tools of an Assay pack", tuple[Tool, ...]),
    "tasks": Kind("tasks/*.yaml", "Tasks of an Assay pack", tuple[Task, ...]),
    "comparison": Kind("comparison.yaml", "How outcomes of an Assay pack are compared", ComparisonFile),
    "checks": Kind("checks.yaml", "What an Assay pack wants checked beside outcomes", ChecksFile),
    "seed": Kind(
        "world/seed/*.yaml",
        "Rows of the world of an Assay pack, by table",
        dict[str, list[dict[str, str | int | float | bool | None]]],
    ),
}


def schema_of(kind: str) -> dict[str, Any]:
    """The JSON Schema of a kind of file, one of KINDS. Raises KeyError."""
    what = KINDS[kind]
    made = TypeAdapter(what.type).json_schema(by_alias=True, schema_generator=_Generator)
    for name in ("title", "description"):
        made.pop(name, None)
    for definition in made.get("$defs", {}).values():
        definition.pop("title", None)  # the class's name says nothing to people
    simple = _shortened(made)
    # Draft 7 has `definitions`; a pointer to `$defs` works as well, but not all editors look there for completion.
    text = json.dumps(simple).replace("#/$defs/", "#/definitions/")
    simple = json.loads(text)
    definitions = {"definitions": simple.pop("$defs")} if "$defs" in simple else {}
    return {"$schema": _DRAFT, "title": what.title, **simple, **definitions}


def schema_text(kind: str) -> str:
    """The same as the text of a file."""
    return json.dumps(schema_of(kind), indent=2, ensure_ascii=False) + "\n"


def modeline(kind: str, folder: str = FOLDER) -> str:
    """The first line of a file of this kind, by which editors find its schema. `folder`: seen from the pack's folder."""
    up = "../" * KINDS[kind].files.count("/")
    return f"# yaml-language-server: $schema={up}{folder}/{kind}.json"


class _Generator(GenerateJsonSchema):
    def field_title_should_be_set(self, schema: CoreSchema | Any) -> bool:
        return False  # "Ignore Tables" for ignore_tables is noise


def _shortened(value: Any) -> Any:
    """An optional key as {type: [string, null]} instead of two forms and a default, which editors would show."""
    if isinstance(value, list):
        return [_shortened(inner) for inner in value]
    if not isinstance(value, dict):
        return value
    made = {key: _shortened(inner) for key, inner in value.items()}
    forms = made.get("anyOf")
    if isinstance(forms, list) and {"type": "null"} in forms and made.get("default", 0) is None:
        del made["default"]
        first = forms[0]
        if (
            len(forms) == 2
            and isinstance(first.get("type"), str)
            and "enum" not in first
            and "const" not in first
        ):
            del made["anyOf"]
            made |= {**first, "type": [first["type"], "null"]}
    return made
