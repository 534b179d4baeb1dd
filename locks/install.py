"""Make .venv hold exactly what the locks say. Used by the Makefile; needs only Python 3.11 and pip.

    python locks/install.py runtime          what Assay needs to run
    python locks/install.py dev models       what its tests need as well

Nothing is done when everything is there already. When the locks, the Python or the place of the project changed, or an
earlier call was interrupted, .venv is made again from nothing: half an environment never counts as one.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LOCKS = ROOT / "locks"
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
RECORD = VENV / "installed.json"  # what is installed; written last, so it is there only when all of it is
BUSY = VENV / "being-changed"
OLD = ROOT / ".venv.old"
SETS = ("runtime", "dev", "models")
PATIENCE = 1_800  # seconds for another call that installs at this moment


def main(wanted: Sequence[str]) -> None:
    if not wanted or not set(wanted) <= set(SETS):
        sys.exit(__doc__)
    with _alone():
        state = _installed()
        if state is None:
            state = _new_environment()
        packages = [n for n in wanted if state.get(n) != _digest(n)]
        sources = _sources()
        if not packages and state.get("sources") == sources:
            return
        BUSY.touch()
        for name in packages:
            _install(name)
            state[name] = _digest(name)
            if name == "dev":  # it holds all of the runtime lock, in the same versions
                state["runtime"] = _digest("runtime")
        if state.get("sources") != sources:
            _install_sources()
            state["sources"] = sources
        _record(state)
        BUSY.unlink()


def _installed() -> dict[str, Any] | None:
    """What a usable .venv holds; None when there is none, or when it has to be made again."""
    try:
        state = json.loads(RECORD.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    changed = [n for n in SETS if n in state and state[n] != _digest(n)]
    if BUSY.exists() or changed or state.get("place") != _place():
        return None
    works = subprocess.run([PYTHON, "-c", ""], capture_output=True, check=False) if PYTHON.exists() else None
    return dict(state) if works is not None and works.returncode == 0 else None


def _place() -> list[str]:
    """What a virtual environment is bound to."""
    return [str(ROOT), os.path.realpath(sys.executable), sys.version]


def _digest(name: str) -> str:
    return hashlib.sha256((LOCKS / f"{name}.txt").read_bytes()).hexdigest()


def _projects() -> list[Path]:
    """The folders of Assay and of the plugins that ship with it; the examples are for readers to install."""
    found = sorted(p.parent for p in ROOT.glob("plugins/*/pyproject.toml"))
    return [ROOT, *(folder for folder in found if not folder.name.startswith("example-"))]


def _sources() -> dict[str, Any]:
    """What an editable installation is made from: not the tools' settings, so that changing those costs nothing."""
    found = {}
    for folder in _projects():
        text = (folder / "pyproject.toml").read_text(encoding="utf-8")
        project = tomllib.loads(text)
        told = [project.get("project"), project.get("build-system"), project.get("tool", {}).get("hatch")]
        found[str(folder.relative_to(ROOT))] = hashlib.sha256(
            json.dumps(told, sort_keys=True).encode()
        ).hexdigest()
    return found


def _new_environment() -> dict[str, Any]:
    if VENV.is_symlink() or (VENV.exists() and not RECORD.exists() and not BUSY.exists()):
        sys.exit(f"{VENV} was not made by this. Move it away or delete it, and try again.")
    _say(f"Making {VENV} with Python {sys.version.split()[0]}")
    if OLD.exists():
        shutil.rmtree(OLD)
    if VENV.exists():
        VENV.rename(OLD)  # in one step, so that an interruption never leaves a part of it in its place
        shutil.rmtree(OLD)
    VENV.mkdir()
    BUSY.touch()
    base = (
        getattr(sys, "_base_executable", None) or sys.executable
    )  # we may run from the one that was just deleted
    if subprocess.run([base, "-m", "venv", "--without-pip", VENV], check=False).returncode != 0:
        sys.exit(
            f"{base} cannot make a virtual environment. Set PYTHON to one that can: make PYTHON=python3.12"
        )
    return {"place": _place()}


