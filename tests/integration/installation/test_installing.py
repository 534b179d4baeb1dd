"""`.venv` is made from the locks: once, again when something changed, and never half."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.integration.installation.conftest import Checkout


def test_the_first_call_makes_it_and_the_second_does_nothing(checkout: Checkout) -> None:
    first = checkout.install()
    assert first.returncode == 0, first.stderr
    assert checkout.works()
    mark, written = checkout.mark(), (checkout.venv / "installed.json").stat().st_mtime_ns
    second = checkout.install()
    assert (second.returncode, second.stderr) == (0, "")
    assert mark.exists()
    assert (checkout.venv / "installed.json").stat().st_mtime_ns == written


def test_what_the_tests_need_is_added_to_what_is_there(checkout: Checkout) -> None:
    checkout.install("runtime")
    mark = checkout.mark()
    added = checkout.install("dev", "models")
    assert "locks/dev.txt" in added.stderr
    assert "locks/models.txt" in added.stderr
    assert mark.exists()
    assert checkout.install("runtime", "dev", "models").stderr == ""


@pytest.mark.parametrize(
    "changed", ["locks/runtime.txt", ".venv/being-changed", ".venv/bin/python", ".venv/installed.json"]
)
def test_it_is_made_again_when_it_cannot_be_relied_on(checkout: Checkout, changed: str) -> None:
    """Another lock, an earlier call that was interrupted, a Python that is gone, a damaged record."""
    checkout.install()
    mark = checkout.mark()
    path = checkout.folder / changed
    if path.suffix == ".txt":
        path.write_text("# something else\n", encoding="utf-8")
    elif path.suffix == ".json":
        path.write_text("{", encoding="utf-8")
    elif path.name == "python":
        path.unlink()
    else:
        path.touch()
    done = checkout.install()
    assert done.returncode == 0, done.stderr
    assert not mark.exists()
    assert checkout.works()


def test_it_is_made_again_when_the_project_was_moved(checkout: Checkout, tmp_path: Path) -> None:
    checkout.install()
    mark = checkout.mark()
    checkout.folder.rename(tmp_path / "moved")
    checkout.folder, checkout.venv = tmp_path / "moved", tmp_path / "moved" / ".venv"
    assert checkout.install().returncode == 0
    assert not (checkout.venv / mark.name).exists()
    assert checkout.works()


def test_settings_of_tools_in_pyproject_change_nothing_and_entry_points_do(checkout: Checkout) -> None:
    checkout.install()
    project = checkout.folder / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text + "\n[tool.ruff]\nline-length = 90\n", encoding="utf-8")
    mark, written = checkout.mark(), (checkout.venv / "installed.json").stat().st_mtime_ns
    assert checkout.install().stderr == ""
    assert (checkout.venv / "installed.json").stat().st_mtime_ns == written
    project.write_text(text + '\n[project.scripts]\ntiny = "tiny:main"\n', encoding="utf-8")
    assert checkout.install().returncode == 0
    assert (checkout.venv / "installed.json").stat().st_mtime_ns > written
    assert mark.exists(), "the packages stay"


def test_a_venv_of_somebody_else_is_left_alone(checkout: Checkout) -> None:
    checkout.venv.mkdir()
    (checkout.venv / "pyvenv.cfg").touch()
    refused = checkout.install()
    assert refused.returncode == 1
    assert (
        refused.stderr.strip()
        == f"{checkout.venv} was not made by this. Move it away or delete it, and try again."
    )
    assert [p.name for p in checkout.venv.iterdir()] == ["pyvenv.cfg"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_call_leaves_nothing_that_counts_as_done(
    checkout: Checkout, number: signal.Signals
) -> None:
    with subprocess.Popen(
        [sys.executable, "locks/install.py", "runtime"], cwd=checkout.folder, env=checkout.environment(),
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    ) as call:  # fmt: skip
        deadline = time.monotonic() + 60
        while not (checkout.venv / "bin" / "python").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.killpg(call.pid, number)
    assert call.returncode != 0
    assert not (checkout.venv / "installed.json").exists()
    assert checkout.install().returncode == 0
    assert checkout.works()


def test_what_pip_says_is_shown_when_it_fails(checkout: Checkout) -> None:
    lock = checkout.folder / "locks" / "runtime.txt"
    lock.write_text("no-such-package==1.0 --hash=sha256:" + "0" * 64 + "\n", encoding="utf-8")
    refused = checkout.install(PIP_NO_INDEX="1")
    assert refused.returncode == 1
    assert "no-such-package==1.0" in refused.stderr
    assert (
        f"The packages of {lock} cannot be installed (pip ended with code 1; its last lines are above)."
        in refused.stderr
    )
    lock.write_text("# nothing\n", encoding="utf-8")
    assert checkout.install().returncode == 0
    assert checkout.works()


def test_two_calls_at_once_make_it_once(checkout: Checkout) -> None:
    calls = [
        subprocess.Popen(
            [sys.executable, "locks/install.py", "runtime"], cwd=checkout.folder, env=checkout.environment(),
            stderr=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    said = [call.communicate(timeout=150)[1] for call in calls]
    assert [call.returncode for call in calls] == [0, 0, 0], said
    assert sum("Making" in text for text in said) == 1
    assert checkout.works()


def test_settings_that_would_install_elsewhere_have_no_effect(checkout: Checkout, tmp_path: Path) -> None:
    done = checkout.install(
        PIP_TARGET=str(tmp_path / "t"), PIP_USER="1", PYTHONPATH=str(tmp_path), PIP_REQUIRE_VIRTUALENV="1"
    )
    assert done.returncode == 0, done.stderr
    assert checkout.works()
    assert not (tmp_path / "t").exists()
