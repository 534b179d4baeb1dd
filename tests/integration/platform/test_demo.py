"""The demo with its embedded services, as on a machine that has none: it ends by itself, twice, and after being stopped."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.integration.platform.conftest import wait_until
from tests.support.site import LIBRARY

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

PROGRESS = re.compile(r"(\d+) of \d+ trials: passed [1-9]")
# of each of six tasks by two bots: more than workers do in the seconds until they notice that the demo was killed
MANY = 800


class Demo:
    """`manage.py demo` on the small pack, in a state folder of its own and without any configured service."""

    def __init__(self, state: Path, trials: int) -> None:
        self._output = state.parent / f"demo-{len(list(state.parent.glob('demo-*')))}.txt"
        away = ("ASSAY_DATABASE_URL", "ASSAY_BROKER_URL", "DJANGO_SETTINGS_MODULE", "PYTHONPATH")
        env = {k: v for k, v in os.environ.items() if k not in away}
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            # Shells start background jobs that way, and a child that inherits it would not hear Ctrl-C.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        with self._output.open("w") as out:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    str(ROOT / "manage.py"),
                    "demo",
                    "--pack",
                    str(LIBRARY),
                    "--trials",
                    str(trials),
                ],
                env={**env, "ASSAY_STATE_DIR": str(state), "COLUMNS": "140"},
                cwd=state.parent,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    def output(self) -> str:
        return self._output.read_text()

    def end(self, seconds: float = 240) -> int:
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"the demo did not end:\n{self.output()[-3000:]}")

    def until_trials_are_done(self) -> None:
        wait_until(
            lambda: PROGRESS.search(self.output()) or self._process.poll() is not None,
            "the first results",
            120,
        )
        assert self._process.poll() is None, self.output()

    def send(self, number: int) -> None:
        self._process.send_signal(number)

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(30)


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Callable[..., Demo]]:
    started: list[Demo] = []
    state = tmp_path / "state"

    def start(trials: int) -> Demo:
        started.append(Demo(state, trials))
        return started[-1]

    yield start
    for d in started:
        d.stop()
    wait_until(lambda: not of_the_state_folder(state), "the end of everything the demo started", 60)


def of_the_state_folder(state: Path) -> list[str]:
    """Command lines of processes that work for this state folder: the services and the workers."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes()
            command = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if f"ASSAY_STATE_DIR={state}\0".encode() in environment:
            found.append(command)
    return found


def runs(output: str) -> dict[str, int]:
    """Run number by company and bot, from what the demo said at the beginning."""
    found = re.findall(
        r"^  (\w+: \w+) \(synthetic reference\), (planned|carrying on with) run (\d+)", output, re.MULTILINE
    )
    return {who: int(number) for who, _, number in found}


def check_whole(output: str, trials: int) -> None:
    """Both bots are certified with tables, and the reports are there and need no network."""
    for title in ("Acme: Faithful (synthetic reference)", "Acme: Careless (synthetic reference)"):
        assert title in output
    for part in ("pass@1", f"pass@{trials}", "pass^5", f"pass^{trials}", "S1", "S2", "S3", "Tool-use error"):
        assert part in output, part
    reports = [Path(line.split(": ", 1)[1]) for line in output.splitlines() if line.startswith("Report: ")]
    assert len(reports) == 3
    for report in reports:
        page = report.read_text()
        assert "<main" in page
        assert not re.search(r"""(src|href)=["'](https?:)?//""", page)


def test_the_demo_ends_by_itself_and_does_so_again(demo: Callable[..., Demo]) -> None:
    first = demo(trials=8)
    assert first.end() == 0, first.output()
    check_whole(first.output(), 8)
    assert "planned run 1" in first.output()
    assert "48/48" in first.output()  # the faithful bot passes every trial
    second = demo(trials=8)
    assert second.end() == 0, second.output()
    check_whole(second.output(), 8)
    again = runs(second.output())
    assert again.keys() == runs(first.output()).keys()
    assert all(
        again[who] > number for who, number in runs(first.output()).items()
    )  # new runs beside the old ones


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda s: s.name)
def test_a_demo_that_was_stopped_carries_on_where_it_was(
    demo: Callable[..., Demo], how: signal.Signals
) -> None:
    first = demo(trials=MANY)
    first.until_trials_are_done()
    first.send(how)
    code = first.end(90)
    if how == signal.SIGKILL:
        assert code == -how
    else:
        assert code == 130
        assert "carries on" in first.output()
    second = demo(trials=MANY)
    assert second.end() == 0, second.output()
    assert "carrying on with run" in second.output()
    assert runs(second.output()).keys() == runs(first.output()).keys()
    assert runs(second.output()).items() & runs(first.output()).items()  # the same runs, not new ones
    check_whole(second.output(), MANY)
    match = re.search(r"^(\d+) trials in", second.output(), re.MULTILINE)
    assert match is not None and int(match[1]) < 2 * 6 * MANY + 6  # the rest, not everything