def _pip() -> list[str]:
    """The command line of a pip that installs into .venv.

    The one that comes with Python (ensurepip), or, where a distribution has taken that away, the one of the Python
    that runs this.
    """
    here = [str(PYTHON), "-m", "pip"]
    if _runs([*here, "--version"]):
        return here
    if _runs([str(PYTHON), "-m", "ensurepip", "--default-pip"]) and _runs([*here, "--version"]):
        return here
    outside = [sys.executable, "-m", "pip", "--python", str(PYTHON)]
    if _runs([*outside, "--version"]):
        return outside
    sys.exit(
        f"There is no pip for {sys.executable}: neither inside it (ensurepip) nor beside it. Install one "
        "(Debian and Ubuntu: apt install python3-venv), or set PYTHON to another Python: make PYTHON=python3.12"
    )


def _runs(command: Sequence[str]) -> bool:
    return subprocess.run(command, env=_environment(), capture_output=True, check=False).returncode == 0


def _environment() -> dict[str, str]:
    """The caller's environment (mirrors, proxies and certificates stay) without what would install elsewhere."""
    away = {
        "PYTHONHOME",
        "PYTHONPATH",
        "PIP_USER",
        "PIP_TARGET",
        "PIP_PREFIX",
        "PIP_ROOT",
        "PIP_REQUIRE_VIRTUALENV",
    }
    kept = {name: value for name, value in os.environ.items() if name not in away}
    return {
        **kept,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
    }


def _install(name: str) -> None:
    lock = LOCKS / f"{name}.txt"
    count = sum(1 for line in lock.read_text(encoding="utf-8").splitlines() if line[:1].isalnum())
    _say(f"Installing up to {count} packages of locks/{name}.txt, the first time only")
    # Everything is in the lock, so nothing is resolved; wheels only, so nothing is compiled.
    arguments = ["--require-hashes", "--no-deps", "--only-binary", ":all:", "--no-compile", "-r", str(lock)]
    _call(
        [*_pip(), "install", "--progress-bar", "off", *arguments],
        f"The packages of {lock} cannot be installed",
    )


def _install_sources() -> None:
    """Assay and its plugins, editable: commands and entry points are found, and the code is read from here."""
    arguments = ["--no-deps", "--no-build-isolation", "--no-index", "--no-compile"]
    for folder in _projects():
        arguments += ["--editable", str(folder)]
    _call([*_pip(), "install", "--progress-bar", "off", *arguments], "Assay itself cannot be installed")


def _call(command: Sequence[str], otherwise: str) -> None:
    """Run pip; where somebody watches, say how far it is; show what it wrote only when it fails."""
    said: list[str] = []
    fetched, started = 0, time.monotonic()
    watched = sys.stderr.isatty()
    with subprocess.Popen(
        command, env=_environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        assert pip.stdout is not None
        for line in pip.stdout:
            said.append(line)
            fetched += line.lstrip().startswith(("Collecting", "Obtaining"))
            if watched:
                print(
                    f"\r  {fetched} fetched, {time.monotonic() - started:.0f} s ",
                    end="",
                    file=sys.stderr,
                    flush=True,
                )
    if watched:
        print(file=sys.stderr)
    if pip.returncode != 0:
        sys.exit(
            "".join(said[-30:])
            + f"\n{otherwise} (pip ended with code {pip.returncode}; its last lines are above)."
        )


def _record(state: dict[str, Any]) -> None:
    new = RECORD.with_suffix(".new")
    new.write_text(json.dumps(state, indent=1), encoding="utf-8")
    new.replace(RECORD)


@contextmanager
def _alone() -> Iterator[None]:
    """One call at a time: `make demo` and `make test` may be started together."""
    with (LOCKS / "install.py").open("rb") as lock:
        deadline, told = time.monotonic() + PATIENCE, False
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    sys.exit("Another call has been installing for half an hour. End it and try again.")
                if not told:
                    _say("Another call is installing; waiting for it")
                told = True
                time.sleep(0.5)
        yield


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit("Interrupted. Call it again; it starts over with a new .venv.")
