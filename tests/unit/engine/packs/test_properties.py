"""What holds for every pack, and for every way to damage one."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.engine.packs import PackError, Problem, bundle, load_pack_bytes
from assay.engine.packs.bounds import check_path
from assay.engine.packs.findings import Findings
from assay.engine.packs.yamls import parse
from assay.engine.packs.zips import read_zip, write_zip

LIBRARY_FOLDER = Path(__file__).parents[3] / "support" / "packs" / "library"
LIBRARY = {
    str(p.relative_to(LIBRARY_FOLDER)): p.read_bytes()
    for p in sorted(LIBRARY_FOLDER.rglob("*"))
    if p.is_file()
}
HASH = load_pack_bytes(LIBRARY).content_hash
YAML_FILES = sorted(path for path in LIBRARY if path.endswith(".yaml"))


def problems_of(files: dict[str, bytes]) -> tuple[Problem, ...]:
    """The problems of a pack, none for a sound one. Any other exception fails the test."""
    try:
        load_pack_bytes(files)
    except PackError as error:
        return error.problems
    return ()


texts = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Zl", "Zp"], exclude_characters="\ufeff\ufffe\uffff"),
    max_size=20,
)
names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)


def line_ends(data: bytes) -> st.SearchStrategy[bytes]:
    """The same text with its lines ended in other ways, also mixed, with a byte order mark or without."""
    lines = data.split(b"\n")
    marks = st.sampled_from([b"", b"\xef\xbb\xbf"])

    def join(mark: bytes, seed: int) -> bytes:
        # A CR alone before a LF would be one line end and not two, so it never stands beside others.
        ends = [b"\r"] if seed == 0 else [b"\n", b"\r\n"]
        chosen = [ends[seed >> n % 16 & len(ends) - 1] for n in range(len(lines) - 1)]
        return mark + b"".join(a + b for a, b in zip(lines, [*chosen, b""], strict=True))

    return st.builds(join, marks, st.integers(0, 2**16 - 1))


@given(st.fixed_dictionaries({path: line_ends(data) for path, data in LIBRARY.items()}))
@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)
def test_line_endings_and_byte_order_marks_never_change_the_version(files: dict[str, bytes]) -> None:
    pack = load_pack_bytes(files)
    assert pack.content_hash == HASH
    assert bundle(pack) == bundle(load_pack_bytes(LIBRARY))


@given(st.permutations(sorted(LIBRARY)), st.integers(0, 9), st.integers(0, 2**31 - 1))
@settings(max_examples=25, deadline=None)
def test_how_a_zip_was_made_never_changes_the_version(order: list[str], level: int, mode: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=level) as archive:
        for number, path in enumerate(order):
            info = zipfile.ZipInfo(path, date_time=(1980 + mode % 100, 1 + mode % 12, 1 + mode % 28, 0, 0, 0))
            info.external_attr = (0o100000 | mode % 0o777) << 16
            archive.writestr(
                info, LIBRARY[path], zipfile.ZIP_STORED if (mode >> number % 8) & 1 else zipfile.ZIP_DEFLATED
            )
    assert load_pack_bytes(read_zip(buffer.getvalue())).content_hash == HASH


@given(st.dictionaries(names, st.dictionaries(names, texts, min_size=1), max_size=6), texts, texts)
@settings(max_examples=30, deadline=None)
def test_a_bundle_holds_exactly_the_pack(rows: dict[str, dict[str, str]], title: str, article: str) -> None:
    seed = {table: [row] for table, row in rows.items()}
    files = {
        **LIBRARY,
        "world/seed/more.yaml": yaml.safe_dump(seed, allow_unicode=True, default_style='"').encode(),
        "knowledge/more.md": f"# T\n\n{article}\n\n## S {title}\n\n{article}\n".encode(),
    }
    pack = load_pack_bytes(files)
    assert {r.table: dict(r.values) for r in pack.seed if r.source.path == "world/seed/more.yaml"} == rows
    again = load_pack_bytes(read_zip(bundle(pack)))
    assert again.content_hash == pack.content_hash
    assert (again.seed, again.sections, again.tasks, again.tools) == (
        pack.seed,
        pack.sections,
        pack.tasks,
        pack.tools,
    )


damage = st.one_of(
    st.sampled_from(
        [
            "&a ",
            "*a",
            "!!str ",
            "- ",
            ": ",
            "? ",
            "{",
            "}",
            "[",
            "]",
            "'",
            '"',
            "|\n",
            ">\n",
            "#",
            "\t",
            "%",
            "@",
            "`",
            "\n",
            "  ",
            "---\n",
            "...\n",
            "<<: ",
            "~",
            "null",
            "true",
            "1e400",
            "0777",
            ".nan",
            "$x.y",
            "\x00",
            "\u2028",
            "{#X-1}",
            "[[[[",
            "\ufeff",
        ]
    ),
    st.text(max_size=6),
)


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_damaged_yaml_is_a_pack_or_a_pack_error_and_nothing_else(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(YAML_FILES))
    text = LIBRARY[path].decode()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.one_of(st.just(0), st.integers(0, 40)))
        text = text[:at] + data.draw(damage) + text[at + cut :]
    lines = text.replace("\r\n", "\n").replace("\r", "\n").count("\n") + 1
    for problem in problems_of({**LIBRARY, path: text.encode("utf-8", "surrogatepass")}):
        assert problem.message.strip() and problem.message.rstrip()[-1] in ".?", problem
        assert problem.line <= lines or problem.path != path
        assert len(problem.message) < 2_000


@given(st.sampled_from(sorted(LIBRARY)), st.binary(max_size=200))
@settings(max_examples=80, deadline=None)
def test_random_bytes_as_a_file_are_a_pack_or_a_pack_error_and_nothing_else(path: str, data: bytes) -> None:
    assert all(p.path and p.message for p in problems_of({**LIBRARY, path: data}))


values: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@given(
    st.sampled_from(["tasks/x.yaml", "tools/x.yaml", "world/seed/x.yaml", "comparison.yaml", "pack.yaml"]),
    values,
)
@settings(max_examples=100, deadline=None)
def test_yaml_of_any_shape_is_a_pack_or_a_pack_error_and_nothing_else(path: str, value: Any) -> None:
    text = yaml.safe_dump(value, allow_unicode=True)
    assert all(p.path and p.message for p in problems_of({**LIBRARY, path: text.encode()}))


PLAIN = {
    "tasks/x.yaml": ("tasks/lending.yaml", 1),
    "tools/x.yaml": ("tools/lending.yaml", 2),
}


@given(st.sampled_from(sorted(PLAIN)), st.data())
@settings(max_examples=100, deadline=None)
def test_one_wrong_value_anywhere_in_a_tool_or_task_is_a_pack_or_a_pack_error(
    path: str, data: st.DataObject
) -> None:
    source, index = PLAIN[path]
    item = yaml.safe_load(LIBRARY[source])[index]
    place, key = item, data.draw(st.sampled_from(sorted(item)))
    while isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
        place = place[key]
        key = data.draw(st.sampled_from(sorted(place) if isinstance(place, dict) else range(len(place))))
    place[key] = data.draw(values)
    text = yaml.safe_dump([item], allow_unicode=True, default_flow_style=data.draw(st.booleans()), width=40)
    found = problems_of({**LIBRARY, path: text.encode()})
    assert all(1 <= p.line <= text.count("\n") + 1 for p in found if p.path == path)


@given(values)
@settings(max_examples=80, deadline=None)
def test_what_yaml_can_say_without_tags_is_read_as_it_was_meant(value: Any) -> None:
    text = yaml.dump(value, allow_unicode=True, default_style='"', Dumper=_Quoting)
    findings = Findings()
    document = parse("f.yaml", text, findings)
    assert findings.problems() == []
    assert document is not None and document.value == value


class _Quoting(yaml.SafeDumper):
    """Quotes text, leaves the rest plain, and never uses an alias."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _plain(dumper: yaml.SafeDumper, value: Any) -> yaml.Node:
    text = "null" if value is None else repr(value).lower() if isinstance(value, bool) else repr(value)
    return yaml.ScalarNode("tag:yaml.org,2002:null", text, style=None)


