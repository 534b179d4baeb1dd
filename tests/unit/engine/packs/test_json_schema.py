"""The JSON Schemas that editors use: kept in step with the models, and of one mind with the loader."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.engine.packs.assembly import examine
from assay.engine.packs.findings import Findings
from assay.engine.packs.json_schema import KINDS, modeline, schema_of, schema_text
from assay.engine.packs.yamls import parse

ROOT = Path(__file__).parents[4]
LIBRARY = ROOT / "tests/support/packs/library"
PACKS = [*sorted(p.parent for p in ROOT.glob("domain_packs/*/pack.yaml")), LIBRARY]
PARTS = sorted(p for p in ROOT.glob("domain_packs/_shared/*") if p.is_dir())


def validator(kind: str) -> jsonschema.Draft7Validator:
    return jsonschema.Draft7Validator(schema_of(kind))


def read(path: Path) -> Any:
    """A file of a pack as the loader reads it."""
    document = parse(path.name, path.read_text(encoding="utf-8"), Findings())
    assert document is not None, path
    return document.value


def wrong(kind: str, value: Any) -> list[str]:
    """Where and what is wrong, the most telling error of each place."""
    found = []
    for error in validator(kind).iter_errors(value):
        inner = jsonschema.exceptions.best_match([error])
        found.append(f"{'/'.join(map(str, inner.absolute_path))}: {inner.message}")
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_schema_in_the_docs_is_the_one_that_the_models_give(kind: str) -> None:
    written = (ROOT / "docs/schemas" / f"{kind}.json").read_text(encoding="utf-8")
    assert written == schema_text(kind), "write it again: assay pack schema --out docs/schemas"


def test_the_docs_hold_no_other_schema() -> None:
    assert {p.stem for p in (ROOT / "docs/schemas").iterdir()} == set(KINDS)


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_a_valid_one_and_every_key_in_it_is_explained(kind: str) -> None:
    schema = schema_of(kind)
    jsonschema.Draft7Validator.check_schema(schema)
    objects = [schema, *schema.get("definitions", {}).values()]
    silent = [
        key
        for thing in objects
        for key, inner in thing.get("properties", {}).items()
        if not inner.get("description")
    ]
    assert silent == []
    if kind != "seed":
        assert sum(len(thing.get("properties", {})) for thing in objects) > 3


@pytest.mark.parametrize("folder", [*PACKS, *PARTS], ids=lambda p: p.name)
def test_every_file_of_every_pack_fits(folder: Path) -> None:
    seen = 0
    for kind, what in KINDS.items():
        for path in sorted(folder.glob(what.files)):
            assert wrong(kind, read(path)) == [], path
            seen += 1
    assert seen >= 2


def task() -> dict[str, Any]:
    return {
        "id": "LIB-X-001",
        "title": "A case",
        "user": {"opening": "Hello", "goal": "Done"},
        "expected": {"actions": [{"tool": "loans_renew", "args": {"loan_id": "L-1"}}]},
    }


def test_a_task_that_fits_fits() -> None:
    assert wrong("tasks", [task()]) == []


# Where a value goes into a task, what it is there, and whether the loader agrees that it is wrong.
WRONG_TASKS: list[tuple[tuple[str | int, ...], Any]] = [
    (("titel",), "A case"),
    (("id",), "lib-1"),
    (("clauses",), ["not a clause"]),
    (("hardness",), ["very"]),
    (("user", "opning"), "x"),
    (("user", "opening"), ""),
    (("user", "facts"), [{"key": "email"}]),
    (("user", "facts"), [{"key": "email", "value": 12}]),
    (("user", "reactions"), [{"when": "x", "then": "shout"}]),
    (("user", "reactions"), [{"when": "x", "then": "say"}]),
    (("user", "reactions"), [{"when": "x", "then": "accept", "say": "Yes"}]),
    (("expected",), {}),
    (("expected",), {"no_change": False}),
    (("expected",), {"no_change": "yes"}),
    (("expected", "actions", 0, "arg"), {}),
    (("expected", "actions", 0, "as"), "Not A Name"),
    (("expected", "actions", 0, "derived"), {"fee": {"value": "SELECT 1"}}),
    (("expected", "actions", 0, "derived"), {"fee": {"clause": "LIB-1"}}),
    (("expected", "equivalents"), [{"mutant": "drop:1.loans_renew"}]),
    (("reply",), [{"must": "x", "must_not": "y", "phrases": ["z"]}]),
    (("reply",), [{"must_not": "x", "numbers": [1]}]),
    (("reply",), [{"language": "en", "phrases": ["z"]}]),
    (("reply",), [{"rubric": "x", "must": "y"}]),
    (("reply",), [{"must": "x", "numbers": ["12"]}]),
    (("reply",), [{"must_not_contain_from": "SELECT 1", "phrases": ["z"]}]),
    (("reply",), [{"phrases": ["z"]}]),
]


@pytest.mark.parametrize(("keys", "value"), WRONG_TASKS, ids=lambda v: str(v)[:60])
def test_what_is_wrong_in_a_task_is_flagged_by_the_schema_and_by_the_loader(
    keys: tuple[str | int, ...], value: Any
) -> None:
    made = task()
    place: Any = made
    for key in keys[:-1]:
        place = place[key]
    place[keys[-1]] = value
    assert wrong("tasks", [made]) != []
    files = {p.relative_to(LIBRARY).as_posix(): p.read_bytes() for p in LIBRARY.rglob("*") if p.is_file()}
    files = {p: data for p, data in files.items() if not p.startswith("tasks/")}
    files["tasks/one.yaml"] = json.dumps([made]).encode()
    assert any(p.path == "tasks/one.yaml" for p in examine(files).problems)


@pytest.mark.parametrize(
    "step",
    [
        {"one": "a"},
        {"one": "a", "maybe": "b", "sql": "SELECT 1"},
        {"require": "SELECT 1"},
        {"require": "SELECT 1", "sql": "SELECT 1", "otherwise": {"error": "no_no", "message": "No."}},
        {"sql": "DELETE FROM x", "otherwise": {"error": "no_no", "message": "No."}},
        {"one": "a", "sql": "SELECT 1", "otherwise": {"error": "Not a code", "message": "No."}},
        {"one": "a", "sql": "SELECT 1", "othrwise": {"error": "no_no", "message": "No."}},
    ],
    ids="+".join,
)
def test_a_step_has_one_of_the_five_shapes(step: dict[str, Any]) -> None:
    tool = {"name": "x_do", "kind": "write", "description": "Does.", "steps": [step]}
    assert wrong("tools", [tool]) != []


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("tools", [{"name": "x_do", "kind": "read", "description": "Looks."}]),
        ("tools", [{"name": "x_do", "kind": "write", "description": "Does."}]),
        ("tools", [{"name": "X", "kind": "read", "description": "Looks.", "result": "SELECT 1"}]),
        ("tools", [{"name": "x_do", "kind": "read", "description": "Looks.", "result": {"mny": "SELECT 1"}}]),
        ("tools", {"name": "x_do"}),
        ("comparison", {"tables": {"a": {"columns": {"b": "roughly"}}}}),
        ("comparison", {"tables": {"a": {"columns": {"b": {"tolerance": 0}}}}}),
        ("comparison", {"tables": {"a": {"cost": {"b": {"what": "refunded", "paid_by": "nobody"}}}}}),
        ("comparison", {"table": {}}),
        ("pack", {"format": 2, "name": "x_y", "version": "1.0.0", "title": "T", "clock": "c", "bot": "b"}),
        ("pack", {"format": 1, "name": "X", "version": "1.0.0", "title": "T", "clock": "c", "bot": "b"}),
        ("pack", {"format": 1, "name": "x_y", "version": "1.0", "title": "T", "clock": "c", "bot": "b"}),
        ("pack", {"format": 1, "name": "x_y", "version": "1.0.0", "title": "T", "clock": "c"}),
        ("seed", {"a": [{"b": [1]}]}),
        ("seed", {"a": {"b": 1}}),
    ],
    ids=lambda v: str(v)[:50],
)
def test_wrong_values_of_the_other_kinds_are_flagged(kind: str, value: Any) -> None:
    assert wrong(kind, value) != []


def test_the_line_for_editors_leads_from_the_file_to_the_schema() -> None:
    assert modeline("pack") == "# yaml-language-server: $schema=.schemas/pack.json"
    assert modeline("seed") == "# yaml-language-server: $schema=../../.schemas/seed.json"
