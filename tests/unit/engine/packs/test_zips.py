"""Archives from strangers: refused with a sentence before anything is inflated, or read exactly."""

from __future__ import annotations

import io
import os
import stat
import struct
import zipfile
import zlib
from pathlib import Path

import pytest

from assay.engine.packs import PackError, load_pack, load_pack_bytes
from assay.engine.packs.zips import read_zip, write_zip

Files = dict[str, bytes]


def archive_of(files: Files, **options: int) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in files.items():
            archive.writestr(path, data, **options)
    return buffer.getvalue()


def refusals(data: bytes | Path) -> list[str]:
    with pytest.raises(PackError) as caught:
        read_zip(data)
    return [str(p) for p in caught.value.problems]


def with_entry(library: Files, info: zipfile.ZipInfo, data: bytes = b"x") -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in library.items():
            archive.writestr(path, content)
        archive.writestr(info, data)
    return buffer.getvalue()


def declared(
    data: bytes, name: str, *, size: int | None = None, flags: int | None = None, method: int | None = None
) -> bytes:
    """The archive with what its directory and local header say of one member changed."""
    changed = bytearray(data)
    for signature, at_flags, at_method, at_size, at_name in (
        (b"PK\x01\x02", 8, 10, 24, 46),
        (b"PK\x03\x04", 6, 8, 22, 30),
    ):
        start = 0
        while (start := data.find(signature, start)) >= 0:
            if data[start + at_name : start + at_name + len(name)] == name.encode():
                if size is not None:
                    struct.pack_into("<L", changed, start + at_size, size)
                if flags is not None:
                    struct.pack_into("<H", changed, start + at_flags, flags)
                if method is not None:
                    struct.pack_into("<H", changed, start + at_method, method)
            start += 4
    return bytes(changed)


def test_an_archive_gives_its_files(library: Files) -> None:
    assert read_zip(archive_of(library)) == library


def test_an_archive_at_a_path_gives_its_files(library: Files, tmp_path: Path) -> None:
    (tmp_path / "library.zip").write_bytes(archive_of(library))
    assert read_zip(tmp_path / "library.zip") == library
    (tmp_path / "link.zip").symlink_to("library.zip")
    assert load_pack(tmp_path / "link.zip").name == "library"


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("../evil.yaml", "The path leaves the pack's folder ('..'); pack the files from inside the folder."),
        (
            "tasks/../../evil.yaml",
            "The path leaves the pack's folder ('..'); pack the files from inside the folder.",
        ),
        ("/etc/passwd", "The path is absolute; pack the files relative to the pack's folder."),
        ("C:/evil.yaml", "The path is absolute; pack the files relative to the pack's folder."),
        ("tasks\\evil.yaml", "The name holds a backslash; separate folders with '/'."),
        ("tasks//evil.yaml", "The path has an empty or '.' part; write it plainly, like tasks/returns.yaml."),
        ("./evil.yaml", "The path has an empty or '.' part; write it plainly, like tasks/returns.yaml."),
        ("tasks/böse.yaml", "The name may hold letters, digits, '.', '_' and '-' only; rename the file."),
        ("tasks/a b.yaml", "The name may hold letters, digits, '.', '_' and '-' only; rename the file."),
        ("a/b/c/d/e/f/g/h/i/j.yaml", "The file lies 9 folders deep; at most 8 are allowed."),
        (
            ".hidden/../../evil",
            "The path leaves the pack's folder ('..'); pack the files from inside the folder.",
        ),
        ("tasks/" + "a" * 300, "The path has 306 characters; at most 240 are allowed."),
    ],
)
def test_a_bad_name_is_refused_with_a_sentence(library: Files, name: str, sentence: str) -> None:
    info = zipfile.ZipInfo("placeholder")
    info.filename = name
    found = refusals(with_entry(library, info))
    assert len(found) == 1
    assert found[0].endswith(f": {sentence}")


def test_a_folder_that_leaves_the_pack_is_refused_too(library: Files) -> None:
    assert refusals(with_entry(library, zipfile.ZipInfo("../evil/"), b"")) == [
        "../evil: The path leaves the pack's folder ('..'); pack the files from inside the folder."
    ]


def test_a_name_with_a_zero_byte_is_refused(library: Files) -> None:
    data = with_entry(library, zipfile.ZipInfo("tasks/evilXx.yaml"))
    assert refusals(data.replace(b"tasks/evilXx.yaml", b"tasks/evil\x00x.yaml")) == [
        "tasks/evil x.yaml: The name holds a zero byte; rename the file."
    ]


