"""Commands as typed, in this process: what is refused and how, gates, reports, packs, plugins."""

from __future__ import annotations

import json
import logging
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from assay.cli.main import execute
from assay.plugins.manager import get_manager

ROOT = Path(__file__).parents[3]
LIBRARY = ROOT / "tests/support/packs/library"


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


class Shell:
    """An empty folder to type commands in."""

    def __init__(self, folder: Path, capture: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._capture = capture

    def assay(self, *arguments: object) -> Done:
        self._capture.readouterr()
        code = execute([str(argument) for argument in arguments])
        return Done(code, *self._capture.readouterr())

    def document(self, *arguments: object, code: int = 0) -> Any:
        """The one JSON document that a command with --json prints."""
        done = self.assay(*arguments, "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def shell(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Shell]:
    monkeypatch.chdir(tmp_path)
    handlers = logging.root.handlers[:]
    yield Shell(tmp_path, capsys)
    logging.root.handlers[:] = handlers  # the command sends warnings to standard error


def sentence(done: Done, code: int) -> str:
    """The last line on standard error of a command that refused."""
    assert done.returncode == code, done
    assert done.stdout == ""
    return done.stderr.strip().splitlines()[-1]


def test_tasks_limits_options_and_checks_are_chosen_on_the_command_line(shell: Shell) -> None:
    shown = shell.document(
        *(
            "run",
            LIBRARY,
            "--bot",
            "reference:careless",
            "--trials",
            2,
            "--out",
            "out",
            "--tasks",
            "LIB-HOLD-*",
        ),
        *(
            "--limit",
            "turns=9",
            "--limit",
            "seconds=30.5",
            "--bot-option",
            "fault_rate=0",
            "--persona",
            "cooperative",
        ),
    )
    assert [t["id"] for t in shown["manifest"]["tasks"]] == ["LIB-HOLD-001", "LIB-HOLD-002", "LIB-HOLD-003"]
    assert (shown["manifest"]["limits"]["turns"], shown["manifest"]["limits"]["seconds"]) == (9, 30.5)
    assert shown["manifest"]["bot"]["options"] == {"fault_rate": 0}
    assert shown["manifest"]["persona"]["name"] == "cooperative"
    assert shown["summary"]["passed"] == 6


def test_the_gate_decides_the_exit_code(shell: Shell) -> None:
    run = ("run", LIBRARY, "--trials", 2, "--seed", 1)
    met = shell.document(*run, "--bot", "reference:faithful", "--gate", "pass^2>=0.5", "--out", "a")
    assert met["gate"]["met"] is True
    not_met = shell.document(
        *run, "--bot", "reference:faithful", "--gate", "pass^2>=99%", "--out", "b", code=1
    )
    assert not_met["gate"]["met"] is False  # six flawless tasks do not prove it
    report = shell.document("report", "b")
    assert report["gate"] == not_met["gate"]
    # the same run under another gate: nothing is tried again
    again = shell.document(*run, "--bot", "reference:faithful", "--gate", "pass^2>=0.4", "--out", "b")
    assert again["gate"]["met"] is True
    assert again["summary"] == not_met["summary"]


def test_a_finished_folder_is_shown_again_and_another_run_does_not_touch_it(shell: Shell) -> None:
    run = ("run", LIBRARY, "--bot", "reference:faithful", "--trials", 1, "--out", "out")
    first = shell.document(*run)
    before = {p.name: p.read_bytes() for p in (shell.folder / "out").iterdir()}
    assert shell.document(*run) == first
    other = shell.assay("run", LIBRARY, "--bot", "reference:careless", "--trials", 1, "--out", "out")
    assert sentence(other, 1).startswith("Error: out holds another run: bot differs.")
    assert {p.name: p.read_bytes() for p in (shell.folder / "out").iterdir()} == before


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--bot", "faithful"], "'faithful' does not name a bot: write CONNECTOR:TARGET"),
        (["--bot", "nobody:x"], "There is no connector 'nobody'"),
        (["--bot", "reference:faithfull"], "did you mean faithful"),
        (["--bot", "reference:faithful", "--bot-option", "colour=red"], "there is no option 'colour'"),
        (["--bot", "reference:faithful", "--bot-option", "red"], "--bot-option takes NAME=VALUE, not 'red'"),
        (["--bot", "reference:faithful", "--tasks", "XXX-*"], "No task of library matches XXX-*"),
        (["--bot", "reference:faithful", "--persona", "nobody"], "There is no persona 'nobody'"),
        (["--bot", "reference:faithful", "--check", "nothing"], "There is no check 'nothing'"),
        (["--bot", "reference:faithful", "--limit", "turns=0"], "the limit 'turns' must be greater than 0"),
        (
            ["--bot", "reference:faithful", "--limit", "walks=3"],
            "the limits are turns, tool_calls, seconds and tokens",
        ),
        (["--bot", "reference:faithful", "--gate", "good"], "--gate 'good' is no gate"),
        (
            ["--bot", "reference:faithful", "--gate", "pass^9>=0.9", "--trials", "3"],
            "The gate needs at least 9 trials",
        ),
        (["--bot", "reference:faithful", "--trials", "0"], "Invalid value for '--trials'"),
        ([], "Missing option '--bot'"),
    ],
)
def test_wrong_usage_gets_a_sentence_and_exit_code_2(shell: Shell, arguments: list[str], says: str) -> None:
    done = shell.assay("run", LIBRARY, *arguments)
    assert says in sentence(done, 2)
    assert list(shell.folder.iterdir()) == []  # nothing is left half done


