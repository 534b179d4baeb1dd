"""The locks hold what pyproject.toml asks for, exactly, and nothing of the machine that wrote them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
GROUPS = PROJECT["dependency-groups"]
ASKED = {
    "runtime": [*PROJECT["project"]["dependencies"], *GROUPS["build"]],
    "dev": [*PROJECT["project"]["dependencies"], *GROUPS["build"], *GROUPS["dev"]],
    "models": GROUPS["models"],
}


def locked(name: str) -> dict[str, list[str]]:
    """Package to its requirement lines: the exact version, for which Pythons and systems, and the hashes."""
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", "")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if line and not line.lstrip().startswith("#"):
            found.setdefault(re.split(r"[=; ]", line, maxsplit=1)[0], []).append(line)
    return found


@pytest.mark.parametrize("name", ASKED)
def test_every_direct_dependency_is_locked(name: str) -> None:
    asked = {re.split(r"[\[<>=!~; ]", d, maxsplit=1)[0].lower().replace("_", "-") for d in ASKED[name]}
    assert asked <= set(locked(name))


@pytest.mark.parametrize("name", ASKED)
def test_every_locked_package_has_one_version_and_hashes(name: str) -> None:
    for package, lines in locked(name).items():
        (line,) = lines  # the same on every Python: numpy's figures and types differ between its versions
        assert re.match(rf"{re.escape(package)}==[\w.!+-]+ ", line), line
        assert "--hash=sha256:" in line, line


@pytest.mark.parametrize("name", ASKED)
def test_a_lock_names_no_host_and_no_path(name: str) -> None:
    text = (ROOT / "locks" / f"{name}.txt").read_text(encoding="utf-8")
    assert not re.search(r"://|^-|@ |/tmp", text, re.MULTILINE)


def test_the_development_lock_has_the_runtime_s_versions() -> None:
    runtime, dev = locked("runtime"), locked("dev")
    for package, lines in runtime.items():
        assert [line.split(" ")[0] for line in dev[package]] == [line.split(" ")[0] for line in lines]
