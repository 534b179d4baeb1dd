"""`assay pack new` from an installed wheel, and `assay pack try` at a terminal and in a pipe."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import re
import select
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from tests.support.openai_server import OpenAIServer, call, say

ROOT = Path(__file__).parents[3]
COMMAND = [sys.executable, "-m", "assay.cli.main"]
TASK = ("acme", "ACME-CANCEL-001", "--seed", "1")
BUILD = "from hatchling.builders.wheel import WheelBuilder; print(*WheelBuilder({!r}).build(directory={!r}, versions=['standard']))"


def environment(platform: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(platform), "TERM": "xterm"}


def assay(folder: Path, *arguments: str, platform: Path = ROOT / "platform", typed: str = "") -> str:
    """What a command prints, which has to succeed."""
    done = subprocess.run(
        [*COMMAND, *arguments],
        cwd=folder,
        env=environment(platform),
        input=typed,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_new_pack_from_an_installed_wheel_is_the_same_and_runs(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-c", BUILD.format(str(ROOT), str(tmp_path))],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    installed = tmp_path / "site-packages"
    with zipfile.ZipFile(built.stdout.split()[-1]) as wheel:
        wheel.extractall(installed)
    assay(tmp_path, "pack", "new", "acme", "--into", "wheel", platform=installed)
    assay(tmp_path, "pack", "new", "acme", "--into", "source")
    ours, theirs = (
        {p.relative_to(base).as_posix(): p.read_bytes() for p in base.rglob("*") if p.is_file()}
        for base in (tmp_path / "source", tmp_path / "wheel")
    )
    assert ours == theirs
    assert len(ours) >= 15
    run = ("run", "wheel/acme", "--bot", "reference:faithful", "--trials", "2", "--out", "out")
    assert "4/4" in assay(tmp_path, *run, platform=installed)


def test_a_conversation_through_a_pipe_ends_with_the_input(tmp_path: Path) -> None:
    assay(tmp_path, "pack", "new", "acme")
    typed = "Which email?\n/call booking_cancel booking_id=B-2002 reason=illness refund=70\nDone. Anything else?\n"
    assert "PASSED" in assay(tmp_path, "pack", "try", *TASK, typed=typed)
    assert "FAILED" in assay(tmp_path, "pack", "try", *TASK)


def test_a_person_talks_to_a_model_and_sees_what_it_calls(tmp_path: Path) -> None:
    assay(tmp_path, "pack", "new", "acme")
    answers = [
        say("Which address does your account have?"),
        call("account_find", '{"email": "ida.sommer@mail.example"}'),
        call("booking_cancel", '{"booking_id": "B-2002", "reason": "illness", "refund": 87.5}'),
        say("All paid back!"),
    ]
    with OpenAIServer(answers) as server:
        shown = assay(
            tmp_path,
            *("pack", "try", *TASK, "--as", "user", "--bot", "litellm:openai/a-model", "--show-calls"),
            *("--base-url", server.base_url),
            typed="I want to cancel.\nida.sommer@mail.example, the cargo bike\n/done Thanks!\n",
        )
    assert not server.unexpected
    assert (
        "bot> Which address does your account have?\nyou> ida.sommer@mail.example, the cargo bike\n" in shown
    )
    assert 'call> booking_cancel {"booking_id": "B-2002", "reason": "illness", "refund": 87.5}' in shown
    assert "FAILED Incorrect state update" in shown and "refund is 87.5 and should be 70" in shown


# --- at a terminal ------------------------------------------------------------------------------


class Screen:
    """A command on a terminal of its own."""

    def __init__(self, folder: Path, arguments: Sequence[str], output: int | None = None) -> None:
        self._screen, other = pty.openpty()
        # Started anew in a session whose terminal this is, so that Ctrl-C becomes a signal.
        take = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
        self._process = subprocess.Popen(
            [sys.executable, "-c", take, *COMMAND, *arguments],
            cwd=folder,
            env=environment(ROOT / "platform"),
            stdin=other,
            stdout=other if output is None else output,
            stderr=other,
            start_new_session=True,
        )
        os.close(other)
        self.shown = ""

    def type(self, text: str) -> None:
        os.write(self._screen, text.encode())

    def wait_for(self, text: str) -> None:
        """Until `text` is the last thing that is shown."""
        until = time.monotonic() + 60
        while not self.shown.endswith(text):
            assert time.monotonic() < until and self._read(), self.shown

    def end(self, key: str) -> int:
        """Press a key until the command ends, and give its exit code.

        Once is enough for people. A signal that arrives in the moment between the prompt and the waiting for a key is
        noticed by Python's readline with the next key only, and a test is quick enough to hit that moment.
        """
        for _ in range(60):
            self.type(key)
            if not self._read_until_end():
                return self._process.wait(60)
        raise AssertionError(self.shown)

    def _read_until_end(self) -> bool:
        """Take what comes within a second or so; False at the end."""
        until = time.monotonic() + 1
        while time.monotonic() < until:
            if not self._read():
                return False
        return True

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._screen)

    def _read(self) -> bool:
        """Take what comes; False at the end."""
        if not select.select([self._screen], [], [], 0.2)[0]:
            return self._process.poll() is None
        data = b""
        with contextlib.suppress(OSError):  # Linux says so when the other side is closed
            data = os.read(self._screen, 65536)
        self.shown += re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", data.decode(errors="replace")).replace("\r", "")
        return bool(data)


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Screen]:
    assay(tmp_path, "pack", "new", "acme")
    screen = Screen(tmp_path, ["pack", "try", *TASK])
    yield screen
    screen.close()


def test_ctrl_c_stops_at_once_without_a_verdict(terminal: Screen) -> None:
    terminal.wait_for("bot> ")
    terminal.type("Which email do you have?\n")
    terminal.wait_for("ida.sommer@mail.example\nbot> ")
    assert terminal.end("\x03") == 130
    assert terminal.shown.endswith("Stopped.\n")
    assert "Traceback" not in terminal.shown and "FAILED" not in terminal.shown


def test_ctrl_d_ends_the_conversation_and_tab_completes(terminal: Screen) -> None:
    terminal.wait_for("bot> ")
    terminal.type("/ca\tbooking_c\tbook\tB-2002 reas\till\tref\t70\n")
    terminal.wait_for('{"cancellation_id": "CAN-9001", "refund": 70}\nbot> ')
    assert terminal.end("\x04") == 0
    assert "PASSED The bot closed the conversation." in terminal.shown


def test_the_document_of_a_trial_is_alone_on_standard_output(tmp_path: Path) -> None:
    assay(tmp_path, "pack", "new", "acme")
    with (tmp_path / "record.json").open("wb") as record:
        screen = Screen(tmp_path, ["pack", "try", *TASK, "--json"], record.fileno())
    try:
        screen.wait_for("bot> ")
        screen.type("Which email do you have?\n")
        screen.wait_for("ida.sommer@mail.example\nbot> ")
        assert screen.end("\x04") == 0
    finally:
        screen.close()
    found = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert (found["status"], found["transcript"]["turns"]) == ("failed", 2)
    assert "FAILED" in screen.shown