def test_every_bad_name_is_named_in_one_go(library: Files) -> None:
    found = refusals(archive_of({**library, "../one": b"", "/two": b"", "tasks/th ree.yaml": b""}))
    assert [f.split(":")[0] for f in found] == ["../one", "/two", "tasks/th ree.yaml"]


def test_a_symbolic_link_is_refused(library: Files) -> None:
    info = zipfile.ZipInfo("tasks/link.yaml")
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert refusals(with_entry(library, info, b"/etc/passwd")) == [
        "tasks/link.yaml: This is a symbolic link; put the file itself into the zip."
    ]


@pytest.mark.parametrize("kind", [stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK, stat.S_IFSOCK])
def test_devices_and_pipes_are_refused(library: Files, kind: int) -> None:
    info = zipfile.ZipInfo("tasks/odd.yaml")
    info.external_attr = (kind | 0o644) << 16
    assert refusals(with_entry(library, info)) == [
        "tasks/odd.yaml: This is a device, a pipe or a socket and no file; leave it out."
    ]


def test_ten_thousand_files_are_refused(library: Files) -> None:
    many = {f"tasks/t{n}.yaml": b"" for n in range(10_000)}
    assert refusals(archive_of({**library, **many})) == [
        f"the zip: It holds {10_000 + len(library):,} entries; a pack has at most 2,000 files."
    ]


def test_a_directory_of_a_hundred_thousand_entries_is_refused_without_being_listed() -> None:
    entry = struct.pack("<4s6H3L5H2L", b"PK\x01\x02", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0) + b"a"
    entries = 100_000
    directory = entry * entries
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), 0, 0)
    assert refusals(directory + end) == ["the zip: It holds far more than 2,000 files, the most a pack has."]


def test_a_member_of_two_gigabytes_is_refused_without_being_inflated(
    library: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Two gigabytes of zeros, deflated by hand: one compressed megabyte, repeated.
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = deflate.compress(b"\x00" * 1_000_000) + deflate.flush(zlib.Z_FULL_FLUSH)
    bomb = block * 2_000 + zlib.compressobj(9, zlib.DEFLATED, -15).flush()
    data = with_entry(library, zipfile.ZipInfo("tasks/bomb.yaml"), b"")
    start = data.index(b"PK\x03\x04", data.index(b"tasks/bomb.yaml") - 30)
    body = start + 30 + len("tasks/bomb.yaml")
    directory = data.index(b"PK\x01\x02")
    local = struct.pack("<4s5H3L2H", b"PK\x03\x04", 20, 0, 8, 0, 33, 0, len(bomb), 2_000_000_000, 15, 0)
    packed = bytearray(data[:start] + local + b"tasks/bomb.yaml" + bomb + data[directory:])
    assert body <= directory
    moved = directory + len(packed) - len(data)
    entry = packed.index(b"PK\x01\x02", packed.rindex(b"tasks/bomb.yaml") - 46)
    struct.pack_into("<H", packed, entry + 10, 8)
    struct.pack_into("<2L", packed, entry + 20, len(bomb), 2_000_000_000)
    struct.pack_into("<L", packed, len(packed) - 6, moved)
    inflated: list[str] = []
    monkeypatch.setattr(zipfile.ZipFile, "open", lambda *args, **_: inflated.append(str(args)))
    assert refusals(bytes(packed)) == [
        "tasks/bomb.yaml: The file has 2,000,000,000 bytes; at most 10,000,000 are allowed. Split it.",
        (
            f"the zip: The files have {2_000_000_000 + sum(map(len, library.values())):,} bytes together; "
            "a pack has at most 50,000,000."
        ),
    ]
    assert inflated == []


def test_many_members_that_are_too_much_together_are_refused(library: Files) -> None:
    big = {f"world/seed/t{n}.csv": b"\n" * 9_000_000 for n in range(6)}
    found = refusals(archive_of({**library, **big}))
    assert len(found) == 1
    assert found[0].startswith("the zip: The files have 54,")


def test_a_member_that_holds_more_than_it_declares_is_refused(library: Files) -> None:
    data = archive_of({**library, "README.md": b"x" * 1_000_000})
    assert refusals(declared(data, "README.md", size=10)) == [
        "README.md: The file is damaged in the zip; pack it again."
    ]


def test_a_member_that_holds_less_than_it_declares_is_refused(library: Files) -> None:
    data = archive_of({**library, "README.md": b"x" * 1_000})
    found = refusals(declared(data, "README.md", size=2_000))
    assert len(found) == 1 and found[0].startswith("README.md: The")


def test_an_encrypted_member_is_refused(library: Files) -> None:
    assert refusals(declared(archive_of(library), "policy.md", flags=1)) == [
        "policy.md: The file is encrypted; pack it without a password."
    ]


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 99])
def test_other_compressions_are_refused(library: Files, method: int) -> None:
    assert refusals(declared(archive_of(library), "policy.md", method=method)) == [
        "policy.md: The file is compressed in a way that packs do not use; pack it with plain zip (deflate)."
    ]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_members_of_one_name_are_refused(library: Files) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, data in [*library.items(), ("policy.md", b"another")]:
            archive.writestr(path, data)
    assert refusals(buffer.getvalue()) == ["policy.md: There are two files of this name; keep one."]


