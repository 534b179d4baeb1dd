"""The import rules of docs/design.md hold, and what holds them notices a violation."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
PLUGINS = sorted(p.parent for p in ROOT.glob("plugins/*/pyproject.toml"))

# One planted violation for each contract, by its id.
PLANTED = {
    "layers": ("assay/packs/planted.py", "import assay.runs"),
    "engine": ("assay/engine/planted.py", "import django.db"),
    "sdk": ("assay_sdk/planted.py", "import assay.engine"),
    "cli": ("assay/cli/planted.py", "import django"),
    "path-of-a-trial": ("assay/engine/packs/planted.py", "import assay.engine.grading"),
}


def lint(platform: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter on a copy of `platform/` with the project's contracts."""
    return subprocess.run(
        [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()",
          str(ROOT / "pyproject.toml"), "--no-cache", "--no-logo"],
        cwd=platform, env={**os.environ, "PYTHONPATH": str(platform)},
        capture_output=True, text=True, timeout=180, check=False,
    )  # fmt: skip


def test_the_contracts_hold() -> None:
    done = lint(ROOT / "platform")
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_contract_notices_a_planted_violation(tmp_path: Path) -> None:
    assert {c["id"] for c in CONTRACTS} == set(PLANTED)
    copy = tmp_path / "platform"
    shutil.copytree(ROOT / "platform", copy, ignore=shutil.ignore_patterns("__pycache__"))
    for place, statement in PLANTED.values():
        (copy / place).write_text(f"{statement}\n", encoding="utf-8")
    done = lint(copy)
    assert done.returncode == 1
    for contract in CONTRACTS:
        assert re.search(rf"^{re.escape(contract['name'])} *BROKEN$", done.stdout, re.MULTILINE), done.stdout


def imported(source: str) -> Iterator[str]:
    """The top-level names of the modules that a source text imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (name.name.split(".")[0] for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.split(".")[0]


def test_imports_are_found_however_they_are_written() -> None:
    source = "import assay.runs\ndef f():\n    from assay_sdk import hookimpl\n    from . import x\n    import os, json"
    assert sorted(imported(source)) == ["assay", "assay_sdk", "json", "os"]


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda p: p.name)
def test_a_plugin_imports_nothing_of_assay_but_the_sdk(plugin: Path) -> None:
    sources = sorted(plugin.rglob("*.py"))
    assert sources
    for source in sources:
        assert "assay" not in set(imported(source.read_text(encoding="utf-8"))), source


def test_the_platform_names_no_plugin() -> None:
    modules = {m for p in PLUGINS for m in _modules(p)}
    assert len(modules) >= 2
    for source in (ROOT / "platform").rglob("*.py"):
        assert not modules & set(imported(source.read_text(encoding="utf-8"))), source


def _modules(plugin: Path) -> list[str]:
    return [p.parent.name for p in plugin.glob("*/__init__.py")]
