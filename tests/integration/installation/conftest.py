"""A tiny project with the real Makefile and installer: nothing to download, one command to install."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
_BACKEND = """
import base64, hashlib, zipfile

def build_editable(folder, config=None, metadata=None):
    name = "tiny-1.0-py3-none-any.whl"
    files = {
        "tiny-1.0.dist-info/METADATA": "Metadata-Version: 2.1\\nName: tiny\\nVersion: 1.0\\n",
        "tiny-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\\nGenerator: tiny\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
        "tiny.py": "print('installed')\\n",
    }
    record = "".join(f"{path},,\\n" for path in files) + "tiny-1.0.dist-info/RECORD,,\\n"
    with zipfile.ZipFile(f"{folder}/{name}", "w") as wheel:
        for path, text in {**files, "tiny-1.0.dist-info/RECORD": record}.items():
            wheel.writestr(path, text)
    return name

def get_requires_for_build_editable(config=None):
    return []
"""
_PROJECT = """
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]

[project]
name = "tiny"
version = "1.0"
"""


class Checkout:
    """A checkout of the tiny project."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "locks").mkdir(parents=True)
        shutil.copy(ROOT / "locks" / "install.py", folder / "locks")
        shutil.copy(ROOT / "Makefile", folder)
        for name in ("runtime", "dev", "models"):
            (folder / "locks" / f"{name}.txt").write_text(f"# nothing for {name}\n", encoding="utf-8")
        (folder / "pyproject.toml").write_text(_PROJECT, encoding="utf-8")
        (folder / "backend.py").write_text(_BACKEND, encoding="utf-8")
        (folder / "manage.py").write_text("import sys, tiny; print(*sys.argv[1:])\n", encoding="utf-8")
        self.venv = folder / ".venv"

    def environment(self, **changes: str) -> dict[str, str]:
        return {"HOME": str(self.folder), "PATH": os.environ["PATH"], **changes}

    def install(
        self, *sets: str, python: str = sys.executable, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return self._run(
            [python, str(self.folder / "locks" / "install.py"), *(sets or ("runtime",))], environment
        )

    def make(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        return self._run(["make", "--no-print-directory", *arguments], environment)

    def _run(self, command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command, cwd=self.folder, env=self.environment(**environment), capture_output=True, text=True, timeout=150,
            check=False,
        )  # fmt: skip

    def works(self) -> bool:
        done = self._run([str(self.venv / "bin" / "python"), "-c", "import tiny"], {})
        return done.stdout == "installed\n"

    def mark(self) -> Path:
        """A file in .venv that is gone when .venv is made again."""
        mark = self.venv / "mark"
        mark.touch()
        return mark


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "a checkout")
