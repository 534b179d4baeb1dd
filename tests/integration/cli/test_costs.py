"""A careless bot's wrong amounts, from its trials to the report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.unit.engine.verifier.workshop import workshop

ROOT = Path(__file__).parents[3]


def assay(*arguments: object) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT / "platform"), "COLUMNS": "100"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_what_a_careless_bot_cost_stands_in_every_report(tmp_path: Path) -> None:
    for path, data in workshop().items():
        (tmp_path / "pack" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "pack" / path).write_bytes(data)
    out = tmp_path / "out"
    assay("run", tmp_path / "pack", "--bot", "reference:careless", "--trials", 30, "--seed", 4, "--out", out)

    trials: list[dict[str, Any]] = [
        json.loads(line) for line in (out / "trials.jsonl").read_text().splitlines()
    ]
    failed = [t for t in trials if t["status"] == "failed"]
    assert failed and all(t["verdict"]["costs"] is None for t in trials if t["status"] == "passed")
    wrong = [cost for t in failed for cost in t["verdict"]["costs"]]
    assert wrong and all(c["currency"] == "USD" for c in wrong)
    assert {c["what"] for c in wrong} <= {"charged for repairs", "given as discount"}
    for trial in failed:  # a trial costs something when, and only when, a price or a discount is wrong in it
        cells = {
            (row["table"], cell["column"])
            for row in trial["verdict"]["difference"]["rows"]
            for cell in row["cells"]
        }
        whole = any(
            row["table"] == "jobs" and not row["cells"] for row in trial["verdict"]["difference"]["rows"]
        )
        money = whole or bool({("jobs", "price"), ("jobs", "discount")} & cells)
        assert bool(trial["verdict"]["costs"]) == money, trial["verdict"]["explanation"]

    costs = json.loads(assay("report", out, "--json"))["summary"]["costs"]
    assert costs["currency"] == "USD" and costs["of"] == len(trials)
    assert costs["trials"] == sum(bool(t["verdict"]["costs"]) for t in failed)
    assert sum(b["over"] for b in costs["by"]) == round(sum(c["over"] for c in wrong), 4)
    assert costs["company"] + costs["customers"] == round(sum(c["over"] + c["under"] for c in wrong), 4)
    said = " ".join(assay("report", out).replace("\u00a0", " ").split())
    assert f"in {len(trials)} trials; money was wrong in {costs['trials']} of them." in said
    assay("report", out, "--html", tmp_path / "report.html")
    assert "What the failures cost" in (tmp_path / "report.html").read_text()