def test_a_key_is_given_by_reference_only_and_never_shown(shell: Shell) -> None:
    done = shell.assay("run", LIBRARY, "--bot", "litellm:gpt-x", "--api-key", "sk-secret-123")
    assert done.returncode == 2
    assert "sk-secret-123" not in done.stdout + done.stderr
    assert "env:NAME" in done.stderr


def test_a_broken_pack_is_refused_with_file_and_line(shell: Shell) -> None:
    pack = shell.folder / "pack"
    shutil.copytree(LIBRARY, pack)
    tasks = next((pack / "tasks").glob("*.yaml"))
    tasks.write_text(
        tasks.read_text(encoding="utf-8").replace("tool: loans_renew", "tool: loans_renw", 1),
        encoding="utf-8",
    )
    line = next(
        n for n, text in enumerate(tasks.read_text(encoding="utf-8").splitlines(), 1) if "loans_renw" in text
    )
    for command in (("run", pack, "--bot", "reference:faithful"), ("pack", "lint", pack)):
        done = shell.assay(*command)
        assert done.returncode == 1
        assert f"tasks/{tasks.name}:{line}: " in done.stdout + done.stderr
        shown = shell.document(*command, code=1)
        assert [(p["path"], p["line"]) for p in shown["problems"]] == [(f"tasks/{tasks.name}", line)]
    assert not (shell.folder / "assay-results").exists()


def test_a_pack_or_folder_that_is_not_there_gets_a_sentence(shell: Shell) -> None:
    for command in (
        ("run", "nowhere", "--bot", "reference:faithful"),
        ("pack", "lint", "nowhere"),
        ("pack", "show", "nowhere"),
    ):
        done = shell.assay(*command)
        assert done.returncode == 1
        assert "nowhere" in done.stdout + done.stderr and "Traceback" not in done.stderr
    assert "holds no results" in sentence(shell.assay("report", "nowhere"), 1)


def test_a_report_is_one_file_that_needs_no_network(shell: Shell) -> None:
    shell.document("run", LIBRARY, "--bot", "reference:careless", "--trials", 3, "--seed", 2, "--out", "out")
    done = shell.assay("report", "out", "--html", "report.html")
    assert done.returncode == 0 and done.stdout == ""
    html = (shell.folder / "report.html").read_text(encoding="utf-8")
    assert html.lstrip().lower().startswith("<!doctype html>")
    assert 'src="http' not in html and 'href="http' not in html
    text = shell.assay("report", "out")
    assert "reference:careless" in text.stdout and text.stderr == ""


def test_a_damaged_line_is_named(shell: Shell) -> None:
    shell.document("run", LIBRARY, "--bot", "reference:faithful", "--trials", 1, "--out", "out")
    path = shell.folder / "out" / "trials.jsonl"
    path.write_bytes(b"{oops\n" + path.read_bytes())
    assert "out/trials.jsonl:1: this line is damaged" in sentence(shell.assay("report", "out"), 1)
    assert shell.document("report", "out", code=1)["error"].startswith("out/trials.jsonl:1:")


def test_show_and_lint_tell_what_a_pack_holds(shell: Shell) -> None:
    shown = shell.document("pack", "show", LIBRARY)
    assert (shown["name"], shown["version"], len(shown["tasks"]), len(shown["tools"])) == (
        "library",
        "1.0.0",
        6,
        9,
    )
    assert "LIB-FEE-001" in shell.assay("pack", "show", LIBRARY).stdout
    linted = shell.document("pack", "lint", LIBRARY)
    assert linted["ok"] is True and linted["problems"] == [] and linted["pack"] == shown
    assert (
        shell.assay("pack", "lint", LIBRARY).stdout == "library 1.0.0: no problems in 9 tools and 6 tasks.\n"
    )


def test_plugins_are_listed_and_one_that_cannot_be_loaded_is_a_problem(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = shell.document("plugins", "list")
    assert (
        "assay" in shown["plugins"]
        and "reference" in shown["connectors"]
        and "cooperative" in shown["personas"]
    )
    assert "reference: " in shell.assay("plugins", "list").stdout
    monkeypatch.setenv("ASSAY_PLUGINS", "nowhere")
    get_manager.cache_clear()
    try:
        missing = shell.assay("plugins", "list")
    finally:
        get_manager.cache_clear()
    assert missing.returncode == 1
    assert "ASSAY_PLUGINS names this plugin, but it is not installed" in missing.stderr


def test_a_run_of_which_no_trial_counts_is_a_problem_and_says_why(shell: Shell) -> None:
    pack = shell.folder / "pack"
    shutil.copytree(LIBRARY, pack)
    for path in (pack / "tasks").glob("*.yaml"):
        text = path.read_text(encoding="utf-8")
        path.write_text(
            re.sub(r"(?m)^  reply:\n(?:    .*\n)+", "  reply: [{must: be kind about it}]\n", text),
            encoding="utf-8",
        )
    done = shell.assay(
        "run", pack, "--bot", "reference:faithful", "--trials", 2, "--tasks", "LIB-FEE-001", "--json"
    )
    shown = json.loads(done.stdout)
    assert done.returncode == 1
    assert "No trial was valid" in done.stderr
    assert (
        shown["summary"]["voids"] == {"cannot_tell": 2} == shown["void_attempts"]
    )  # tried once, which is enough
    assert shown["summary"]["overall"]["pass_at"]["1"] is None
    assert shown["summary"]["worst_case"]["pass_at"]["1"]["value"] == 0.0
