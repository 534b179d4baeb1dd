"""`make` finds a Python, says so when there is none, and passes things on."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.integration.installation.conftest import Checkout

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")


def tools(folder: Path, **pythons: str) -> str:
    """A PATH with the usual tools and these Pythons only: a version that it claims to be, or "real"."""
    folder.mkdir()
    for name in ("sh", "make", "sed", "echo", "rm", "find"):
        (folder / name).symlink_to(str(shutil.which(name)))
    for name, version in pythons.items():
        file = folder / name.replace("_", ".")
        if version == "real":
            file.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        else:  # answers the question for its version as that version would
            file.write_text(
                f'#!/bin/sh\ncode=$(echo "$2" | sed "s/sys.version_info\\[:2\\]/{version}/; s/sys.version_info/{version}/")\n'
                f'exec "{sys.executable}" -c "$code"\n',
                encoding="utf-8",
            )
        file.chmod(0o755)
    return str(folder)


def test_help_is_what_make_alone_says(checkout: Checkout) -> None:
    said = checkout.make().stdout
    assert said.splitlines()[0].startswith("make demo ")
    assert not checkout.venv.exists()


def test_demo_installs_and_passes_arguments_on(checkout: Checkout) -> None:
    done = checkout.make("demo", "ARGS=--trials 3", PYTHONPATH="/nowhere")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "demo --trials 3"


def test_an_old_python3_is_passed_over(checkout: Checkout, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin", python3="(3, 9)", python3_12="real")
    done = checkout.make("serve", PATH=path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "serve"


def test_a_tried_version_goes_before_a_newer_one(checkout: Checkout, tmp_path: Path) -> None:
    path = tools(tmp_path / "bin", python3="(3, 19)", python3_11="real")
    assert checkout.make("demo", PATH=path).returncode == 0


def test_without_a_python_it_says_what_to_do(checkout: Checkout, tmp_path: Path) -> None:
    refused = checkout.make("demo", PATH=tools(tmp_path / "bin", python3="(3, 9)"))
    assert refused.returncode == 2
    assert refused.stderr.splitlines()[0] == (
        "Assay needs Python 3.11 or newer, and none was found. Install one, or name it: "
        "make demo PYTHON=/path/to/python3.12"
    )
    assert not checkout.venv.exists()


def test_a_named_python_that_is_too_old_is_named(checkout: Checkout, tmp_path: Path) -> None:
    tools(tmp_path / "bin", python3="(3, 9)")
    refused = checkout.make("test", f"PYTHON={tmp_path}/bin/python3")
    assert refused.returncode == 2
    assert f"Assay needs Python 3.11 or newer; {tmp_path}/bin/python3 is not." in refused.stderr


def test_clean_keeps_the_state(checkout: Checkout) -> None:
    checkout.install()
    for folder in (".assay", "platform", "plugins", "tests/__pycache__", "domain_packs"):
        (checkout.folder / folder).mkdir(parents=True)
    done = checkout.make("clean", PATH=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    assert (checkout.folder / ".assay").exists()
    assert not checkout.venv.exists()
    assert not (checkout.folder / "tests/__pycache__").exists()
