"""`assay run --user`: a model in the customer's part, from the command line to the report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.leaky_user import honest
from tests.support.openai_server import Completion, OpenAIServer, Request, say

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "tests" / "support" / "packs" / "library"


def assay(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "assay.cli.main", *map(str, arguments)],
        env={
            **os.environ,
            "PYTHONPATH": str(ROOT / "platform"),
            "COLUMNS": "100",
            "ASSAY_ALLOW_PRIVATE_TARGETS": "127.0.0.0/8",
            "USER_KEY": "sk-for-customers",
        },
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def played(server: OpenAIServer, out: Path, *more: object) -> subprocess.CompletedProcess[str]:
    return assay(
        "run", LIBRARY, "--bot", "reference:faithful", "--trials", 1, "--seed", 4, "--out", out,
        "--user", "litellm:openai/scripted", "--user-option", f"base_url={server.base_url}", *more,
    )  # fmt: skip


def leaky(request: Request) -> Completion:
    corrected = "was not sent" in request.messages[-1]["content"]
    return say(honest(request) if corrected else "Is it about my card 4111?")


def test_a_model_plays_every_customer_and_the_report_says_what_was_refused(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with OpenAIServer(leaky) as server:
        done = played(
            server, out, "--user-option", "api_key=env:USER_KEY", "--user-option", "tries=2", "--json"
        )
        keys = {r.headers["authorization"] for r in server.requests}
    assert done.returncode == 0, done.stderr
    assert keys == {"Bearer sk-for-customers"}
    shown: dict[str, Any] = json.loads(done.stdout)
    assert shown["summary"]["passed"] == shown["summary"]["trials"] == 6
    users = shown["summary"]["users"]
    assert users["trials"] == 6 and set(users["rejected"]) == {"invented_amount"}
    assert shown["manifest"]["user"]["model"]["model"] == "openai/scripted"
    assert "sk-for-customers" not in (out / "manifest.json").read_text()
    text = " ".join(assay("report", out).stdout.split())
    assert "A model played the customer in 6 trials." in text and "invented an amount" in text
    assert "hidden facts in valid trials" in text
    assay("report", out, "--html", tmp_path / "r.html")
    assert "Never asked for" in (tmp_path / "r.html").read_text()


def test_users_that_never_comply_are_void_by_kind_and_the_run_says_so(tmp_path: Path) -> None:
    with OpenAIServer(lambda request: say("How can I help you today?")) as server:
        done = played(
            server, tmp_path / "out", "--tasks", "LIB-LOAN-001", "--max-attempts", 2, "--user-option", "tries=1",
            "--json",
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    shown = json.loads(done.stdout)
    assert shown["summary"]["voids"] == {"simulator_fault": 1}
    assert shown["void_attempts"] == {"simulator_fault": 2}
    assert shown["simulator_faults"] == {"other_role": 2}
    assert "spoke as the assistant" in assay("report", tmp_path / "out").stdout


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--user", "litellm"), "NAME:MODEL"),
        (("--user", "litellm:openai/m", "--user-option", "wish=1"), "no option 'wish'"),
        (("--user", "litellm:openai/m", "--user-option", "api_key=sk-1"), "reference"),
        (("--user-option", "tries=2"), "has no options"),
    ],
)
def test_a_user_that_does_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path, options: tuple[str, ...], says: str
) -> None:
    done = assay("run", LIBRARY, "--bot", "reference:faithful", "--out", tmp_path / "out", *options)
    assert done.returncode == 2 and says in done.stderr
    assert not (tmp_path / "out").exists()


def test_tasks_that_a_persona_cannot_play_are_left_out_and_listed(tmp_path: Path) -> None:
    plugin = tmp_path / "site"
    plugin.mkdir()
    (plugin / "shy.py").write_text(
        "from assay_sdk import NoOptions, PersonaType, Role, hookimpl\n"
        "class Shy:\n"
        "    def begin(self, script):\n        return Role(script)\n"
        "    def shape(self, line, situation):\n        return line\n"
        "def unfit(script):\n    return 'It is about a book.' if 'book' in script.opening.lower() else None\n"
        "@hookimpl\ndef assay_personas():\n"
        "    return [PersonaType('shy', 'Shy', 'Little.', 'All.', NoOptions, lambda o, s: Shy(), not_for=unfit)]\n"
    )
    about = plugin / "shy-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shy\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[assay.plugins]\nshy = shy\n")
    done = subprocess.run(
        [
            sys.executable, "-m", "assay.cli.main", "run", str(LIBRARY), "--bot", "reference:faithful",
            "--trials", "1", "--persona", "shy", "--out", str(tmp_path / "out"), "--json",
        ],
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'platform'}{os.pathsep}{plugin}"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    manifest = json.loads(done.stdout)["manifest"]
    assert {"id": "LIB-LOAN-001", "why": "It is about a book."} in manifest["not_tried"]
    tried = {task["id"] for task in manifest["tasks"]}
    assert "LIB-LOAN-001" not in tried and len(tried) + len(manifest["not_tried"]) == 6
    assert "Not tried" in done.stderr
