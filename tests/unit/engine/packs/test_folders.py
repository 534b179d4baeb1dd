"""Folders: links, pipes and devices are refused and never opened; bounds hold."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from assay.engine.packs import PackError, load_pack

Files = dict[str, bytes]


@pytest.fixture
def folder(library: Files, tmp_path: Path) -> Path:
    place = tmp_path / "library"
    for path, data in library.items():
        (place / path).parent.mkdir(parents=True, exist_ok=True)
        (place / path).write_bytes(data)
    return place


def refusals(path: Path) -> list[str]:
    with pytest.raises(PackError) as caught:
        load_pack(path)
    return [str(p) for p in caught.value.problems]


def test_a_folder_may_be_reached_through_a_link(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "current").symlink_to(folder)
    assert load_pack(tmp_path / "current").content_hash == load_pack(folder).content_hash


def test_links_inside_of_a_folder_are_refused(folder: Path) -> None:
    (folder / "tasks" / "link.yaml").symlink_to("/etc/passwd")
    (folder / "tools" / "more").symlink_to("/")
    (folder / "knowledge" / "loop").symlink_to(folder)
    assert refusals(folder) == [
        f"{name}: This is a symbolic link; put the file itself there."
        for name in ("knowledge/loop", "tasks/link.yaml", "tools/more")
    ]


def test_a_manifest_that_is_a_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "pack.yaml").rename(tmp_path / "elsewhere.yaml")
    (folder / "pack.yaml").symlink_to(tmp_path / "elsewhere.yaml")
    assert refusals(folder) == ["pack.yaml: This is a symbolic link; put the file itself there."]


def test_pipes_sockets_and_devices_are_refused_and_never_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(folder / "tasks" / "pipe.yaml")
    monkeypatch.chdir(folder)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("policy.sock")
        assert refusals(folder) == [
            "policy.sock: This is a device, a pipe or a socket and no file; remove it.",
            "tasks/pipe.yaml: This is a device, a pipe or a socket and no file; remove it.",
        ]


def test_ten_thousand_files_are_refused(folder: Path) -> None:
    for number in range(10_000):
        (folder / "tasks" / f"t{number}.yaml").touch()
    assert refusals(folder) == ["the pack: It holds more than 2,000 files, the most a pack has."]


def test_a_file_of_two_gigabytes_is_refused_without_being_read(folder: Path) -> None:
    with (folder / "tasks" / "huge.yaml").open("wb") as file:
        file.truncate(2_000_000_000)
    found = refusals(folder)
    assert (
        found[0]
        == "tasks/huge.yaml: The file has 2,000,000,000 bytes; at most 10,000,000 are allowed. Split it."
    )
    assert found[1].startswith("the pack: The files have 2,000,")


def test_folders_nine_deep_are_refused(folder: Path) -> None:
    deep = folder.joinpath("world", *"abcdefgh")
    deep.mkdir(parents=True)
    (deep / "t.csv").touch()
    assert refusals(folder) == [
        "world/a/b/c/d/e/f/g/h: The folder lies too deep; at most 8 folders are allowed."
    ]


def test_names_that_a_zip_could_not_hold_are_refused_in_a_folder_too(folder: Path) -> None:
    (folder / "tasks" / "größe.yaml").touch()
    (folder / "tasks" / "a b.yaml").touch()
    (folder / "tasks" / "back\\slash.yaml").touch()
    assert [f.split(": ")[0] for f in refusals(folder)] == [
        "tasks/a b.yaml", "tasks/back\\slash.yaml", "tasks/größe.yaml",
    ]  # fmt: skip


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(folder: Path) -> None:
    (folder / "policy.md").chmod(0)
    assert refusals(folder) == ["policy.md: The file cannot be read: Permission denied."]


def test_a_folder_that_is_no_pack_says_so_without_being_searched(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("nowhere")
    assert refusals(tmp_path) == [f"{tmp_path}: The folder has no pack.yaml; give the folder of a pack."]


@pytest.mark.parametrize("name", ["missing", "x" * 5_000, "zero\x00byte"])
def test_a_path_that_leads_nowhere_says_so(tmp_path: Path, name: str) -> None:
    found = refusals(tmp_path / name)
    assert len(found) == 1
    assert found[0].endswith(
        "There is no such file or folder, or it may not be read; give a pack's folder or zip."
    )


def test_a_shared_part_cannot_be_named_out_of_its_place(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "comparison.yaml").write_text("ignore_tables: [holds]\n")
    manifest = folder / "pack.yaml"
    manifest.write_text(manifest.read_text() + "shares: [../secret]\n")
    found = refusals(folder)
    assert len(found) == 1
    assert found[0].startswith(
        "pack.yaml:10: Item 1 of 'shares' is '../secret', but must be 2 to 40 small letters"
    )
