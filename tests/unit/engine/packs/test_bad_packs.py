"""What is wrong with a pack is said with file, line and what to do; all of it in one go."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from assay.engine.packs import Problem

Files = dict[str, bytes]
Problems = Callable[[Mapping[str, bytes]], list[Problem]]
Edit = Callable[[str, str, str], Files]

TASKS = "tasks/lending.yaml"
TOOLS = "tools/lending.yaml"
RENEW = "{tool: loans_renew, args: {loan_id: LN-1, days: 7}}"


def test_the_library_is_sound(library: Files, problems: Problems) -> None:
    assert problems(library) == []


@pytest.mark.parametrize(
    ("path", "old", "new", "at", "message"),
    [
        # tasks: what they name
        (TASKS, "tool: loans_renew, args: {loan_id: LN-1", "tool: loans_reniew, args: {loan_id: LN-1", None,
         "There is no tool 'loans_reniew'; did you mean 'loans_renew'?"),
        (TASKS, "[LIB-1.1, LIB-2.1, LIB-2.2]", "[LIB-1.1, LIB-2.11, LIB-2.2]", None,
         "There is no clause LIB-2.11 in policy.md; did you mean 'LIB-2.1'?"),
        (TASKS, "{hold_id: $hold.hold_id,", "{hold_id: $hlod.hold_id,", None,
         "'$hlod.hold_id' refers to no earlier action; give one 'as: hlod', or write $$ for text; did you mean 'hold'?"),
        (TASKS, "{hold_id: $hold.hold_id,", "{hold_id: $hold,", None,
         "'$hold' begins with a '$' and is no $name.field; write $$ if it is meant as text."),
        (TASKS, "loan_id: LN-1, days: 7", "loan_id: LN-1, dayz: 7", None,
         "There is no parameter 'dayz'; did you mean 'days'? The tool's are loan_id and days."),
        (TASKS, "loan_id: LN-1, days: 7", "days: 7", None, "The argument 'loan_id' is missing; the tool requires it."),
        (TASKS, "loan_id: LN-1, days: 7", "loan_id: LN-1, days: seven", None,
         "Argument 'days': 'seven' is not of type integer."),
        (TASKS, "loan_id: LN-1, days: 7", "loan_id: LN-1, days: 700", None, "Argument 'days': 700 is more than 60."),
        (TASKS, "{hold_ids: [HD-2]}", "{hold_ids: [HD-2, 7]}", None, "Argument 'hold_ids': 7 is not of type string."),
        (TASKS, "- id: LIB-LOAN-001", "- id: LIB-MEM-001", "- id: LIB-MEM-001",
         "There is a task LIB-MEM-001 already, in tasks/lending.yaml:1; change one of the two."),
        # tasks: how they are written
        (TASKS, "title: Late fee for six days", "titel: Late fee for six days", "- id: LIB-FEE-001",
         "'title' is missing; add it."),
        (TASKS, "hardness: [computed_amount]", "hardness: [computed_amout]", None,
         ("Item 1 of 'hardness' is 'computed_amout', but must be one of hidden_information, eligibility_branch, "
         "computed_amount, computed_date, irreversible_step, tool_refusal, two_requests, must_refuse, partly_allowed, "
         "identity_mismatch or mistaken_customer; did you mean 'computed_amount'?")),
        (TASKS, "no_change: true", "no_change: yes", None, "'no_change' must be true or false, but is 'yes'."),
        (TASKS, "numbers: [1.50]", "numbers: ['1.50']", None,
         "Item 1 of 'numbers' must be a number, but is text; write it without quotes."),
        (TASKS, "value: ben.okoro@example.org", "value: 12345", None,
         "'value' must be text, but is a number; put it into quotes."),
        (TASKS, "phrases: [[late fee, fee]]", "phrases: [{late fee: fee}]", None,
         "Item 1 of 'phrases' must be text or a list, but is a mapping."),
        (TASKS, "follow_ups:\n", "follow_up:\n", None,
         ("There is no key 'follow_up' here; did you mean 'follow_ups'? The keys are closing, facts, follow_ups, goal, "
         "opening and reactions.")),
        (TASKS, "then: say, say: I will pay them at the desk.", "then: say", None,
         "'say' goes with 'then: say', and only with it."),
        (TASKS, "{id: MEM-5, name: Ines Vale,", "{id: [MEM-5], name: Ines Vale,", None,
         "Column 'id': A cell cannot be a list; write JSON as text in quotes."),
        (TASKS, "goal: Practical Knots is reserved.", "goal:", None, "'goal' must be text, but is empty (null)."),
        (TASKS, "opening: Hello, can you reserve Practical Knots for me?", "opening: '  '", None,
         "'opening' is empty; write something."),
        # tools
        (TOOLS, "- name: holds_place", "- name: loans_renew", None,
         "There is a tool loans_renew already, in tools/lending.yaml:41; change one of the two."),
        (TOOLS, "- name: catalogue_search", "- name: knowledge_search", None,
         "Names that begin with knowledge_ are those of built-in tools; rename 'knowledge_search'."),
        (TOOLS, "days: {type: integer, minimum: 1, maximum: 60}", "days: {type: int, minimum: 1, maximum: 60}", None,
         "There is no type 'int'; types are array, boolean, integer, null, number, object and string."),
        (TOOLS, "days: {type: integer, minimum: 1, maximum: 60}", "days: {type: integer, minimun: 1, maximum: 60}", None,
         "There is no JSON Schema keyword 'minimun'; did you mean 'minimum'?"),
        (TOOLS, "days: {type: integer, minimum: 1, maximum: 60}", "days: {type: integer, minimum: one, maximum: 60}", None,
         "This is no JSON Schema: 'one' is not of type number."),
        (TOOLS, "required: [loan_id, days]", "required: [loan_id, day]", None,
         "'day' is required, but there is no such property; did you mean 'days'?"),
        (TOOLS, "maximum: 20, default: 5}", "maximum: 20, default: 50}", None,
         "The default of 'limit' does not fit its own schema: 50 is more than 20."),
        (TOOLS, "text: {type: string, minLength: 1}", "text: {$ref: 'https://example.org/text.json'}", None,
         "$ref is not supported; write what you mean without it."),
        (TOOLS, "- maybe: waiting\n", "- maybe: waiting\n      one: waiting\n", "- maybe: waiting",
         "A step is one of one, maybe, many, not one and maybe."),
        (TOOLS, "{error: conflict, message: \"The book is reserved ({waiting.id}).\"}", "{error: Conflict-1, message: x}", None,
         "'error' is 'Conflict-1', but must be 2 to 40 small letters and '_', beginning with a letter, like not_found."),
        (TOOLS, "description: Reserve a book for a member.", "description: {text: x}", None,
         "'description' must be text, but is a mapping."),
        # the manifest
        ("pack.yaml", "format: 1", "format: 2", None, "The format is 2; this Assay reads format 1, so write 'format: 1'."),
        ("pack.yaml", "format: 1", "format: true", None, "The format is true; this Assay reads format 1, so write 'format: 1'."),
        ("pack.yaml", "version: 1.0.0", "version: 1.0", None, "'version' must be text, but is a number; put it into quotes."),
        ("pack.yaml", "version: 1.0.0", "version: v1", None, "'version' is 'v1', but must be three numbers like 1.0.0."),
        ("pack.yaml", "name: library", "nane: library", None,
         "There is no key 'nane' here; did you mean 'name'? The keys are bot, clock, currency, format, locale, name, shares, title and version."),
        ("pack.yaml", "clock: 2026-05-04T09:00:00+01:00", "clock: 2026-05-04T09:00:00", None,
         "The clock '2026-05-04T09:00:00' is no instant with an offset; write it like 2026-03-02T10:00:00-05:00."),
        ("pack.yaml", "clock: 2026-05-04T09:00:00+01:00", "clock: 2026-02-30T09:00:00Z", None,
         "The clock '2026-02-30T09:00:00Z' is no instant with an offset; write it like 2026-03-02T10:00:00-05:00."),
        # comparison rules
        ("comparison.yaml", "note: text", "note: texts", None,
         "'note' is 'texts', but must be one of exact, ignore, text, casefold or set; did you mean 'text'?"),
        ("comparison.yaml", "fees_owed: {tolerance: 0.005}", "fees_owed: {tolerance: 0}", None,
         "'tolerance' must be more than 0, but is 0."),
        ("comparison.yaml", "fees_owed: {tolerance: 0.005}", "fees_owed: [tolerance]", None,
         "'fees_owed' must be text or a mapping, but is a list."),
        ("comparison.yaml", "tables:", "table:", None,
         "There is no key 'table' here; did you mean 'tables'? The keys are ignore_tables and tables."),
        # policy and articles
        ("policy.md", "{#LIB-2.2}", "{#LIB-2.1}", None,
         "The clause id LIB-2.1 appears twice, first in line 11; change one."),
        ("policy.md", "Children pay no late fees. {#LIB-3.2}", "Children pay {#LIB-3.2} no late fees.", "Children pay",
         "{#LIB-3.2} must stand at the end of its paragraph, list item or heading; move it there."),
        ("policy.md", "{#LIB-4.3}", "{#lib 4}", None,
         "'lib 4' is no clause id; write capital letters, digits, '-' and '.', like {#RET-4.2}."),
        ("knowledge/opening-hours.md", "# Opening hours\n", "Opening hours\n", "Opening hours",
         "The article needs a title: begin it with '# Title'."),
        # seed rows
        ("world/seed/books.csv", "BK-2,Statistics for Surveyors,L. Pryce,study,1", "BK-2,Statistics, for Surveyors,L. Pryce,study,1", None,
         "The row has 6 cells, but the header has 5; check commas and quotes."),
        ("world/seed/books.csv", "BK-2,Statistics for Surveyors", "BK-2,\"Statistics for Surveyors", None,
         "A quote that opens in this row is not closed."),
        ("world/seed/books.csv", "id,title,author", "id,author,author", None,
         "The column 'author' appears twice in the header; keep one."),
        ("world/seed/lending.yaml", "id: LN-1, member_id: MEM-1", "id: {LN-1: 1}, member_id: MEM-1", None,
         "Column 'id': A cell cannot be a mapping; write JSON as text in quotes."),
        ("world/seed/lending.yaml", "pickups:\n  - {id: 1, hold_id: HD-2, pickup_on: 2026-05-06}", "pickups: none", None,
         "The rows of 'pickups' must be a list, but this is text."),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_line_and_what_to_do(
    library: Files,
    edited: Edit,
    problems: Problems,
    path: str,
    old: str,
    new: str,
    at: str | None,
    message: str,
) -> None:
    files = edited(path, old, new)
    found = [p for p in problems(files) if p.message == message]
    assert found, [str(p) for p in problems(files)]
    lines = files[path].decode().split("\n")
    if at is None:
        # The mistake is where the two texts begin to differ.
        same = next(n for n, (a, b) in enumerate(zip(old + "\0", new + "\0", strict=False)) if a != b)
        before = library[path].decode().index(old) + same
        assert found[0].line == library[path].decode()[:before].count("\n") + 1
    else:
        assert at in lines[found[0].line - 1]
    assert found[0].path == path


def test_one_mistake_is_one_problem(edited: Edit, problems: Problems) -> None:
    found = problems(edited(TASKS, RENEW, RENEW.replace("loans_renew", "loans_reniew")))
    assert [(p.path, p.line, p.code, p.task) for p in found] == [(TASKS, 16, "unknown_tool", "LIB-LOAN-001")]


def test_one_bad_file_does_not_hide_the_others(library: Files, problems: Problems) -> None:
    files = {
        **library,
        "pack.yaml": library["pack.yaml"].replace(b"locale: en-GB", b"locale: [en]"),
        "policy.md": library["policy.md"] + b"\xe9\n",
        "tools/members.yaml": b"- name: [unclosed\n",
        "tasks/lending.yaml": library["tasks/lending.yaml"].replace(b"title: Late fee", b"titel: Late fee"),
        "world/seed/books.csv": b"id,title\nBK-1\n",
        "world/seed/lending.yaml": b"loans: &x []\nholds: *x\n",
        "comparison.yaml": b"tables: []\n",
        "knowledge/loan-periods.md": b"no title\n",
        "notes.txt": b"",
    }
    assert [(p.path, p.line) for p in problems(files)] == [
        ("comparison.yaml", 1),
        ("knowledge/loan-periods.md", 1),
        ("notes.txt", 0),
        ("pack.yaml", 5),
        ("policy.md", 27),
        ("tasks/lending.yaml", 50),
        ("tasks/lending.yaml", 51),
        ("tools/members.yaml", 1),
        ("world/seed/books.csv", 2),
        ("world/seed/lending.yaml", 1),
        ("world/seed/lending.yaml", 2),
    ]


def test_an_anchor_or_a_bad_number_does_not_hide_the_rest_of_its_file(
    edited: Edit, problems: Problems
) -> None:
    files = edited(TASKS, "loan_id: LN-1, days: 7", "loan_id: &first LN-1, days: 07")
    files[TASKS] = files[TASKS].replace(b"title: Late fee", b"titel: Late fee")
    assert [(p.line, p.code) for p in problems(files)] == [
        (16, "yaml_anchor"), (16, "yaml_number"), (16, "bad_arguments"), (50, "missing_key"), (51, "unknown_key"),
    ]  # fmt: skip


def test_tasks_are_not_blamed_for_a_file_of_tools_that_cannot_be_read(
    edited: Edit, problems: Problems
) -> None:
    files = edited("tools/lending.yaml", "- name: catalogue_search\n", "- name: catalogue_search: x\n")
    assert [(p.path, p.line) for p in problems(files)] == [("tools/lending.yaml", 1)]
    files = edited("tools/lending.yaml", "  description: Reserve a book for a member.\n", "")
    assert [str(p) for p in problems(files)] == ["tools/lending.yaml:88: 'description' is missing; add it."]


def test_a_misplaced_clause_id_is_not_missed_by_the_tasks_that_name_it(
    edited: Edit, problems: Problems
) -> None:
    files = edited("policy.md", "at most twice. {#LIB-2.2}", "at most {#LIB-2.2} twice.")
    assert [(p.path, p.line, p.code) for p in problems(files)] == [("policy.md", 12, "misplaced_clause_id")]


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"tasks/x.yaml": b"- {}\n" * 2_001}, "more_problems"),
        ({"tools/x.yaml": b"- {name: abc, x: [" + b"1," * 5_000 + b"]}\n"}, "too_many_values"),
        ({"world/seed/x.yaml": b"x: [" + b"1," * 300_000 + b"]\n"}, "too_many_values"),
        ({"world/seed/x.csv": b"id\n" + b"1\n" * 200_001}, "too_many_rows"),
        ({"world/seed/x.csv": b"a," * 1_001 + b"b\n"}, "bad_header"),
        ({"world/seed/x.csv": b"id\n" + b"1" * 131_073}, "bad_csv"),
        ({"knowledge/x.md": b"# x\n" + b"## y\n" * 10_002}, "too_many_sections"),
        ({"policy.md": b"".join(b"a {#A%d}\n\n" % n for n in range(10_002))}, "too_many_clauses"),
        ({"tasks/x.yaml": b"- {id: " + b"A" * 100_000 + b"-1}\n"}, "bad_value"),
    ],
)
def test_what_is_too_much_for_a_pack_is_refused(
    library: Files, problems: Problems, files: Files, code: str
) -> None:
    found = problems({**library, **files})
    assert code in {p.code for p in found}
    assert all(len(p.message) < 1_000 for p in found)


def test_text_that_is_not_utf_8_has_its_line(library: Files, problems: Problems) -> None:
    files = {
        **library,
        TASKS: library[TASKS].replace(b"Practical Knots is reserved", "Café".encode("latin-1")),
    }
    found = problems(files)
    assert [str(p) for p in found] == [f"{TASKS}:42: The file is not UTF-8 (byte 0xe9); save it as UTF-8."]
    utf_16 = {**library, "policy.md": library["policy.md"].decode().encode("utf-16")}
    assert "policy.md:1: The file is not UTF-8 (byte 0xff); save it as UTF-8." in map(str, problems(utf_16))


@pytest.mark.parametrize("char", ["\x00", "\x1b", "\x7f", "\u0085", "\u2028"])
def test_a_control_character_has_its_line(library: Files, problems: Problems, char: str) -> None:
    files = {
        **library,
        "world/schema.sql": library["world/schema.sql"].replace(
            b"  name TEXT", f"  {char}name TEXT".encode()
        ),
    }
    assert [str(p) for p in problems(files)] == [
        f"world/schema.sql:3: There is a control character (U+{ord(char):04X}) in this line; delete it."
    ]


def test_files_that_are_missing_are_named(problems: Problems) -> None:
    assert [str(p) for p in problems({})] == [
        "pack.yaml: The file is missing; write pack.yaml: what the pack is.",
        "policy.md: The file is missing; write policy.md: what the bot is given.",
        "tasks: The pack has no tasks; write them in tasks/*.yaml.",
        "tools: The pack has no tools; write them in tools/*.yaml.",
        "world/schema.sql: The file is missing; write world/schema.sql: the tables of the world.",
    ]


@pytest.mark.parametrize("path", ["pack.yaml", "policy.md", "tools/lending.yaml", TASKS])
def test_an_empty_file_is_named(library: Files, problems: Problems, path: str) -> None:
    assert path in {p.path for p in problems({**library, path: b""})}


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("tasks/more.yml", "The file is not read; its name must end in .yaml."),
        ("tasks/more.json", "The file is no part of a pack, by its name or folder; rename or remove it."),
        ("tools.py", "The file is no part of a pack, by its name or folder; rename or remove it."),
        ("tasks/sub/more.yaml", "The file is no part of a pack, by its name or folder; rename or remove it."),
        ("_shared/desk/tasks/more.yaml", "A shared part has no tasks; move them to tasks/ of the pack."),
    ],
)
def test_a_file_that_is_nothing_of_a_pack_is_named(
    library: Files, problems: Problems, path: str, message: str
) -> None:
    assert (path, message) in {(p.path, p.message) for p in problems({**library, path: b"[]"})}


def test_a_shared_part_that_nobody_asked_for_is_named(library: Files, problems: Problems) -> None:
    assert [str(p) for p in problems({**library, "_shared/desk/comparison.yaml": b""})] == [
        "_shared/desk: _shared/desk is not listed in the 'shares' of pack.yaml; list it, or leave it out."
    ]


def test_bad_paths_are_refused_however_the_files_arrive(library: Files, problems: Problems) -> None:
    assert [p.code for p in problems({**library, "../evil.yaml": b"", "tasks/A.yaml": b"[]", "tasks/a.yaml": b"[]"})] == [
        "bad_path", "case_collision",
    ]  # fmt: skip
    assert [p.code for p in problems({f"tasks/{n}.yaml": b"" for n in range(2_001)})] == ["too_many_files"]
    assert {p.code for p in problems({**library, "policy.md": b"x" * 10_000_001})} == {"file_too_large"}


def test_two_articles_of_one_name_are_refused(library: Files, problems: Problems) -> None:
    files = {
        **library,
        "pack.yaml": library["pack.yaml"] + b"shares: [desk]\n",
        "_shared/desk/knowledge/opening-hours.md": b"# Again\n\nText.\n",
    }
    assert [str(p) for p in problems(files)] == [
        "_shared/desk/knowledge/opening-hours.md: knowledge/opening-hours.md is an article of the same name; rename one."
    ]


def test_sections_of_one_heading_get_ids_of_their_own(library: Files) -> None:
    from assay.engine.packs import load_pack_bytes

    article = b"# Fees\n## Late fees ##\none\n```\n## not a heading\n```\n## Late Fees!\ntwo\n##\tC#\nthree\n"
    pack = load_pack_bytes({**library, "knowledge/fees.md": article})
    assert [(s.id, s.heading, s.source.line) for s in pack.sections if s.article == "Fees"] == [
        ("fees#late-fees", "Late fees", 2),
        ("fees#late-fees-2", "Late Fees!", 7),
        ("fees#c", "C#", 9),
    ]


def test_ids_in_code_are_no_clauses(library: Files) -> None:
    from assay.engine.packs import load_pack_bytes

    policy = (
        library["policy.md"]
        + b"\n~~~\nWrite {#X-1} like this.\n~~~\n\n1. First {#X-2}\n2) Second\n   goes on {#X-3}\n## Head {#X-4}\n"
    )
    clauses = load_pack_bytes({**library, "policy.md": policy}).clauses
    assert {name: clauses[name].text for name in clauses if name.startswith("X")} == {
        "X-2": "First", "X-3": "Second goes on", "X-4": "Head",
    }  # fmt: skip


def test_a_message_never_repeats_a_book(edited: Edit, problems: Problems) -> None:
    files = edited(TASKS, "title: Late fee for six days", "title: x\n  " + "k" * 100_000 + ": 1")
    assert all(len(str(p)) < 1_000 for p in problems(files))


def test_a_thousand_bad_files_still_make_a_short_report(library: Files, problems: Problems) -> None:
    files = {**library, **{f"tasks/t{n}.yaml": b"- a\n- b\n- c\n- d\n" for n in range(1_000)}}
    found = problems(files)
    assert len(found) <= 1_300
    assert str(next(p for p in found if p.path == "pack.yaml")) == (
        "pack.yaml: There may be problems in other files; correct these first."
    )


@pytest.mark.parametrize(
    ("path", "key", "most"),
    [("pack.yaml", "title", 200), ("pack.yaml", "locale", 40), (TASKS, "title", 300), (TASKS, "group", 100)],
)
def test_what_the_platform_keeps_in_a_column_has_a_largest_length(
    path: str, key: str, most: int, library: Files, problems: Problems
) -> None:
    lines = library[path].decode().splitlines()
    at = next((n for n, line in enumerate(lines) if line.strip(" -").startswith(f"{key}:")), None)
    if at is None:  # the first task has no group
        at = next(n for n, line in enumerate(lines) if line.strip().startswith("title:"))
        lines.insert(at, "")
    indent = "" if path == "pack.yaml" else "  "
    for length in (most, most + 1):
        value = "en" + "-abcde" * 5 + "-" + "a" * (length - 33) if key == "locale" else "x" * length
        lines[at] = f"{indent}{key}: {value}"
        found = problems({**library, path: "\n".join(lines).encode()})
        if length == most:
            assert found == []
        else:
            (problem,) = found
            assert (problem.path, problem.line) == (path, at + 1)
            assert f"at most {most} are allowed" in problem.message


def test_a_control_character_is_refused_with_its_line(edited: Edit, problems: Problems) -> None:
    files = edited(TASKS, "title: Late fee for six days", 'title: "Late fee\\0for six days"')
    line = next(n for n, row in enumerate(files[TASKS].decode().splitlines(), 1) if "\\0" in row)
    (problem,) = problems(files)
    assert (problem.path, problem.line, problem.code) == (TASKS, line, "yaml_character")
