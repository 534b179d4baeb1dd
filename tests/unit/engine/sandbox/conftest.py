"""Worlds to try things on: the library of tests/support, and small ones written where they are used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.engine.packs import PackError, Problem, load_pack, load_pack_bytes
from assay.engine.sandbox import Sandbox, World

LIBRARY = Path(__file__).parents[3] / "support" / "packs" / "library"

_MANIFEST = """
format: 1
name: tiny
version: 1.0.0
title: Tiny
clock: 2026-03-02T10:00:00-05:00
bot: You help.
"""
_TASK = """
- id: TIN-ONE-001
  title: One
  user: {opening: Hello., goal: Nothing.}
  expected: {no_change: true}
"""
_SCHEMA = "CREATE TABLE items (id TEXT NOT NULL PRIMARY KEY, name TEXT, qty INTEGER, price REAL) STRICT;"
_SEED = "items: [{id: I-1, name: anvil, qty: 3, price: 9.5}, {id: I-2, name: brush, qty: 0, price: 2}]"
_TOOL = """
- name: items_list
  kind: read
  description: All items.
  result: {many: SELECT * FROM items ORDER BY id}
"""


def small(
    schema: str = _SCHEMA,
    seed: str = _SEED,
    tools: str = _TOOL,
    tasks: str = _TASK,
    **more: str,
) -> dict[str, bytes]:
    """The files of a small pack. `more`: other files, `/` written `__` and `.` written as the last `_`."""
    files = {
        "pack.yaml": _MANIFEST,
        "policy.md": "# Policy\n\nBe kind. {#TIN-1}\n",
        "world/schema.sql": schema,
        "world/seed/rows.yaml": seed,
        "tools/tools.yaml": tools,
        "tasks/tasks.yaml": tasks,
    }
    for name, text in more.items():
        path, ending = name.replace("__", "/").rsplit("_", 1)
        files[f"{path}.{ending}"] = text
    return {path: text.encode() for path, text in files.items()}


def world_of(**parts: str) -> World:
    return World.prepare(load_pack_bytes(small(**parts)))


def problems_of(**parts: str) -> list[Problem]:
    """What is wrong with a small pack's world, and then with its tasks; the loader finds nothing."""
    pack = load_pack_bytes(small(**parts))
    try:
        return World.prepare(pack).check_tasks()
    except PackError as error:
        return list(error.problems)


@pytest.fixture(scope="session")
def library() -> World:
    return World.prepare(load_pack(LIBRARY))


@pytest.fixture
def shelf(library: World) -> Iterator[Sandbox]:
    """A sandbox of the library, without a task."""
    with library.open() as sandbox:
        yield sandbox


@pytest.fixture
def tool() -> Callable[..., Any]:
    """Make a world with the small schema and one tool, call it once, give the outcome."""

    def call(definition: str, arguments: Any = None, **parts: str) -> Any:
        world = world_of(tools=definition, **parts)
        with world.open() as sandbox:
            return sandbox.call(world.specs[0].name, {} if arguments is None else arguments)

    return call
