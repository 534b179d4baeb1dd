"""The plugins that ship in plugins/ conform, come in through their entry points and import nothing but the SDK."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from assay.plugins.manager import PluginManager
from assay_sdk import ENTRY_POINT_GROUP, conformance, hooks

ROOT = Path(__file__).parents[3]
PACKAGES = sorted(p.parent for p in (ROOT / "plugins").glob("*/pyproject.toml"))
NAMES = [p.name for p in PACKAGES]
PERSONAS = (
    "terse", "rambling", "impatient", "forgetful", "contradictory", "changes-mind", "insists", "social-engineer",
    "prompt-injector", "chinese",
)  # fmt: skip
OPTIONS: dict[str, tuple[dict[str, object], ...]] = {
    "terse": ({"lower_case": True},),
    "rambling": ({"sentences": 3},),
    "impatient": ({"turns": 1}, {"turns": 10}),
    "insists": ({"times": 1},),
    "prompt-injector": ({"where": "message"}, {"where": "fields"}),
    "chinese": (
        {
            "texts": {
                "Good morning. My television payment is too early for me this month.": "您好. 我想推迟付款."
            }
        },
    ),
}


def settings(package: Path) -> dict[str, object]:
    return tomllib.loads((package / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def imported(source: Path) -> set[str]:
    """Top-level names of everything that the file imports, inside functions too."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            found.add(node.module.partition(".")[0])
    return found


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The packages as an installation leaves them: importable, with their entry points."""
    for package in PACKAGES:
        monkeypatch.syspath_prepend(str(package))
        project = settings(package)
        info = tmp_path / f"{package.name.replace('-', '_')}-{project['version']}.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
        )
        points = project["entry-points"][ENTRY_POINT_GROUP]
        lines = [f"{name} = {value}" for name, value in points.items()]
        (info / "entry_points.txt").write_text("\n".join([f"[{ENTRY_POINT_GROUP}]", *lines, ""]))
    monkeypatch.syspath_prepend(str(tmp_path))


def test_there_is_a_persona_a_check_and_a_ticket_system(installed: None) -> None:
    manager = PluginManager(",".join(NAMES))
    assert manager.failures == ()
    assert set(PERSONAS) <= manager.personas().keys()
    assert {"communication", "told-result"} <= manager.checkers().keys()
    assert "request-tracker" in manager.ticket_systems()
    assert set(NAMES) <= set(manager.versions())


@pytest.mark.parametrize("package", PACKAGES, ids=NAMES)
def test_a_plugin_imports_only_the_sdk_and_what_it_declares(package: Path) -> None:
    project = settings(package)
    declared = {d.partition(">")[0].partition("[")[0].strip() for d in project["dependencies"]}
    own = {p.name for p in package.iterdir() if (p / "__init__.py").exists()}
    assert own
    for source in package.rglob("*.py"):
        others = imported(source) - set(sys.stdlib_module_names) - own - {"assay_sdk"}
        assert others <= declared - {"assay"}, f"{source} imports {sorted(others)}"


def test_the_platform_names_no_plugin() -> None:
    # A hook of the SDK may be called like the package that implements it.
    names = ({name.replace("-", "_") for name in NAMES} | set(NAMES)) - set(dir(hooks))
    for source in (ROOT / "platform").rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        assert not [name for name in names if name in text], source


@pytest.mark.parametrize("name", PERSONAS)
def test_every_persona_conforms_with_each_of_its_options(installed: None, name: str) -> None:
    kind = PluginManager("assay-personas").personas()[name]
    for options in ({}, *OPTIONS.get(name, ())):
        conformance.check_persona(kind, options)


@pytest.mark.parametrize("name", ["communication", "told-result"])
def test_the_checks_conform(installed: None, name: str) -> None:
    conformance.check_checker(PluginManager(f"assay-check-{name}").checkers()[name])


@pytest.mark.parametrize("name", PERSONAS)
def test_every_persona_and_each_of_its_options_stands_in_the_reference(installed: None, name: str) -> None:
    kind = PluginManager("assay-personas").personas()[name]
    text = (ROOT / "docs" / "reference" / "personas.md").read_text(encoding="utf-8")
    row = next(line for line in text.splitlines() if line.startswith(f"| `{name}` |"))
    assert all(f"`{option}`" in row for option in kind.options.model_fields)
    assert all(f"`{liberty.name}`" in row for liberty in kind.liberties)


def test_the_plugins_that_are_installed_here_load_without_a_complaint() -> None:
    """Whatever is installed beside the platform, perhaps nothing: the platform starts, and says what is wrong."""
    program = (
        "from assay.plugins.manager import PluginManager; m = PluginManager(None); print(len(m.failures)); "
        "print(*m.failures)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True, text=True, timeout=120, check=True, cwd=ROOT / "platform",
    )  # fmt: skip
    assert done.stdout.split("\n")[0] == "0", done.stdout
