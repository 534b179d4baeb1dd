"""`platform/` is a source root beside Python's own module of that name, which must stay importable everywhere."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
STANDARD = Path(sysconfig.get_paths()["stdlib"]).resolve()
SHOW = "import platform; print(platform.__file__); platform.system()"


def test_the_folder_holds_packages_and_nothing_of_its_own() -> None:
    names = {p.name for p in (ROOT / "platform").iterdir() if p.name != "__pycache__"}
    assert names == {"assay", "assay_sdk"}


def test_under_pytest_it_is_the_standard_module() -> None:
    assert Path(platform.__file__).resolve().parent == STANDARD


@pytest.mark.parametrize(
    "command",
    [
        [sys.executable, "-c", SHOW],
        [sys.executable, "manage.py", "shell", "--no-imports", "-c", SHOW],
        [sys.executable, "-c", f"import pytest; {SHOW}"],
    ],
    ids=["python", "manage.py", "pytest"],
)
def test_from_the_root_of_the_repository_it_is_the_standard_module(command: list[str]) -> None:
    done = subprocess.run(
        command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    assert Path(done.stdout.strip()).resolve().parent == STANDARD
