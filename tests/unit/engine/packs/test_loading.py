"""What a loaded pack holds, and that the same content is the same version however it arrives."""

from __future__ import annotations

import zipfile
from datetime import datetime
from pathlib import Path

import pytest

from assay.engine.packs import Pack, PackError, bundle, load_pack, load_pack_bytes
from assay.engine.packs.sources import locate
from assay.engine.packs.zips import read_zip

SHARED_TOOL = b"""
- name: desk_hours
  kind: read
  description: When the desk is open.
  input: {type: object}
  result: SELECT 'Tuesday to Saturday' AS hours
"""


@pytest.fixture
def pack(library_folder: Path) -> Pack:
    return load_pack(library_folder)


def test_a_folder_becomes_a_pack_with_all_its_parts(pack: Pack) -> None:
    assert (pack.name, pack.version, pack.manifest.locale) == ("library", "1.0.0", "en-GB")
    assert pack.clock == datetime.fromisoformat("2026-05-04T09:00:00+01:00")
    assert pack.instructions.startswith("You are the assistant of Millbrook Public Library.")
    assert "{#LIB-2.3}" in pack.instructions
    assert [path for path, _ in pack.schema_sql] == ["world/schema.sql"]
    assert list(pack.tools)[:2] == ["catalogue_search", "loans_list"]
    assert pack.tools["loans_renew"].steps[2].shape == "maybe"
    assert [t.group_name for t in pack.tasks.values()] == ["loan", "hold", "hold", "fee", "mem", "hold"]
    assert pack.tasks["LIB-HOLD-001"].expected.actions[1].args["pickup_on"] == "2026-05-07"


def test_clauses_have_their_text_and_line(pack: Pack) -> None:
    assert list(pack.clauses) == [
        "LIB-1.1", "LIB-1.2", "LIB-1.3", "LIB-2.1", "LIB-2.2", "LIB-2.3", "LIB-3.1", "LIB-3.2", "LIB-4.1", "LIB-4.2", "LIB-4.3",
    ]  # fmt: skip
    clause = pack.clauses["LIB-3.1"]
    assert clause.text == (
        "A returned book costs 0.25 for each day after its due date. The fee is recorded on the loan when the member "
        "asks for it, and the amount is said to the member."
    )
    assert (clause.source.path, clause.source.line) == ("policy.md", 18)
    assert pack.clauses["LIB-2.2"].text == "A loan is renewed at most twice."


def test_articles_become_sections_with_ids(pack: Pack) -> None:
    assert [(s.id, s.article, s.heading) for s in pack.sections] == [
        ("loan-periods#", "Loan periods", "Loan periods"),
        ("loan-periods#general-collection", "Loan periods", "General collection"),
        ("loan-periods#study-collection", "Loan periods", "Study collection"),
        ("opening-hours#desk", "Opening hours", "Desk"),
        ("opening-hours#pick-up-shelf", "Opening hours", "Pick-up shelf"),
    ]
    assert (
        pack.sections[2].text == "A loan from the study collection runs for 7 days and is renewed by 7 days."
    )


def test_seed_rows_keep_their_cells_and_places(pack: Pack) -> None:
    by_id = {row.values["id"]: row for row in pack.seed}
    ada, mei = by_id["MEM-1"], by_id["MEM-3"]
    assert ada.values["interests"] == '["poetry", "maps"]'
    assert mei.values["name"] == "Chan, Mei"
    assert by_id["MEM-2"].values["staff_remark"] is None
    assert (mei.source.path, mei.source.line) == ("world/seed/members.csv", 4)
    assert by_id["LN-1"].values == {
        "id": "LN-1", "member_id": "MEM-1", "book_id": "BK-2", "due_on": "2026-05-06", "renewals": 1,
    }  # fmt: skip
    assert (by_id["HD-2"].table, by_id["HD-2"].source.line) == ("holds", 8)


def test_every_part_can_be_found_again_down_to_a_value(pack: Pack) -> None:
    task = pack.sources["task:LIB-FEE-001"]
    lines = pack.files["tasks/lending.yaml"].decode().split("\n")
    assert lines[task.line - 1] == "- id: LIB-FEE-001"
    phrase = locate(pack, "task:LIB-FEE-001", "reply", 0, "contradictions", 1)
    assert "contradictions: [there is no fee, no late fee]" in lines[phrase.line - 1]
    nowhere = locate(pack, "task:LIB-FEE-001", "reply", 0, "nothing of the kind")
    assert "must: say that the late fee is 1.50" in lines[nowhere.line - 1]
    tool = locate(pack, "tool:loans_renew", "steps", 2, "sql")
    assert "SELECT id FROM holds" in pack.files[tool.path].decode().split("\n")[tool.line - 1]
    rules = pack.sources["comparison:loans"]
    assert pack.files[rules.path].decode().split("\n")[rules.line - 1] == "  loans:"


