"""YAML by the 1.2 core schema, with the line of every value, whichever parser is there."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import yaml

from assay.engine.packs import yamls
from assay.engine.packs.findings import Findings
from assay.engine.packs.yamls import Budget, Document, parse


@pytest.fixture(autouse=True, params=["CSafeLoader", "SafeLoader"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Everything here holds with libyaml and without it."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML was built without libyaml")
    monkeypatch.setattr(yamls, "_LOADER", getattr(yaml, request.param))
    return str(request.param)


def read(text: str) -> Document:
    findings = Findings()
    document = parse("f.yaml", text, findings)
    assert findings.problems() == []
    assert document is not None
    return document


def refused(text: str) -> list[str]:
    findings = Findings()
    parse("f.yaml", text, findings)
    return [str(p) for p in findings.problems()]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("off", "off"), ("y", "y"), ("NO", "NO"),
        ("true", True), ("True", True), ("FALSE", False), ("tRUE", "tRUE"),
        ("null", None), ("~", None), ("Null", None), ("nULL", "nULL"), ("", None),
        ("2026-03-02", "2026-03-02"), ("2026-03-02T10:00:00Z", "2026-03-02T10:00:00Z"), ("12:30:45", "12:30:45"),
        ("0", 0), ("-17", -17), ("0o17", 15), ("0x1F", 31), ("9223372036854775807", 2**63 - 1), ("1_000", "1_000"),
        ("1.5", 1.5), (".5", 0.5), ("-1.", -1.0), ("1e3", 1000.0), ("1.0.0", "1.0.0"), ("1,5", "1,5"), ("0b1", "0b1"),
        ("'true'", "true"), ('"12"', "12"), ("'~'", "~"), ("''", ""), ("=", "="), ("<<", "<<"), ("-", [None]), ("a b", "a b"),
    ],
)  # fmt: skip
def test_scalars_are_those_of_the_core_schema(text: str, value: Any) -> None:
    found = read(text).value
    assert found == value
    assert type(found) is type(value)


def test_a_block_of_text_is_never_a_number() -> None:
    assert read("a: |\n  007\nb: >-\n  true\n").value == {"a": "007\n", "b": "true"}


def test_keys_are_text_whatever_they_look_like() -> None:
    assert read("{on: 1, 12: 2, null: 3, <<: {a: 1}}").value == {"on": 1, "12": 2, "null": 3, "<<": {"a": 1}}


@pytest.mark.parametrize("text", ["02134", "+4412345", "00", "-012"])
def test_a_number_that_would_lose_digits_is_refused(text: str) -> None:
    (found,) = refused(f"a: 1\nzip: {text}\n")
    assert found.startswith(f"f.yaml:2: '{text}' would be read as a number and lose its ")
    assert found.endswith("; put it into quotes.")


@pytest.mark.parametrize("text", ["9223372036854775808", "9" * 5_000, "0x" + "f" * 5_000, "1e999", "-1e999"])
def test_a_number_that_fits_nowhere_is_refused(text: str) -> None:
    (found,) = refused(f"a: {text}")
    assert "is too large for a" in found and found.endswith("put it into quotes if it is text.")
    assert len(found) < 250


@pytest.mark.parametrize("text", [".inf", "-.INF", ".nan", ".NaN"])
def test_infinity_is_refused(text: str) -> None:
    assert refused(f"a: {text}") == [
        f"f.yaml:1: '{text}' is no number that a world can hold; put it into quotes if it is text."
    ]


def test_every_value_has_its_line() -> None:
    document = read(
        "# comment\n"
        "- id: one\n"
        "  text: >-\n"
        "    several\n"
        "    lines\n"
        "  empty:\n"
        "  list: [1,\n"
        "    2, {deep: 3}]\n"
        "\n"
        "-\n"
        "  id: two\n"
        "  below:\n"
        "    - a\n"
    )
    at = document.line
    assert (at(0), at(0, "id"), at(0, "text"), at(0, "empty")) == (2, 2, 3, 6)
    assert (at(0, "list"), at(0, "list", 1), at(0, "list", 2, "deep")) == (7, 8, 8)
    assert (at(1), at(1, "below"), at(1, "below", key=True), at(1, "below", 0)) == (11, 13, 12, 13)
    assert at(0, "list", 9) == 7
    assert at("no such key") == 2


def test_aliases_that_explode_are_refused_without_being_followed() -> None:
    lines = ["a: &a [lol, lol, lol, lol, lol, lol, lol, lol, lol]"]
    names = "abcdefghij"
    for before, name in itertools.pairwise(names):
        lines.append(f"{name}: &{name} [{', '.join(f'*{before}' for _ in range(9))}]")
    found = refused("\n".join(lines))
    assert found[0] == "f.yaml:1: '&a' is an anchor; packs have none, write the value out where it is needed."
    assert found[1] == "f.yaml:2: '&b' is an anchor; packs have none, write the value out where it is needed."
    assert found[2] == "f.yaml:2: '*a' is an alias; packs have none, write the value out."
    assert len(found) == 19


def test_an_alias_is_refused_as_a_key_and_in_itself() -> None:
    assert refused("a: 1\n*a : 2\n") == ["f.yaml:2: '*a' is an alias; packs have none, write the value out."]
    assert len(refused("&a [*a]")) == 2


@pytest.mark.parametrize("tag", ["!!str", "!!python/object/apply:os.system", "!custom", "!"])
def test_tags_are_refused(tag: str) -> None:
    found = refused(f"a:\n- {tag} [echo]\n")
    assert len(found) == 1
    assert found[0].startswith("f.yaml:2: ") and found[0].endswith(" is a tag; packs have none, delete it.")


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "{a: " * 100_000, "- " * 100_000, "? " * 100_000, "[[[" * 5_000 + "]]]" * 5_000]
)
def test_deep_nesting_is_refused(text: str, parser: str) -> None:
    found = refused(text[:3_000] if parser == "SafeLoader" else text)
    assert len(found) == 1
    assert "nested more than 32 deep" in found[0] or "cannot be a key" in found[0]


def test_thirty_two_levels_are_allowed() -> None:
    read("[" * 32 + "]" * 32)
    assert len(refused("[" * 33 + "]" * 33)) == 1


def test_a_key_that_appears_twice_is_refused_with_both_lines() -> None:
    findings = Findings()
    document = parse("f.yaml", "a: 1\nb:\n  c: 1\n  d: 2\n  c: {x: 1}\na: 2\n", findings)
    assert [str(p) for p in findings.problems()] == [
        "f.yaml:5: The key 'c' appears twice, first in line 3; keep one.",
        "f.yaml:6: The key 'a' appears twice, first in line 1; keep one.",
    ]
    assert document is not None and document.value == {"a": 1, "b": {"c": 1, "d": 2}}


def test_a_second_document_is_refused() -> None:
    assert refused("a: 1\n---\nb: 2\n") == ["f.yaml:2: A second document begins here; a file holds one."]
    assert read("---\na: 1\n...\n").value == {"a": 1}


def test_a_list_as_a_key_is_refused() -> None:
    assert refused("? [a, b]\n: 1\n") == ["f.yaml:1: A list or mapping cannot be a key; keys are text."]


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("a: 1\nb: c: d\n", 2, "put text that holds ': ' into quotes"),
        ("a: 1\nb: [1, 2\n", 2, "The [ ... ] that opens here is not closed."),
        ("a: 1\nb: {x: 1\n", 2, "The { ... } that opens here is not closed."),
        ("a: 1\nb: 'open\n\n\n", 2, "A quote that opens here is not closed."),
        ("a: 1\n\tb: 1\n", 2, "ndent with spaces"),
        ("a: 1\nb: @x\n", 2, "cannot begin a value"),
        ("a: 1\n  b: 2\n", 2, "put text that holds ': ' into quotes"),
        ("a: [1}\n", 1, "is missing in [ ... ]"),
        ("- a\nb: 1\n", 2, "check the indentation"),
        ('a: "\\q"\n', 1, "unknown escape"),
        ("a: 1}\n- }", 2, ""),
        ("%YAML 3.0\n---\na: 1\n", 1, ""),
    ],
)
def test_a_syntax_error_has_its_line_and_says_what_to_do(text: str, line: int, part: str) -> None:
    (found,) = refused(text)
    assert found.startswith(f"f.yaml:{line}: ")
    assert part in found
    assert found.endswith(".")


def test_too_many_values_are_refused() -> None:
    findings = Findings()
    assert parse("f.yaml", "[1, 2, 3]\n", findings, Budget(3)) is None
    assert [p.code for p in findings.problems()] == ["too_many_values"]


def test_a_file_with_a_thousand_mistakes_reports_the_first_hundred() -> None:
    findings = Findings()
    parse("f.yaml", "".join(f"- !x{n} 1\n" for n in range(1_000)), findings)
    problems = findings.problems()
    assert len(problems) == 101
    assert str(problems[0]) == "f.yaml: There may be more problems in this file; correct these first."


@pytest.mark.parametrize("escape", ["\\0", "\\a", "\\e", "\\r", "\\x7f", "\\x85", "\\N"])
@pytest.mark.parametrize("text", ['a: 1\nb: "x{}y"\n', 'a: 1\n"x{}y": 2\n', '- 1\n- "{}"\n', '[1,\n"{}"]'])
def test_control_characters_that_come_by_an_escape_are_refused_in_their_line(escape: str, text: str) -> None:
    (problem,) = refused(text.format(escape))
    assert problem.startswith("f.yaml:2")
    assert "control character U+00" in problem


def test_tab_and_newline_may_stand_in_text() -> None:
    assert read('"a\\tb\\nc"').value == "a\tb\nc"
