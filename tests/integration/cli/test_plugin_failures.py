"""`assay run` with a plugin that breaks: the run goes on, and its record says which plugin it was and how often."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

LIBRARY = ROOT / "tests" / "support" / "packs" / "library"
BROKEN = """
from assay_sdk import CheckerType, NoOptions, hookimpl

class Broken:
    def check(self, trial):
        raise RuntimeError("out of order")

@hookimpl
def assay_checkers():
    return [CheckerType("broken", "Broken", NoOptions, lambda options: Broken())]
"""


def test_a_broken_check_is_counted_by_plugin_and_voids_nothing(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "broken_check-2.0.dist-info"
    info.mkdir(parents=True)
    (site / "broken_check.py").write_text(BROKEN, encoding="utf-8")
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: broken-check\nVersion: 2.0\n", encoding="utf-8"
    )
    (info / "entry_points.txt").write_text("[assay.plugins]\nbroken-check = broken_check\n", encoding="utf-8")
    done = subprocess.run(
        [
            sys.executable, "-c", "from assay.cli.main import main; main()",
            "run", str(LIBRARY), "--bot", "reference:faithful", "--trials", "2", "--seed", "3",
            "--check", "broken", "--out", "out", "--json",
        ],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
        env={
            **os.environ,
            "ASSAY_PLUGINS": "broken-check",
            "PYTHONPATH": os.pathsep.join([str(ROOT / "platform"), str(site)]),
        },
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text(encoding="utf-8"))
    assert json.loads(done.stdout)["summary"]["passed"] == 12
    assert manifest["plugin_failures"] == {
        "broken-check": {
            "count": 12,
            "parts": {"check broken": 12},
            "last": "The check 'broken' raised RuntimeError: out of order.",
        }
    }
    assert manifest["plugins"]["broken-check"]["version"] == "2.0"
    assert "The plugin broken-check failed 12 times (check broken 12)." in done.stderr