def test_names_that_differ_in_case_only_are_refused(library: Files) -> None:
    assert refusals(archive_of({**library, "Policy.md": b"", "Tasks/more.yaml": b""})) == [
        "Policy.md: Policy.md and policy.md differ in capital letters only; rename one.",
        "Tasks/more.yaml: Tasks and tasks differ in capital letters only; rename one.",
    ]


def test_a_file_that_is_also_a_folder_is_refused(library: Files) -> None:
    assert refusals(archive_of({**library, "tasks": b""})) == [
        "tasks: This is a file and a folder at once; rename one."
    ]


@pytest.mark.parametrize("keep", [0.1, 0.5, 0.9, 0.99])
def test_an_archive_that_is_cut_short_is_refused(library: Files, keep: float) -> None:
    data = archive_of(library)
    assert refusals(data[: int(len(data) * keep)]) == [
        "the zip: This is not a zip archive, or it is cut short; pack it again."
    ]


@pytest.mark.parametrize(
    "data", [b"", b"PK", b"not a zip at all", b"PK\x05\x06" + b"\xff" * 18, os.urandom(500)]
)
def test_what_is_no_archive_is_refused(data: bytes) -> None:
    assert len(refusals(data)) == 1


def test_a_damaged_member_is_named(library: Files) -> None:
    data = bytearray(write_zip(library))
    at = data.index(b"policy.md") + len("policy.md")
    data[at + 20] ^= 0xFF
    assert refusals(bytes(data)) == ["policy.md: The file is damaged in the zip; pack it again."]


def test_a_zip64_archive_is_read_like_any_other(library: Files) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in library.items():
            with archive.open(zipfile.ZipInfo(path), "w", force_zip64=True) as member:
                member.write(data)
    assert read_zip(buffer.getvalue()) == library


def test_a_zip64_directory_that_lies_is_refused(library: Files) -> None:
    data = archive_of(library)
    end = data[-22:]
    record = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, 1, 1, 2**40, 0)
    locator = struct.pack("<4sLQL", b"PK\x06\x07", 0, len(data) - 22, 1)
    assert len(refusals(data[:-22] + record + locator + end)) == 1


def test_several_packs_in_one_archive_are_refused(library: Files) -> None:
    both = {f"{name}/{path}": data for name in ("one", "two") for path, data in library.items()}
    assert refusals(archive_of(both)) == [
        "the zip: There are several packs in the zip; zip one pack's folder."
    ]


def test_files_beside_the_folder_in_an_archive_are_refused_and_shared_parts_are_not(library: Files) -> None:
    inside = {f"library/{path}": data for path, data in library.items()}
    assert refusals(archive_of({**inside, "notes.txt": b""})) == [
        "notes.txt: The file lies outside of the pack's folder library/; leave it out."
    ]
    assert "_shared/desk/tools/desk.yaml" in read_zip(
        archive_of({**inside, "_shared/desk/tools/desk.yaml": b""})
    )


def test_a_pipe_where_an_archive_is_expected_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.zip")
    assert refusals(tmp_path / "pipe.zip") == ["pipe.zip: The zip cannot be read: not a regular file."]
    with pytest.raises(PackError):
        load_pack(Path("/dev/zero"))


def test_an_archive_that_is_too_large_is_refused_before_it_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "huge.zip"
    with path.open("wb") as file:
        file.truncate(5_000_000_000)
    assert refusals(path) == ["huge.zip: The zip is too large; a pack has at most 50,000,000 bytes."]


def test_what_was_refused_leaves_nothing_behind(
    library: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refusals(archive_of({**library, "../evil.yaml": b"x"}))
    refusals(archive_of({**library, "/tmp/assay-evil.yaml": b"x"}))
    assert list(tmp_path.iterdir()) == []
    assert not (tmp_path.parent / "evil.yaml").exists()


def test_bytes_that_are_read_are_those_that_were_packed(library: Files) -> None:
    odd = {**library, "README.md": b"\xef\xbb\xbfline\r\nline\r" + bytes(range(256))}
    assert read_zip(archive_of(odd)) == odd
    with pytest.raises(PackError):
        load_pack_bytes(odd)
