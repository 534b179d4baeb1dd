"""The example plugin, installed from its own folder into an environment of its own and used by `assay run`."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import venv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[3]
LIBRARY = ROOT / "tests" / "support" / "packs" / "library"
ASSAY = "from assay.cli.main import main; main()"


@dataclass(frozen=True)
class Environment:
    folder: Path

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.folder / "venv" / "bin" / "python"), *arguments],
            cwd=self.folder, capture_output=True, text=True, timeout=120, check=False,
            env={"HOME": str(self.folder), "PATH": os.environ["PATH"], "ASSAY_PLUGINS": "example-library"},
        )  # fmt: skip

    def assay(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run("-c", ASSAY, *arguments)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """A fresh environment that sees what is installed for the tests, with the example installed into it by pip."""
    folder = tmp_path_factory.mktemp("example")
    venv.create(folder / "venv", with_pip=False)
    (site,) = (folder / "venv" / "lib").glob("python3.*/site-packages")
    seen = f"import site; site.addsitedir({sysconfig.get_path('purelib')!r})\n"
    (site / "tests.pth").write_text(seen + f"{ROOT / 'platform'}\n", encoding="utf-8")
    # A copy: building leaves nothing in the repository.
    package = shutil.copytree(
        ROOT / "plugins" / "example-library", folder / "source", ignore=shutil.ignore_patterns("__pycache__")
    )
    made = Environment(folder)
    done = made.run(
        "-m", "pip", "install", "--no-index", "--no-deps", "--no-build-isolation", "--quiet", str(package)
    )
    assert done.returncode == 0, done.stderr
    assert (site / "example_library" / "__init__.py").exists()
    return made


def test_it_is_listed_with_what_it_brings(environment: Environment) -> None:
    done = environment.assay("plugins", "list", "--json")
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["plugins"]["example-library"] == "1.0.0"
    assert shown["failures"] == []
    assert shown["personas"]["formal"] == "Formal"
    assert shown["checks"]["due-date-told"] == "Due date told"
    assert shown["models"]["cards"] == "Customer from cards"


def test_a_run_uses_all_three_and_its_manifest_names_them(environment: Environment) -> None:
    done = environment.assay(
        "run", str(LIBRARY), "--bot", "reference:faithful", "--trials", "2", "--seed", "3", "--out", "results",
        "--user", "cards:customer", "--persona", "formal", "--persona-option", "ending=Yours faithfully.",
        "--check", "due-date-told", "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert (shown["summary"]["passed"], shown["summary"]["void"]) == (12, 0)
    assert shown["manifest"]["plugins"]["example-library"] == {
        "distribution": "example-library",
        "version": "1.0.0",
        "parts": ["persona formal", "check due-date-told", "model cards"],
    }
    outcomes: dict[str, set[str]] = {}
    for trial in trials(environment):
        said = [e["text"] for e in trial["transcript"]["events"] if e["type"] == "user"]
        assert said[0].startswith("Good day. ")
        assert all(text.endswith("\nYours faithfully.") for text in said)
        for check in trial["verdict"]["checks"]:
            if check["name"] == "due-date-told":
                outcomes.setdefault(trial["task"], set()).add(check["outcome"])
    # The reference bot renews and does not say until when, in the two tasks that have a renewal.
    assert {t for t, o in outcomes.items() if o == {"fail"}} == {"LIB-LOAN-001", "LIB-MEM-001"}
    assert {t for t, o in outcomes.items() if o == {"pass"}} == {
        "LIB-HOLD-001", "LIB-HOLD-002", "LIB-HOLD-003", "LIB-FEE-001",
    }  # fmt: skip


def test_wrong_options_and_targets_are_refused_with_a_sentence(environment: Environment) -> None:
    for arguments, said in (
        (("--persona", "formal", "--persona-option", "endng=x"), "did you mean ending"),
        (("--user", "cards:banker"), "write cards:customer"),
    ):
        refused = environment.assay(
            "run", str(LIBRARY), "--bot", "reference:faithful", "--trials", "1", *arguments
        )
        assert refused.returncode != 0
        assert said in refused.stderr


def trials(environment: Environment) -> list[dict[str, Any]]:
    lines = (environment.folder / "results" / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def test_the_python_of_the_environment_is_not_the_tests_own(environment: Environment) -> None:
    done = environment.run("-c", "import sys; print(sys.prefix)")
    assert done.stdout.strip() != sys.prefix
