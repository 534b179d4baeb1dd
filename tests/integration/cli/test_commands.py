"""The real command in a process of its own: what it prints, where, and its exit code."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import assay
from tests.support.openai_server import Completion, OpenAIServer, Request, call, say

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "tests/support/packs/library"
COMMAND = [sys.executable, "-m", "assay.cli.main"]


@dataclass(frozen=True)
class Shell:
    """A folder to work in."""

    folder: Path

    def environment(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(ROOT / "platform"), "COLUMNS": "100"}

    def assay(
        self, *arguments: object, environment: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *map(str, arguments)],
            cwd=self.folder,
            env={**self.environment(), **(environment or {})},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def document(self, *arguments: object, code: int = 0) -> Any:
        """The one JSON document that a command with --json prints."""
        done = self.assay(*arguments, "--json")
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def test_faults_on_purpose_are_chosen_by_name_and_their_figures_shown(shell: Shell) -> None:
    options = ("--faults", "flaky", "--fault-option", "rate=0.5", "--seed", 7, "--trials", 4)
    shown = shell.document(
        "run", LIBRARY, "--bot", "reference:careless", *options, "--out", "out", "--jobs", 2
    )
    assert shown["manifest"]["faults"]["name"] == "flaky"
    assert shown["manifest"]["faults"]["options"]["rate"] == 0.5
    faults = shown["summary"]["faults"]
    assert faults["overall"]["injected"] > 5
    assert {entry["kind"] for entry in faults["by_kind"]} == {"timeout", "rate_limit", "server_error"}
    text = shell.assay("report", "out").stdout
    assert "Faults on purpose" in text and "Rate limit (429)" in text and "Recovered from" in text
    again = shell.assay("run", LIBRARY, "--bot", "reference:careless", *options[4:], "--out", "out")
    assert again.returncode == 1 and "faults" in again.stderr  # it is another run without them


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--faults", "flakey"), "did you mean flaky"),
        (("--faults", "flaky", "--fault-option", "rate=9"), "'rate'"),
        (("--fault-option", "rate=0.5"), "name the profile"),
    ],
)
def test_a_fault_profile_that_does_not_fit_is_refused(
    shell: Shell, options: tuple[str, ...], says: str
) -> None:
    done = shell.assay("run", LIBRARY, "--bot", "reference:faithful", *options)
    assert done.returncode == 2
    assert says in done.stderr
    assert not (shell.folder / "assay-results").exists()


def test_a_run_of_the_faithful_bot_passes_every_trial_and_says_so_in_one_document(shell: Shell) -> None:
    shown = shell.document(
        "run", LIBRARY, "--bot", "reference:faithful", "--trials", 3, "--seed", 7, "--out", "out"
    )
    assert shown["finished"] is True and shown["missing"] == 0
    assert shown["summary"]["passed"] == shown["summary"]["trials"] == 18
    manifest = shown["manifest"]
    assert manifest["pack"]["name"] == "library" and len(manifest["pack"]["content_hash"]) == 64
    assert manifest["bot"]["spec"] == "reference:faithful" and manifest["bot"]["synthetic"] is True
    assert (manifest["seed"], manifest["trials"]) == ("7", 3)
    assert manifest["limits"]["turns"] == 40
    assert manifest["plugins"] == {
        "assay": {"distribution": "assay", "version": assay.__version__, "parts": ["connector reference"]}
    }
    assert manifest["tasks"][0]["id"] == "LIB-LOAN-001"
    assert manifest["started_at"] <= manifest["finished_at"]
    lines = (shell.folder / "out" / "trials.jsonl").read_text(encoding="utf-8").splitlines()
    assert len({(t["task"], t["index"]) for t in map(json.loads, lines)}) == 18


def test_without_json_the_tables_go_to_standard_output_and_progress_to_standard_error(shell: Shell) -> None:
    done = shell.assay("run", LIBRARY, "--bot", "reference:careless", "--trials", 4, "--seed", 1)
    assert done.returncode == 0, done.stderr
    assert "pass@1" in done.stdout and "pass^4" in done.stdout
    assert "24 of 24 trials" in done.stderr
    (folder,) = (shell.folder / "assay-results").iterdir()
    assert folder.name.startswith("library-reference-careless-")
    assert f"Results: assay-results/{folder.name}" in done.stderr


def test_the_same_seed_gives_the_same_run_in_one_process_or_two(shell: Shell) -> None:
    one = shell.document(
        "run", LIBRARY, "--bot", "reference:careless", "--trials", 4, "--seed", 3, "--out", "a"
    )
    two = shell.document(
        "run", LIBRARY, "--bot", "reference:careless", "--trials", 4, "--seed", 3, "--out", "b", "--jobs", 2
    )
    assert one["summary"]["failures"] == two["summary"]["failures"] != []
    assert {t["task"]: t for t in one["summary"]["per_task"]} == {
        t["task"]: t for t in two["summary"]["per_task"]
    }


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_an_interrupted_run_keeps_what_is_done_and_goes_on_with_the_same_command(
    shell: Shell, jobs: str
) -> None:
    arguments = [
        "run",
        str(LIBRARY),
        "--bot",
        "reference:careless",
        "--trials",
        "200",
        "--out",
        "out",
        "--jobs",
        jobs,
    ]
    going = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=shell.folder,
        env=shell.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    trials = shell.folder / "out" / "trials.jsonl"
    until = time.monotonic() + 60
    while not (trials.exists() and trials.stat().st_size > 20_000):
        assert time.monotonic() < until and going.poll() is None, going.communicate()
        time.sleep(0.02)
    os.killpg(going.pid, signal.SIGINT)  # as Ctrl-C in a terminal: to every process
    stdout, stderr = going.communicate(timeout=60)
    assert going.returncode == 130, stderr
    assert "What is done is kept in out; continue with --out out" in stderr
    assert "Traceback" not in stderr
    assert "1200 trials are over; the figures will change" in stdout
    kept = trials.read_text(encoding="utf-8").splitlines()
    assert 0 < len(kept) < 1200

    shown = shell.document(*arguments)
    lines = trials.read_text(encoding="utf-8").splitlines()
    assert lines[: len(kept)] == kept
    assert len(lines) == 1200 == shown["summary"]["trials"]
    assert len({(t["task"], t["index"]) for t in map(json.loads, lines)}) == 1200
    assert shown["manifest"]["finished_at"]


def test_output_may_be_cut_off_by_whoever_reads_it(shell: Shell) -> None:
    command = f"{sys.executable} -m assay.cli.main pack show {LIBRARY} --json | head -c 10"
    done = subprocess.run(
        command,
        shell=True,
        cwd=shell.folder,
        env=shell.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert len(done.stdout) == 10
    assert done.stderr == ""


def test_help_and_version_load_nothing_heavy(shell: Shell) -> None:
    code = (
        "import sys\n"
        "from assay.cli.main import execute\n"
        "assert execute(['--help']) == 0 and execute(['--version']) == 0 and execute(['run', '--help']) == 0\n"
        "heavy = {'numpy', 'scipy', 'litellm', 'django', 'pydantic', 'apsw', 'jsonschema', 'rich', 'assay.engine'}\n"
        "print(sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=shell.environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
    assert "assay 0." in done.stdout


def test_a_run_needs_no_django_and_no_litellm(shell: Shell) -> None:
    code = (
        "import sys\n"
        "from assay.cli.main import execute\n"
        f"assert execute(['run', {str(LIBRARY)!r}, '--bot', 'reference:faithful', '--trials', '1', '--out', 'out']) == 0\n"
        "print(sorted({'django', 'litellm', 'celery', 'psycopg'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=shell.folder,
        env=shell.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_model_behind_an_openai_compatible_server_is_run_by_reference_to_its_key(shell: Shell) -> None:
    def answer(request: Request) -> Completion:
        if any(message["role"] == "tool" for message in request.messages):
            return say("Your loan is renewed until 13 May. Is there anything else?")
        return call("loans_renew", {"loan_id": "LN-1", "days": 7})

    with OpenAIServer(answer) as server:
        done = shell.assay(
            *("run", LIBRARY, "--bot", "litellm:openai/some-model", "--base-url", server.base_url),
            *(
                "--api-key",
                "env:KEY_OF_THE_MODEL",
                "--param",
                "temperature=0.25",
                "--bot-option",
                "tool_mode=native",
            ),
            *("--tasks", "LIB-LOAN-001", "--trials", 2, "--out", "out", "--json"),
            environment={"KEY_OF_THE_MODEL": "sk-not-to-be-kept"},
        )
        requests = list(server.requests)
    assert done.returncode == 0, done.stderr
    shown = json.loads(done.stdout)
    assert shown["summary"]["passed"] == 2
    assert shown["manifest"]["bot"]["synthetic"] is False
    assert {r.headers["authorization"] for r in requests} == {"Bearer sk-not-to-be-kept"}
    assert {r.body["temperature"] for r in requests} == {0.25}
    kept = "".join(path.read_text(encoding="utf-8") for path in (shell.folder / "out").iterdir())
    assert "sk-not-to-be-kept" not in kept + done.stdout + done.stderr
