"""`assay run --judge`: a judge over HTTP, in several processes, and what is kept when a run is continued."""

from __future__ import annotations

import json
import shutil

from tests.integration.cli.test_commands import LIBRARY, Shell, shell
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_judge import honest

__all__ = ["shell"]

RULE = "    - {must_not: promise to waive the fee, phrases: [we will waive, will be waived]}\n"


def test_a_run_with_a_judge(shell: Shell) -> None:
    pack = shell.folder / "library"
    shutil.copytree(LIBRARY, pack)
    tasks = pack / "tasks" / "lending.yaml"
    text = tasks.read_text(encoding="utf-8")
    assert RULE in text
    tasks.write_text(text.replace(RULE, "    - {rubric: The message names an amount.}\n"), encoding="utf-8")
    command = ("run", pack, "--bot", "reference:faithful", "--tasks", "LIB-FEE-001", "--seed", 1)
    without = shell.document(*command, "--trials", 2, "--max-attempts", 1, code=1)
    assert without["summary"]["void"] == 2
    with OpenAIServer(honest(lambda asked: "1.50" in asked.text)) as server:
        judge = (
            *("--judge", "litellm:openai/judge", "--judge-option", f"base_url={server.base_url}"),
            *("--judge-option", "api_key=env:KEY_OF_THE_JUDGE", "--judge-votes", 2),
        )
        done = shell.assay(
            *(*command, "--trials", 4, "--out", "out", "--json", *judge, "--jobs", 2),
            environment={
                "KEY_OF_THE_JUDGE": "sk-not-to-be-kept",
                "ASSAY_ALLOW_PRIVATE_TARGETS": "127.0.0.0/8",
            },
        )
        keys = {request.headers["authorization"] for request in server.requests}
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["summary"]["passed"] == 4
    assert shown["manifest"]["judge"]["spec"] == "litellm:openai/judge"
    assert shown["manifest"]["judge"]["votes"] == 2
    assert keys == {"Bearer sk-not-to-be-kept"}
    out = shell.folder / "out"
    kept = [json.loads(line) for line in (out / "judgements.jsonl").read_text().splitlines()]
    assert {line["true"] for line in kept} == {True}
    assert (
        "sk-not-to-be-kept" not in "".join(p.read_text() for p in out.iterdir()) + done.stdout + done.stderr
    )


def test_options_without_a_judge_are_refused(shell: Shell) -> None:
    done = shell.assay("run", LIBRARY, "--bot", "reference:faithful", "--judge-option", "attempts=1")
    assert done.returncode == 2
    assert "no judge" in done.stderr