def test_a_bundle_is_the_same_bytes_and_the_same_version(pack: Pack, library_folder: Path) -> None:
    data = bundle(pack)
    assert data == bundle(load_pack(library_folder))
    again = load_pack_bytes(read_zip(data))
    assert again.content_hash == pack.content_hash
    assert bundle(again) == data
    assert again.tasks == pack.tasks and again.tools == pack.tools and again.seed == pack.seed


def test_a_zip_of_the_folder_itself_is_that_folder(pack: Pack, library_folder: Path, tmp_path: Path) -> None:
    packed = tmp_path / "packed.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        archive.mkdir("library")
        for path in library_folder.rglob("*"):
            archive.write(path, f"library/{path.relative_to(library_folder)}")
        archive.writestr("__MACOSX/library/._pack.yaml", b"\x00\x05\x16\x07")
        archive.writestr("library/.DS_Store", b"\x00")
    assert load_pack(packed).content_hash == pack.content_hash


def test_what_an_editor_leaves_behind_is_no_part_of_a_pack(
    pack: Pack, library: dict[str, bytes], tmp_path: Path
) -> None:
    for path, data in library.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_bytes(b"ref: \xff")
    assert load_pack(tmp_path).content_hash == pack.content_hash


def test_line_endings_and_a_byte_order_mark_do_not_make_a_version(
    pack: Pack, library: dict[str, bytes]
) -> None:
    windows = {path: b"\xef\xbb\xbf" + data.replace(b"\n", b"\r\n") for path, data in library.items()}
    again = load_pack_bytes(windows)
    assert again.content_hash == pack.content_hash
    assert again.files == pack.files


def test_any_other_difference_makes_a_version(pack: Pack, library: dict[str, bytes]) -> None:
    hashes = {pack.content_hash}
    hashes.add(load_pack_bytes({**library, "policy.md": library["policy.md"] + b" "}).content_hash)
    hashes.add(load_pack_bytes({**library, "README.md": b""}).content_hash)
    moved = {**library, "tasks/all.yaml": library["tasks/lending.yaml"]}
    del moved["tasks/lending.yaml"]
    hashes.add(load_pack_bytes(moved).content_hash)
    assert len(hashes) == 4


def _with_shares(library: dict[str, bytes]) -> dict[str, bytes]:
    return {**library, "pack.yaml": library["pack.yaml"] + b"shares: [desk]\n"}


def test_a_shared_part_is_read_from_beside_the_folder_and_becomes_part_of_the_version(
    library: dict[str, bytes], tmp_path: Path
) -> None:
    shared = {
        "tools/desk.yaml": SHARED_TOOL,
        "world/schema.sql": b"CREATE TABLE desks (id TEXT PRIMARY KEY) STRICT;\n",
        "world/seed/desks.csv": b"id\nnorth\n",
        "knowledge/desk.md": b"# The desk\n\nOn the ground floor.\n",
        "comparison.yaml": b"ignore_tables: [desks]\n",
    }
    for folder, files in (
        ("library", _with_shares(library)),
        ("_shared/desk", shared),
        ("_shared/other", shared),
    ):
        for path, data in files.items():
            (tmp_path / folder / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / folder / path).write_bytes(data)
    pack = load_pack(tmp_path / "library")
    assert list(pack.tools)[-1] == "desk_hours"
    assert [path for path, _ in pack.schema_sql] == ["world/schema.sql", "_shared/desk/world/schema.sql"]
    assert pack.seed[-1].table == "desks"
    assert pack.comparison.ignore_tables == ("desks",)
    assert pack.sections[-1].id == "desk#"
    assert "_shared/desk/tools/desk.yaml" in pack.files
    inside = load_pack_bytes(read_zip(bundle(pack)))
    assert inside.content_hash == pack.content_hash


def test_a_shared_part_that_is_nowhere_is_a_problem_of_the_manifest(library: dict[str, bytes]) -> None:
    with pytest.raises(PackError) as caught:
        load_pack_bytes(_with_shares(library))
    assert [str(p) for p in caught.value.problems] == [
        "pack.yaml:10: The shared part 'desk' lies neither in _shared/desk/ nor beside the pack's folder."
    ]


def test_rules_for_one_column_in_two_files_must_agree(library: dict[str, bytes]) -> None:
    files = {
        **_with_shares(library),
        "_shared/desk/comparison.yaml": b"tables:\n  members:\n    columns:\n      updated_at: ignore\n      email: set\n",
    }
    with pytest.raises(PackError) as caught:
        load_pack_bytes(files)
    assert [str(p) for p in caught.value.problems] == [
        "_shared/desk/comparison.yaml:5: 'members.email' has another rule in another file; keep one."
    ]
