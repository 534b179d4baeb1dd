"""What starts quickly does so because it does not load the heavy parts; counted, not timed."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
HEAVY = {
    "aiohttp", "apsw", "celery", "django", "httpx", "jsonschema", "litellm", "mcp", "numpy", "openai", "psycopg",
    "pydantic", "scipy", "yaml",
}  # fmt: skip


def loaded(code: str, *arguments: str) -> set[str]:
    """The modules that are loaded after `code` ran in a fresh Python."""
    script = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.__stderr__))\n" + code
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=ROOT / "platform", capture_output=True, text=True, timeout=60,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["pack", "--help"]], ids=" ".join
)
def test_the_help_of_the_command_line_loads_nothing_heavy(arguments: list[str]) -> None:
    modules = loaded("from assay.cli.main import main; main()", *arguments)
    assert modules & HEAVY == set()
    assert len(modules) < 250


def test_a_heavy_module_would_be_noticed() -> None:
    assert "yaml" in loaded("import yaml") & HEAVY


def test_asking_for_embedded_services_loads_neither_django_nor_the_engine() -> None:
    modules = loaded("import assay.config.embedded")
    assert "django" not in modules
    assert not [m for m in modules if m.startswith("assay.engine")]