def _never_a_tag(dumper: yaml.SafeDumper, value: Any) -> yaml.Node:
    node = _plain(dumper, value)
    # The resolver must agree with the tag, or the emitter writes it out.
    node.tag = dumper.resolve(yaml.ScalarNode, node.value, (True, False))
    return node


for kind in (type(None), bool, int, float):
    _Quoting.add_representer(kind, _never_a_tag)


paths = st.one_of(
    st.text(st.sampled_from("ab./\\:\x00A-_ é"), min_size=1, max_size=20),
    st.lists(st.sampled_from(["a", "..", ".", "", "B", "x.yaml"]), min_size=1, max_size=12).map("/".join),
)


@given(paths)
@settings(max_examples=300, deadline=None)
def test_a_path_that_is_accepted_stays_inside_of_its_folder(path: str) -> None:
    if check_path(path) is None:
        root = Path("/somewhere/pack")
        assert Path(root, path).is_relative_to(root)
        assert Path(root, path).resolve().is_relative_to(root)
        assert path.isascii() and "\\" not in path and len(path.split("/")) <= 9


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_a_damaged_zip_gives_the_same_files_or_a_pack_error_and_nothing_else(data: st.DataObject) -> None:
    packed = bytearray(write_zip({path: LIBRARY[path] for path in sorted(LIBRARY)[:4]}))
    for _ in range(data.draw(st.integers(1, 6))):
        # Headers, the directory and its end are the interesting places.
        base = data.draw(
            st.sampled_from([0, len(packed) // 2, max(0, len(packed) - 300), max(0, len(packed) - 22)])
        )
        at = min(len(packed) - 1, base + data.draw(st.integers(0, 320)))
        packed[at] = data.draw(st.integers(0, 255))
    if data.draw(st.booleans()):
        del packed[data.draw(st.integers(0, len(packed))) :]
    try:
        files = read_zip(bytes(packed))
    except PackError:
        return
    assert all(check_path(path) is None for path in files)
    assert sum(map(len, files.values())) <= 50_000_000


@pytest.mark.parametrize("path", sorted(LIBRARY))
def test_a_file_left_out_is_another_version_or_a_problem(path: str) -> None:
    files = {p: d for p, d in LIBRARY.items() if p != path}
    assert problems_of(files) or load_pack_bytes(files).content_hash != HASH
